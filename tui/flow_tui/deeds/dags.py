"""Deeds to DAGs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flow_tui.command import command
from flow_tui.deeds.deed import Deed, Plan
from flow_tui.targets import Target

if TYPE_CHECKING:
    from flow.ops.deployment import Deployment


def pause(targets: Sequence[Target]) -> list[Deed]:
    """`flow dags pause`."""
    dag_ids = [target.words[0] for target in targets]

    def look(deployment: Deployment) -> Plan:
        lines = [f"{dag_id}: no new run starts; runs that have started go on" for dag_id in dag_ids]
        return Plan(lines, f"Pause {_counted(dag_ids)}?", carry_out)

    def carry_out(deployment: Deployment) -> list[str]:
        from flow.ops import pausing
        from flow.wording.pausing import paused

        return [paused(one) for one in pausing.pause(deployment, dag_ids)]

    return [Deed(command("dags", "pause", *dag_ids), look)]


def unpause(targets: Sequence[Target]) -> list[Deed]:
    """`flow dags unpause`, with what it is going to create."""
    dag_ids = [target.words[0] for target in targets]

    def told(deployment: Deployment, *, dry_run: bool) -> list[str]:
        from flow.ops import pausing
        from flow.wording.pausing import consequences

        found = pausing.unpause(deployment, dag_ids, dry_run=dry_run)
        return [line for one in found for line in consequences(one)]

    def look(deployment: Deployment) -> Plan:
        lines = told(deployment, dry_run=True)
        return Plan(lines, f"Unpause {_counted(dag_ids)}?", carry_out)

    def carry_out(deployment: Deployment) -> list[str]:
        return told(deployment, dry_run=False)

    return [Deed(command("dags", "unpause", *dag_ids), look)]


def run(targets: Sequence[Target]) -> list[Deed]:
    """`flow run`: an ad hoc run of each DAG."""
    return [_run(target.words[0]) for target in targets]


def _run(dag_id: str) -> Deed:
    def look(deployment: Deployment) -> Plan:
        lines = [f"{dag_id}: a run of its own, with the last complete interval"]
        return Plan(lines, f"Run {dag_id} now?", carry_out)

    def carry_out(deployment: Deployment) -> list[str]:
        from flow.ops import running
        from flow.ops.running import Wish

        made = running.run(deployment, Wish(dag_id, None, None, None, None)).found.run
        return [f"{dag_id}: {made.run_id} is {made.state}"]

    return Deed(command("run", dag_id), look)


def _counted(dag_ids: Sequence[str]) -> str:
    from flow.wording.cells import counted

    return counted(len(dag_ids), "DAG")
