"""What the operators do when they are executed."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from flow import DAG, TaskGroup, chain, task
from flow.authoring.condition import Condition
from flow.exceptions import AirflowSkipException, CommandFailed, SkipException, TaskException
from flow.operators.bash import BashOperator
from flow.operators.empty import EmptyOperator
from flow.operators.python import BranchPythonOperator, PythonOperator, ShortCircuitOperator
from waiting import wait_until

CONTEXT: dict[str, Any] = {"ds": "2026-01-31", "ti": "the ti", "params": {"n": 3}}


def add(a: int, b: int = 10) -> int:
    return a + b


async def wait_and_add(a: int, ds: str) -> str:
    return f"{a} {ds}"


PYTHON: list[tuple[Any, dict[str, Any], Any]] = [
    (add, {"op_args": [1]}, 11),
    (add, {"op_args": [1], "op_kwargs": {"b": 2}}, 3),
    (lambda ds: ds, {}, "2026-01-31"),
    (lambda ds, n=5: (ds, n), {"op_kwargs": {"n": 6}}, ("2026-01-31", 6)),
    (lambda ds: ds, {"op_kwargs": {"ds": "mine"}}, "mine"),
    (lambda ds: ds, {"op_args": ["first"]}, "first"),
    (
        lambda x, **kwargs: sorted(kwargs),
        {"op_kwargs": {"x": 1}},
        ["ds", "params", "templates_dict", "ti"],
    ),
    (lambda x, **kwargs: kwargs["y"], {"op_kwargs": {"x": 1, "y": 2}}, 2),
    (lambda ds, **context: "ds" in context, {}, False),
    (lambda templates_dict: templates_dict, {"templates_dict": {"a": 1}}, {"a": 1}),
    (lambda *args, ti: (args, ti), {"op_args": [1, 2]}, ((1, 2), "the ti")),
    (lambda ti=None, other=None: (ti, other), {}, ("the ti", None)),
    (dict, {"op_kwargs": {"x": 1}}, {"x": 1}),
    (wait_and_add, {"op_args": [1]}, "1 2026-01-31"),
]


@pytest.mark.parametrize(("function", "arguments", "expected"), PYTHON)
def test_python(function: Any, arguments: dict[str, Any], expected: Any) -> None:
    operator = PythonOperator(task_id="t", python_callable=function, **arguments)
    assert operator.execute(CONTEXT) == expected


def test_values_that_nobody_names_are_not_made() -> None:
    class Lazy(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            raise AssertionError(f"{name} was asked for")

    operator = PythonOperator(task_id="t", python_callable=lambda ds: ds)
    assert operator.execute(Lazy(ds="x")) == "x"


@pytest.mark.parametrize("shown", [True, False])
def test_the_return_value_in_the_log(shown: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    PythonOperator(
        task_id="t", python_callable=lambda: "secret", show_return_value_in_log=shown
    ).execute(CONTEXT)
    assert ("secret" in caplog.text) is shown


NO_FOLDER = "cwd '/nowhere' is not a folder on this host"

BASH: list[tuple[dict[str, Any], Any]] = [
    ({"bash_command": "echo one; echo two"}, "two"),
    ({"bash_command": "echo out; echo err >&2"}, "err"),
    ({"bash_command": "printf 'no newline'"}, "no newline"),
    ({"bash_command": "true"}, ""),
    ({"bash_command": "echo 'a b  '"}, "a b"),
    ({"bash_command": "echo $X", "env": {"X": "1"}}, "1"),
    ({"bash_command": "echo [$OUTER]", "env": {"X": "1"}}, "[]"),
    ({"bash_command": "echo $OUTER$X", "env": {"X": "1"}, "append_env": True}, "outer1"),
    ({"bash_command": "echo $OUTER"}, "outer"),
    ({"bash_command": "echo $FLOW_CTX_DAG_ID", "env": {"X": "1"}}, "d"),
    ({"bash_command": "pwd", "cwd": "/"}, "/"),
    ({"bash_command": "echo 12", "output_processor": int}, 12),
    ({"bash_command": r"printf '\xe4\n'", "output_encoding": "latin-1"}, "ä"),
    ({"bash_command": r"printf '\xff\n'"}, r"\xff"),
    ({"bash_command": ": " + "x" * 200_000 + "\necho long"}, "long"),
    ({"bash_command": "exit 99", "skip_on_exit_code": 3}, CommandFailed(99)),
    ({"bash_command": "exit 99"}, SkipException("exit code 99")),
    ({"bash_command": "exit 4", "skip_on_exit_code": [3, 4]}, SkipException("exit code 4")),
    ({"bash_command": "exit 99", "skip_on_exit_code": None}, CommandFailed(99)),
    ({"bash_command": "exit 3"}, CommandFailed(3)),
    ({"bash_command": "kill -KILL $$"}, TaskException("bash was ended by signal SIGKILL")),
    ({"bash_command": "kill -40 $$"}, TaskException("bash was ended by signal 40")),
    (
        {"bash_command": "pwd", "cwd": "/nowhere"},
        TaskException("cwd '/nowhere' is not a folder on this host"),
    ),
]


@pytest.mark.parametrize(("arguments", "expected"), BASH)
def test_bash(arguments: dict[str, Any], expected: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTER", "outer")
    monkeypatch.setenv("FLOW_CTX_DAG_ID", "d")
    operator = BashOperator(task_id="t", **arguments)
    if isinstance(expected, Exception):
        with pytest.raises(type(expected)) as caught:
            operator.execute(CONTEXT)
        assert (type(caught.value), str(caught.value)) == (type(expected), str(expected))
    else:
        assert operator.execute(CONTEXT) == expected


def test_bash_writes_each_line_at_once_and_cleans_up(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    operator = BashOperator(task_id="t", bash_command="echo one; echo two >&2; pwd")
    folder = operator.execute(CONTEXT)
    assert capfd.readouterr().out.splitlines() == ["one", "two", folder]
    assert not Path(folder).exists()


def test_on_kill_ends_the_command_and_its_children_and_shows_their_last_words(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The command gets time for its trap, and its output still reaches the log."""
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    command = f"""
        trap 'echo cleaned up; kill %1; wait; exit 7' TERM
        sleep 1000 &
        echo ready > {ready}
        wait
    """
    operator = BashOperator(task_id="t", bash_command=command)
    raised: list[BaseException] = []

    def execute() -> None:
        try:
            operator.execute(CONTEXT)
        except TaskException as error:
            raised.append(error)

    thread = threading.Thread(target=execute)
    thread.start()
    ready.read_text()  # a fifo: this waits for the command
    # The command may have spoken before the thread that started it knows its process.
    wait_until(lambda: operator._process is not None, "the process of the command")
    operator.on_kill()
    operator.on_kill()
    thread.join()
    assert [str(error) for error in raised] == ["exit code 7"]
    assert "cleaned up" in capfd.readouterr().out


