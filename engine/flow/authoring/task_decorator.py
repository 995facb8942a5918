"""`@task`: a function becomes a task each time that it is called in a DAG."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn, overload

from flow.authoring.arguments import nearest, not_yet, supported
from flow.authoring.condition import Condition
from flow.authoring.origin import Origin, caller
from flow.authoring.vocabulary import MAPPED_TASK, PROGRAM, TASK, WAIT
from flow.authoring.xcom_arg import XComArg
from flow.errors import AuthoringError, UnsupportedArgument
from flow.operators.decorated import (
    DecoratedBash,
    DecoratedBranch,
    DecoratedOperator,
    DecoratedShortCircuit,
)

Kind = type[DecoratedOperator] | type[DecoratedBash]


class TaskFunction:
    """What `@task` makes of a function. Calling it in a DAG makes a task and gives its result."""

    def __init__(
        self,
        function: Callable[..., Any],
        operator_class: Kind,
        arguments: dict[str, Any],
    ) -> None:
        where = caller()
        if not callable(function) or isinstance(function, type):
            raise AuthoringError(f"{where}: @task goes above a function, not {function!r}")
        functools.update_wrapper(self, function)
        self.function = function
        self.operator_class = operator_class
        self._check(arguments, where)
        self.arguments = arguments

    def _check(self, arguments: dict[str, Any], where: Origin) -> None:
        kind = self.operator_class
        supported(f"{kind.custom_operator_name}", arguments, kind.argument_names, TASK, where)

    def __call__(self, *args: Any, **kwargs: Any) -> XComArg:
        """Make a task of this call; the result stands in for what the function will return."""
        # A functools.partial has no name: then the task needs an id.
        arguments = {"task_id": getattr(self.function, "__name__", ""), **self.arguments}
        if "multiple_outputs" not in arguments and self.operator_class is not DecoratedBash:
            arguments["multiple_outputs"] = returns_mapping(self.function)
        operator = self.operator_class(
            python_callable=self.function, op_args=args, op_kwargs=kwargs, **arguments
        )
        if self.function.__doc__ and not operator.doc and not operator.doc_md:
            operator.doc_md = inspect.getdoc(self.function)
        return XComArg(operator)

    def override(self, **arguments: Any) -> TaskFunction:
        """The same function with other arguments of its task: `f.override(task_id="g")(1)`."""
        self._check(arguments, caller())
        other = TaskFunction.__new__(TaskFunction)
        other.__dict__.update(self.__dict__)
        other.arguments = {**self.arguments, **arguments}
        return other

    def partial(self, **_: Any) -> NoReturn:
        """Not supported yet."""
        raise not_yet("dynamic task mapping (partial)", MAPPED_TASK)

    def expand(self, **_: Any) -> NoReturn:
        """Not supported yet."""
        raise not_yet("dynamic task mapping (expand)", MAPPED_TASK)

    def expand_kwargs(self, *_: Any, **__: Any) -> NoReturn:
        """Not supported yet."""
        raise not_yet("dynamic task mapping (expand_kwargs)", MAPPED_TASK)

    def __repr__(self) -> str:
        return f"<{self.operator_class.custom_operator_name} {self.function!r}>"


class Decorator:
    """One kind of `@task`, with or without arguments: `@task`, `@task()`, `@task(retries=3)`."""

    def __init__(self, operator_class: Kind) -> None:
        self._operator_class = operator_class

    @overload
    def __call__(self, function: Callable[..., Any], /) -> TaskFunction: ...
    @overload
    def __call__(self, **arguments: Any) -> Callable[[Callable[..., Any]], TaskFunction]: ...
    def __call__(self, *functions: Callable[..., Any], **arguments: Any) -> Any:
        """Decorate the function given, or make a decorator of the arguments."""
        if not functions:
            return lambda function: TaskFunction(function, self._operator_class, arguments)
        if len(functions) > 1 or arguments or not callable(functions[0]):
            name = self._operator_class.custom_operator_name
            raise AuthoringError(
                f"{caller()}: {name} takes keyword arguments only", f"write {name}(task_id='…')"
            )
        return TaskFunction(functions[0], self._operator_class, {})


LATER: Final = {
    "branch_external_python": PROGRAM,
    "branch_virtualenv": PROGRAM,
    "docker": PROGRAM,
    "external_python": PROGRAM,
    "kubernetes": PROGRAM,
    "kubernetes_cmd": PROGRAM,
    "pyspark": PROGRAM,
    "sensor": WAIT,
    "stub": PROGRAM,
    "virtualenv": PROGRAM,
}
"""Decorators that Airflow has, and what to write instead."""


class TaskDecorators(Decorator):
    """`@task` itself, and what stands behind its dot."""

    def __init__(self) -> None:
        super().__init__(DecoratedOperator)
        self.python = Decorator(DecoratedOperator)
        self.bash = Decorator(DecoratedBash)
        self.branch = Decorator(DecoratedBranch)
        self.short_circuit = Decorator(DecoratedShortCircuit)

    @staticmethod
    def skip_if(
        condition: Callable[..., Any], skip_message: str | None = None
    ) -> Callable[[TaskFunction], TaskFunction]:
        """Skip the task when `condition(context)` is true. Stands above `@task`.

        The condition may return `(bool, message)`.
        """
        return _conditional(condition, skip_message, skip_when=True)

    @staticmethod
    def run_if(
        condition: Callable[..., Any], skip_message: str | None = None
    ) -> Callable[[TaskFunction], TaskFunction]:
        """Skip the task unless `condition(context)` is true. Stands above `@task`.

        The condition may return `(bool, message)`.
        """
        return _conditional(condition, skip_message, skip_when=False)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in LATER:
            raise not_yet(f"@task.{name}", LATER[name])
        known = ["python", "bash", "branch", "short_circuit", "skip_if", "run_if"]
        meant = nearest(name, known)
        hint = f"did you mean @task.{meant}?" if meant else f"there are {', '.join(known)}"
        raise UnsupportedArgument(f"{caller()}: there is no @task.{name}", hint)


def _conditional(
    condition: Callable[..., Any], message: str | None, *, skip_when: bool
) -> Callable[[TaskFunction], TaskFunction]:
    word = "skip_if" if skip_when else "run_if"
    if not callable(condition):
        raise AuthoringError(f"{caller()}: @task.{word} takes a function of the context")

    def decorate(function: TaskFunction) -> TaskFunction:
        if not isinstance(function, TaskFunction):
            raise AuthoringError(f"{caller()}: @task.{word} must stand above @task, not below it")
        before = function.arguments.get("pre_execute")
        return function.override(pre_execute=Condition(condition, message, skip_when, before))

    return decorate


def returns_mapping(function: Callable[..., Any]) -> bool:
    """Whether the function's return annotation is a dict, another mapping, or a TypedDict."""
    annotation = getattr(function, "__annotations__", {}).get("return")
    if annotation is None:
        return False
    try:
        # Only this annotation is read: others may name what exists for type checkers only.
        holder = type("Annotated", (), {"__annotations__": {"return": annotation}})
        space = getattr(inspect.unwrap(function), "__globals__", {})
        annotation = typing.get_type_hints(holder, globalns=space)["return"]
    except (NameError, TypeError, SyntaxError, AttributeError):
        return False  # a name that exists for type checkers only; Airflow infers no dict either
    kind = typing.get_origin(annotation) or annotation
    return isinstance(kind, type) and issubclass(kind, Mapping)


task: Final = TaskDecorators()
"""`@task`, `@task.bash`, `@task.branch`, `@task.short_circuit`, `@task.skip_if`, `@task.run_if`."""
