"""`default_args`: arguments that a task takes from its DAG and groups when it has none itself.

Every class of operator takes its own: each `__init__` is wrapped, so that a default reaches the
class that names it, however the classes between pass their arguments on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flow.authoring import scope
from flow.authoring.arguments import Signature, supported, unknown
from flow.authoring.origin import Origin
from flow.authoring.vocabulary import TASK
from flow.errors import AuthoringError, UnsupportedArgument

if TYPE_CHECKING:
    from flow.authoring.operator import BaseOperator


def defaults_for(given: dict[str, Any]) -> dict[str, Any]:
    """The defaults for a task with the arguments `given`: of its DAG, its groups, its own."""
    group = given.get("task_group")
    dag = given.get("dag") or (group.dag if group is not None else scope.current_dag())
    inherited: dict[str, Any] = {}
    if dag is not None:
        inherited = (group or scope.current_group(dag)).default_args
    own = given.get("default_args") or {}
    if not inherited and not own:
        return {}
    merged = {**inherited, **own}
    params = [one["params"] for one in (inherited, own) if one.get("params")]
    if params:
        merged["params"] = {name: value for one in params for name, value in one.items()}
    return merged


def with_defaults(init: Callable[..., None]) -> Callable[..., None]:
    """`init` of a class of operator, taking what it was not given from the defaults."""
    signature = Signature(init)

    @functools.wraps(init)
    def wrapped(self: BaseOperator, *args: Any, **given: Any) -> None:
        where, owner = self.origin, type(self).__name__
        if args:
            raise AuthoringError(
                f"{where}: {owner} takes keyword arguments only", f"write {owner}(task_id='…', …)"
            )
        if self.defaults:
            for name in signature.names & self.defaults.keys():
                self.defaults_taken.add(name)
                given.setdefault(name, self.defaults[name])
        if not (signature.open or given.keys() <= signature.names):
            name = next(iter(given.keys() - signature.names))
            raise unknown(owner, name, signature.names, TASK, where)
        for name in signature.required:
            if name not in given:
                raise AuthoringError(
                    f"{where}: {owner} needs the argument {name!r}",
                    f"write {owner}({name}=…), or put it into default_args",
                )
        init(self, **given)

    return wrapped


def with_base_defaults(init: Callable[..., None]) -> Callable[..., None]:
    """As `with_defaults`, for `BaseOperator`: here every argument must be known."""
    signature = Signature(init)
    inner = with_defaults(init)

    @functools.wraps(init)
    def wrapped(self: BaseOperator, *args: Any, **given: Any) -> None:
        owner = type(self).__name__
        if self.defaults:
            for name in self.defaults.keys() & _REFUSABLE - self.defaults_taken - given.keys():
                self.defaults_taken.add(name)
                given[name] = self.defaults[name]
        _refuse_mail(owner, given, self.origin)
        similar = type(self).argument_names
        inner(
            self,
            *args,
            **supported(owner, given, signature.names, TASK, self.origin, similar),
        )

    return wrapped


_REFUSABLE = frozenset({*TASK.not_yet, *TASK.harmless, "email"})


def _refuse_mail(owner: str, given: dict[str, Any], where: Origin) -> None:
    """Accept an address only when Airflow would not write to it either."""
    address = given.pop("email", None)
    if not address:
        return
    quiet = given.get("email_on_failure") is False and given.get("email_on_retry") is False
    if not quiet:
        raise UnsupportedArgument(
            f"{where}: email={address!r} of {owner} is not supported yet",
            "remove it, or set email_on_failure and email_on_retry to False; "
            "on_failure_callback can notify",
        )
