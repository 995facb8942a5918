"""How a rehearsal (`flow test`) reads as it goes on, and what it came to."""

from __future__ import annotations

from collections.abc import Sequence

from flow.ops.rehearsal import (
    Again,
    Began,
    Contents,
    News,
    OutputResult,
    Result,
    Said,
    TryEnded,
    Verdict,
    Warned,
)
from flow.wording.cells import counted, text_of
from flow.wording.looks import style_of
from flow_cli import exits
from flow_cli.log_printer import LogPrinter
from flow_cli.output import Column, Format, Output
from flow_cli.records import row_of

COLUMNS = (
    Column("task_id", "task"),
    Column("state", style=style_of),
    Column("tried", "tries", right=True),
    Column("took", "duration", right=True),
    Column("reason"),
)


def tell(printer: Output, logs: LogPrinter, news: News) -> None:
    """Print the next thing that happens."""
    if isinstance(news, Said):
        logs.write(news.who, news.text)
        return
    logs.end_line()
    if isinstance(news, Began):
        logs.expect(news.task_ids)
        interval = f"{text_of(news.data_interval_start)} to {text_of(news.data_interval_end)}"
        printer.message(f"{news.dag_id} {news.run_id}: {interval}")
    elif isinstance(news, Again):
        printer.message(f"once more, for the same interval: {', '.join(news.task_ids)}")
    elif isinstance(news, Warned):
        printer.warning(news.text)
    elif isinstance(news, TryEnded):
        printer.message(_sentence(news))


def _sentence(ended: TryEnded) -> str:
    reason = f": {ended.reason}" if ended.reason else ""
    if ended.retry_in is None:
        return f"{ended.task_id} is {ended.state}{reason}"
    following = f"try {ended.try_number + 1}"
    when = f"{following} in {ended.retry_in:.0f} s" if ended.retry_in else f"{following} follows"
    wait = " (--no-wait does not wait)" if ended.retry_in else ""
    return f"{ended.task_id}: try {ended.try_number} failed{reason}; {when}{wait}"


def conclude(printer: Output, result: Result) -> int:
    """Print the result. Returns the exit code."""
    if printer.format is Format.TEXT:
        rows = [
            {
                **row_of(task),
                "tried": f"{task.try_number}/{task.max_tries}" if task.try_number else None,
                "took": f"{task.duration_s:.2f} s" if task.duration_s is not None else None,
            }
            for task in result.tasks
        ]
        printer.table(rows, COLUMNS, "tasks")
    else:
        printer.lines([], row_of(result))
    for output in result.outputs:
        printer.message(comparison(output))
    seconds = (result.ended_at - result.started_at).total_seconds()
    state = "interrupted" if result.state == "running" else result.state
    printer.message(f"{result.dag_id} {result.run_id}: {state} in {seconds:.2f} s")
    if result.state == "running":
        return exits.INTERRUPTED
    if result.idempotent is False:
        printer.message(verdict(result.outputs))
    passed = result.state == "success" and result.idempotent is not False
    return exits.DONE if passed else exits.FAILED


def comparison(output: OutputResult) -> str:
    """What two runs have left in an outlet."""
    subject = f"{output.task_id}: {output.output}" if output.output else output.task_id
    reason = f": {output.reason}" if output.reason else ""
    figures = f"{_figures(output.before)} after the first run, {_figures(output.after)} after"
    match output.verdict:
        case Verdict.SAME:
            return f"{subject} is the same after both runs: {_figures(output.after)}"
        case Verdict.DIFFERS:
            return f"{subject} differs{reason}: {figures} the second"
        case Verdict.FAILED:
            return f"{subject}: not comparable{reason}"
        case Verdict.NOTHING:
            return f"{subject}: nothing to compare{reason}"


def _figures(contents: Contents | None) -> str:
    if contents is None:
        return "nothing"
    noun = "row" if contents.size_bytes is None else "file"
    size = "" if contents.size_bytes is None else f", {contents.size_bytes} bytes"
    return f"{counted(contents.amount, noun)}{size} ({contents.digest[:8]})"


def verdict(outputs: Sequence[OutputResult]) -> str:
    """Why the tasks do not count as idempotent."""
    bad = {one.task_id for one in outputs if one.verdict in (Verdict.DIFFERS, Verdict.FAILED)}
    if bad:
        return f"not idempotent: {', '.join(sorted(bad))}"
    return (
        "nothing was compared, so nothing is proven: declare outlets=[File(path)] or "
        "[Table(conn, name, interval_column)]"
    )
