"""`@task_group`: a function becomes a task group each time that it is called in a DAG."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NoReturn, overload

from flow.authoring.arguments import Signature, not_yet, supported
from flow.authoring.group import TaskGroup
from flow.authoring.origin import caller
from flow.authoring.vocabulary import GROUP, MAPPED_GROUP
from flow.errors import AuthoringError

_KNOWN = Signature(TaskGroup.__init__).names


class GroupFunction:
    """What `@task_group` makes of a function."""

    def __init__(self, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
        where = caller()
        if not callable(function):
            raise AuthoringError(f"{where}: @task_group goes above a function, not {function!r}")
        supported("@task_group", arguments, _KNOWN, GROUP, where)
        functools.update_wrapper(self, function)
        self.function = function
        self.arguments = arguments

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Make a group and call the function in it.

        The result is what the function returns, so that dependencies attach to it; the group
        itself when it returns nothing. A second call makes a group `name__1`.
        """
        where = caller()
        try:
            inspect.signature(self.function).bind(*args, **kwargs)
        except TypeError as error:
            raise AuthoringError(f"{where}: {self.function.__name__}(): {error}") from None
        arguments = {
            "group_id": self.function.__name__,
            "tooltip": inspect.getdoc(self.function) or "",
            "add_suffix_on_collision": True,
            **self.arguments,
        }
        with TaskGroup(**arguments) as group:
            result = self.function(*args, **kwargs)
        return group if result is None else result

    def override(self, **arguments: Any) -> GroupFunction:
        """The same function with other arguments of its group."""
        return GroupFunction(self.function, {**self.arguments, **arguments})

    def partial(self, **_: Any) -> NoReturn:
        """Not supported yet."""
        raise not_yet("a mapped task group (partial)", MAPPED_GROUP)

    def expand(self, **_: Any) -> NoReturn:
        """Not supported yet."""
        raise not_yet("a mapped task group (expand)", MAPPED_GROUP)

    def expand_kwargs(self, *_: Any) -> NoReturn:
        """Not supported yet."""
        raise not_yet("a mapped task group (expand_kwargs)", MAPPED_GROUP)


@overload
def task_group(group_id: Callable[..., Any], /) -> GroupFunction: ...
@overload
def task_group(
    group_id: str | None = None, **arguments: Any
) -> Callable[[Callable[..., Any]], GroupFunction]: ...
def task_group(
    group_id: Callable[..., Any] | str | None = None, **arguments: Any
) -> GroupFunction | Callable[[Callable[..., Any]], GroupFunction]:
    """A decorator: `@task_group`, or `@task_group(group_id="load", tooltip="…")`.

    Arguments are those of `TaskGroup`; the group's id is by default the function's name, its
    tooltip the docstring.
    """
    if callable(group_id):
        return GroupFunction(group_id, arguments)
    if group_id is not None:
        arguments["group_id"] = group_id
    return lambda function: GroupFunction(function, arguments)
