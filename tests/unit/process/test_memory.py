"""What is said of memory when a process has been killed, from files as the kernel writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.process.memory import Memory, Shortage

GIB = 2**30


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """/proc of a host with 8 GiB, on which control groups are not mounted."""
    processes = tmp_path / "proc"
    (processes / "self").mkdir(parents=True)
    (processes / "meminfo").write_text("MemTotal:        8388608 kB\nMemFree: 1 kB\n")
    (processes / "vmstat").write_text("nr_free_pages 1\noom_kill 5\n")
    return processes


@pytest.fixture
def group(host: Path, tmp_path: Path) -> Path:
    """The control group of a service in which a worker has a leaf of its own: 4 GiB, one kill."""
    top = tmp_path / "cgroup"
    service = top / "work.service"
    (service / "flow-1" / "supervisor").mkdir(parents=True)
    (host / "self" / "mountinfo").write_text(f"30 24 0:26 / {top} rw - cgroup2 cgroup2 rw\n")
    (host / "self" / "cgroup").write_text("0::/work.service/flow-1/supervisor\n")
    for folder in (top, service, service / "flow-1", service / "flow-1" / "supervisor"):
        (folder / "cgroup.procs").touch()
    (service / "memory.max").write_text(f"{4 * GIB}\n")
    (service / "memory.events").write_text("low 0\noom 3\noom_kill 1\n")
    return service


def test_nothing_is_said_without_a_sign(host: Path) -> None:
    assert Memory(host).shortage(GIB) is None


def test_a_kill_that_the_host_counts_is_told_once(host: Path) -> None:
    memory = Memory(host)
    (host / "vmstat").write_text("oom_kill 6\n")
    assert memory.shortage(GIB) == Shortage(1, "on this host", GIB, 8 * GIB)
    assert memory.shortage(GIB) is None


def test_who_used_nearly_all_there_is_may_have_run_out(host: Path) -> None:
    used = 8 * GIB * 95 // 100
    assert Memory(host).shortage(used) == Shortage(0, "on this host", used, 8 * GIB)


def test_a_control_group_has_its_own_count_and_limit(host: Path, group: Path) -> None:
    memory = Memory(host)
    (host / "vmstat").write_text("oom_kill 6\n")
    assert memory.shortage(GIB) is None  # somebody else's
    (group / "memory.events").write_text("oom_kill 3\n")
    assert memory.shortage(GIB) == Shortage(2, "in its control group", GIB, 4 * GIB)


def test_a_group_without_a_limit_has_the_hosts_memory(host: Path, group: Path) -> None:
    (group / "memory.max").write_text("max\n")
    assert Memory(host).shortage(8 * GIB) == Shortage(0, "in its control group", 8 * GIB, 8 * GIB)


def test_a_host_that_tells_nothing_is_no_error(tmp_path: Path) -> None:
    assert Memory(tmp_path).shortage(GIB) is None
