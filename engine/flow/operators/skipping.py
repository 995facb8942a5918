"""Tasks whose result decides which tasks below them are skipped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flow.authoring.arguments import nearest
from flow.authoring.operator import BaseOperator
from flow.exceptions import TaskException


class Decider(BaseOperator):
    """Base of operators that choose. After `execute`, whoever runs the task skips
    `skips_for(result)`."""

    def skips_for(self, choice: Any) -> tuple[str, ...]:
        """Ids of the tasks to skip, sorted, given the result of `execute`."""
        raise NotImplementedError


class BranchMixin(Decider):
    """`execute` returns what to follow: the id of a task or group, several, or None for nothing."""

    def skips_for(self, choice: Any) -> tuple[str, ...]:
        """The tasks directly downstream that neither are chosen nor follow from what is chosen.

        Raises `TaskException` for a choice that is no id, or no id of something downstream.
        """
        kept = self._chosen(choice)
        kept |= self.dag.edges.reach(kept, self.dag.edges.downstream)
        return tuple(sorted(self.downstream_task_ids - kept))

    def _chosen(self, choice: Any) -> set[str]:
        """The tasks that `choice` names; of a group, those that have nothing above them in it."""
        names = [] if choice is None else [choice] if isinstance(choice, str) else choice
        if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
            raise TaskException(
                f"a branch must return a task id, a list of task ids or None, not {choice!r}"
            )
        below = self.get_flat_relative_ids()
        chosen: set[str] = set()
        for name in names:
            group = self.dag.task_group_dict.get(name)
            members = {task.task_id for task in group.iter_tasks()} if group else {name}
            if not members & below:
                raise TaskException(self._mistaken(name, below))
            chosen |= {one for one in members if not self.dag.edges.upstream[one] & members}
        return chosen

    def _mistaken(self, name: str, below: set[str]) -> str:
        known = name in self.dag.task_dict or name in self.dag.task_group_dict
        what = "is not downstream of this task" if known else "does not exist"
        candidates = below | self.dag.task_group_dict.keys()
        ending = sorted(one for one in candidates if one.endswith(f".{name}"))
        meant = ending[0] if ending else nearest(name, candidates)
        hint = f"did you mean {meant!r}?" if meant else f"downstream are {sorted(below)}"
        return f"branch chose {name!r}, which {what}; {hint}"


class ShortCircuitMixin(Decider):
    """`execute` returns whether to go on."""

    ignore_downstream_trigger_rules: bool = True

    def skips_for(self, choice: Any) -> tuple[str, ...]:
        """Nothing for a true `choice`; else everything downstream.

        Without `ignore_downstream_trigger_rules` only what is directly downstream; the rules of
        the others then decide.
        """
        if choice:
            return ()
        if self.ignore_downstream_trigger_rules:
            return tuple(sorted(self.get_flat_relative_ids()))
        return tuple(sorted(self.downstream_task_ids))
