"""`EmptyOperator`: does nothing; joins and splits dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flow.authoring.operator import BaseOperator

if TYPE_CHECKING:
    from flow.authoring.context import Context


class EmptyOperator(BaseOperator):
    """A task that does nothing. Without callbacks the scheduler itself sets it to success."""

    ui_color = "#e8f7e4"

    def execute(self, context: Context) -> Any:
        """Do nothing."""

    @property
    def runs_code(self) -> bool:
        """Only when a subclass executes something, or a callback or hook is to be called."""
        hooks = (
            self.on_execute_callback,
            self.on_success_callback,
            self.pre_execute_hook,
            self.post_execute_hook,
        )
        return any(hooks) or type(self).execute is not EmptyOperator.execute
