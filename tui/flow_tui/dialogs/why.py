"""Why something does not move, or ended so: what `flow why` says."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from flow.ops import why
from flow.wording.why import describe
from flow_tui.command import command
from flow_tui.dialogs.text import TextDialog
from flow_tui.targets import Target


class WhyDialog(TextDialog):
    """The answer about one thing."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("w", "dismiss", show=False)]

    def __init__(self, target: Target) -> None:
        super().__init__(
            command("why", *target.words),
            lambda deployment: describe(why.why(deployment, *target.words)),
        )
