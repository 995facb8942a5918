"""The operators behind `@task`, `@task.branch`, `@task.short_circuit` and `@task.bash`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from flow.authoring.template import Renderer
from flow.exceptions import TaskException
from flow.operators.bash import BashOperator
from flow.operators.call import call, check_call
from flow.operators.python import PythonOperator
from flow.operators.skipping import BranchMixin, ShortCircuitMixin

if TYPE_CHECKING:
    from flow.authoring.context import Context


class DecoratedOperator(PythonOperator):
    """A call of an `@task` function."""

    custom_operator_name = "@task"
    suffix_on_collision = True


class DecoratedBranch(BranchMixin, DecoratedOperator):
    """A call of an `@task.branch` function."""

    custom_operator_name = "@task.branch"


class DecoratedShortCircuit(ShortCircuitMixin, DecoratedOperator):
    """A call of an `@task.short_circuit` function."""

    custom_operator_name = "@task.short_circuit"

    def __init__(self, *, ignore_downstream_trigger_rules: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.ignore_downstream_trigger_rules = ignore_downstream_trigger_rules


class DecoratedBash(BashOperator):
    """A call of an `@task.bash` function: what it returns is the command, and is a template."""

    custom_operator_name = "@task.bash"
    suffix_on_collision = True
    template_fields: ClassVar[Sequence[str]] = ("op_args", "op_kwargs", "env", "cwd")

    def __init__(
        self,
        *,
        python_callable: Callable[..., Any],
        op_args: Sequence[Any] = (),
        op_kwargs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(bash_command="", **kwargs)
        self.python_callable = python_callable
        self.op_args: Any = op_args
        self.op_kwargs: Any = op_kwargs or {}
        check_call(python_callable, self.op_args, self.op_kwargs, self.origin)

    def execute(self, context: Context) -> Any:
        """Call the function and run the command that it returns."""
        command = call(self.python_callable, self.op_args, self.op_kwargs, context)
        if not isinstance(command, str) or not command.strip():
            raise TaskException(f"a @task.bash function must return a command, not {command!r}")
        self.bash_command = Renderer(self, context).render(
            command, "bash_command", self.template_ext
        )
        return super().execute(context)
