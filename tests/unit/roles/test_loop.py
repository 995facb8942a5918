"""The pauses of a role that has lost the database."""

import pytest
from psycopg import errors

from flow.roles.loop import FIRST_PAUSE, LONGEST_PAUSE, Backoff, log_failure, patience
from flow.store.connect import LineStalled


def test_pauses_double_up_to_the_longest_and_begin_anew_after_a_success():
    backoff = Backoff()
    full = FIRST_PAUSE
    for _ in range(10):
        assert full / 2 <= backoff.pause() <= full
        full = min(2 * full, LONGEST_PAUSE)
    assert full == LONGEST_PAUSE
    backoff.reset()
    assert backoff.pause() <= FIRST_PAUSE


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (errors.DeadlockDetected("deadlock detected\nDETAIL: x"), "stood in the way of another"),
        (errors.QueryCanceled("statement timeout"), "a statement took too long"),
        (errors.AdminShutdown("terminating connection"), "the database does not answer"),
        (LineStalled("no answer within 5 s"), "the database does not answer"),
    ],
)
def test_what_the_server_has_ended_is_not_called_an_outage(
    error: Exception, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    log_failure("schedule", error)
    [record] = caplog.records
    reason = str(error).splitlines()[0]
    assert words in record.getMessage()
    assert record.getMessage().endswith(f"({reason}); trying again")


def test_a_stalled_line_is_given_up_well_before_a_role_is_lost() -> None:
    assert patience(300) == 60
    assert patience(60) == 12
    assert patience(15) == 5
    assert patience(4) == 5
