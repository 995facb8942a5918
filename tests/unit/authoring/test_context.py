"""The context makes values when they are asked for, and says what to write for what it lacks."""

from __future__ import annotations

from typing import Any

import pendulum
import pytest

from flow.authoring import runtime
from flow.authoring.context import (
    GONE,
    NOT_YET,
    UnknownName,
    active,
    get_current_context,
    run_context,
    task_context,
)
from flow.authoring.context_keys import CONTEXT_KEYS
from flow.authoring.dag import DAG
from flow.authoring.runtime import FoundXCom, PreviousSuccess
from flow.authoring.variable import Variable
from flow.errors import InvalidXCom, NotFound, UnsupportedArgument, UsageError
from support.runtime import MemoryRuntime
from support.tries import DAY, Echo, echo, try_of


@pytest.fixture
def memory() -> Any:
    memory = MemoryRuntime(previous=PreviousSuccess(DAY, DAY, None, None))
    runtime.use(memory)
    yield memory
    runtime.use(None)


def test_every_name_of_airflow_works_or_is_refused(memory: MemoryRuntime) -> None:
    _, context = echo(1)
    assert set(context) == CONTEXT_KEYS
    assert not CONTEXT_KEYS & (NOT_YET | GONE.keys())


def test_a_copy_has_every_value(memory: MemoryRuntime) -> None:
    _, context = echo(1)

    def take(ds: str, ti: Any, **rest: Any) -> dict[str, Any]:
        return rest

    rest = take(**context)
    assert rest.keys() | {"ds", "ti"} == CONTEXT_KEYS
    assert rest["prev_data_interval_start_success"] == DAY
    assert rest["prev_start_date_success"] is None
    assert dict(context) == context.copy() == {**context}
    assert len(context) == len(CONTEXT_KEYS) == len(list(context.items())) == len(context.values())


def test_what_is_set_is_there() -> None:
    _, context = echo(1)
    context["exception"] = error = ValueError()
    context["ds"] = "never"
    context.update(reason="why")
    assert (context["exception"], context["ds"], context["reason"]) == (error, "never", "why")
    assert context.setdefault("run_id", "x").startswith("scheduled__")
    assert context.setdefault("mine", "x") == context["mine"] == "x"


def test_dates_are_pendulums_in_utc() -> None:
    _, context = echo(1)
    for name in ("logical_date", "data_interval_start", "data_interval_end"):
        assert type(context[name]) is pendulum.DateTime
        assert context[name].timezone_name == "UTC"
    assert context["dag_run"].start_date.add(days=1) == pendulum.datetime(2026, 10, 11)


@pytest.mark.parametrize("name", sorted({*GONE, *NOT_YET, "logcal_date"}))
def test_a_name_that_is_not_there_is_explained(name: str) -> None:
    _, context = echo(1)
    assert name not in context
    assert context.get(name, "default") == "default"
    with pytest.raises(UnknownName) as caught:
        context[name]
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, UnsupportedArgument)
    assert name in str(caught.value)
    assert caught.value.hint


def test_a_run_has_no_task() -> None:
    task, _ = echo(1)
    context = run_context(task.dag, try_of(task).dag_run)
    assert context["ds"] == "2026-10-09"
    assert "ti" not in context


def test_the_current_context_exists_while_a_task_runs() -> None:
    _, context = echo(1)
    with pytest.raises(UsageError, match="no task is running"):
        get_current_context()
    with active(context):
        assert get_current_context() is context
    with pytest.raises(UsageError):
        get_current_context()


def test_without_a_supervisor_there_are_no_variables() -> None:
    with pytest.raises(UsageError, match="process that Flow started"):
        Variable.get("x")


def test_variables(memory: MemoryRuntime) -> None:
    Variable.set("a", 5)
    Variable.set("b", {"x": [1]}, serialize_json=True)
    assert Variable.get("a") == "5"
    assert Variable.get("b", deserialize_json=True) == {"x": [1]}
    assert Variable.get("none", None) is None
    assert Variable.get("none", default_var=3) == 3
    assert Variable.get("none", default={"x": 1}, deserialize_json=True) == {"x": 1}
    with pytest.raises(NotFound, match="'none'"):
        Variable.get("none")
    Variable.set("secret", "hunter2")
    with pytest.raises(UsageError) as caught:
        Variable.get("secret", deserialize_json=True)
    assert "hunter2" not in f"{caught.value}{caught.value.hint}"
    Variable.delete("a")
    with pytest.raises(NotFound):
        Variable.delete("a")


class TestTaskInstance:
    @pytest.fixture
    def ti(self, memory: MemoryRuntime) -> Any:
        memory.xcoms += [
            ("return_value", FoundXCom("a", (), "1")),
            ("return_value", FoundXCom("m", (1,), "20")),
            ("return_value", FoundXCom("m", (0,), "10")),
            ("other", FoundXCom("a", (), "null")),
        ]
        return try_of(Echo(task_id="t", value=1, dag=DAG("d"), retries=2), max_tries=3)

    def test_pull(self, ti: Any) -> None:
        assert ti.xcom_pull("a") == 1
        assert ti.xcom_pull(task_ids="none") is None
        assert ti.xcom_pull("none", default=7) == 7
        assert ti.xcom_pull("a", key="other", default=7) is None
        assert ti.xcom_pull(["m", "a", "none"]) == [10, 20, 1, None]
        assert ti.xcom_pull("m") == [10, 20]
        assert ti.xcom_pull("m", map_indexes=1) == 20
        assert ti.xcom_pull("m", map_indexes=[1, 0]) == [20, 10]
        assert ti.xcom_pull([]) == []

    def test_push(self, ti: Any, memory: MemoryRuntime) -> None:
        ti.xcom_push("key", (1, None))
        assert memory.pushed == {"key": '{"__flow__": "tuple", "items": [1, null]}'}
        with pytest.raises(InvalidXCom, match=r"task 't' cannot push XCom 'f'"):
            ti.xcom_push("f", lambda: 1)
        with pytest.raises(UsageError):
            ti.xcom_push(None, 1)

    def test_the_limit_is_named(self, ti: Any, memory: MemoryRuntime) -> None:
        small = try_of(ti.task, xcom_limit=10)
        small.xcom_push("fits", "x" * 8)
        with pytest.raises(InvalidXCom, match="11 bytes of JSON, and the limit is 10"):
            small.xcom_push("big", "x" * 9)
        with pytest.raises(InvalidXCom, match="12 bytes"):
            small.xcom_push("big", "ü" * 5)

    def test_facts(self, ti: Any) -> None:
        assert (ti.dag_id, ti.task_id, ti.try_number, ti.max_tries) == ("d", "t", 1, 2)
        assert (ti.map_index, ti.operator, ti.state) == (-1, "Echo", "running")
        assert ti.hostname
        assert ti.start_date.timezone_name == "UTC"
        with pytest.raises(AttributeError, match=r"write ti\.logical_date"):
            ti.execution_date  # noqa: B018
        assert task_context(ti)["task_instance_key_str"] == "d__t__20261009"
