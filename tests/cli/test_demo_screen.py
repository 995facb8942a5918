"""What `flow demo` shows while it runs."""

from __future__ import annotations

import io
from datetime import UTC, datetime

from rich.console import Console
from rich.live import Live

from flow.ops.demo import Scene
from flow.ops.grid import Grid, GridTask
from flow.states import TaskState
from flow.store.read.grid import GridRun
from flow_cli.demo_screen import Lines, LiveGrid
from flow_cli.output import Format, Output

RUNS = [
    GridRun(
        run_key=day,
        run_id=f"scheduled__{day}",
        run_type="scheduled",
        state="running",
        logical_date=datetime(2026, 10, day, tzinfo=UTC),
        started_at=None,
        ended_at=None,
        version=1,
    )
    for day in (8, 9)
]


def scene(*loads: TaskState) -> Scene:
    tasks = [
        GridTask("extract", [], [TaskState.SUCCESS, TaskState.SUCCESS]),
        GridTask("load", [], list(loads)),
    ]
    return Scene([Grid("shop", "UTC", RUNS, tasks)])


def test_lines_tell_each_end_once():
    err = io.StringIO()
    lines = Lines(Output(Format.TEXT, io.StringIO(), err))
    lines.show(scene(TaskState.SUCCESS, TaskState.RUNNING))
    lines.say("Something happened")
    lines.show(scene(TaskState.SUCCESS, TaskState.FAILED))
    assert err.getvalue().splitlines() == [
        "  shop  2026-10-08  extract: success",
        "  shop  2026-10-08  load: success",
        "  shop  2026-10-09  extract: success",
        "Something happened",
        "  shop  2026-10-09  load: failed",
    ]


def test_grid_has_a_row_for_each_task_and_a_column_for_each_run():
    out = io.StringIO()
    console = Console(file=out, width=60, force_terminal=False)
    with Live(console=console, auto_refresh=False) as live:
        LiveGrid(console, live).show(scene(TaskState.SUCCESS, TaskState.RUNNING))
    rows = [line.split() for line in out.getvalue().splitlines() if line.strip()]
    assert rows == [
        ["shop"],
        ["10", "10"],
        ["08", "09"],
        ["run", "▶", "▶"],
        ["extract", "✓", "✓"],
        ["load", "✓", "▶"],
        ["▶", "running", "✓", "success"],
    ]
