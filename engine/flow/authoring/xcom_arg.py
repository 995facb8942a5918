"""`XComArg`: the result of a task, standing in for a value that exists only when it has run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from flow.authoring.arguments import not_yet
from flow.authoring.node import Node
from flow.authoring.origin import caller
from flow.authoring.vocabulary import WITHIN
from flow.errors import InvalidDag

if TYPE_CHECKING:
    from flow.authoring.operator import BaseOperator

RETURN_VALUE = "return_value"


class Reference:
    """A value that is known only while a task runs: templating replaces it by `resolve(context)`.

    References may stand anywhere in lists, tuples, sets and dicts of a template field.
    """

    def resolve(self, context: Mapping[str, Any]) -> Any:
        """The value, given the context of the task that needs it."""
        raise NotImplementedError

    def operators(self) -> Iterator[BaseOperator]:
        """The tasks that have to run before the value exists."""
        return iter(())


class XComArg(Reference, Node):
    """The XCom `key` of a task. `result["name"]` is the XCom `name` (see `multiple_outputs`)."""

    def __init__(self, operator: BaseOperator, key: str = RETURN_VALUE) -> None:
        self.operator = operator
        self.key = key

    @property
    def end(self) -> BaseOperator:
        """The task whose result this is."""
        return self.operator

    def operators(self) -> Iterator[BaseOperator]:
        """The task whose result this is."""
        yield self.operator

    def resolve(self, context: Mapping[str, Any]) -> Any:
        """Pull the value; None when the task pushed none."""
        return context["ti"].xcom_pull(task_ids=self.operator.task_id, key=self.key)

    def __getitem__(self, key: str) -> XComArg:
        if not isinstance(key, str):
            raise InvalidDag(
                f"{caller()}: a result takes the name of an XCom, not {key!r}",
                "pick the element inside the task that uses it",
            )
        return XComArg(self.operator, key)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            f"{caller()}: the result of {self.operator.task_id!r} is known only when it has run; "
            "iterate inside the task that uses it"
        )

    def map(self, function: Any) -> Any:
        """Not supported yet."""
        raise not_yet("XComArg.map", WITHIN)

    def zip(self, *others: Any, **_: Any) -> Any:
        """Not supported yet."""
        raise not_yet("XComArg.zip", WITHIN)

    def concat(self, *others: Any) -> Any:
        """Not supported yet."""
        raise not_yet("XComArg.concat", WITHIN)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, XComArg):
            return NotImplemented
        return self.operator is other.operator and self.key == other.key

    def __hash__(self) -> int:
        return hash((id(self.operator), self.key))

    def __str__(self) -> str:
        """A template that pulls the value: an XComArg may be put into an f-string."""
        task_id, key = self.operator.task_id, self.key
        return f"{{{{ task_instance.xcom_pull(task_ids={task_id!r}, key={key!r}) }}}}"

    def __repr__(self) -> str:
        return f"XComArg({self.operator!r}, {self.key!r})"


def references(value: Any) -> Iterator[Reference]:
    """Every reference that rendering will find in a value, however deep.

    It looks into lists, tuples, sets, values of dicts, and objects with `template_fields`.
    """
    waiting, seen = [value], set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, Reference):
            yield one
        elif isinstance(one, (str, bytes, int, float)) or one is None or id(one) in seen:
            continue
        elif isinstance(one, (list, tuple, set, frozenset)):
            waiting += one
        elif isinstance(one, (dict, Mapping)):
            waiting += one.values()
        elif not isinstance(one, type):
            fields = getattr(type(one), "template_fields", ())
            waiting += [getattr(one, field) for field in fields if hasattr(one, field)]
        seen.add(id(one))
