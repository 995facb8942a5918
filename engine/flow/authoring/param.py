"""`Param`: a value that a run may be started with, and its default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from flow.authoring.arguments import checked, not_yet
from flow.authoring.vocabulary import PARAM
from flow.authoring.xcom_arg import Reference

if TYPE_CHECKING:
    from flow.authoring.dag import DAG

_MISSING: Final = object()


class Param:
    """A parameter of a DAG or task: `params={"rows": Param(100, description="…")}`.

    A plain value is a Param without words. Values are not checked against a schema yet, so an
    argument that would be part of one is refused.
    """

    @checked("Param", PARAM)
    def __init__(
        self,
        default: Any = _MISSING,
        description: str | None = None,
        title: str | None = None,
        section: str | None = None,
        description_md: str | None = None,
        examples: list[Any] | None = None,
    ) -> None:
        if default is _MISSING:
            raise not_yet("a Param without a default", "give it a default")
        self.value = default
        self.description = description
        self.title = title
        self.section = section
        self.description_md = description_md
        self.examples = examples

    def resolve(self) -> Any:
        """The default."""
        return self.value

    def __repr__(self) -> str:
        return f"Param({self.value!r})"


class DagParam(Reference):
    """An argument of an `@dag` function, as its body sees it: the value of the run's param."""

    def __init__(self, dag: DAG, name: str, default: Any) -> None:
        self.dag = dag
        self.name = name
        self.default = default

    def resolve(self, context: Mapping[str, Any]) -> Any:
        """The value that the run was started with, else the default."""
        return context["params"][self.name]

    def __str__(self) -> str:
        return f"{{{{ params[{self.name!r}] }}}}"

    def __repr__(self) -> str:
        return f"DagParam({self.name!r})"


def value_of(param: Any) -> Any:
    """The default of a Param; anything else is its own value."""
    return param.value if isinstance(param, Param) else param
