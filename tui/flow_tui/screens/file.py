"""What the last import of a DAG file said, with the lines of the file around it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.text import Text
from textual.app import ComposeResult

from flow.errors import FlowError
from flow.ops import dags, source_lines
from flow.ops.source_lines import SourceLines
from flow.store.read.dags import FileReport
from flow.wording.cells import printable, text_of
from flow.wording.dags import slow_imports
from flow.wording.moments import ago
from flow_tui.action import Action
from flow_tui.looking import opened
from flow_tui.sentences import of_error
from flow_tui.targets import Kind, Target
from flow_tui.view import View
from flow_tui.widgets.page import Page

if TYPE_CHECKING:
    from datetime import datetime

    from flow.ops.deployment import Deployment

CONTEXT: Final = 8
"""Lines before and after the one that is wrong."""


class _Shown(NamedTuple):
    report: FileReport
    source: SourceLines | None


class FileScreen(View):
    """One page that scrolls."""

    KINDS = frozenset({Kind.FILE})
    IN_VIEW = "errors"

    def __init__(self, path: str) -> None:
        super().__init__()
        self._file = path

    def content(self) -> ComposeResult:
        yield Page("reading …")

    def on_mount(self) -> None:
        self.query_one(Page).focus()

    async def load(self) -> None:
        found = await self.read(self._read)
        self.query_one(Page).show(_page(found, self.flow.now()))

    def missing(self, error: FlowError) -> None:
        self.query_one(Page).show(of_error(error))

    def targets(self) -> Sequence[Target]:
        return [Target(Kind.FILE, (self._file,))]

    def has(self, action: Action) -> bool:
        return super().has(action) and action.id != "app.open"

    def do_app_open(self) -> None:
        """It is open."""

    @property
    def path(self) -> tuple[str, ...]:
        return ("Errors", self._file.rpartition("/")[2])

    @property
    def command(self) -> str:
        return opened(*self.targets())

    def _read(self, deployment: Deployment) -> _Shown:
        report = dags.file_report(deployment, Path(self._file))
        return _Shown(report, source_lines.around(report.file, report.line, CONTEXT))


def _page(shown: _Shown, now: datetime) -> Text:
    report = shown.report
    page = Text(overflow="fold")
    if report.error:
        page.append(f"✗ {printable(report.error)}\n", "bold red")
        page.append(f"  since {text_of(report.since)} ({ago(report.since, now)})", "dim")
    else:
        page.append("✓ the file can be imported", "green")
    page.append(f"\n  {printable(report.file)}, parsed {text_of(report.parsed_at)}", "dim")
    page.append(f" in {report.seconds:.2f} s\n", "dim")
    page.append(_source(shown))
    for heading, text in (("TRACEBACK", report.traceback), ("OUTPUT", report.output)):
        if text:
            page.append(_section(heading, text.splitlines()))
    if report.warnings:
        page.append(_section("WARNINGS", report.warnings))
    if report.imports:
        page.append(_section("SLOWEST IMPORTS", slow_imports(report)))
    return page


def _source(shown: _Shown) -> Text:
    report, source = shown.report, shown.source
    text = _section("FILE", [])
    if source is None:
        return text.append("  this host has no such file: it is on the DAG processor's\n", "dim")
    if source.changed_at > report.parsed_at:
        text.append("  changed since it was parsed: the lines may have moved\n", "yellow")
    digits = len(str(source.first + len(source.lines)))
    for number, line in enumerate(source.lines, source.first):
        wrong = number == report.line
        text.append(f"{'▶' if wrong else ' '} {number:>{digits}} ", "bold red" if wrong else "dim")
        text.append(f"{printable(line.expandtabs(4))}\n", "bold" if wrong else "")
    return text


def _section(heading: str, lines: Sequence[str]) -> Text:
    text = Text().append(f"\n{heading}\n", "bold")
    for line in lines:
        text.append(f"  {printable(line)}\n")
    return text
