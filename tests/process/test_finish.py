"""A last word: which ends may count before the process is dead, and what happens after it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from flow.process.events import JobEnded, JobGone, JobStarted, ZygoteDied
from process.watched import gone
from waiting import wait_until

LAST_WORD = "child.finished.after_send"


@pytest.fixture
def stopping(make_host: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """A host whose children stand still once they have said their last word."""
    monkeypatch.setenv("FLOW_FAULTS", f"{LAST_WORD}=stop")
    return make_host()


def test_a_success_counts_before_its_process_is_dead(stopping: Any) -> None:
    job_id = stopping.start("nothing")
    ended = stopping.end_of(job_id)
    assert (ended.leaving, ended.result.state, ended.exit_code) == (True, "success", 0)
    assert not gone(stopping.pid_of(job_id))
    assert stopping.host.jobs == frozenset()
    assert stopping.all(JobGone) == []
    stopping.host.stop(job_id, 0.0)
    assert stopping.wait_for(JobGone) == JobGone(job_id)
    assert gone(stopping.pid_of(job_id))


def test_what_strikes_after_the_last_word_changes_nothing(
    make_host: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOW_FAULTS", f"{LAST_WORD}=kill")
    watched = make_host()
    job_id = watched.start("nothing")
    ended = watched.end_of(job_id)
    assert (ended.result.state, ended.exit_code, ended.signal) == ("success", 0, None)
    watched.wait_for(JobGone, job_id=job_id)
    assert len([event for event in watched.told if getattr(event, "job_id", 0) == job_id]) == 3


def test_a_stop_after_the_last_word_is_not_heard(
    make_host: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOW_FAULTS", f"{LAST_WORD}=sleep:0.05")
    watched = make_host()
    job_id = watched.start("nothing")
    watched.end_of(job_id)
    watched.host.stop(job_id, 60.0)
    watched.wait_for(JobGone, job_id=job_id)


def test_every_early_end_is_followed_by_the_death(watched: Any) -> None:
    jobs = [watched.start("nothing") for _ in range(5)]
    for job_id in jobs:
        assert watched.end_of(job_id).leaving
        watched.wait_for(JobGone, job_id=job_id)
        assert gone(watched.pid_of(job_id))
    assert len(watched.all(JobGone)) == len(jobs)


@pytest.mark.parametrize("kind", ["leave_session", "leave_daemons"])
def test_an_end_that_leaves_processes_waits_for_their_deaths(watched: Any, kind: str) -> None:
    mark = watched.mark()
    more = {"count": 1} if kind == "leave_daemons" else {}
    ended = watched.end_of(watched.start(kind, mark=mark, **more))
    assert (ended.leaving, ended.result.state) == (False, "success")
    assert gone(watched.pid_at(f"{mark}.0" if more else mark))


def test_an_end_with_another_thread_waits_for_the_death(watched: Any) -> None:
    job_id = watched.start("leave_thread")
    ended = watched.end_of(job_id)
    assert (ended.leaving, ended.result.state) == (False, "success")
    assert gone(watched.pid_of(job_id))


def test_a_dead_child_that_nobody_waited_for_is_not_left(watched: Any) -> None:
    assert watched.end_of(watched.start("leave_zombie")).leaving


def test_a_failure_waits_for_the_death_since_it_may_be_retried(watched: Any) -> None:
    job_id = watched.start("fail")
    ended = watched.end_of(job_id)
    assert (ended.leaving, ended.result.state) == (False, "failed")
    assert gone(watched.pid_of(job_id))


def test_a_death_without_outcome_waits_for_the_death(watched: Any) -> None:
    assert not watched.end_of(watched.start("leave", how="exit", code=0)).leaving


def test_the_last_word_counts_children_that_were_waited_for(watched: Any) -> None:
    ended = watched.end_of(watched.start("busy_child", size=80_000_000))
    assert ended.leaving
    assert ended.peak_rss > 80_000_000
    assert 0.2 <= ended.cpu_time < 10


def test_a_zygote_that_dies_takes_those_that_leave_with_it(stopping: Any) -> None:
    job_id = stopping.start("nothing")
    pid = stopping.pid_of(job_id)
    stopping.end_of(job_id)
    stopping.host.kill()
    assert stopping.wait_for(ZygoteDied).job_ids == ()
    assert stopping.all(JobGone) == [JobGone(job_id)]
    assert gone(pid)


def test_a_false_last_word_can_still_be_stopped(watched: Any) -> None:
    job_id, pid = watched.start_marked("claim_finished", peak_rss=1, cpu_time=1.0)
    assert watched.end_of(job_id).leaving
    assert not gone(pid)
    watched.host.stop(job_id, 0.0)
    watched.wait_for(JobGone, job_id=job_id)
    wait_until(partial(gone, pid), "its death")


@pytest.mark.parametrize(
    "said",
    [
        {"peak_rss": 2**63, "cpu_time": 1.0},
        {"peak_rss": -1, "cpu_time": 1.0},
        {"peak_rss": 1, "cpu_time": -1.0},
        {"peak_rss": 1, "cpu_time": float("nan")},
        {"peak_rss": 1, "cpu_time": float("inf")},
    ],
)
def test_figures_that_no_column_holds_break_the_protocol(
    watched: Any, said: dict[str, float]
) -> None:
    job_id = watched.start("claim_finished", mark=watched.mark(), **said)
    ended = watched.end_of(job_id)
    assert (ended.result, ended.killed, ended.signal) == (None, "protocol", signal.SIGKILL)


def test_a_job_starts_before_it_ends_however_quick_it_is(
    monkeypatch: pytest.MonkeyPatch, make_host: Callable[..., Any]
) -> None:
    monkeypatch.setenv("FLOW_FAULTS", "zygote.start.after_fork=sleep:0.2")
    watched = make_host()
    watched.ready()
    job_id = watched.start("nothing")
    watched.end_of(job_id)
    kinds = [type(event) for event in watched.told if getattr(event, "job_id", None) == job_id]
    assert kinds[:2] == [JobStarted, JobEnded]
