"""Tasks that call a Python function: plain, branching, and short-circuiting."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from flow.authoring.context import get_current_context
from flow.authoring.operator import BaseOperator
from flow.errors import InvalidDag
from flow.operators.call import call, check_call
from flow.operators.skipping import BranchMixin, ShortCircuitMixin

if TYPE_CHECKING:
    from flow.authoring.context import Context

__all__ = [
    "BranchPythonOperator",
    "PythonOperator",
    "ShortCircuitOperator",
    "get_current_context",
]


# The usual types first: to ask an abstract one takes longer.
_POSITIONAL = (tuple, list, Sequence)
_NAMED = (dict, Mapping)


class PythonOperator(BaseOperator):
    """Call `python_callable(*op_args, **op_kwargs)`.

    A parameter named after a context key (`ds`, `ti`, …) that `op_kwargs` does not give gets its
    value from the context; `**kwargs` gets the whole context. `templates_dict` is rendered and
    handed over as `templates_dict`. The call is checked when the file is parsed.
    """

    template_fields: ClassVar[Sequence[str]] = ("templates_dict", "op_args", "op_kwargs")
    template_fields_renderers: ClassVar = {
        "templates_dict": "json",
        "op_args": "py",
        "op_kwargs": "py",
    }
    ui_color = "#ffefeb"

    python_callable: Callable[..., Any]
    op_args: Any
    op_kwargs: Any
    templates_dict: dict[str, Any] | None
    show_return_value_in_log: bool

    def __init__(
        self,
        *,
        python_callable: Callable[..., Any],
        op_args: Sequence[Any] | None = None,
        op_kwargs: Mapping[str, Any] | None = None,
        templates_dict: dict[str, Any] | None = None,
        templates_exts: Sequence[str] | None = None,
        show_return_value_in_log: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not callable(python_callable):
            raise InvalidDag(
                f"{self.origin}: python_callable must be a function, not {python_callable!r}"
            )
        # Past `__setattr__`, as `BaseOperator` does it.
        self.__dict__.update(
            python_callable=python_callable,
            op_args=op_args if op_args is not None else (),
            op_kwargs=op_kwargs if op_kwargs is not None else {},
            templates_dict=templates_dict,
            show_return_value_in_log=show_return_value_in_log,
        )
        if templates_exts is not None:
            self.template_ext = tuple(templates_exts)  # type: ignore[misc]  # of this task only
        # Arguments that are templates or XComArgs as a whole are known only when the task runs.
        if isinstance(self.op_args, _POSITIONAL) and isinstance(self.op_kwargs, _NAMED):
            check_call(
                python_callable, self.op_args, self.op_kwargs, self.origin, ("templates_dict",)
            )

    def execute(self, context: Context) -> Any:
        """Call the function and return its result."""
        result = self.execute_callable(context)
        if self.show_return_value_in_log:
            self.log.info("Done. Returned value was: %s", result)
        else:
            self.log.info("Done. Returned value not shown")
        return result

    def execute_callable(self, context: Context) -> Any:
        """Call the function."""
        # Laid over the context, not copied: it may compute a value only when asked for.
        known = ChainMap({"templates_dict": self.templates_dict}, context)
        return call(self.python_callable, self.op_args, self.op_kwargs, known)


class BranchPythonOperator(BranchMixin, PythonOperator):
    """Follow only the tasks or groups whose ids the function returns; skip the others below."""


class ShortCircuitOperator(ShortCircuitMixin, PythonOperator):
    """Go on only when the function returns something true; else skip everything downstream.

    With `ignore_downstream_trigger_rules=False` only the tasks directly downstream are skipped,
    and the trigger rules of the others decide.
    """

    def __init__(self, *, ignore_downstream_trigger_rules: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.ignore_downstream_trigger_rules = ignore_downstream_trigger_rules
