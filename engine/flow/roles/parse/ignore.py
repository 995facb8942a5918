"""Ignore files: which files and folders of a DAG folder are none of Flow's business.

`.flowignore` is written like `.gitignore`. So is `.airflowignore`, as Airflow 3 has it, or in lines
of regular expressions that are searched in the path from the ignore file's folder, as Airflow 2 had
it. A file rules the folder that it is in and all below; the nearest one that has something to say
decides, and nothing in an ignored folder can be called back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, MutableMapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from pathspec import GitIgnoreSpec

from flow.process import plain_file
from flow.process.time_limit import OutOfTime, call_within

FLOW: Final = ".flowignore"
AIRFLOW: Final = ".airflowignore"
NAMES: Final = (AIRFLOW, FLOW)
"""In one folder the later one has the last word."""

_LONGEST: Final = 0.5
"""Seconds of a processor for one comparison."""
_LARGEST: Final = 1024 * 1024
"""Bytes that an ignore file may have."""

_Verdict = Callable[[str, bool], bool | None]
"""Of a path from the ignore file's folder, and whether it is a folder: whether it is ignored; None:
nothing is said of it."""


class Rules(NamedTuple):
    """What one ignore file says of the folder that it is in."""

    folder: str
    verdict: _Verdict


class Ignore:
    """The ignore files that rule a folder. `regexp` is how `.airflowignore` files are written.

    `unheeded` takes what is not heeded of them, by file, as it is found out.
    """

    def __init__(
        self,
        *,
        regexp: bool = False,
        rules: Sequence[Rules] = (),
        unheeded: MutableMapping[str, str] | None = None,
    ) -> None:
        self._regexp = regexp
        self._rules = rules
        self._unheeded = {} if unheeded is None else unheeded

    def within(self, folder: str, names: Sequence[str]) -> Ignore:
        """What rules a folder below, which holds files of these names."""
        present = [name for name in NAMES if name in names]
        own = [rules for name in present if (rules := self._read(folder, name)) is not None]
        if not own:
            return self
        of_both = (*self._rules, *own)
        return Ignore(regexp=self._regexp, rules=of_both, unheeded=self._unheeded)

    def ignores(self, path: str, *, folder: bool) -> bool:
        """Whether a file or folder, in a folder that is not ignored, is to be passed over."""
        for rules in reversed(self._rules):
            said = rules.verdict(path[len(rules.folder) + 1 :], folder)
            if said is not None:
                return said
        return False

    def _read(self, folder: str, name: str) -> Rules | None:
        path = os.path.join(folder, name)  # noqa: PTH118 - as where folders are walked
        try:
            with open(path, "rb", opener=plain_file.opener) as file:
                text = file.read(_LARGEST + 1)
            if len(text) > _LARGEST:
                raise ValueError(f"it is larger than {_LARGEST >> 20} MiB: write fewer patterns")
            lines = text.decode("utf-8", "surrogateescape").splitlines()
            regexp = self._regexp and name == AIRFLOW
            verdict = self._searched(path, lines) if regexp else _glob(lines)
            return Rules(folder, self._limited(path, verdict))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else None
            self._unheeded[path] = f"it ignores nothing: {why or error}"
            return None

    def _limited(self, file: str, verdict: _Verdict) -> _Verdict:
        """A verdict that says nothing any more once it has taken too long."""
        over = False

        def limited(path: str, folder: bool) -> bool | None:
            nonlocal over
            if over:
                return None
            try:
                return call_within(_LONGEST, partial(verdict, path, folder))
            except OutOfTime as error:
                over = True
                self._unheeded[file] = (
                    f"it ignores nothing more: {error} to compare it with {path!r}"
                )
                return None

        return limited

    def _searched(self, file: str, lines: Sequence[str]) -> _Verdict:
        """As Airflow 2 has it, also in that a wrong line does not cost the others."""
        patterns = []
        for number, line in enumerate(lines, 1):
            text = line.partition("#")[0].strip()
            try:
                patterns += [re.compile(text)] if text else []
            except re.error as error:
                self._unheeded.setdefault(file, f"line {number} ignores nothing: {error}")

        def verdict(path: str, folder: bool) -> bool | None:
            return True if any(pattern.search(path) for pattern in patterns) else None

        return verdict


def _glob(lines: Sequence[str]) -> _Verdict:
    spec = GitIgnoreSpec.from_lines(lines)

    def verdict(path: str, folder: bool) -> bool | None:
        return spec.check_file(f"{path}/" if folder else path).include

    return verdict
