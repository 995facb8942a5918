"""Looking at what the tasks of a run have left, each in a process of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flow.ops.rehearsal.memory import Memory
from flow.ops.rehearsal.news import News, Said
from flow.ops.rehearsal.play import Script
from flow.ops.stage import Happening, Interrupted, Output, Stage
from flow.process.ending import ZYGOTE_DIED
from flow.process.events import ChildMessage, JobEnded, ZygoteDied
from flow.process.jobs import MeasureJob
from flow.process.messages import Measured


class Measuring:
    """Measures the outlets of tasks. `found` has them by task, once `news` has been heard out."""

    def __init__(self, script: Script, memory: Memory, stage: Stage, parallel: int) -> None:
        self._script = script
        self._memory = memory
        self._stage = stage
        self._parallel = parallel
        self._jobs: dict[int, str] = {}
        self.found: dict[str, Measured] = {}
        self.interrupted = False

    def news(self, task_ids: Iterable[str]) -> Iterator[News]:
        """Measure these tasks, so many at once."""
        waiting = list(task_ids)
        while self._jobs or (waiting and not self.interrupted):
            while waiting and not self.interrupted and len(self._jobs) < self._parallel:
                self._start(waiting.pop(0))
            for happening in self._stage.wait(None):
                yield from self._hear(happening)

    def _start(self, task_id: str) -> None:
        source = self._script.source
        job = MeasureJob(
            run=self._script.run,
            task_id=task_id,
            file=str(source.file),
            root=str(source.root),
            timezone=source.timezone,
            log="",  # the stage's to say
        )
        self._jobs[self._stage.start(job)] = task_id

    def _hear(self, happening: Happening) -> Iterator[News]:
        match happening:
            case Output(job_id, text):
                yield Said(self._jobs[job_id], text)
            case ChildMessage(job_id, message):
                self._stage.reply(job_id, self._memory.answer(message, None))
            case JobEnded(job_id, result):
                died = Measured(error="the process that looks at its outlets has died")
                found = result if isinstance(result, Measured) else died
                self.found[self._jobs.pop(job_id)] = found
            case ZygoteDied(job_ids):
                for job_id in job_ids:
                    self.found[self._jobs.pop(job_id)] = Measured(error=ZYGOTE_DIED)
            case Interrupted():
                self.interrupted = True
                for job_id in self._jobs:
                    self._stage.stop(job_id, 0.0)
