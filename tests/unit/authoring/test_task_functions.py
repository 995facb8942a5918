"""`@task`, `@task_group` and `@dag`: what they infer, name and hand on."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

import pytest

from flow import DAG, XComArg, dag, task, task_group
from flow.authoring.param import DagParam
from flow.authoring.task_decorator import returns_mapping
from flow.authoring.xcom_arg import references
from flow.errors import InvalidDag
from flow.operators.empty import EmptyOperator

if TYPE_CHECKING:
    from decimal import Decimal


class Row(TypedDict):
    a: int


def a_dict() -> dict: ...
def a_typed_dict() -> dict[str, int]: ...
def a_mapping() -> Mapping[str, int]: ...
def a_row() -> Row: ...
def an_argument_for_checkers(x: Decimal) -> dict[str, int]: ...
def a_number() -> int: ...
def a_list() -> list[dict[str, int]]: ...
def a_choice() -> dict[str, int] | None: ...
def nothing() -> None: ...
def unannotated(): ...
def for_checkers_only() -> Decimal: ...


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (a_dict, True),
        (a_typed_dict, True),
        (a_mapping, True),
        (a_row, True),
        (an_argument_for_checkers, True),
        (a_number, False),
        (a_list, False),
        (a_choice, False),
        (nothing, False),
        (unannotated, False),
        (for_checkers_only, False),
        (functools.partial(a_dict), False),
    ],
)
def test_multiple_outputs_are_inferred_from_the_annotation(function: Any, expected: bool) -> None:
    assert returns_mapping(function) is expected
    with DAG("d"):
        assert task(task_id="t")(lambda: 1)().operator.multiple_outputs is False
        assert task(task_id="u", multiple_outputs=True)(lambda: 1)().operator.multiple_outputs


def test_a_partial_needs_a_task_id() -> None:
    function = functools.partial(lambda x: x, 1)
    with DAG("d") as made:
        task(task_id="t")(function)()
        with pytest.raises(InvalidDag, match="task_id must be a non-empty string"):
            task(function)()
    assert made.task_ids == ["t"]


def test_repeated_calls_get_numbers_within_their_group() -> None:
    @task
    def load() -> None: ...

    with DAG("d") as made:
        load()
        load()
        EmptyOperator(task_id="load__2")
        load()
        load.override(task_id="other")()
        group = task_group(group_id="g")(lambda: [load(), load()])
        group()
        group()
    assert made.task_ids == [
        "load",
        "load__1",
        "load__2",
        "load__3",
        "other",
        "g.load",
        "g.load__1",
        "g__1.load",
        "g__1.load__1",
    ]


def test_a_group_function_gives_its_result_or_itself() -> None:
    with DAG("d") as made:

        @task_group
        def steps(number: int) -> Any:
            """Some steps."""
            return task(task_id="t")(lambda: number)()

        @task_group(group_id="quiet", tooltip="hush")
        def quiet() -> None:
            EmptyOperator(task_id="t")

        result, group, again = steps(1), quiet(), steps(2)
    assert isinstance(result, XComArg)
    assert (group.group_id, group.tooltip) == ("quiet", "hush")
    assert made.task_ids == ["steps.t", "quiet.t", "steps__1.t"]
    assert made.task_group_dict["steps"].tooltip == "Some steps."
    assert again.operator.task_group.group_id == "steps__1"


def test_a_dag_function_sees_params_and_gives_the_dag() -> None:
    seen: list[Any] = []

    @dag(params={"x": 0, "z": 9})
    def daily(x: int = 1, y: str = "a") -> None:
        """What it does."""
        seen.extend([x, y, f"{x}"])

    made = daily(y="b")
    assert isinstance(made, DAG)
    assert (made.dag_id, made.doc_md) == ("daily", "What it does.")
    assert made.params == {"x": 1, "y": "b", "z": 9}
    assert [type(one) for one in seen] == [DagParam, DagParam, str]
    assert seen[2] == "{{ params['x'] }}"
    assert seen[1].resolve({"params": {"y": "of the run"}}) == "of the run"


def test_params_of_a_task_lie_over_those_of_its_dag() -> None:
    with DAG("d", params={"a": 1, "b": 1}, default_args={"params": {"b": 2, "c": 2}}) as made:
        one = EmptyOperator(task_id="one", params={"c": 3})
    assert made.params == {"a": 1, "b": 1, "c": 2}
    assert one.params == {"a": 1, "b": 1, "c": 3}


def test_results_as_text_keys_and_equals() -> None:
    with DAG("d"):
        result = task(task_id="t")(lambda: 1)()
    assert str(result) == "{{ task_instance.xcom_pull(task_ids='t', key='return_value') }}"
    assert (result["a"].key, result["a"]) == ("a", XComArg(result.operator, "a"))
    assert result != result["a"]
    assert len({result, XComArg(result.operator)}) == 1


def test_references_are_found_wherever_rendering_looks() -> None:
    class Holder:
        template_fields = ("inside", "absent")

    with DAG("d"):
        a, b, c, e = (task(task_id=name)(lambda: 1)() for name in "abce")
    holder: Any = Holder()
    holder.inside, holder.itself = [e], holder
    deep: list[Any] = [{"x": (a, {b})}, "text", None, holder, Holder]
    deep.append(deep)
    assert set(references(deep)) == {a, b, e}
    assert c not in set(references(deep))
