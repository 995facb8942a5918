"""Importing one DAG file and turning its DAGs into specs."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from flow.authoring import runtime
from flow.authoring.dag import DAG
from flow.authoring.serialise import to_spec
from flow.graph import encode
from flow.process import ahead, output, trace
from flow.process.line_runtime import JobLine, LineRuntime
from flow.process.load import load_file
from flow.process.messages import Parsed, ParseJob

_MOST_WARNINGS: Final = 50
_INSTALLED: Final = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def run_parse(job: ParseJob, line: JobLine, *, received: float) -> None:
    """Serve a parse job. What the file prints goes where the host has pointed stdout and stderr."""
    output.prepare()
    asking = LineRuntime(line)
    runtime.use(asking)
    parsed, dags = parse(job)
    evaluated = ahead.evaluate(dags, asking.schedule_position)
    line.send(msgspec.structs.replace(parsed, evaluated=evaluated))
    output.flush()


def parse(job: ParseJob) -> tuple[Parsed, list[DAG]]:
    """The DAGs of a file, or its error: whatever the file raises, also `SystemExit`."""
    started = time.monotonic()
    dags: list[DAG] = []
    specs: list[bytes] = []
    lines: list[int] = []
    error: BaseException | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            for dag, line in load_file(job.file, job.root, job.timezone).collection:
                specs.append(encode(to_spec(dag)))
                lines.append(line)
                dags.append(dag)
        except BaseException as raised:
            error = raised
    seconds = time.monotonic() - started
    modules = _local_modules(job)
    said = _warnings(caught, job)
    if error is None:
        parsed = Parsed(
            specs=tuple(specs),
            lines=tuple(lines),
            warnings=said,
            modules=modules,
            seconds=seconds,
        )
        return parsed, dags
    failed = Parsed(
        error=trace.one_line(error),
        error_line=trace.line_in(error, job.file),
        traceback=trace.user_traceback(error),
        warnings=said,
        modules=modules,
        seconds=seconds,
    )
    return failed, []


def _local_modules(job: ParseJob) -> dict[str, str]:
    """Modules of the user's own: those whose file is in the DAG folder and is not installed."""
    root = os.path.realpath(job.root)
    found = {}
    for name, module in sorted(sys.modules.copy().items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or file == job.file:
            continue
        path = os.path.realpath(file)
        if path.startswith(root + os.sep) and not any(part in path for part in _INSTALLED):
            found[name] = path
    return found


def _warnings(caught: Iterable[warnings.WarningMessage], job: ParseJob) -> tuple[str, ...]:
    """Warnings about the user's own files, `file:line: Category: text`, each once."""
    root = Path(job.root)
    said = {
        f"{warning.filename}:{warning.lineno}: {warning.category.__name__}: {warning.message}": None
        for warning in caught
        if Path(warning.filename).is_relative_to(root)
    }
    return tuple(said)[:_MOST_WARNINGS]
