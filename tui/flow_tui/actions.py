"""Everything that can be done in the terminal UI: one table.

It feeds the footer, the menu behind `?`, the command palette, the remapping of keys in `flow.toml`,
the key sheet and the manual page. Reading keys are lower case, keys that change something upper
case and so far from them; nothing relies on ctrl+enter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from flow.states import FINISHED_RUNS
from flow_tui import deeds
from flow_tui.deeds import Deed
from flow_tui.targets import Kind, Target


class Danger(StrEnum):
    """What an action may cost."""

    NONE = "none"
    """It only looks."""
    CHANGE = "change"
    """It changes something that another action undoes."""
    DESTROY = "destroy"
    """It ends, replaces or removes something: the dialog defaults to Cancel."""


Make = Callable[[Sequence[Target]], list[Deed]]
Reason = Callable[[Sequence[Target]], str | None]


class Action(NamedTuple):
    """One line of the table.

    `key` is a key of Textual, several with commas. `kinds` are what it acts on; empty: on the app.
    `make` is what it does to them; None: the screen does it, with its method `action_…`.
    `reason` is why it is disabled for these targets, None if it is not.
    """

    id: str
    key: str
    verb: str
    help: str
    kinds: frozenset[Kind] = frozenset()
    danger: Danger = Danger.NONE
    make: Make | None = None
    reason: Reason | None = None
    in_footer: bool = False
    many: bool = True
    """Whether it takes several targets at once."""

    @property
    def changes(self) -> bool:
        """Whether it changes something, so that `--read-only` forbids it."""
        return self.danger is not Danger.NONE

    def disabled(self, targets: Sequence[Target], *, read_only: bool) -> str | None:
        """Why it cannot be done to these targets now; None: it can."""
        if self.changes and read_only:
            return "this terminal UI is read-only"
        return self.unfit(targets) or (self.reason(targets) if self.reason else None)

    def takes(self, targets: Sequence[Target]) -> bool:
        """Whether it is for things of these kinds."""
        return not self.kinds or {target.kind for target in targets} <= self.kinds

    def unfit(self, targets: Sequence[Target]) -> str | None:
        """Why it is not for such targets at all; None: it is."""
        if self.kinds and not targets:
            return "nothing is selected"
        if not self.takes(targets):
            return f"not for a {targets[0].kind}"
        if len(targets) > 1 and not self.many:
            return "one at a time"
        return None


def _any_in(states: frozenset[str], otherwise: str) -> Reason:
    def reason(targets: Sequence[Target]) -> str | None:
        fits = any(target.state is None or target.state in states for target in targets)
        return None if fits else otherwise

    return reason


def _flag(flag: str, otherwise: str, *, present: bool) -> Reason:
    def reason(targets: Sequence[Target]) -> str | None:
        fits = any((flag in target.flags) is present for target in targets)
        return None if fits else otherwise

    return reason


def _both(*reasons: Reason) -> Reason:
    def reason(targets: Sequence[Target]) -> str | None:
        return next((text for one in reasons if (text := one(targets))), None)

    return reason


_ENDED: Final = frozenset(str(state) for state in FINISHED_RUNS)
_UNFINISHED: Final = frozenset({"queued", "running"})
_RUN: Final = frozenset({Kind.RUN})
_DAG: Final = frozenset({Kind.DAG})
_TASK: Final = frozenset({Kind.TASK})
_BACKFILL: Final = frozenset({Kind.BACKFILL})
_LOG: Final = frozenset({Kind.LOG})
_GRID: Final = frozenset({Kind.GRID})
_PANES: Final = frozenset({Kind.LOG, Kind.PANES})
_RUN_OR_TASK: Final = _RUN | _TASK

ACTIONS: Final = (
    Action("view.home", "1", "Home", "Health, pools, what runs, what failed, what comes next."),
    Action("view.dags", "2", "DAGs", "Every DAG with the states of its last runs."),
    Action("view.backfills", "3", "Backfills", "Backfills and how they are coming on."),
    Action("view.pools", "4", "Pools", "Pools: who holds slots, who waits for them."),
    Action("view.roles", "5", "Roles", "Parsers, schedulers and workers, and whether they live."),
    Action("view.errors", "6", "Errors", "DAG files that cannot be imported."),
    Action("view.audit", "7", "Audit", "Who changed what."),
    Action("app.open", "enter", "open", "Open what is under the cursor.", in_footer=True),
    Action("app.back", "escape,backspace", "back", "Back to where you came from."),
    Action("app.filter", "slash", "filter", "Show only what fits some letters.", in_footer=True),
    Action("app.help", "question_mark", "keys", "What can be done here.", in_footer=True),
    Action("app.palette", "colon,ctrl+p", "palette", "Find any action by its name."),
    Action("app.copy", "y", "copy command", "Copy the flow command that shows the same."),
    Action("app.refresh", "ctrl+r", "refresh", "Look at the database now."),
    Action("app.quit", "q,ctrl+q", "quit", "Leave; nothing that runs is concerned."),
    Action("app.suspend", "ctrl+z", "suspend", "Back to the shell, which has fg to come back."),
    Action("mark.toggle", "space", "select", "Select this one, for an action on several."),
    Action("mark.range", "v", "select range", "Select from here to where the cursor goes."),
    Action("mark.none", "u", "unselect", "Select nothing."),
    Action(
        "dag.details",
        "d",
        "details",
        "Schedule, tasks, next runs, versions, warnings.",
        _DAG,
        in_footer=True,
        many=False,
    ),
    Action(
        "item.why",
        "w",
        "why",
        "Why it does not move, or ended so.",
        _DAG | _RUN_OR_TASK,
        in_footer=True,
        many=False,
    ),
    Action("run.details", "i", "run", "The run: its conf, interval and version.", _RUN_OR_TASK),
    Action(
        "task.log", "l", "log", "The log of the task's last try.", _TASK, in_footer=True, many=False
    ),
    Action("pane.next", "tab,right_square_bracket", "next pane", "The next pane.", _PANES),
    Action(
        "pane.previous",
        "shift+tab,left_square_bracket",
        "previous pane",
        "The pane before.",
        _PANES,
    ),
    Action("log.older", "left,h", "older try", "The log of the try before.", _LOG),
    Action("log.newer", "right,l", "newer try", "The log of the next try.", _LOG),
    Action("log.follow", "f", "follow", "Go on with the end of the log.", _LOG, in_footer=True),
    Action("log.wrap", "z", "wrap", "Fold long lines, or not.", _LOG),
    Action("log.next", "n", "next match", "The next line that fits the search.", _LOG),
    Action("log.previous", "N", "previous match", "The line before that fits the search.", _LOG),
    Action("grid.fold", "z", "fold", "Fold the group or the mapped task, or unfold it.", _GRID),
    Action("grid.fold_all", "Z", "fold all", "Fold all groups, or unfold them.", _GRID),
    Action(
        "dag.run",
        "R",
        "run",
        "Start a run now.",
        _DAG,
        Danger.CHANGE,
        deeds.run,
        in_footer=True,
    ),
    Action(
        "dag.pause",
        "P",
        "pause",
        "Let the DAG start no more runs.",
        _DAG,
        Danger.CHANGE,
        deeds.pause,
        _flag("paused", "it is paused", present=False),
        in_footer=True,
    ),
    Action(
        "dag.unpause",
        "U",
        "unpause",
        "Let the DAG go on; the plan says what that creates.",
        _DAG,
        Danger.CHANGE,
        deeds.unpause,
        _flag("paused", "it is not paused", present=True),
        in_footer=True,
    ),
    Action(
        "dag.backfill",
        "B",
        "backfill",
        "Make the runs of past intervals, or do them again.",
        _DAG | _RUN_OR_TASK,
        Danger.CHANGE,
    ),
    Action(
        "item.clear",
        "C",
        "clear",
        "Run again: tasks get a full new set of tries.",
        _RUN_OR_TASK,
        Danger.DESTROY,
        deeds.clear,
        in_footer=True,
    ),
    Action(
        "item.success",
        "S",
        "mark success",
        "Say that it succeeded.",
        _RUN_OR_TASK,
        Danger.DESTROY,
        deeds.mark("success"),
    ),
    Action(
        "item.failed",
        "F",
        "mark failed",
        "Say that it failed.",
        _RUN_OR_TASK,
        Danger.DESTROY,
        deeds.mark("failed"),
    ),
    Action(
        "task.skipped",
        "K",
        "mark skipped",
        "Say that it is not needed.",
        _TASK,
        Danger.DESTROY,
        deeds.mark("skipped"),
    ),
    Action(
        "task.hold",
        "H",
        "hold",
        "Let the task not start.",
        _TASK,
        Danger.CHANGE,
        deeds.hold("hold"),
        _flag("held", "it is held", present=False),
    ),
    Action(
        "task.release",
        "L",
        "release",
        "Let a held task go on.",
        _TASK,
        Danger.CHANGE,
        deeds.hold("release"),
        _flag("held", "it is not held", present=True),
    ),
    Action(
        "run.pause",
        "P",
        "pause run",
        "Let nothing more of the run start.",
        _RUN,
        Danger.CHANGE,
        deeds.pause_runs("pause"),
        _both(
            _any_in(_UNFINISHED, "the run has ended"),
            _flag("paused", "it is paused", present=False),
        ),
    ),
    Action(
        "run.resume",
        "U",
        "resume run",
        "Let a paused run go on.",
        _RUN,
        Danger.CHANGE,
        deeds.pause_runs("resume"),
        _flag("paused", "it is not paused", present=True),
    ),
    Action(
        "run.cancel",
        "X",
        "cancel",
        "End the run: stop what runs, skip the rest.",
        _RUN,
        Danger.DESTROY,
        deeds.cancel,
        _any_in(_UNFINISHED, "the run has ended"),
    ),
    Action(
        "run.delete",
        "D",
        "delete",
        "Remove the run with its tasks, tries and XComs; logs stay.",
        _RUN,
        Danger.DESTROY,
        deeds.delete,
        _any_in(_ENDED, "the run has not ended; cancel it first"),
    ),
    Action(
        "backfill.pause",
        "P",
        "pause",
        "Let the backfill start no more runs.",
        _BACKFILL,
        Danger.CHANGE,
        deeds.pause_backfill("pause"),
        _any_in(frozenset({"running"}), "it is not running"),
        in_footer=True,
    ),
    Action(
        "backfill.resume",
        "U",
        "resume",
        "Let a paused backfill go on.",
        _BACKFILL,
        Danger.CHANGE,
        deeds.pause_backfill("resume"),
        _any_in(frozenset({"paused"}), "it is not paused"),
        in_footer=True,
    ),
    Action(
        "backfill.cancel",
        "X",
        "cancel",
        "End the backfill and its runs.",
        _BACKFILL,
        Danger.DESTROY,
        deeds.cancel_backfill,
        _any_in(frozenset({"running", "paused"}), "it has ended"),
        in_footer=True,
    ),
)
"""A key stands twice where no screen shows both kinds of things."""

BY_ID: Final = {action.id: action for action in ACTIONS}


def for_kinds(kinds: frozenset[Kind]) -> list[Action]:
    """The actions of a screen that shows such things, and those of every screen."""
    return [action for action in ACTIONS if not action.kinds or action.kinds & kinds]
