"""`@dag`: a function becomes a DAG each time that it is called."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, overload

from flow.authoring import collect
from flow.authoring.arguments import Signature, supported
from flow.authoring.dag import DAG
from flow.authoring.origin import caller
from flow.authoring.vocabulary import DAG as WORDS
from flow.errors import AuthoringError

_KNOWN = Signature(DAG.__init__).names
_ARGUMENTS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class DagFunction:
    """What `@dag` makes of a function. Its parameters are params of the DAG."""

    def __init__(self, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
        self.origin = caller()
        if not callable(function):
            raise AuthoringError(f"{self.origin}: @dag goes above a function, not {function!r}")
        supported("@dag", arguments, _KNOWN, WORDS, self.origin)
        functools.update_wrapper(self, function)
        self.function = function
        self.arguments = arguments
        self.called = False
        collect.note_factory(self)

    def __call__(self, *args: Any, **kwargs: Any) -> DAG:
        """Make the DAG. Arguments are the defaults of its params."""
        self.called = True
        where = caller()
        signature = inspect.signature(self.function)
        if any(p.kind not in _ARGUMENTS for p in signature.parameters.values()):
            raise AuthoringError(f"{where}: a @dag function takes named parameters only")
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise AuthoringError(
                f"{where}: {self.function.__name__}(): {error}",
                "each parameter of a @dag function is a param of the DAG and needs a default",
            ) from None
        bound.apply_defaults()
        made = DAG(
            **{
                "dag_id": self.function.__name__,
                "doc_md": inspect.getdoc(self.function),
                **self.arguments,
            }
        )
        with made:
            self.function(
                **{name: made.param(name, value) for name, value in bound.arguments.items()}
            )
        return made


@overload
def dag(dag_id: Callable[..., Any], /) -> DagFunction: ...
@overload
def dag(
    dag_id: str | None = None, **arguments: Any
) -> Callable[[Callable[..., Any]], DagFunction]: ...
def dag(
    dag_id: Callable[..., Any] | str | None = None, **arguments: Any
) -> DagFunction | Callable[[Callable[..., Any]], DagFunction]:
    """A decorator: `@dag`, or `@dag(schedule="@daily", start_date=…)`.

    Arguments are those of `DAG`; the id is by default the function's name, `doc_md` the docstring.
    The DAG exists when the function has been called: `my_dag()`.
    """
    if callable(dag_id):
        return DagFunction(dag_id, arguments)
    if dag_id:
        arguments["dag_id"] = dag_id
    return lambda function: DagFunction(function, arguments)