def test_on_kill_before_and_after_the_command_does_nothing() -> None:
    operator = BashOperator(task_id="t", bash_command="true")
    operator.on_kill()
    operator.execute(CONTEXT)
    operator.on_kill()


def test_an_error_while_the_command_runs_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    operator = BashOperator(
        task_id="t", bash_command="echo x; exec sleep 1000", output_encoding="?"
    )
    with pytest.raises(LookupError):
        operator.execute(CONTEXT)
    process = operator._process
    assert process is not None
    assert process.wait() == -15


class Tree:
    """branch >> [a, b, g, join], [a, b] >> join, in g: x >> y; and z apart."""

    def __init__(self) -> None:
        with DAG("d") as self.dag:
            self.branch = BranchPythonOperator(task_id="branch", python_callable=lambda: None)
            a, b, join = (EmptyOperator(task_id=name) for name in ("a", "b", "join"))
            with TaskGroup("g") as group:
                EmptyOperator(task_id="x") >> EmptyOperator(task_id="y")
            EmptyOperator(task_id="z")
            self.branch >> [a, b, group, join]
            [a, b] >> join


@pytest.mark.parametrize(
    ("choice", "skipped"),
    [
        ("a", "b g.x"),
        (["a"], "b g.x"),
        (("a", "b"), "g.x"),
        ({"a", "g"}, "b"),
        ("join", "a b g.x"),
        ("g", "a b join"),
        ("g.x", "a b join"),
        ("g.y", "a b g.x join"),
        (None, "a b g.x join"),
        ([], "a b g.x join"),
    ],
)
def test_branch_skips(choice: Any, skipped: str) -> None:
    assert Tree().branch.skips_for(choice) == tuple(skipped.split())


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("x", "chose 'x', which does not exist; did you mean 'g.x'?"),
        ("jion", "chose 'jion', which does not exist; did you mean 'join'?"),
        ("zzzz", "which does not exist; downstream are ['a', 'b', 'g.x', 'g.y', 'join']"),
        ("z", "chose 'z', which is not downstream of this task"),
        (["a", "nope"], "chose 'nope'"),
        (3, "must return a task id, a list of task ids or None, not 3"),
        ([1], "must return a task id"),
        (True, "must return a task id"),
    ],
)
def test_branch_mistakes(choice: Any, message: str) -> None:
    with pytest.raises(TaskException) as caught:
        Tree().branch.skips_for(choice)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("hard", "answer", "skipped"),
    [
        (True, False, "a b c"),
        (True, [], "a b c"),
        (True, None, "a b c"),
        (False, False, "a"),
        (True, True, ""),
        (False, "yes", ""),
    ],
)
@pytest.mark.parametrize("decorated", [True, False])
def test_short_circuit_skips(hard: bool, answer: Any, skipped: str, decorated: bool) -> None:
    with DAG("d"):
        if decorated:
            short_circuit = task.short_circuit(ignore_downstream_trigger_rules=hard)
            operator: Any = short_circuit(lambda: answer).override(task_id="sc")().operator
        else:
            operator = ShortCircuitOperator(
                task_id="sc",
                python_callable=lambda: answer,
                ignore_downstream_trigger_rules=hard,
            )
        chain(operator, *(EmptyOperator(task_id=name) for name in "abc"))
    assert operator.skips_for(operator.execute(CONTEXT)) == tuple(skipped.split())


