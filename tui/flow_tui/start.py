"""Starting the terminal UI, and opening it at a place."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flow.errors import UsageError
from flow_tui.app import FlowApp
from flow_tui.leaving import leaving
from flow_tui.memory import Memory
from flow_tui.session import Session
from flow_tui.targets import Kind, Target

if TYPE_CHECKING:
    from flow.settings import Settings


def start(settings: Settings, words: Sequence[str], *, read_only: bool) -> int:
    """Show it until somebody leaves; the exit code. `words`: a DAG, a run of it, a task of that.

    Raises `UsageError` without a terminal, `NotFound` for a place that does not exist, and
    `DatabaseError` when the database cannot be reached at the start.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        raise UsageError(
            "the terminal UI needs a terminal that can draw",
            "the same is printed by flow status, flow dags list, flow grid and others",
        )
    places = _places(settings, words)
    app = FlowApp(Session(settings, read_only=read_only), Memory.of_user(), places)
    with leaving(sys.stdin.fileno(), app.hang_up) as way:
        app.leave = way.begin
        app.run()
    return app.return_code or 0


def _places(settings: Settings, words: Sequence[str]) -> list[Target]:
    """What to open, each from within the one before; with the ids that the words stand for."""
    from flow.ops.deployment import open_deployment
    from flow.ops.references import find_dag, find_run
    from flow.ops.tasks import tries

    with open_deployment(settings) as deployment:
        if not words:
            return []
        dag_id = find_dag(deployment.conn, words[0]).dag_id
        places = [Target(Kind.DAG, (dag_id,))]
        if len(words) > 1:
            run = find_run(deployment.conn, dag_id, words[1]).run
            places.append(Target(Kind.RUN, (dag_id, run.run_id), run.state))
            if len(words) > 2:
                found = tries(deployment, dag_id, run.run_id, words[2])
                places.append(Target(Kind.TASK, (dag_id, run.run_id, str(found.reference))))
        return places
