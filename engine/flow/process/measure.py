"""Measuring what a task has declared to write, after it ran: its outlets, rendered for its run."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

from flow.authoring import runtime
from flow.authoring.connection import Connection
from flow.authoring.context import active, task_context
from flow.authoring.outlets import File, Outlet, Table
from flow.authoring.template import Renderer
from flow.process import file_tree, output, table_rows, trace
from flow.process.facts import task_instance_of
from flow.process.jobs import MeasureJob, RunInfo
from flow.process.line_runtime import JobLine, LineRuntime
from flow.process.load import load_file
from flow.process.messages import Figures, Measure, Measured
from flow.process.table_rows import Slice


def run_measure(job: MeasureJob, line: JobLine, *, received: float) -> None:
    """Serve a measure job."""
    runtime.use(LineRuntime(line))
    line.send(measured(job, received))
    output.flush()


def measured(job: MeasureJob, received: float) -> Measured:
    """The figures of each outlet, or why the task's outlets cannot be looked at."""
    try:
        task = load_file(job.file, job.root, job.timezone).task(job.run.dag_id, job.task_id)
        context = task_context(task_instance_of(job, task, received))
        renderer = Renderer(task, context)
        interval = _slice(job.run, task.dag.timezone)
        with active(context):
            found = tuple(
                _measure(outlet, renderer, f"outlets[{number}]", interval)
                for number, outlet in enumerate(task.outlets)
            )
        return Measured(outlets=found)
    except BaseException as error:
        return Measured(error=trace.one_line(error))


def _slice(run: RunInfo, zone: ZoneInfo) -> Slice:
    return Slice(run.data_interval_start, run.data_interval_end, zone, zone.key)


def _measure(outlet: Outlet, renderer: Renderer, place: str, interval: Slice) -> Measure:
    name = _name(outlet)
    try:
        rendered = outlet.rendered(renderer, place)
        name = _name(rendered)
        return Measure(name=name, figures=_figures(rendered, interval))
    except Exception as error:
        return Measure(name=name, error=trace.one_line(error))


def _figures(outlet: Outlet, interval: Slice) -> Figures | None:
    if isinstance(outlet, File):
        return file_tree.measure(Path(outlet.path))
    return table_rows.measure(outlet, Connection.get(outlet.conn), interval)


def _name(outlet: Outlet) -> str:
    """The outlet, for people."""
    if isinstance(outlet, Table):
        return f"table {outlet.conn}:{outlet.name}"
    return f"file {outlet.path}"
