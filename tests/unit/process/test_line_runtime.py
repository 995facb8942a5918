"""What user code asks becomes a request on the line, and answers become values or errors."""

from __future__ import annotations

import os
from typing import Any

import pytest

from flow.authoring.runtime import FoundXCom, PreviousSuccess
from flow.errors import FlowError, NotFound, ProtocolError
from flow.process.line_runtime import LineRuntime
from flow.process.messages import (
    Done,
    GetPreviousSuccess,
    GetVariable,
    PreviousRun,
    PullXCom,
    PushXCom,
    Refused,
    SetVariable,
    Value,
    XComs,
    XComValue,
)
from support.tries import DAY


class ScriptedLine:
    """Answers each request with the next of the given answers."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []

    def send(self, message: Any) -> None:
        raise AssertionError("nothing is only sent")

    def ask(self, message: Any) -> Any:
        self.asked.append(message)
        answer = self.answers.pop(0)
        return answer() if callable(answer) else answer


def test_requests_carry_what_was_asked() -> None:
    found = XComs(values=(XComValue(task_id="a", map_path=(1,), value="5"),))
    line = ScriptedLine(Done(), found, Value(value="v"), Done())
    runtime = LineRuntime(line)
    runtime.push_xcom("k", "1")
    pulled = runtime.pull_xcoms(
        task_ids=("a",),
        key="k",
        dag_id="d",
        run_id="r",
        map_path=(1,),
        include_prior_dates=True,
    )
    assert pulled == [FoundXCom("a", (1,), "5")]
    assert runtime.get_variable("x") == "v"
    runtime.set_variable("x", "y", "why")
    assert line.asked == [
        PushXCom(key="k", value="1"),
        PullXCom(
            task_ids=("a",),
            key="k",
            dag_id="d",
            run_id="r",
            map_path=(1,),
            include_prior_dates=True,
        ),
        GetVariable(key="x"),
        SetVariable(key="x", value="y", description="why"),
    ]


def test_the_previous_success_is_asked_for_once() -> None:
    line = ScriptedLine(PreviousRun(data_interval_start=DAY))
    runtime = LineRuntime(line)
    assert runtime.previous_success() == PreviousSuccess(DAY, None, None, None)
    assert runtime.previous_success() is runtime.previous_success()
    assert line.asked == [GetPreviousSuccess()]


def test_absence_and_refusal_are_told_apart() -> None:
    absent = Refused(error="no", missing=True)
    runtime = LineRuntime(ScriptedLine(absent, absent, absent, Refused(error="read only")))
    with pytest.raises(NotFound, match="variable 'x' does not exist"):
        runtime.get_variable("x")
    with pytest.raises(NotFound, match="connection 'x' does not exist"):
        runtime.get_connection("x")
    with pytest.raises(NotFound, match="variable 'x' does not exist"):
        runtime.delete_variable("x")
    with pytest.raises(FlowError, match="variable 'x' cannot be set: read only") as caught:
        runtime.set_variable("x", "y", None)
    assert not isinstance(caught.value, NotFound)


def test_a_wrong_answer_is_an_error() -> None:
    with pytest.raises(ProtocolError, match="Done"):
        LineRuntime(ScriptedLine(Done())).get_variable("x")


def test_after_an_interrupted_request_none_is_answered_wrongly() -> None:
    def interrupt() -> None:
        raise TimeoutError

    line = ScriptedLine(interrupt, Value(value="the answer to x"))
    runtime = LineRuntime(line)
    with pytest.raises(TimeoutError):
        runtime.get_variable("x")
    with pytest.raises(ProtocolError, match="interrupted"):
        runtime.get_variable("y")
    assert line.asked == [GetVariable(key="x")]


def test_a_handler_that_asks_within_a_request_is_refused() -> None:
    def ask_again() -> Value:
        with pytest.raises(ProtocolError, match="in the middle of another"):
            runtime.get_variable("y")
        return Value(value="x")

    runtime = LineRuntime(ScriptedLine(ask_again))
    assert runtime.get_variable("x") == "x"


def test_a_fork_cannot_ask() -> None:
    runtime = LineRuntime(ScriptedLine(Value(value="x")))
    with runtime._turn:
        pid = os.fork()
        if pid == 0:
            try:
                runtime.get_variable("x")
            except ProtocolError:
                os._exit(3)
            finally:
                os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
