"""The pauses of a role that has lost the database."""

from flow.roles.loop import FIRST_PAUSE, LONGEST_PAUSE, Backoff


def test_pauses_double_up_to_the_longest_and_begin_anew_after_a_success():
    backoff = Backoff()
    full = FIRST_PAUSE
    for _ in range(10):
        assert full / 2 <= backoff.pause() <= full
        full = min(2 * full, LONGEST_PAUSE)
    assert full == LONGEST_PAUSE
    backoff.reset()
    assert backoff.pause() <= FIRST_PAUSE
