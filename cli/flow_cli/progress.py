"""How far long work has come: a bar on stderr when it is a terminal, otherwise nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

Advance = Callable[[int], None]


@contextmanager
def progress_bar(file: TextIO, label: str, total: int) -> Iterator[Advance]:
    """Yield a function that takes how many of `total` are done by now."""
    if not file.isatty():
        yield lambda done: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from flow_cli.terminal import console_on

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console_on(file), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda done: progress.update(task, completed=done)
