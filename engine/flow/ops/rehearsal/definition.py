"""The DAG of a file, as an import in a child of its own finds it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from flow.errors import FlowError, NotFound, UsageError
from flow.graph import DagSpec
from flow.graph.imported import ImportedDag, ImportFailure
from flow.graph.plan import with_rows
from flow.logs.text import readable
from flow.ops.rehearsal.memory import Memory
from flow.ops.rehearsal.news import News, Said, Warned
from flow.ops.rehearsal.request import Target
from flow.ops.stage import Interrupted, Output, Stage
from flow.ops.suggest import did_you_mean
from flow.process.events import ChildMessage, JobEnded, ZygoteDied
from flow.process.jobs import ParseJob
from flow.process.messages import Parsed
from flow.process.verdict import Limits, judge


class Source(NamedTuple):
    """A DAG file, its DAG folder, and the zone of DAGs whose start date names none."""

    file: Path
    root: Path
    timezone: str


class ImportFailed(FlowError):
    """A DAG file cannot be imported. `line` is where, if one line is to blame."""

    code = "import_error"

    def __init__(self, file: Path, line: int | None, error: str) -> None:
        place = f", line {line}" if line else ""
        super().__init__(f"{file}{place}: {error}", "mend the file, then test it again")
        self.file = file
        self.line = line


class Import:
    """Imports one file on a stage. `dags` are what it defines, once `news` has been heard out."""

    def __init__(self, stage: Stage, memory: Memory, source: Source, limits: Limits) -> None:
        self._stage = stage
        self._memory = memory
        self._source = source
        self._limits = limits
        self.dags: list[ImportedDag] = []

    def news(self) -> Iterator[News]:
        """Import it. Raises `ImportFailed`, and `KeyboardInterrupt` when it is interrupted."""
        job_id = self._stage.start(
            ParseJob(
                file=str(self._source.file),
                root=str(self._source.root),
                timezone=self._source.timezone,
                memory=self._limits.memory,
            )
        )
        deadline = time.monotonic() + self._limits.timeout
        overdue = False
        while True:
            left = deadline - time.monotonic()
            if left <= 0 and not overdue:
                overdue = True
                self._stage.stop(job_id, 0.0)
            for happening in self._stage.wait(None if overdue else max(0.0, left)):
                match happening:
                    case Output(_, text):
                        yield Said(self._source.file.name, text)
                    case ChildMessage(_, message):
                        self._stage.reply(job_id, self._memory.answer(message, None))
                    case Interrupted():
                        raise KeyboardInterrupt
                    case JobEnded():
                        yield from self._take(happening, overdue)
                        return
                    case ZygoteDied(job_ids) if job_id in job_ids:
                        yield from self._take(None, overdue)
                        return

    def _take(self, ended: JobEnded | None, overdue: bool) -> Iterator[News]:
        if ended is not None and isinstance(ended.result, Parsed):
            for warning in ended.result.warnings:
                yield Warned(warning)
        found = judge(ended, overdue=overdue, limits=self._limits)
        if isinstance(found, ImportFailure):
            if found.traceback:
                told = found.traceback.rstrip("\n").encode("utf-8", "backslashreplace")
                yield Said(self._source.file.name, "".join(readable([told, b"\n"])))
            raise ImportFailed(self._source.file, found.line, found.error)
        self.dags = found


def choose(dags: Sequence[ImportedDag], target: Target) -> DagSpec:
    """The DAG that is meant. Raises `NotFound` naming near ids, or `UsageError` for several."""
    ids = [dag.spec.dag_id for dag in dags]
    if not ids:
        raise NotFound(
            f"{target.file} defines no DAG",
            "make one at the top level of the file; a function under @dag has to be called",
        )
    if target.dag_id is None:
        if len(ids) > 1:
            raise UsageError(
                f"{target.file} defines {len(ids)} DAGs: {', '.join(sorted(ids))}",
                f"name one: flow test {target.file.name}:{min(ids)}",
            )
        return complete(dags[0])
    if target.dag_id not in ids:
        otherwise = f"it defines {', '.join(sorted(ids))}"
        raise NotFound(
            f"{target.file} defines no DAG {target.dag_id!r}",
            did_you_mean(target.dag_id, ids, otherwise),
        )
    return next(complete(dag) for dag in dags if dag.spec.dag_id == target.dag_id)


def complete(dag: ImportedDag) -> DagSpec:
    """The spec, with what its timetable has just said where that is one of the user's own."""
    return with_rows(dag.spec, dag.evaluation.rows) if dag.evaluation is not None else dag.spec
