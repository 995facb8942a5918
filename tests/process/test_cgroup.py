"""Trees by control group: where one is delegated a try is killed by its group, not by a walk."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from flow.process import cgroup
from flow.process.cgroup import WorkerGroup, delegated
from flow.process.events import JobEnded, ZygoteDied
from flow.process.host import Host
from flow.roles.work.settings import Settings
from flow.roles.work.worker import Worker
from process.watched import JOBS, Watched, gone

WALKLESS = (
    "import runpy; from flow.process import tree; tree.kill = lambda pid: None; "
    f"runpy.run_path({str(JOBS)!r}, run_name='__main__')"
)
"""A zygote that cannot kill a tree by walking it."""


def mounted() -> Path | None:
    """Where the v2 hierarchy is."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, kind = line.partition(" - ")
        if kind.startswith("cgroup2 "):
            return Path(fields.split()[4])
    return None


@pytest.fixture
def hierarchy(tmp_path: Path) -> Iterator[Path]:
    """The v2 hierarchy, mounted for the test where it is not."""
    if os.geteuid() != 0:
        pytest.skip("only root can delegate a control group here")
    there = mounted()
    if there is not None:
        yield there
        return
    done = subprocess.run(["mount", "-t", "cgroup2", "none", tmp_path], capture_output=True)
    if done.returncode != 0:
        pytest.skip(f"the v2 hierarchy cannot be mounted: {done.stderr.decode().strip()}")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


@pytest.fixture
def unit(hierarchy: Path) -> Iterator[Path]:
    """The group of this process, delegated to it as systemd does it."""
    groups = Path("/proc/self/cgroup").read_text().splitlines()
    before = next(line[3:] for line in groups if line.startswith("0::"))
    folder = hierarchy / f"flow-test-{secrets.token_hex(4)}"
    try:
        folder.mkdir()
        os.setxattr(folder, "trusted.delegate", b"1")
    except OSError as error:
        pytest.skip(f"no group can be made in {hierarchy}: {error}")
    move(folder)
    yield folder
    move(hierarchy / before.lstrip("/"))
    folder.rmdir()


def move(folder: Path) -> None:
    (folder / "cgroup.procs").write_text(str(os.getpid()))


def group_of(pid: int | str) -> str:
    """The last part of the name of a process's v2 group."""
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    return next(line for line in lines if line.startswith("0::")).rpartition("/")[2]


def start_daemons(watched: Watched, name: str) -> list[int]:
    """A job that stays, with two daemons; the pids of these."""
    mark = watched.folder / name
    watched.start("leave_daemons", mark=str(mark), count=2, stay=True)
    watched.wait_until(mark.exists, "the job")
    return [int(mark.with_name(f"{name}.{number}").read_text()) for number in range(2)]


def test_a_try_is_killed_by_its_group_and_leaves_none(unit: Path, tmp_path: Path) -> None:
    group = WorkerGroup.enter("cafe")
    assert group is not None
    try:
        command = (sys.executable, "-P", "-c", WALKLESS)
        with closing(Host("cafe", command=command, group=group)) as host:
            watched = Watched(host, tmp_path)
            daemons = start_daemons(watched, "stopped")
            assert {group_of(pid) for pid in (os.getpid(), host.zygote)} == {"supervisor"}
            [name] = {group_of(pid) for pid in daemons}
            assert name.startswith("try-")
            host.stop(1, 0.0)
            watched.wait_for(JobEnded)
            watched.wait_until(lambda: all(map(gone, daemons)), "the end of the daemons")
            watched.wait_until(lambda: not (group.path / name).exists(), "the end of their group")

            daemons = start_daemons(watched, "orphaned")
            os.kill(host.zygote, 9)
            watched.wait_for(ZygoteDied)
            assert all(map(gone, daemons))
            assert list(group.path.glob("try-*")) == []
    finally:
        group.leave()
    assert group_of("self") == unit.name
    assert [one for one in unit.iterdir() if one.is_dir()] == []


def test_a_successor_ends_the_groups_of_a_dead_worker(unit: Path) -> None:
    left = unit / "flow-dead" / "try-1"
    left.mkdir(parents=True)
    with subprocess.Popen(["sleep", "1000"]) as orphan:
        (left / "cgroup.procs").write_text(str(orphan.pid))
        group = WorkerGroup.enter("successor")
        assert group is not None
        group.end_sibling("dead")
        assert orphan.wait() == -9
    assert not (unit / "flow-dead").exists()
    group.leave()


def test_a_worker_stands_beside_its_tries_and_goes_back_in_the_end(
    unit: Path, tmp_path: Path
) -> None:
    settings = Settings(
        dsn="", listen_dsn="", version="test", home=tmp_path, logs=tmp_path, key_file=tmp_path
    )
    worker = Worker(settings)
    try:
        assert {group_of(pid) for pid in (os.getpid(), worker.host.zygote)} == {"supervisor"}
    finally:
        worker.close()
    assert group_of("self") == unit.name
    assert [one for one in unit.iterdir() if one.is_dir()] == []


class TestDecision:
    """Whether there is a group to divide, against a tree of files made up for it."""

    @pytest.fixture
    def processes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        unit = tmp_path / "fs" / "system.slice" / "flow-work@1.service"
        unit.mkdir(parents=True)
        for name in ("cgroup.procs", "cgroup.kill"):
            (unit / name).touch()
        processes = tmp_path / "proc"
        processes.mkdir()
        (processes / "mountinfo").write_text(
            f"25 1 0:23 / /sys rw - sysfs sysfs rw\n"
            f"31 25 0:27 / {tmp_path}/fs rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
        )
        (processes / "cgroup").write_text("1:name=x:/other\n0::/system.slice/flow-work@1.service\n")
        self.unit = unit
        self.attributes = {"user.delegate": b"1"}
        monkeypatch.setattr(cgroup, "_attribute", lambda folder, name: self.attributes.get(name))
        return processes

    def test_a_delegated_group_is_used(self, processes: Path) -> None:
        assert delegated(processes) == self.unit

    @pytest.mark.parametrize("attributes", [{}, {"user.delegate": b"0"}, {"user.other": b"1"}])
    def test_one_that_nobody_has_delegated_is_not(
        self, processes: Path, attributes: dict[str, bytes]
    ) -> None:
        self.attributes = attributes
        assert delegated(processes) is None

    def test_one_on_a_kernel_that_cannot_kill_it_is_not(self, processes: Path) -> None:
        (self.unit / "cgroup.kill").unlink()
        assert delegated(processes) is None

    @pytest.mark.parametrize("text", ["1:memory:/x\n", "0::/elsewhere\n"])
    def test_nor_without_the_second_version(self, processes: Path, text: str) -> None:
        (processes / "cgroup").write_text(text)
        assert delegated(processes) is None

    def test_where_only_a_part_is_mounted_the_rest_of_the_name_counts(
        self, processes: Path, tmp_path: Path
    ) -> None:
        (processes / "mountinfo").write_text(
            f"31 25 0:27 /system.slice {tmp_path}/fs/system.slice rw - cgroup2 cgroup2 rw\n"
        )
        assert delegated(processes) == self.unit

    def test_without_proc_there_is_none(self, tmp_path: Path) -> None:
        assert delegated(tmp_path / "nothing") is None
