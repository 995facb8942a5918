"""What an import that has ended says about its file: pure.

What a child sends is checked here once more, as it may be the file's own doing: nothing that fails
a check is believed.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from flow.errors import DuplicateId, FlowError
from flow.graph import decode, encode, spec_hash
from flow.graph.check import check
from flow.graph.imported import ImportedDag, ImportFailure
from flow.process.events import JobEnded
from flow.process.last_words import LastWords
from flow.process.messages import Evaluated, Parsed
from flow.signal_name import signal_name
from flow.timetables import Custom, Evaluation, Row
from flow.timetables.custom import MOST_ROWS, checked

_LONGEST_ERROR: Final = 2_000
LONGEST_TRACEBACK: Final = 100_000
"""Characters, of which the last ones count."""
_END_OF_LINES: Final = 2**31


_SILENCE: Final = LastWords("", None, None)


class Limits(NamedTuple):
    """What one import may take."""

    timeout: float = 60.0
    """Seconds."""
    memory: int = 4 * 2**30
    """Bytes of data that each of its processes may have."""


def judge(
    ended: JobEnded | None,
    *,
    overdue: bool,
    limits: Limits,
    last: LastWords = _SILENCE,
) -> ImportFailure | list[ImportedDag]:
    """The DAGs that a file defines, or why it cannot be imported.

    `ended` is None when the zygote died, and the import with it; `overdue` says that it was stopped
    because it took longer than it may. `last` is what a process that died said in dying.
    """
    if ended is None:
        return ImportFailure(
            "the import ended the process that had started it (a kill of its parent or of all "
            "processes?), or stopped it: only its own child processes are a DAG file's to end"
        )
    if not isinstance(ended.result, Parsed):
        return ImportFailure(_death(ended, overdue, limits), last.line, last.stack)
    if ended.result.error is not None:
        return _reported(ended.result, ended.result.error, limits)
    try:
        return list(_dags(ended.result))
    except FlowError as error:
        return ImportFailure(f"{error.message}; {error.hint}" if error.hint else error.message)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
        return ImportFailure(f"the import reported a DAG that cannot be: {error}")


def _reported(parsed: Parsed, error: str, limits: Limits) -> ImportFailure:
    """The file's own error, in bounds whatever the child has sent."""
    if error.startswith("MemoryError"):
        error = f"{error} (an import may use {limits.memory / 2**30:g} GiB)"
    line = parsed.error_line
    return ImportFailure(
        " ".join(error[:_LONGEST_ERROR].split()),
        line if line is not None and 0 < line < _END_OF_LINES else None,
        parsed.traceback[-LONGEST_TRACEBACK:] if parsed.traceback else None,
    )


def _dags(parsed: Parsed) -> Iterator[ImportedDag]:
    seen = set()
    evaluated = {one.dag_id: one for one in parsed.evaluated}
    for body, line in zip(parsed.specs, parsed.lines, strict=True):
        spec = check(decode(body))
        if spec.dag_id in seen:
            raise DuplicateId(
                f"DAG {spec.dag_id!r} is defined twice in this file",
                "give each DAG an id of its own",
            )
        seen.add(spec.dag_id)
        canonical = encode(spec)
        yield ImportedDag(
            spec,
            canonical,
            spec_hash(canonical),
            line,
            spec.timetable.words(),
            _evaluation(evaluated.get(spec.dag_id)) if isinstance(spec.timetable, Custom) else None,
        )


def _evaluation(evaluated: Evaluated | None) -> Evaluation:
    """What a timetable said, as far as it can be believed."""
    if evaluated is None:
        return Evaluation(error="the import did not say which intervals come")
    try:
        rows = checked([Row(*one) for one in evaluated.rows[:MOST_ROWS]])
    except (ValueError, OverflowError) as error:
        return Evaluation(error=f"the import reported intervals that cannot be: {error}")
    said = evaluated.error
    return Evaluation(
        rows,
        " ".join(said[:_LONGEST_ERROR].split()) if said is not None else None,
        evaluated.traceback[-LONGEST_TRACEBACK:] if evaluated.traceback else None,
        evaluated.dry,
    )


def _death(ended: JobEnded, overdue: bool, limits: Limits) -> str:
    """Why there is no result, in one line."""
    if overdue:
        return (
            f"the import took longer than {limits.timeout:g} s and was stopped: move slow work "
            "from the top level of the file into tasks, or raise parse.timeout"
        )
    if ended.error is not None:
        return f"the import failed: {ended.error}"
    if ended.signal == signal.SIGXCPU:
        return (
            f"the import used more than {limits.timeout:g} s of CPU and was stopped: move slow "
            "work from the top level of the file into tasks, or raise parse.timeout"
        )
    if ended.signal is not None:
        name = signal_name(ended.signal) or "unknown"
        return f"the import was ended by signal {ended.signal} ({name})"
    return f"the import ended its process with exit code {ended.exit_code}, before it was done"
