"""Stopping: whatever a task has done to stay, nothing of it is left when its end is told."""

from __future__ import annotations

import os
import resource
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from flow.process import alarm, tree
from flow.process.events import JobEnded, JobGone
from process.watched import gone
from waiting import limit, wait_until


def marked(entry: str) -> list[int]:
    """Processes, zombies apart, whose environment holds an entry."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if entry.encode() in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                found.append(int(name))
        except OSError:
            pass
    return found


def test_a_polite_task_says_its_word(watched: Any) -> None:
    job_id, _ = watched.start_marked("polite")
    watched.host.stop(job_id, 60.0)
    ended = watched.end_of(job_id)
    assert (ended.killed, ended.exit_code, ended.result.reason) == ("stop", 1, "on_kill ran")


def test_a_task_without_handler_dies_of_sigterm(watched: Any) -> None:
    job_id, _ = watched.start_marked("sleep")
    watched.host.stop(job_id, 60.0)
    ended = watched.end_of(job_id)
    assert (ended.killed, ended.signal, ended.result) == ("stop", signal.SIGTERM, None)


def test_a_task_that_was_not_settled_yet_is_stopped_too(watched: Any) -> None:
    jobs = [watched.start("sleep", mark=watched.mark()) for _ in range(10)]
    for job_id in jobs:
        watched.host.stop(job_id, 60.0)
    for job_id in jobs:
        assert watched.end_of(job_id).signal == signal.SIGTERM


@pytest.mark.parametrize("kind", ["stubborn", "busy_in_c"])
def test_who_does_not_heed_sigterm_is_killed_after_the_grace(watched: Any, kind: str) -> None:
    job_id, _ = watched.start_marked(kind)
    began = time.monotonic()
    watched.host.stop(job_id, 0.3)
    ended = watched.end_of(job_id)
    assert (ended.killed, ended.signal) == ("stop", signal.SIGKILL)
    assert time.monotonic() - began >= 0.3


def test_a_second_stop_can_only_shorten_the_grace(watched: Any) -> None:
    job_id, _ = watched.start_marked("stubborn")
    watched.host.stop(job_id, 600.0)
    watched.host.stop(job_id, 0.0)
    watched.host.stop(job_id, 600.0)
    assert watched.end_of(job_id).signal == signal.SIGKILL


def test_a_stopped_process_hears_sigterm(watched: Any) -> None:
    job_id, pid = watched.start_marked("polite")
    os.kill(pid, signal.SIGSTOP)
    watched.host.stop(job_id, 60.0)
    assert watched.end_of(job_id).result.reason == "on_kill ran"


def test_a_process_in_another_session_does_not_survive_a_good_end(watched: Any) -> None:
    mark = watched.mark()
    job_id = watched.start("leave_session", mark=mark)
    ended = watched.end_of(job_id)
    assert ended.result.state == "success"
    assert gone(watched.pid_at(mark))


def test_daemons_do_not_survive_a_good_end(watched: Any) -> None:
    mark = watched.mark()
    job_id = watched.start("leave_daemons", mark=mark, count=5)
    assert watched.end_of(job_id).result.state == "success"
    assert [gone(watched.pid_at(f"{mark}.{number}")) for number in range(5)] == [True] * 5


@pytest.mark.parametrize("grace", [0.0, 60.0])
def test_daemons_do_not_survive_a_stop(watched: Any, grace: float) -> None:
    mark = watched.mark()
    job_id = watched.start("leave_daemons", mark=mark, count=5, stay=True)
    pids = [watched.pid_at(mark), *(watched.pid_at(f"{mark}.{number}") for number in range(5))]
    watched.host.stop(job_id, grace)
    watched.end_of(job_id)
    assert [gone(pid) for pid in pids] == [True] * 6


def test_a_family_that_forks_and_flees_is_caught(watched: Any) -> None:
    mark = watched.mark()
    job_id = watched.start("breed", mark=mark)
    assert watched.end_of(job_id).result.state == "success"
    assert marked(f"FLOW_BREED={mark}") == []


def test_the_end_of_one_job_leaves_the_others_alone(watched: Any) -> None:
    mark = watched.mark()
    lasting = watched.start("leave_daemons", mark=mark, count=2, stay=True)
    pids = [watched.pid_at(mark), watched.pid_at(f"{mark}.0"), watched.pid_at(f"{mark}.1")]
    for _ in range(5):
        other = watched.start("leave_daemons", mark=watched.mark(), count=2)
        assert watched.end_of(other).exit_code == 0
    assert [gone(pid) for pid in pids] == [False] * 3
    assert lasting in watched.host.jobs


def test_a_killed_spare_is_replaced(watched: Any) -> None:
    watched.ready()
    for _ in range(3):
        (spare,) = wait_until(partial(spares, watched), "a spare child")
        os.kill(spare, signal.SIGKILL)
        wait_until(partial(gone, spare), "its death")
        job_id = watched.start("nothing")
        ended = watched.end_of(job_id)
        assert ended.exit_code == 0
        if ended.leaving:
            watched.wait_for(JobGone, job_id=job_id)


def spares(watched: Any) -> list[int]:
    return [pid for pid in tree.children(watched.host.zygote) if not gone(pid)]


def test_terminal_signals_to_the_zygote_end_nothing(watched: Any) -> None:
    job_id, _ = watched.start_marked("polite")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(watched.host.zygote, number)
    assert watched.end_of(watched.start("nothing")).exit_code == 0
    assert job_id in watched.host.jobs


def test_a_lease_that_runs_out_kills_all_at_once(watched: Any) -> None:
    watched.host.renew(alarm.now() + 60.0)
    jobs = [watched.start_marked(kind) for kind in ("stubborn", "polite", "busy_in_c")]
    mark = watched.mark()
    jobs.append(
        (watched.start("leave_daemons", mark=mark, count=2, stay=True), watched.pid_at(mark))
    )
    jobs += [(jobs[-1][0], watched.pid_at(f"{mark}.{number}")) for number in range(2)]
    watched.host.renew(alarm.now() + 0.2)
    for job_id, _ in jobs:
        ended = watched.end_of(job_id)
        assert (ended.killed, ended.signal) == ("lease", signal.SIGKILL)
    assert all(gone(pid) for _, pid in jobs)


def test_a_renewed_lease_keeps_jobs_alive(watched: Any) -> None:
    job_id, _ = watched.start_marked("polite")
    first = alarm.now() + limit(0.5)
    watched.host.renew(first)
    watched.host.renew(first + 600.0)
    watched.wait_until(lambda: alarm.now() > first + 0.2, "the first deadline to pass")
    assert not watched.all(JobEnded)
    watched.host.stop(job_id, 60.0)
    assert watched.end_of(job_id).killed == "stop"


def test_without_a_valid_lease_nothing_starts_until_it_is_renewed(watched: Any) -> None:
    watched.host.renew(alarm.now() - 1.0)
    mark = watched.mark()
    ended = watched.end_of(watched.start("sleep", mark=mark))
    assert (ended.killed, ended.exit_code, ended.signal) == ("lease", None, None)
    assert not os.path.exists(mark)
    watched.host.renew(alarm.now() + 60.0)
    assert watched.end_of(watched.start("nothing")).exit_code == 0


def test_a_zygote_that_can_open_nothing_says_so(watched: Any) -> None:
    zygote = watched.ready().host.zygote
    taken = {int(name) for name in os.listdir(f"/proc/{zygote}/fd")}
    lowest_free = next(number for number in range(1000) if number not in taken)
    limits = resource.prlimit(zygote, resource.RLIMIT_NOFILE)
    resource.prlimit(zygote, resource.RLIMIT_NOFILE, (lowest_free, limits[1]))
    jobs = [watched.start("nothing") for _ in range(3)]
    for job_id in jobs:
        assert watched.end_of(job_id).error.startswith("cannot start a process: ")
    resource.prlimit(zygote, resource.RLIMIT_NOFILE, limits)
    assert watched.end_of(watched.start("nothing")).exit_code == 0
