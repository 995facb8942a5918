"""Importing one DAG file and turning its DAGs into specs."""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from flow.authoring import runtime
from flow.authoring.dag import DAG
from flow.authoring.serialise import to_spec
from flow.errors import FlowError, ProtocolError
from flow.process import ahead, nearest, output, trace
from flow.process.deeds import observing
from flow.process.import_limits import lift_limits, limit_import
from flow.process.import_record import ImportRecord
from flow.process.jobs import ParseJob
from flow.process.line_runtime import JobLine, LineRuntime
from flow.process.load import load_file
from flow.process.messages import Parsed
from flow.process.verdict import LONGEST_TRACEBACK

_MOST_WARNINGS: Final = 50
_LONGEST_WARNING: Final = 2_000

_encoder: Final = msgspec.json.Encoder()
"""Not canonical: the supervisor believes nothing of it, and encodes what it has checked itself."""


def run_parse(job: ParseJob, line: JobLine, *, received: float) -> None:
    """Serve a parse job. What the file prints goes where the host has pointed stdout and stderr."""
    limit_import(job.timeout)
    asking = LineRuntime(line)
    runtime.use(asking)
    parsed, dags = parse(job)
    lift_limits()
    evaluated = ahead.evaluate(dags, asking.schedule_position)
    try:
        line.send(msgspec.structs.replace(parsed, evaluated=evaluated))
    except ProtocolError as error:
        what = "the DAGs of this file are" if parsed.specs else "what its import reports is"
        line.send(Parsed(error=f"{what} too large: {error.message}"))
    except UnicodeEncodeError as error:
        line.send(Parsed(error=f"a name in this file is no text: {error}"))
    output.flush()


class _Found(NamedTuple):
    """What importing a file has come to."""

    dags: list[DAG]
    specs: list[bytes]
    lines: list[int]
    error: BaseException | None
    made: int | None
    """Line of the last DAG that was looked at."""


def parse(job: ParseJob) -> tuple[Parsed, list[DAG]]:
    """The DAGs of a file, or its error: whatever the file raises, also `SystemExit`."""
    started = time.monotonic()
    with (
        warnings.catch_warnings(record=True) as caught,
        ImportRecord() as record,
        observing(job) as deeds,
    ):
        warnings.simplefilter("default")
        found = _import(job)
    seconds = time.monotonic() - started
    modules = record.local_modules(job.root, but=job.file)
    parsed = Parsed(
        warnings=_warnings(caught, job),
        modules=modules,
        signatures={name: record.signatures[name] for name in modules if name in record.signatures},
        imports=record.times(every=job.observe),
        seconds=seconds,
        deeds=tuple(deeds),
    )
    if found.error is not None:
        return _failed(parsed, found.error, found.made, job), []
    specs, lines = tuple(found.specs), tuple(found.lines)
    return msgspec.structs.replace(parsed, specs=specs, lines=lines), found.dags


def _import(job: ParseJob) -> _Found:
    dags: list[DAG] = []
    specs: list[bytes] = []
    lines: list[int] = []
    error: BaseException | None = None
    made: int | None = None
    try:
        for dag, made in load_file(job.file, job.root, job.timezone).collection:
            specs.append(_encoder.encode(to_spec(dag)))
            lines.append(made)
            dags.append(dag)
    except BaseException as raised:
        error = raised
    return _Found(dags, specs, lines, error, made)


def _failed(parsed: Parsed, error: BaseException, made: int | None, job: ParseJob) -> Parsed:
    """What is told of an import that has failed: nothing of its DAGs."""
    return msgspec.structs.replace(
        parsed,
        error=_told(error, job),
        error_code=error.code if isinstance(error, FlowError) else "",
        nearest=nearest.meant(error) if job.observe else None,
        # What is wrong with a finished graph came through no line of the file's.
        error_line=trace.line_in(error, job.file) or made,
        traceback=trace.user_traceback(error)[-LONGEST_TRACEBACK:],
        lacked=trace.lacked_modules(error),
    )


def _told(error: BaseException, job: ParseJob) -> str:
    """The error in one line, and what to write instead where that is known."""
    said = trace.with_place(error, job.file, job.root)
    instead = nearest.written(error)
    return f"{said}; {instead}" if instead else said


def _warnings(caught: Collection[warnings.WarningMessage], job: ParseJob) -> tuple[str, ...]:
    """Warnings about the user's own files, `file:line: Category: text`, each once."""
    if not caught:
        return ()
    root = Path(job.root)
    said = (
        f"{warning.filename}:{warning.lineno}: {warning.category.__name__}: "
        + trace.said_by(warning.message)
        for warning in caught
        if isinstance(warning.message, Warning) and Path(warning.filename).is_relative_to(root)
    )
    return tuple(dict.fromkeys(trace.sendable(one)[:_LONGEST_WARNING] for one in said))[
        :_MOST_WARNINGS
    ]
