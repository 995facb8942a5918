"""How a try has ended, judged from its process's end and its last word."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from flow.decide import Ending
from flow.decide.reason import Code
from flow.process.ending import StopCause, ending, needs_callback
from flow.process.events import JobEnded
from flow.process.memory import Shortage
from flow.process.messages import Outcome
from flow.states import MAX_LOSSES, TaskState, TryState


@dataclass(frozen=True)
class Try:
    """A try as its supervisor knows it."""

    dag_id: str = "d"
    run_key: int = 1
    task_id: str = "t"
    try_number: int = 1
    max_tries: int = 1
    losses: int = 0
    retry_delay: float = 60.0
    retry_backoff: float = 0.0
    max_retry_delay: float | None = None
    execution_timeout: float | None = 5.0


ONCE = Try()
TWICE = Try(max_tries=2)


def judge(ended: JobEnded, known: Try = ONCE, cause: StopCause | None = None) -> Ending:
    found = ending(known, ended, cause)
    assert found is not None
    return found


def said(state: str, **fields: object) -> JobEnded:
    return JobEnded(job_id=1, result=Outcome(state=state, **fields), exit_code=0)  # type: ignore[arg-type]


def died(**fields: object) -> JobEnded:
    return JobEnded(job_id=1, result=None, **fields)  # type: ignore[arg-type]


def test_what_its_run_has_ended_is_skipped_unless_it_had_succeeded() -> None:
    def stopped(ended: JobEnded) -> Ending:
        found = ending(TWICE, ended, StopCause.STOPPED, "fail_fast: a failed")
        assert found is not None
        return found

    killed = stopped(died(signal=15))
    assert (killed.state, killed.try_state) == (TaskState.SKIPPED, TryState.SKIPPED)
    assert (killed.reason, killed.signal) == ("fail_fast: a failed", 15)
    assert stopped(said("failed", reason="x")).state is TaskState.SKIPPED
    assert stopped(said("success", value="1")).state is TaskState.SUCCESS
    assert needs_callback(killed.state, died(signal=15)) is None


@pytest.mark.parametrize("state", ["success", "skipped"])
def test_what_the_process_said_counts(state: str) -> None:
    found = judge(said(state, value="1", skips=("x",)))
    assert (found.state, found.try_state) == (TaskState(state), TryState(state))
    assert (found.value, found.skips, found.exit_code) == ("1", ("x",), 0)


@pytest.mark.parametrize(
    "state", ["deferred", "up_for_retry", "running", "none", "scheduled", "nonsense", ""]
)
def test_what_is_no_end_of_a_try_is_a_failure(state: str) -> None:
    found = judge(said(state), TWICE)
    assert (found.state, found.try_state) == (TaskState.UP_FOR_RETRY, TryState.FAILED)
    assert repr(state) in (found.reason or "")


class TestOtherCodeThanThePinned:
    MISMATCH = said("failed", reason="code_mismatch: x", mismatch=True, code_hash="c")

    def test_costs_no_retry(self) -> None:
        found = judge(self.MISMATCH)
        assert (found.state, found.try_state) == (TaskState.SCHEDULED, TryState.CODE_MISMATCH)
        assert (found.again, found.delay) == (True, None)
        assert (found.reason, found.code_hash) == ("code_mismatch: x", "c")
        assert needs_callback(found.state, self.MISMATCH) is None

    @pytest.mark.parametrize(
        ("max_tries", "state"), [(1, TaskState.FAILED), (2, TaskState.UP_FOR_RETRY)]
    )
    def test_is_a_failure_after_as_many_in_a_row_as_losses(
        self, max_tries: int, state: TaskState
    ) -> None:
        found = judge(self.MISMATCH, Try(max_tries=max_tries, losses=MAX_LOSSES))
        assert (found.state, found.try_state) == (state, TryState.FAILED)
        assert (found.again, found.reason) == (False, "code_mismatch: x")
        assert found.code is Code.CODE_MISMATCH

    def test_a_failure_that_only_says_so_is_a_failure(self) -> None:
        found = judge(said("failed", reason="code_mismatch: x"))
        assert (found.state, found.code) == (TaskState.FAILED, None)


def test_a_failure_is_retried_unless_it_says_that_it_must_not_be() -> None:
    assert judge(said("failed"), TWICE).state is TaskState.UP_FOR_RETRY
    assert judge(said("failed", retry=False), TWICE).state is TaskState.FAILED
    assert judge(said("failed"), ONCE).state is TaskState.FAILED


def test_the_exit_code_a_task_meant_outweighs_that_of_its_process() -> None:
    assert judge(said("failed", exit_code=3)).exit_code == 3
    assert judge(said("failed")).exit_code == 0


@pytest.mark.parametrize(
    ("ended", "reason"),
    [
        (died(exit_code=0), "exit code 0 and reported no result"),
        (died(signal=11), "killed by SIGSEGV"),
        (died(signal=63), "killed by signal 63"),
        (
            died(signal=9, shortage=Shortage(1, "on this host", 2**30 * 39 // 10, 2**32)),
            "out_of_memory: the process was killed by SIGKILL and the kernel counted a kill for "
            "want of memory on this host; it had used up to 3.9 GiB of 4.0 GiB",
        ),
        (
            died(signal=9, shortage=Shortage(0, "on this host", 950 * 2**20, 2**30)),
            "killed by SIGKILL; it had used up to 950 MiB of 1.0 GiB of memory, so that memory "
            "may have run out",
        ),
        (died(error="cannot start a process: no memory"), "no memory"),
    ],
)
def test_a_silent_death_is_a_failure_that_names_its_cause(ended: JobEnded, reason: str) -> None:
    found = judge(ended)
    assert found.state is TaskState.FAILED
    assert reason in (found.reason or "")
    assert found.code == (Code.OUT_OF_MEMORY if reason.startswith("out_of_memory") else None)


def test_time_that_ran_out_is_a_failure_even_if_the_task_complained_on_its_way_out() -> None:
    for ended in (died(signal=9, killed="stop"), said("failed", reason="SIGTERM")):
        found = judge(ended, cause=StopCause.TIMEOUT)
        assert found.state is TaskState.FAILED
        assert (found.reason or "").startswith("execution_timeout")
        assert found.code is Code.TIMEOUT
    assert judge(said("success"), cause=StopCause.TIMEOUT).state is TaskState.SUCCESS


@pytest.mark.parametrize(
    ("ended", "cause", "closed"),
    [
        (died(signal=9, killed="lease"), None, TryState.LEASE_EXPIRED),
        (died(killed="zygote"), None, TryState.LOST),
        (died(signal=15, killed="stop"), StopCause.DRAIN, TryState.DRAINED),
        (said("failed"), StopCause.DRAIN, TryState.DRAINED),
    ],
)
def test_what_is_nobodys_fault_costs_no_retry_until_it_is_too_often(
    ended: JobEnded, cause: StopCause | None, closed: TryState
) -> None:
    found = judge(ended, ONCE, cause)
    assert (found.state, found.try_state, found.again) == (TaskState.SCHEDULED, closed, True)
    found = judge(ended, Try(losses=MAX_LOSSES), cause)
    assert (found.state, found.try_state, found.again) == (TaskState.FAILED, TryState.FAILED, False)


@pytest.mark.parametrize("state", ["success", "skipped"])
def test_what_a_try_still_does_while_its_worker_drains_counts(state: str) -> None:
    assert judge(said(state), cause=StopCause.DRAIN).state == state


def test_nobody_hears_of_a_try_that_no_longer_counts() -> None:
    assert ending(ONCE, said("success"), StopCause.STALE) is None


@pytest.mark.parametrize("ended", [said("success"), said("failed"), died(signal=9)])
def test_of_a_cleared_try_only_its_death_counts(ended: JobEnded) -> None:
    found = judge(ended, ONCE, StopCause.CLEARED)
    assert (found.state, found.try_state) == (TaskState.NONE, TryState.RESTARTED)
    assert (found.signal, needs_callback(found.state, ended)) == (ended.signal, None)


def test_only_a_try_that_could_not_speak_is_owed_a_callback() -> None:
    assert needs_callback(TaskState.FAILED, said("failed")) is None
    assert needs_callback(TaskState.FAILED, died(signal=9)) == "failure"
    assert needs_callback(TaskState.UP_FOR_RETRY, died(signal=9)) == "retry"
    assert needs_callback(TaskState.SCHEDULED, died(killed="lease")) is None
