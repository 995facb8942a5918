"""What there is to say of one DAG, and of the last import of a DAG file."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from flow.wording.cells import counted, text_of
from flow.wording.differences import short_hash
from flow.wording.groups import INDENT, entered

if TYPE_CHECKING:
    from flow.graph import TaskSpec
    from flow.ops.dag_deletion import Deletion
    from flow.ops.dags import DagDetails
    from flow.store.read.dags import FileReport


def describe(details: DagDetails) -> list[str]:
    """A DAG as lines."""
    dag = details.dag
    zone = ZoneInfo(dag.timezone)
    place = f"{dag.file}:{details.line}" if details.line else dag.file
    lines = [
        f"DAG        {dag.dag_id}",
        *([f"           {details.description}"] if details.description else []),
        f"STATE      {_state(details)}",
        f"SCHEDULE   {dag.schedule}",
        f"CATCHUP    {text_of(dag.catchup)}",
        f"OWNER      {text_of(dag.owner)}",
        f"TAGS       {text_of(dag.tags)}",
        f"FILE       {place}",
        f"VERSION    {dag.version}",
        f"LIMITS     {dag.max_active_runs} runs, {details.spec.max_active_tasks} tasks of a run"
        + (f", {details.spec.concurrency} tasks over all runs" if details.spec.concurrency else ""),
        "",
        "TASKS",
        *_tree(details),
    ]
    if details.next_runs:
        lines += ["", "NEXT RUNS" + (" (once it is unpaused)" if dag.paused else "")]
        lines += [
            f"  {_local(run.run_at, zone)} for the interval from "
            f"{_local(run.data_interval_start, zone)}"
            for run in details.next_runs
        ]
    lines += ["", "VERSIONS"]
    lines += [
        f"  {version.number}  {_local(version.created_at, zone)}"
        f"  graph {short_hash(version.spec_hash)}  code {short_hash(version.code_hash)}"
        for version in details.versions
    ]
    if details.error:
        lines += ["", "IMPORT ERROR", f"  {details.error}", f"  see: flow dags errors {dag.file}"]
    if details.timetable:
        lines += ["", "TIMETABLE ERROR", f"  {details.timetable.error}"]
        lines += [f"  {line}" for line in (details.timetable.traceback or "").splitlines()]
        lines += ["  what is listed as next runs is made; after that there is nothing"]
    if details.warnings:
        lines += ["", "WARNINGS", *(f"  {warning}" for warning in details.warnings)]
    return lines


def describe_file(report: FileReport) -> list[str]:
    """What the last import of a file said, as lines."""
    lines = [
        f"FILE      {report.file}",
        f"PARSED    {text_of(report.parsed_at)}, in {report.seconds:.2f} s",
        *_slowest(report),
        f"ERROR     {text_of(report.error)}",
    ]
    if report.line is not None:
        lines.append(f"LINE      {report.line}")
    if report.since is not None:
        lines.append(f"SINCE     {text_of(report.since)}")
    for heading, text in (("TRACEBACK", report.traceback), ("OUTPUT", report.output)):
        if text:
            lines += ["", heading, *(f"  {line}" for line in text.splitlines())]
    if report.warnings:
        lines += ["", "WARNINGS", *(f"  {warning}" for warning in report.warnings)]
    return lines


def describe_deletion(deletion: Deletion) -> list[str]:
    """What goes with a DAG, as lines."""
    runs = counted(deletion.run_count, "run")
    if deletion.runs:
        runs += f" ({', '.join(f'{count} {state}' for state, count in deletion.runs.items())})"
    versions = "older version" if deletion.begins_anew else "version"
    rest = (counted(deletion.versions, versions), counted(deletion.backfills, "backfill"))
    lines = [f"{deletion.dag_id}: {', '.join((runs, *rest))}"]
    if deletion.first_start is not None and deletion.last_start is not None:
        first, last = deletion.first_start.isoformat(), deletion.last_start.isoformat()
        lines.append(f"  intervals from {first} to {last}")
    return lines


def slow_imports(report: FileReport) -> list[str]:
    """The modules that took longest, and who has imported them."""
    return [
        f"{name} {seconds:.2f} s" + (f" (imported by {importer})" if importer else "")
        for name, seconds, importer in report.imports
    ]


def _slowest(report: FileReport) -> list[str]:
    """The modules that took longest."""
    texts = slow_imports(report)
    return [f"{'IMPORTS' if at == 0 else '':<10}{text}" for at, text in enumerate(texts)]


def _state(details: DagDetails) -> str:
    if not details.present:
        return "gone: its file does not define it any more; no new runs are created"
    if not details.dag.paused:
        return "active"
    return f"paused {details.dag.pause_reason}" if details.dag.pause_reason else "paused"


def _tree(details: DagDetails) -> list[str]:
    """Groups with their tasks, each level in the order of execution."""
    names = [INDENT * (len(groups) + 1) + task.task_id for task, groups in details.by_group]
    width = max(map(len, names), default=0)
    operators = max((len(task.operator) for task, _ in details.by_group), default=0)
    lines: list[str] = []
    inside: tuple[str, ...] = ()
    for name, (task, groups) in zip(names, details.by_group, strict=True):
        lines += [f"{INDENT * (depth + 1)}{group}/" for depth, group in entered(inside, groups)]
        lines.append(f"{name:<{width}}  {task.operator:<{operators}}{_place(task)}".rstrip())
        inside = groups
    return lines or ["  none"]


def _place(task: TaskSpec) -> str:
    """What a task waits for, and how."""
    after = f"  after {', '.join(task.upstream)}" if task.upstream else ""
    rule = "" if task.trigger_rule == "all_success" else f"  when {task.trigger_rule.value}"
    return after + rule


def _local(moment: datetime, zone: ZoneInfo) -> str:
    return text_of(moment.astimezone(zone))
