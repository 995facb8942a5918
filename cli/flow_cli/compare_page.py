"""What `flow compare` prints."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from flow.task_reference import task_reference
from flow.wording.cells import NOTHING, duration_text, text_of
from flow.wording.differences import change, differences, short_hash
from flow.wording.moments import seconds_between
from flow_cli.output import Column, Output
from flow_cli.records import plain, row_of

if TYPE_CHECKING:
    from flow.ops.dag_diff import FieldChange
    from flow.ops.run_comparison import Comparison, RunSide, TaskPair, TaskSide
    from flow.store.read.dags import Version

ARROW: Final = " -> "
_LOUD: Final = ("slower", "faster")


def _loud(text: str) -> str:
    return "bold yellow" if text.endswith(_LOUD) else ""


RUN_COLUMNS: Final = (Column("what", " "), Column("before"), Column("after"))
TASK_COLUMNS: Final = (
    Column("task"),
    Column("state"),
    Column("took", style=_loud),
    Column("tries"),
    Column("worker"),
)


def print_comparison(printer: Output, found: Comparison) -> None:
    """Print a comparison for people."""
    sides = [(found.before, found.versions.before), (found.after, found.versions.after)]
    before, after = (_run_facts(*side, ZoneInfo(found.timezone)) for side in sides)
    rows = [{"what": name, "before": value, "after": after[name]} for name, value in before.items()]
    printer.table(rows, RUN_COLUMNS, "runs")
    for heading, lines in _sections(found):
        printer.lines(["", heading, *(f"  {line}" for line in lines)], {})
    printer.lines([""], {})
    printer.table([_task_row(pair) for pair in found.tasks], TASK_COLUMNS, "tasks")
    reasons = [line for pair in found.tasks for line in _reason(pair)]
    if reasons:
        printer.lines(["", *reasons], {})


def json_of(found: Comparison) -> dict[str, Any]:
    """A comparison as the JSON object that says the same."""
    graph = found.versions.differences
    return {
        "dag_id": found.dag_id,
        "before": _run_json(found.before, found.versions.before),
        "after": _run_json(found.after, found.versions.after),
        "graph": {name: plain(value) for name, value in graph._asdict().items()},
        "graph_changed": graph.any,
        "code_changed": found.versions.code_changed,
        "conf": plain(found.conf),
        "params": plain(found.params),
        "tasks": [{**row_of(pair), "differs": pair.differs} for pair in found.tasks],
    }


def _run_facts(side: RunSide, version: Version, zone: ZoneInfo) -> dict[str, str]:
    run = side.run
    return {
        "run": run.run_id,
        "state": run.state,
        "reason": text_of(side.reason),
        "type": run.run_type,
        "interval from": _local(run.data_interval_start, zone),
        "started": _local(run.started_at, zone),
        "took": _took(_seconds(side)),
        "version": str(run.version),
        "graph": short_hash(version.spec_hash),
        "code": short_hash(version.code_hash),
    }


def _sections(found: Comparison) -> Iterator[tuple[str, list[str]]]:
    if found.versions.differences.any:
        yield "GRAPH", list(differences(found.versions.differences))
    # A parameter without a default is only in conf, and said there.
    conf = {one.field for one in found.conf}
    params = [one for one in found.params if one.field not in conf]
    for heading, changes in (("CONF", found.conf), ("PARAMS", params)):
        if changes:
            yield heading, _lines(changes)
    fields = [line for pair in found.tasks for line in _field_lines(pair)]
    if fields:
        yield "FIELDS, as the code renders them now", fields


def _field_lines(pair: TaskPair) -> Iterator[str]:
    if pair.error is not None:
        yield pair.error
    if pair.fields:
        yield f"~ {_name(pair)}"
        yield from (f"  {line}" for line in _lines(pair.fields))


def _lines(changes: list[FieldChange]) -> list[str]:
    return [line for one in changes for line in change(one)]


def _task_row(pair: TaskPair) -> dict[str, str]:
    before, after = pair.before, pair.after
    took = _both(_duration(before), _duration(after))
    if pair.outlier is not None and pair.ratio is not None:
        times = pair.ratio if pair.outlier == "slower" else 1 / pair.ratio
        took += f"  {times:.1f}x {pair.outlier}"
    return {
        "task": _name(pair),
        "state": _both(_state(before), _state(after)),
        "took": took,
        "tries": _both(_tries(before), _tries(after)),
        "worker": _both(_worker(before), _worker(after)),
    }


def _both(before: str, after: str) -> str:
    """Two values; one where they are the same."""
    return before if before == after else f"{before}{ARROW}{after}"


def _reason(pair: TaskPair) -> Iterator[str]:
    """Why a task ended in another way in the second run."""
    before, after = pair.before, pair.after
    if after is None or after.reason is None or (before and before.state == after.state):
        return
    yield f"{_name(pair)}: {after.reason}"


def _name(pair: TaskPair) -> str:
    return task_reference(pair.task_id, pair.map_index)


def _duration(side: TaskSide | None) -> str:
    return _took(side.duration_s if side else None)


def _state(side: TaskSide | None) -> str:
    return side.state if side else "absent"


def _tries(side: TaskSide | None) -> str:
    return str(side.try_number) if side else NOTHING


def _worker(side: TaskSide | None) -> str:
    return text_of(side.worker if side else None)


def _seconds(side: RunSide) -> float | None:
    return seconds_between(side.run.started_at, side.run.ended_at)


def _took(seconds: float | None) -> str:
    return NOTHING if seconds is None else duration_text(seconds)


def _local(moment: datetime | None, zone: ZoneInfo) -> str:
    return NOTHING if moment is None else text_of(moment.astimezone(zone))


def _run_json(side: RunSide, version: Version) -> dict[str, Any]:
    return {
        **row_of(side.run),
        "reason": side.reason,
        "duration_s": _seconds(side),
        "spec_hash": version.spec_hash,
        "code_hash": version.code_hash,
        "bundle_version": version.bundle_version,
    }
