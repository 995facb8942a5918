"""Deaths of the zygote and of the supervisor: nothing that they started outlives them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from flow.process import tree
from flow.process.events import JobEnded, ZygoteDied
from flow.process.host import Host
from flow.process.messages import Value
from process.watched import HANG, Watched, gone
from waiting import wait_until


def kill(watched: Any, number: signal.Signals = signal.SIGKILL) -> None:
    os.kill(watched.host.zygote, number)


def start_all(watched: Any) -> tuple[list[int], list[int]]:
    """Jobs of several kinds. Returns their numbers, and the pids of all their processes."""
    marked = [watched.start_marked(kind) for kind in ("sleep", "polite", "stubborn", "busy_in_c")]
    mark = watched.mark()
    session = watched.mark()
    jobs = [job_id for job_id, _ in marked]
    jobs.append(watched.start("leave_daemons", mark=mark, count=3, stay=True))
    places = [mark, *(f"{mark}.{number}" for number in range(3))]
    assert watched.end_of(watched.start("leave_session", mark=session)).exit_code == 0
    return jobs, [pid for _, pid in marked] + [watched.pid_at(place) for place in places]


def test_nothing_outlives_a_killed_zygote(watched: Any) -> None:
    jobs, pids = start_all(watched)
    kill(watched)
    died = watched.wait_for(ZygoteDied)
    # The job that stays had reported its result.
    assert died == ZygoteDied(tuple(jobs[:-1]), None, signal.SIGKILL)
    ended = watched.end_of(jobs[-1])
    assert (ended.killed, ended.result.state) == ("zygote", "success")
    assert [gone(pid) for pid in pids] == [True] * len(pids)
    assert watched.host.jobs == frozenset()
    assert watched.host.zygote is None


def test_a_new_zygote_takes_over(watched: Any) -> None:
    first, _ = watched.start_marked("sleep")
    kill(watched)
    watched.wait_for(ZygoteDied)
    with pytest.raises(RuntimeError):
        watched.start("nothing")
    watched.host.restart()
    second = watched.start("nothing")
    assert second > first
    assert watched.end_of(second).exit_code == 0


def test_a_new_zygote_is_under_the_old_lease(watched: Any) -> None:
    watched.host.renew(1.0)
    kill(watched)
    watched.wait_for(ZygoteDied)
    watched.host.restart()
    assert watched.end_of(watched.start("nothing")).killed == "lease"


def test_a_zygote_that_does_not_answer_can_be_killed(watched: Any) -> None:
    job_id, pid = watched.start_marked("stubborn")
    kill(watched, signal.SIGSTOP)
    late = watched.start("nothing")
    watched.host.kill()
    assert watched.wait_for(ZygoteDied).job_ids == (job_id, late)
    assert gone(pid)


def test_jobs_started_as_the_zygote_dies_are_told_of(watched: Any) -> None:
    zygote = watched.ready().host.zygote
    kill(watched)
    wait_until(partial(gone, zygote), "the death of the zygote")
    jobs = [watched.start("nothing") for _ in range(3)]
    watched.host.renew(1e9)
    watched.host.stop(jobs[0], 1.0)
    assert watched.wait_for(ZygoteDied).job_ids == tuple(jobs)


def is_settled(watched: Any, job_id: int) -> bool:
    return job_id not in watched.host.jobs


@pytest.mark.parametrize(
    "point",
    [
        "zygote.start.received",
        "zygote.start.before_fork",
        "zygote.start.after_fork",
        "zygote.ended.before_send",
        "zygote.refill.before_fork",
    ],
)
def test_a_zygote_that_dies_at_any_arrow_loses_no_job(
    make_host: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    monkeypatch.setenv("FLOW_FAULTS", f"{point}=kill@3")
    watched = make_host()
    jobs = []
    while not watched.all(ZygoteDied):
        job_id = watched.start("nothing")
        jobs.append(job_id)
        watched.wait_until(partial(is_settled, watched, job_id), f"news of job {job_id}")
    died = watched.wait_for(ZygoteDied)
    assert died.signal == signal.SIGKILL
    told = [event.job_id for event in watched.all(JobEnded)]
    assert sorted([*told, *died.job_ids]) == jobs
    watched.host.restart()
    again = watched.start("nothing")
    assert watched.end_of(again).job_id == again


def test_a_child_that_dies_before_its_job_is_an_end_without_result(
    make_host: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOW_FAULTS", "child.order.received=kill")
    watched = make_host()
    ended = watched.end_of(watched.start("nothing"))
    assert (ended.result, ended.signal) == (None, signal.SIGKILL)


def test_a_zygote_that_cannot_load_is_told_of(tmp_path: Path) -> None:
    with closing(Host("broken", command=(sys.executable, "-c", "raise SystemExit(3)"))) as host:
        watched = Watched(host, tmp_path)
        job_id = watched.start("nothing")
        assert watched.wait_for(ZygoteDied).job_ids == (job_id,)


def test_own_children_of_the_caller_are_spared(watched: Any) -> None:
    watched.ready()
    bystander = subprocess.Popen(["sleep", "1000"])
    try:
        kill(watched)
        watched.wait_for(ZygoteDied)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_second_host_and_kept_children_are_spared(make_host: Callable[..., Any]) -> None:
    bystander = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    try:
        first = make_host(keep=lambda: {bystander.pid}).ready()
        second = make_host().ready()
        job_id = second.start("ask")
        kill(first)
        first.wait_for(ZygoteDied)
        assert bystander.poll() is None
        second.answers = lambda asked: second.host.reply(asked.job_id, Value(value="blue"))
        assert second.value_of(job_id) == "blue"
        second.host.close()
    finally:
        bystander.kill()
        bystander.wait()


# ── the supervisor ───────────────────────────────────────────────────────────────────────────────

KINDS = ("sleep", "polite", "stubborn", "busy_in_c", "leave_daemons")
PLACES = (*KINDS, "leave_daemons.0", "leave_daemons.1")


class Supervisor:
    """`supervisor.py` in a process of its own, with jobs that are all running."""

    def __init__(self, folder: Path, lease: float) -> None:
        script = Path(__file__).with_name("supervisor.py")
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(script), str(folder), str(lease), *KINDS],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": f"{os.environ['PYTHONPATH']}:{script.parent.parent}"},
        )
        (self.zygote,) = wait_until(lambda: tree.children(self.process.pid), "the zygote")
        for place in PLACES:
            wait_until((folder / place).exists, f"the mark of {place}")
        self.pids = [int((folder / place).read_text()) for place in PLACES]

    @property
    def alive(self) -> list[int]:
        return [pid for pid in self.pids if not gone(pid)]

    def end(self) -> None:
        for number in (signal.SIGCONT, signal.SIGKILL):
            self.process.send_signal(number)
        self.process.communicate()
        wait_until(lambda: gone(self.zygote), "the end of the zygote")


@pytest.fixture
def supervise(tmp_path: Path) -> Iterator[Callable[[float], Supervisor]]:
    made: list[Supervisor] = []

    def make(lease: float) -> Supervisor:
        made.append(Supervisor(tmp_path, lease))
        return made[-1]

    yield make
    for supervisor in made:
        supervisor.end()


def test_nothing_outlives_a_killed_supervisor(supervise: Callable[[float], Supervisor]) -> None:
    supervisor = supervise(0.0)
    assert supervisor.alive == supervisor.pids
    supervisor.process.kill()
    wait_until(lambda: not supervisor.alive, "the end of all jobs")
    wait_until(lambda: gone(supervisor.zygote), "the end of the zygote")


def test_a_stopped_supervisor_loses_its_jobs_when_the_lease_runs_out(
    supervise: Callable[[float], Supervisor],
) -> None:
    supervisor = supervise(HANG / 10)  # it is renewed ten times as often
    assert supervisor.alive == supervisor.pids
    supervisor.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: not supervisor.alive, "the end of all jobs")
    assert not gone(supervisor.zygote)
    supervisor.process.send_signal(signal.SIGCONT)
    assert supervisor.process.stdout is not None
    lines = (line for line in supervisor.process.stdout if line.startswith("JobEnded"))
    ends = [next(lines) for _ in KINDS]
    assert all("killed='lease'" in end for end in ends)


def test_a_successor_ends_what_both_left(supervise: Callable[[float], Supervisor]) -> None:
    supervisor = supervise(0.0)
    os.kill(supervisor.zygote, signal.SIGSTOP)
    supervisor.process.kill()
    supervisor.process.wait()
    # The daemons have no marker; they go with the tree of the marked process above them.
    assert tree.kill_marked("FLOW_WORKER=supervisor-of-tests", HANG) == []
    wait_until(lambda: not supervisor.alive, "the end of all jobs")


def test_a_stopped_zygote_is_ended_by_its_supervisor(watched: Any) -> None:
    _, pids = start_all(watched)
    kill(watched, signal.SIGSTOP)
    watched.host.kill()
    watched.wait_for(ZygoteDied)
    assert [gone(pid) for pid in pids] == [True] * len(pids)
