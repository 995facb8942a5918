"""What a rehearsal came to, for continuous integration: a JUnit report, annotations of GitHub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

from flow.errors import UsageError
from flow.ops.rehearsal import ImportFailed, OutputResult, Result, TaskResult, Verdict
from flow_cli.junit import Case, Outcome, document
from flow_cli.output import Output
from flow_cli.rehearsal_page import comparison, verdict
from flow_cli.workflow_commands import annotation

_BAD: Final = (Verdict.DIFFERS, Verdict.FAILED)
_OUTCOMES: Final = {
    "success": Outcome.PASSED,
    "failed": Outcome.FAILURE,
    "upstream_failed": Outcome.SKIPPED,
    "skipped": Outcome.SKIPPED,
}
"""By the state of a task; in any other it was interrupted."""


class Reports(NamedTuple):
    """What was asked for beside the result. `junit` names a file."""

    junit: str | None
    github: bool

    def write(self, printer: Output, ended: Result | ImportFailed) -> None:
        """Write them. Raises `UsageError` when the file cannot be written."""
        if self.github:
            for line in workflow_commands(ended, str(Path.cwd())):
                printer.message(line)
        if self.junit is None:
            return
        try:
            Path(self.junit).write_text(junit(ended), encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"{self.junit} cannot be written: {error.strerror}", "name another file"
            ) from None


def junit(ended: Result | ImportFailed) -> str:
    """A test case for each task and each outlet that was compared, or one for the import."""
    if isinstance(ended, ImportFailed):
        name = ended.file.name
        return document(name, [Case("import", name, 0.0, Outcome.ERROR, ended.message)])
    cases = [_task(task) for task in ended.tasks] + [_output(one) for one in ended.outputs]
    return document(f"{ended.dag_id} {ended.run_id}", cases)


def workflow_commands(ended: Result | ImportFailed, folder: str) -> list[str]:
    """An error for each task that failed and each outlet that differs, at the line of the DAG.

    Files are named from `folder`, the root of the repository.
    """
    if isinstance(ended, ImportFailed):
        place = {"file": os.path.relpath(ended.file, folder), "line": str(ended.line or 1)}
        return [annotation("error", {**place, "title": "import error"}, ended.message)]
    place = {"file": os.path.relpath(ended.file, folder), "line": str(ended.line)}
    told = [
        (f"{ended.dag_id}.{task.task_id} failed", task.reason or task.state)
        for task in ended.tasks
        if task.state == "failed"
    ]
    told += [
        (f"{one.dag_id}.{one.task_id} is not idempotent", comparison(one))
        for one in ended.outputs
        if one.verdict in _BAD
    ]
    if ended.state == "failed" and not told:
        told.append((f"{ended.dag_id} failed", ended.reason or "the run failed"))
    if ended.idempotent is False and not told:
        told.append((f"{ended.dag_id} is not proven idempotent", verdict(ended.outputs)))
    return [annotation("error", {**place, "title": title}, text) for title, text in told]


def _task(task: TaskResult) -> Case:
    outcome = _OUTCOMES.get(task.state, Outcome.ERROR)
    seconds = task.duration_s or 0.0
    return Case(
        task.dag_id, task.task_id, seconds, outcome, task.reason or task.state, kind=task.state
    )


def _output(output: OutputResult) -> Case:
    bad = Outcome.FAILURE if output.verdict in _BAD else Outcome.SKIPPED
    return Case(
        f"{output.dag_id}.idempotent",
        f"{output.task_id}: {output.output}" if output.output else output.task_id,
        outcome=Outcome.PASSED if output.verdict is Verdict.SAME else bad,
        message=comparison(output),
        kind=output.verdict.value,
    )
