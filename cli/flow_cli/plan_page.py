"""What `flow plan` prints of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flow.wording.cells import counted, text_of
from flow.wording.differences import differences
from flow_cli.check_page import relative
from flow_cli.records import row_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flow.ops.next_runs import NextRun
    from flow.ops.planning.change import ChangePlan
    from flow.ops.planning.effect import Effect

_SIGNS = {"added": "+", "removed": "-"}
_SAID = {
    "added": "is new",
    "removed": "is gone: no run is created any more",
    "changed": "changes",
    "moved": "moves to this file",
    "code": "has other code and the same graph",
}


def describe_change(plan: ChangePlan, folder: str) -> tuple[list[str], dict[str, Any]]:
    """A plan as lines for people, and as the JSON object that says the same."""
    lines = [line for effect in plan.effects for line in _effect(effect, folder)]
    for one in plan.broken:
        at = f":{one.line}" if one.line is not None else ""
        lines.append(f"! {relative(one.file, folder)}{at}: {one.error}")
        lines.append("    its DAGs stay as they are")
    document = {
        "dags": [{**row_of(one), "file": relative(one.file, folder)} for one in plan.effects],
        "errors": [{**row_of(one), "file": relative(one.file, folder)} for one in plan.broken],
    }
    return lines or ["no DAG changes"], document


def _effect(effect: Effect, folder: str) -> Iterator[str]:
    sign, file = _SIGNS.get(effect.change, "~"), relative(effect.file, folder)
    yield f"{sign} {effect.dag_id} ({file}): {_SAID[effect.change]}"
    if effect.change == "added":
        yield f"    schedule {effect.schedule}"
        if effect.due:
            yield f"    {counted(effect.due, 'run')} due as soon as it is not paused"
    if effect.differences is not None:
        yield from (f"    {line}" for line in differences(effect.differences))
    if effect.next_before != effect.next_after:
        yield from _runs("next runs before", effect.next_before)
        yield from _runs("next runs after", effect.next_after)
    if effect.change not in ("added", "removed") and effect.next_after:
        first = text_of(effect.next_after[0].data_interval_start)
        yield f"    from the interval that starts at {first} on"


def _runs(title: str, runs: Sequence[NextRun]) -> Iterator[str]:
    yield f"    {title}: {', '.join(text_of(run.run_at) for run in runs) or 'none'}"
