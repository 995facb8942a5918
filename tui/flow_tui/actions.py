"""Everything that can be done in the terminal UI: one table.

It feeds the footer, the menu behind `?`, the command palette, the remapping of keys in `flow.toml`,
the key sheet and the manual page. Reading keys are lower case, keys that change something upper
case and so far from them; nothing relies on ctrl+enter.
"""

from __future__ import annotations

from typing import Final

from flow.states import FINISHED_RUNS, RunState
from flow_tui import looking
from flow_tui.action import Action, Danger
from flow_tui.deeds import backfills, clearing, dags, marking, runs, tasks
from flow_tui.reasons import any_in, both, flag, of_one_dag
from flow_tui.targets import Kind

_ENDED: Final = frozenset(str(state) for state in FINISHED_RUNS)
_UNFINISHED: Final = frozenset(str(state) for state in RunState) - _ENDED
_RUN: Final = frozenset({Kind.RUN})
_DAG: Final = frozenset({Kind.DAG})
_TASK: Final = frozenset({Kind.TASK})
_BACKFILL: Final = frozenset({Kind.BACKFILL})
_LOG: Final = frozenset({Kind.LOG})
_GRID: Final = frozenset({Kind.GRID})
_PANES: Final = frozenset({Kind.LOG, Kind.PANES})
_RUN_OR_TASK: Final = _RUN | _TASK


def _view(name: str, key: str, verb: str, help: str, *command: str) -> Action:
    """What opens a view, and the words of the command that prints the same."""
    return Action(f"view.{name}", key, verb, help, says=looking.at(*command, words=0))


