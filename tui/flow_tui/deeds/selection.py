"""What is selected, as commands name it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from flow_tui.command import command
from flow_tui.deeds.deed import Deed
from flow_tui.targets import Target

if TYPE_CHECKING:
    from flow.ops.run_ranges import Which


class Runs(NamedTuple):
    """Runs of one DAG, with a selection of tasks that is the same in all of them, or none."""

    dag_id: str
    run_ids: tuple[str, ...]
    tasks: tuple[str, ...] = ()

    @property
    def which(self) -> Which:
        """The runs as operations take them."""
        from flow.ops.run_ranges import Which

        if len(self.run_ids) == 1:
            return Which(reference=self.run_ids[0])
        return Which(where=self._condition)

    @property
    def words(self) -> tuple[str, ...]:
        """The runs as the command line takes them, after the DAG."""
        if len(self.run_ids) == 1:
            return self.run_ids
        return ("--where", self._condition)

    @property
    def selection(self) -> str | None:
        """The tasks as `-t` takes them; None: all."""
        return ",".join(self.tasks) or None

    def tasks_command(self, verb: str, *more: str) -> str:
        """`flow tasks VERB DAG RUN TASK`, or with a condition that names several runs."""
        selection = self.selection or "*"
        if len(self.run_ids) == 1:
            return command("tasks", verb, self.dag_id, self.run_ids[0], selection, *more)
        return command("tasks", verb, self.dag_id, selection, *more, *self.words)

    @property
    def _condition(self) -> str:
        return "run=" + ",".join(self.run_ids)


def by_run(targets: Iterable[Target]) -> list[Runs]:
    """Runs and tasks, put together as far as one command can name them."""
    tasks: dict[tuple[str, str], list[str]] = {}
    for target in targets:
        dag_id, run_id, *rest = target.words
        tasks.setdefault((dag_id, run_id), []).extend(rest)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (dag_id, run_id), names in tasks.items():
        alike.setdefault((dag_id, tuple(dict.fromkeys(names))), []).append(run_id)
    return [Runs(dag_id, tuple(ids), names) for (dag_id, names), ids in alike.items()]


def for_runs(deed: Callable[[Runs], Deed]) -> Callable[[Sequence[Target]], list[Deed]]:
    """What makes a deed for all runs and tasks that one command can name."""
    return lambda targets: [deed(runs) for runs in by_run(targets)]