def test_task_bash_renders_and_runs_what_the_function_returns() -> None:
    with DAG("d"):

        @task.bash(env={"X": "{{ ds }}"})
        def command(n: int, ti: Any) -> str:
            assert ti == "the ti"
            return f"echo {n} {{{{ params.n }}}}"

        operator = command(7).operator
    assert operator.execute(CONTEXT) == "7 3"


@pytest.mark.parametrize("returned", [None, 3, " "])
def test_task_bash_needs_a_command(returned: Any) -> None:
    with DAG("d"):
        operator = task.bash(lambda: returned).override(task_id="t")().operator
    with pytest.raises(TaskException, match="must return a command"):
        operator.execute(CONTEXT)


@pytest.mark.parametrize(
    ("decorator", "answer", "skip"),
    [
        (task.skip_if, True, "message"),
        (task.skip_if, False, None),
        (task.run_if, True, None),
        (task.run_if, 0, "message"),
        (task.skip_if, (True, "told"), "message"),
        (task.run_if, (True, "told"), None),
    ],
)
def test_conditions(decorator: Any, answer: Any, skip: str | None) -> None:
    with DAG("d"):
        function = decorator(lambda context: answer, skip_message="message")(
            task(task_id="t")(lambda: 1)
        )
        operator = function().operator
    if skip is None:
        operator.pre_execute(CONTEXT)
    else:
        with pytest.raises(AirflowSkipException, match=skip):
            operator.pre_execute(CONTEXT)


def test_conditions_stack_and_say_why() -> None:
    def weekend(context: Any) -> bool:
        return True

    with DAG("d"):
        function = task.skip_if(weekend)(task.run_if(lambda context: (False, "closed"))(task(add)))
        operator = function(1).operator
    with pytest.raises(SkipException, match="closed"):
        operator.pre_execute(CONTEXT)
    with pytest.raises(SkipException, match=r"weekend\(context\) was True"):
        Condition(weekend, None, True, None)(CONTEXT)


def test_hooks_are_called_with_the_context() -> None:
    calls: list[Any] = []
    operator = EmptyOperator(
        task_id="t", pre_execute=calls.append, post_execute=lambda c, result: calls.append(result)
    )
    operator.pre_execute(CONTEXT)
    operator.post_execute(CONTEXT, "result")
    assert calls == [CONTEXT, "result"]
    assert operator.runs_code


def test_a_task_logs_under_the_name_of_its_operator() -> None:
    assert EmptyOperator(task_id="t").log.name == "flow.task.operators.EmptyOperator"
    assert EmptyOperator(task_id="t", logger_name="mine").log.name == "flow.task.operators.mine"
