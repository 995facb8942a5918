from hypothesis import given
from hypothesis import strategies as st

from flow.decide import RetryPolicy, retry_delay
from flow.decide.retry import MAX_DELAY


def test_a_fixed_delay_is_exact():
    assert retry_delay(RetryPolicy(delay=90.0), 7, "x") == 90.0


@given(st.floats(0.1, 600), st.floats(1.1, 5), st.integers(1, 30), st.text(max_size=20))
def test_backoff_stays_between_once_and_twice_its_base_and_below_the_cap(delay, factor, n, seed):
    got = retry_delay(RetryPolicy(delay=delay, backoff=factor), n, seed)
    base = max(1.0, delay * factor ** (n - 1))
    assert got <= MAX_DELAY
    assert min(base, MAX_DELAY) <= got < max(2 * (base + 1), MAX_DELAY + 1)
    assert got == retry_delay(RetryPolicy(delay=delay, backoff=factor), n, seed)


def test_the_cap_of_the_task_counts():
    assert retry_delay(RetryPolicy(delay=60.0, backoff=2.0, cap=100.0), 9, "x") == 100.0


def test_different_tasks_return_at_different_times():
    policy = RetryPolicy(delay=300.0, backoff=2.0)
    assert len({retry_delay(policy, 3, f"task{n}") for n in range(50)}) > 40


def test_an_enormous_exponent_is_the_cap():
    assert retry_delay(RetryPolicy(delay=60.0, backoff=10.0), 5000, "x") == MAX_DELAY
