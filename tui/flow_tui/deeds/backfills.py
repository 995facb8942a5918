"""Starting backfills, and deeds to those that are under way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from flow_tui.command import command
from flow_tui.deeds.deed import Deed, Plan
from flow_tui.targets import Kind, Target

if TYPE_CHECKING:
    from flow.ops.backfilling import Wish
    from flow.ops.deployment import Deployment


class BackfillWish(NamedTuple):
    """The choices of `flow backfill`. Dates are date arguments."""

    dag_id: str
    start: str
    end: str | None
    tasks: str | None
    most: int | None
    """Runs at a time; None: as many as the DAG may have."""
    order: str
    reprocess: str


_A_DATE: Final = "DATE"
"""What stands for a date that is not known, as in the usage of `flow backfill`."""


def suggested(targets: Sequence[Target], start: str, end: str | None) -> BackfillWish:
    """What is asked for at first: runs and tasks that are selected are done again.

    `start` and `end` are the range of those runs, if there are any.
    """
    tasks = dict.fromkeys(one.words[2] for one in targets if one.kind is Kind.TASK)
    return BackfillWish(
        dag_id=targets[0].words[0],
        start=start,
        end=end,
        tasks=",".join(tasks) or None,
        most=None,
        order="oldest",
        reprocess="none" if targets[0].kind is Kind.DAG else "all",
    )


def outline(targets: Sequence[Target]) -> list[str]:
    """`flow backfill` before its dates are known."""
    end = None if targets[0].kind is Kind.DAG else _A_DATE
    return [_command(suggested(targets, _A_DATE, end))]


def start(wish: BackfillWish) -> Deed:
    """`flow backfill`."""

    def look(deployment: Deployment) -> Plan:
        from flow.ops import backfilling
        from flow.wording.backfills import NOTHING, describe, question

        planned = backfilling.preview(deployment, _asked(wish))
        lines = [*describe(planned), *planned.notes]
        if not planned.runs:
            return Plan([*lines, f"{NOTHING}; choose what to do again"], "", None)

        def carry_out(deployment: Deployment) -> list[str]:
            from flow.wording.backfills import summary

            made, _ = backfilling.create(deployment, _asked(wish), planned)
            return [NOTHING if made is None else summary(made)]

        return Plan(lines, question(planned), carry_out)

    return Deed(_command(wish), look)


def _asked(wish: BackfillWish) -> Wish:
    from flow.ops.backfilling import Wish

    return Wish(
        wish.dag_id,
        wish.start,
        wish.end,
        wish.tasks,
        wish.order,  # type: ignore[arg-type]
        wish.reprocess,  # type: ignore[arg-type]
        wish.most,
    )


def _command(wish: BackfillWish) -> str:
    """The command, without options that say what holds anyway."""

    def option(name: str, value: str | int | None, default: str | None = None) -> tuple[str, ...]:
        return () if value is None or value == default else (name, str(value))

    return command(
        "backfill",
        wish.dag_id,
        *option("--from", wish.start),
        *option("--to", wish.end),
        *option("-t", wish.tasks),
        *option("--max-active-runs", wish.most),
        *option("--order", wish.order, "oldest"),
        *option("--reprocess", wish.reprocess, "none"),
    )


def pause(verb: str) -> Callable[[Sequence[Target]], list[Deed]]:
    """`flow backfills pause` or `resume`."""
    return lambda targets: [_pause(verb, target.words[0]) for target in targets]


def cancel(targets: Sequence[Target]) -> list[Deed]:
    """`flow backfills cancel`."""
    return [_cancel(target.words[0]) for target in targets]


def _pause(verb: str, number: str) -> Deed:
    def look(deployment: Deployment) -> Plan:
        does = "starts no more runs; those that run go on" if verb == "pause" else "goes on"
        question = f"{verb.capitalize()} backfill {number}?"
        return Plan([f"backfill {number} {does}"], question, carry_out)

    def carry_out(deployment: Deployment) -> list[str]:
        from flow.ops import backfills
        from flow.wording.backfills import summary

        operation = backfills.pause if verb == "pause" else backfills.resume
        return [summary(operation(deployment, int(number)))]

    return Deed(command("backfills", verb, number), look)


def _cancel(number: str) -> Deed:
    def look(deployment: Deployment) -> Plan:
        from flow.ops import backfills
        from flow.wording.backfills import describe_cancelled, question_to_cancel

        planned = backfills.cancel(deployment, int(number), dry_run=True)
        return Plan(describe_cancelled(planned), question_to_cancel(planned.backfill), carry_out)

    def carry_out(deployment: Deployment) -> list[str]:
        from flow.ops import backfills
        from flow.wording.backfills import summary

        return [summary(backfills.cancel(deployment, int(number)).backfill)]

    return Deed(command("backfills", "cancel", number), look)
