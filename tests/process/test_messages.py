"""What goes over a job line: large things, wrong things, too much of it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from flow.errors import ProtocolError
from flow.process.events import ZygoteReady
from flow.process.messages import GetVariable, Value
from process.watched import gone


def test_a_message_over_the_limit_is_refused_where_it_is_sent(
    make_host: Callable[..., Any],
) -> None:
    watched = make_host(limit=10_000)
    message = watched.value_of(watched.start("oversize", size=20_000))
    assert "message of 20,0" in message
    assert "limit of 10,000 bytes" in message


def test_a_job_over_the_limit_is_refused(make_host: Callable[..., Any]) -> None:
    watched = make_host(limit=10_000)
    with pytest.raises(ProtocolError, match=r"limit of 10,000 bytes"):
        watched.start("nothing", unused="x" * 10_000)
    assert watched.host.jobs == frozenset()


def test_a_large_job_and_a_large_answer_arrive(watched: Any) -> None:
    job_id = watched.start("ask", env={"BIG": "x" * 100})
    text = "y" * 5_000_000
    watched.answers = lambda asked: watched.host.reply(job_id, Value(value=text))
    assert watched.value_of(job_id) == text
    large = "x" * 3_000_000
    ended = watched.end_of(watched.host.start(watched.job("nothing", env={"BIG": large})))
    assert ended.exit_code == 0


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("ffffffff", "larger than the limit"),
        ("00000003c0c0c0", "may not send"),
        ("00000001c0", "may not send"),
        # {"type": "start"}: a message, but not a child's
        ("0000000c81a474797065a57374617274", "may not send"),
    ],
)
def test_a_child_that_breaks_the_protocol_is_ended_without_result(
    watched: Any, text: str, error: str
) -> None:
    job_id = watched.start("raw", text=text, mark=watched.mark())
    ended = watched.end_of(job_id)
    assert (ended.result, ended.killed) == (None, "protocol")
    assert error in ended.error
    assert gone(watched.pid_of(job_id))


def test_half_a_message_holds_up_nobody(watched: Any) -> None:
    half, _ = watched.start_marked("raw", text="0000ffff01")
    assert watched.end_of(watched.start("nothing")).exit_code == 0
    assert half in watched.host.jobs


def test_a_flood_of_requests_holds_up_nobody(watched: Any) -> None:
    """The child is not read any more while answers to it wait, so it blocks itself."""
    watched.answers = lambda asked: watched.host.reply(asked.job_id, Value(value="v" * 1000))
    job_id, _ = watched.start_marked("flood")
    for _ in range(5):
        assert watched.end_of(watched.start("nothing")).exit_code == 0

    def heard() -> int:
        return sum(getattr(e, "message", None) == GetVariable(key="k" * 200) for e in watched.told)

    def blocked() -> bool:
        before = heard()
        watched.pump(0.05)
        return heard() == before

    watched.wait_until(blocked, "the flood to ebb")
    watched.host.stop(job_id, 0.0)
    assert watched.end_of(job_id).signal == signal.SIGKILL


def test_a_zygote_says_when_it_is_ready(make_host: Callable[..., Any]) -> None:
    watched = make_host()
    assert watched.host.events() == []
    watched.wait_for(ZygoteReady)
