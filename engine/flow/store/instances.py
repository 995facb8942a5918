"""The task instances of many runs at once, for operations that hold the runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from flow.store import arrays
from flow.store.connect import Conn
from flow.task_reference import task_reference

Key = tuple[int, str, tuple[int, ...]]
"""Of a task instance: run_key, task_id, map_path."""


class Instance(NamedTuple):
    """A task instance as the store has it."""

    run_key: int
    task_id: str
    map_path: tuple[int, ...]
    state: str
    pool: str
    held: bool = False

    @property
    def key(self) -> Key:
        """What names it."""
        return self.run_key, self.task_id, self.map_path

    @property
    def reference(self) -> str:
        """What names it within its run: `load`, `load[3]`."""
        return task_reference(self.task_id, self.map_path)


# Tasks of unfinished runs, against the reports of workers, which take only a row's own lock.
_LOCK = """
select from task_hot
where run_key = any(%(run_keys)s::bigint[])
  and (%(task_ids)s::text[] is null or task_id = any(%(task_ids)s::text[]))
order by run_key, task_id, map_path for update
"""

# Both kinds of table: primary key prefix.
_READ = """
select run_key, task_id, map_path, state, pool, held from task
where run_key = any(%(run_keys)s::bigint[]) order by run_key, task_id, map_path
"""


def lock(conn: Conn, run_keys: Sequence[int], task_ids: Collection[str] | None = None) -> None:
    """Lock the rows that tasks have in unfinished runs; None: all of them."""
    if run_keys:
        wanted = None if task_ids is None else list(task_ids)
        conn.execute(_LOCK, {"run_keys": list(run_keys), "task_ids": wanted})


def read(conn: Conn, run_keys: Sequence[int]) -> dict[int, list[Instance]]:
    """Every task instance of some runs that has a row, by run."""
    found: dict[int, list[Instance]] = {run_key: [] for run_key in run_keys}
    rows = conn.execute(_READ, {"run_keys": list(run_keys)})
    for run_key, task_id, path, state, pool, held in rows:
        found[run_key].append(Instance(run_key, task_id, tuple(path), state, pool, held))
    return found


def keys(instances: Sequence[Key]) -> dict[str, str]:
    """The parameters `run_keys`, `task_ids` and `paths` of a statement about some instances."""
    run_keys, task_ids, paths = zip(*instances, strict=True)
    return {
        "run_keys": arrays.numbers(run_keys),
        "task_ids": arrays.texts(task_ids),
        "paths": arrays.paths(paths),
    }
