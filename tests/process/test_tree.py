"""Finding and killing trees, from a process that is no zygote."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from flow.process import tree
from process.watched import HANG, gone
from waiting import wait_until


def shell(script: str, **environ: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sh", "-c", script], env=os.environ | environ, start_new_session=True)


@pytest.fixture
def family() -> Iterator[subprocess.Popen[bytes]]:
    """A shell with a child, and a grandchild in another session."""
    process = shell("setsid sh -c 'sleep 1000; :' & sleep 1000; :")
    yield process
    tree.kill(process.pid)
    process.wait()


def grown(pid: int, size: int) -> list[int]:
    def found() -> list[int]:
        below = tree.descendants(pid)
        return below if len(below) == size else []

    result = wait_until(found, f"{size} descendants")
    assert isinstance(result, list)
    return result


def test_descendants_cross_sessions(family: subprocess.Popen[bytes]) -> None:
    below = grown(family.pid, 3)
    assert family.pid in tree.children(os.getpid())
    assert {tree.parent(pid) for pid in below} <= {family.pid, *below}


def test_a_scan_finds_the_same_children_as_the_kernels_list(
    family: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    below = sorted(grown(family.pid, 3))
    read = tree._read
    monkeypatch.setattr(tree, "_read", lambda path: None if "children" in path else read(path))
    assert sorted(tree.descendants(family.pid)) == below


def test_a_killed_tree_is_gone_and_others_are_not(family: subprocess.Popen[bytes]) -> None:
    below = grown(family.pid, 3)
    other = shell("sleep 1000; :")
    tree.kill(family.pid)
    wait_until(lambda: all(map(gone, [family.pid, *below])), "the end of the tree")
    assert not gone(other.pid)
    other.kill()
    tree.kill(other.pid)
    other.wait()


def test_children_of_other_threads_count() -> None:
    started: list[subprocess.Popen[bytes]] = []
    release = threading.Event()

    def start() -> None:
        started.append(shell("sleep 1000; :"))
        release.wait()

    thread = threading.Thread(target=start)
    thread.start()
    wait_until(lambda: started, "the child of the thread")
    assert started[0].pid in tree.children(os.getpid())
    release.set()
    thread.join()
    assert started[0].pid in tree.children(os.getpid())
    tree.kill(started[0].pid)
    started[0].wait()


def test_nobody_below_who_does_not_exist() -> None:
    gone_pid = shell("exit")
    gone_pid.wait()
    assert tree.descendants(gone_pid.pid) == []
    assert tree.parent(gone_pid.pid) is None
    assert not tree.alive(gone_pid.pid)
    tree.kill(gone_pid.pid)


def test_marked_processes_are_ended_with_their_trees(tmp_path: Path) -> None:
    marker = f"test-{os.getpid()}"
    plain = "setsid env -i PATH=$PATH sh -c 'sleep 1000; :' & sleep 1000; :"
    marked = [shell(plain, FLOW_WORKER=marker) for _ in range(3)]
    other = shell("sleep 1000; :", FLOW_WORKER=f"{marker}0")
    pids = [pid for process in marked for pid in [process.pid, *grown(process.pid, 3)]]
    assert tree.kill_marked(f"FLOW_WORKER={marker}", HANG) == []
    wait_until(lambda: all(map(gone, pids)), "the end of the marked")
    assert not gone(other.pid)
    for process in (other, *marked):
        tree.kill(process.pid)
        process.wait()


def test_the_caller_and_its_ancestors_are_spared() -> None:
    code = (
        "from flow.process import tree\n"
        "assert tree.kill_marked('FLOW_WORKER=self-of-tests') == []\n"
        "print('alive')\n"
    )
    script = f'"{sys.executable}" -c "$CODE"; echo parent too'
    environ = os.environ | {"FLOW_WORKER": "self-of-tests", "CODE": code}
    done = subprocess.run(["sh", "-c", script], env=environ, capture_output=True, text=True)
    assert done.stdout.split("\n") == ["alive", "parent too", ""], done.stderr


def test_survivors_are_named_when_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    marker = f"stuck-{os.getpid()}"
    process = shell("sleep 1000; :", FLOW_WORKER=marker)
    below = grown(process.pid, 1)
    wait_until(partial(tree.alive, below[0]), "the sleeper")
    monkeypatch.setattr(tree._Target, "send", lambda self, number: None)
    monkeypatch.setattr(tree._Target, "kill", lambda self: None)
    assert sorted(tree.kill_marked(f"FLOW_WORKER={marker}", 0.05)) == sorted([process.pid, *below])
    monkeypatch.undo()
    tree.kill(process.pid)
    process.wait()


@pytest.mark.parametrize(("state", "stopped"), [(b"T", True), (b"t", False), (b"S", False)])
def test_one_that_is_traced_for_a_moment_is_not_stopped(
    state: bytes, stopped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "_stat", lambda pid: [state, b"1"])
    assert tree.stopped(os.getpid()) is stopped