ACTIONS: Final = (
    _view("home", "1", "Home", "Health, pools, what runs, what failed, what comes next.", "status"),
    _view("dags", "2", "DAGs", "Every DAG with the states of its last runs.", "dags", "list"),
    _view(
        "backfills", "3", "Backfills", "Backfills and how they are coming on.", "backfills", "list"
    ),
    _view("pools", "4", "Pools", "Pools: who holds slots, who waits for them.", "pools", "list"),
    _view(
        "roles", "5", "Roles", "Parsers, schedulers and workers, and whether they live.", "status"
    ),
    _view("errors", "6", "Errors", "DAG files that cannot be imported.", "dags", "errors"),
    _view("audit", "7", "Audit", "Who changed what.", "audit"),
    Action(
        "app.open",
        "enter",
        "open",
        "Open what is under the cursor.",
        in_footer=True,
        says=looking.at_first,
    ),
    Action("app.back", "escape,backspace", "back", "Back to where you came from.", in_footer=True),
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
        says=looking.at("dags", "show"),
    ),
    Action(
        "item.why",
        "w",
        "why",
        "Why it does not move, or ended so.",
        _DAG | _RUN_OR_TASK,
        in_footer=True,
        many=False,
        says=looking.at("why"),
    ),
    Action(
        "dag.runs",
        "a",
        "all runs",
        "The grid of its DAG: all runs and tasks.",
        _RUN_OR_TASK,
        in_footer=True,
        many=False,
        says=looking.at("grid", words=1),
    ),
    Action(
        "run.details",
        "i",
        "run",
        "The run: its conf, interval and version.",
        _RUN_OR_TASK,
        says=looking.at("runs", "show", words=2),
    ),
    Action(
        "task.log",
        "l",
        "log",
        "The log of the task's last try.",
        _TASK,
        in_footer=True,
        many=False,
        says=looking.at("logs"),
    ),
    Action(
        "pane.next",
        "tab,right_square_bracket",
        "next pane",
        "The next pane.",
        _PANES,
        in_footer=True,
    ),
    Action(
        "pane.previous",
        "shift+tab,left_square_bracket",
        "previous pane",
        "The pane before.",
        _PANES,
    ),
    Action("log.older", "left,h", "older try", "The log of the try before.", _LOG),
    Action("log.newer", "right,l", "newer try", "The log of the next try.", _LOG),
    Action(
        "log.follow",
        "f",
        "follow",
        "Go on with the end of the log.",
        _LOG,
        in_footer=True,
        says=looking.at("logs", options=("--follow",)),
    ),
    Action("log.wrap", "z", "wrap", "Fold long lines, or not.", _LOG),
    Action(
        "log.search",
        "slash",
        "search",
        "Find the lines of the log that have some letters.",
        _LOG,
        in_footer=True,
    ),
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
        dags.run,
        in_footer=True,
    ),
    Action(
        "dag.pause",
        "P",
        "pause",
        "Let the DAG start no more runs.",
        _DAG,
        Danger.CHANGE,
        dags.pause,
        flag("paused", "it is paused", present=False),
        in_footer=True,
    ),
    Action(
        "dag.unpause",
        "U",
        "unpause",
        "Let the DAG go on; the plan says what that creates.",
        _DAG,
        Danger.CHANGE,
        dags.unpause,
        flag("paused", "it is not paused", present=True),
        in_footer=True,
    ),
    Action(
        "dag.backfill",
        "B",
        "backfill",
        "Make the runs of past intervals, or do them again.",
        _DAG | _RUN_OR_TASK,
        Danger.CHANGE,
        says=backfills.outline,
        reason=of_one_dag,
    ),
    Action(
        "item.clear",
        "C",
        "clear",
        "Run again: tasks get a full new set of tries.",
        _RUN_OR_TASK,
        Danger.DESTROY,
        clearing.clear,
        in_footer=True,
    ),
    Action(
        "item.success",
        "S",
        "mark success",
        "Say that it succeeded.",
        _RUN_OR_TASK,
        Danger.DESTROY,
        marking.mark("success"),
    ),
    Action(
        "item.failed",
        "F",
        "mark failed",
        "Say that it failed.",
        _RUN_OR_TASK,
        Danger.DESTROY,
        marking.mark("failed"),
    ),
    Action(
        "task.skipped",
        "K",
        "mark skipped",
        "Say that it is not needed.",
        _TASK,
        Danger.DESTROY,
        marking.mark("skipped"),
    ),
    Action(
        "task.hold",
        "H",
        "hold",
        "Let the task not start.",
        _TASK,
        Danger.CHANGE,
        tasks.hold("hold"),
        flag("held", "it is held", present=False),
    ),
    Action(
        "task.release",
        "L",
        "release",
        "Let a held task go on.",
        _TASK,
        Danger.CHANGE,
        tasks.hold("release"),
        flag("held", "it is not held", present=True),
    ),
    Action(
        "run.pause",
        "P",
        "pause run",
        "Let nothing more of the run start.",
        _RUN,
        Danger.CHANGE,
        runs.pause("pause"),
        both(
            any_in(_UNFINISHED, "the run has ended"),
            flag("paused", "it is paused", present=False),
        ),
    ),
    Action(
        "run.resume",
        "U",
        "resume run",
        "Let a paused run go on.",
        _RUN,
        Danger.CHANGE,
        runs.pause("resume"),
        both(
            any_in(_UNFINISHED, "the run has ended"),
            flag("paused", "it is not paused", present=True),
        ),
    ),
    Action(
        "run.cancel",
        "X",
        "cancel run",
        "End the run: stop what runs, skip the rest.",
        _RUN,
        Danger.DESTROY,
        runs.cancel,
        any_in(_UNFINISHED, "the run has ended"),
    ),
    Action(
        "run.delete",
        "D",
        "delete",
        "Remove the run with its tasks, tries and XComs; logs stay.",
        _RUN,
        Danger.DESTROY,
        runs.delete,
        any_in(_ENDED, "the run has not ended; cancel it first"),
    ),
    Action(
        "backfill.pause",
        "P",
        "pause",
        "Let the backfill start no more runs.",
        _BACKFILL,
        Danger.CHANGE,
        backfills.pause("pause"),
        any_in(frozenset({"running"}), "it is not running"),
        in_footer=True,
    ),
    Action(
        "backfill.resume",
        "U",
        "resume",
        "Let a paused backfill go on.",
        _BACKFILL,
        Danger.CHANGE,
        backfills.pause("resume"),
        any_in(frozenset({"paused"}), "it is not paused"),
        in_footer=True,
    ),
    Action(
        "backfill.cancel",
        "X",
        "cancel backfill",
        "End the backfill and its runs.",
        _BACKFILL,
        Danger.DESTROY,
        backfills.cancel,
        any_in(frozenset({"running", "paused"}), "it has ended"),
        in_footer=True,
    ),
)
"""A key stands twice where no screen shows both kinds of things."""

BY_ID: Final = {action.id: action for action in ACTIONS}


def for_kinds(kinds: frozenset[Kind]) -> list[Action]:
    """The actions of a screen that shows such things, and those of every screen."""
    return [action for action in ACTIONS if not action.kinds or action.kinds & kinds]
