"""Breaking the product on purpose: a case that stays green over its own break proves nothing.

Each case file declares `BREAKS`, changes of product code that must turn it red, and `NEEDS`, verbs
(`flow trigger`) and packages (`flow.sensors`) that it would use if they existed.

    python -m cases.breaks [T43 …]     break and run in a scratch copy (or: just breaks T43)

A line for each break says which test it turned red, by what, and how long that took. Exit code 1
when a broken case was green, did not even run, or failed by anything but its own verdict; 2,
before anything runs, when a break does not fit the product.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Final
from xml.etree import ElementTree

import prepared_home

REPOSITORY: Final = Path(__file__).parents[2]

_COPIED: Final = ("engine", "cli", "tui", "tests", "pyproject.toml", "man", "completions")
_MAKES_A_HOME: Final = ("engine/flow/embedded/", "engine/flow/store/migrat")
"""Beginnings of files by which the database of a new home is made."""
_VERDICTS: Final = ("AssertionError", "values to unpack (expected")
_WIDTH: Final = 300
"""How much of a message is told, in characters."""
_RED: Final = 1
"""pytest's exit code when tests ran and some failed; others say that it could not run them."""


@dataclass(frozen=True)
class Break:
    """Put `replacement` where `text` stands, exactly once, in `file` of the repository."""

    file: str
    text: str
    replacement: str
    test: str | None = None
    """The test that it turns red; None for the first of the case that it does."""

    def broken(self, whole: str) -> str:
        """The text of the file with the change in it."""
        return whole.replace(self.text, self.replacement)

    def fault(self, root: Path = REPOSITORY) -> str | None:
        """Why it cannot be applied; None if it can."""
        path = root / self.file
        if not path.is_file():
            return f"there is no file {self.file}"
        whole = path.read_text(encoding="utf-8")
        count = whole.count(self.text)
        if count != 1:
            return f"{self.text!r} stands {count} times in {self.file}"
        if path.suffix == ".py":
            try:
                compile(self.broken(whole), self.file, "exec")
            except SyntaxError as error:
                return f"with {self.replacement!r} {self.file} is no Python: {error}"
        return None


@dataclass(frozen=True)
class Case:
    """One case file and what it declares."""

    path: Path
    breaks: Sequence[Break]
    needs: Sequence[str]
    tests: frozenset[str]
    """Names of its tests."""

    @property
    def name(self) -> str:
        """T43"""
        return self.path.stem.removeprefix("test_")

    def faults(self) -> list[str]:
        """What is wrong with its breaks before anything has run."""
        found = [fault for change in self.breaks if (fault := change.fault())]
        named = (change.test for change in self.breaks if change.test is not None)
        return found + [f"there is no {test}" for test in named if test not in self.tests]


def files() -> list[Path]:
    """Every case file, by name: those with a number, and others that declare breaks."""
    return [
        path
        for path in sorted(Path(__file__).parent.glob("test_*.py"))
        if path.name.startswith("test_T") or "\nBREAKS" in path.read_text(encoding="utf-8")
    ]


def read(path: Path) -> Case:
    """What a case file declares."""
    module = importlib.import_module(f"cases.{path.stem}")
    tests = frozenset(name for name in vars(module) if name.startswith("test_"))
    declared = (tuple(getattr(module, name, ())) for name in ("BREAKS", "NEEDS"))
    return Case(path, *declared, tests)


@contextmanager
def scratch_copy() -> Iterator[Path]:
    """A copy of the tree to be broken."""
    with tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for part in _COPIED:
            source = REPOSITORY / part
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", ".*")
                shutil.copytree(source, folder / part, ignore=ignored)
            else:
                shutil.copy(source, folder / part)
        yield folder


@contextmanager
def broken(root: Path, change: Break) -> Iterator[None]:
    """The tree in `root` with the change in it."""
    path = root / change.file
    whole = path.read_text(encoding="utf-8")
    path.write_text(change.broken(whole), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(whole, encoding="utf-8")


@dataclass(frozen=True)
class Red:
    """The first test that failed."""

    test: str
    why: str
    """What it failed by, shortened to one line."""

    @property
    def is_verdict(self) -> bool:
        """Whether the case has said no, by an assertion or by how many values it unpacks, and did
        not merely stumble or hang.
        """
        return self.why.startswith("assert ") or any(one in self.why for one in _VERDICTS)


@dataclass(frozen=True)
class Ended:
    """What pytest has left behind."""

    code: int
    red: Red | None
    output: str


def run(root: Path, case: Case, change: Break) -> Ended:
    """Run the test of a break on the product of the copy, to the first failure."""
    file = str(root / case.path.relative_to(REPOSITORY))
    chosen = file if change.test is None else f"{file}::{change.test}"
    report = root / "report.xml"
    report.unlink(missing_ok=True)
    own_home = change.file.startswith(_MAKES_A_HOME)
    options = ("-q", "-x", "-p", "no:cacheprovider", f"--junit-xml={report}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, chosen],
        cwd=root,
        env={
            **os.environ,
            "PYTHONPATH": f"{root / 'engine'}:{root / 'cli'}:{root / 'tui'}",
            "PYTEST_ADDOPTS": "",
            prepared_home.MADE: "" if own_home else str(prepared_home.made()),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return Ended(done.returncode, _first_red(report), done.stdout + done.stderr)


def _first_red(report: Path) -> Red | None:
    if not report.is_file():
        return None
    for test in ElementTree.parse(report).iter("testcase"):
        for ended in test:
            if ended.tag in ("failure", "error"):
                why = shorten(ended.get("message", ""), _WIDTH, placeholder=" …")
                return Red(test.get("name", ""), why)
    return None


def outcome(root: Path, case: Case, change: Break) -> tuple[bool, str]:
    """Whether the case turned red as it should, and by what, or what is wrong."""
    with broken(root, change):
        ended = run(root, case, change)
    if ended.code == 0:
        return False, "the case is green although the product is broken"
    if ended.code != _RED or ended.red is None:
        return False, f"pytest could not run the case (exit {ended.code}):\n{ended.output}"
    told = f"{ended.red.test}: {ended.red.why}"
    if not ended.red.is_verdict:
        return False, f"it failed by no verdict: {told}\n{ended.output}"
    return True, f"red by {told}"


def main(names: Sequence[str]) -> int:
    """Break the named cases, or all; return the exit code."""
    cases = [read(path) for path in files()]
    chosen = [case for case in cases if not names or case.name in names]
    unknown = set(names) - {case.name for case in chosen}
    if unknown or not chosen:
        sys.stderr.write(f"no such case: {' '.join(sorted(unknown)) or 'none at all'}\n")
        return 2
    unfit = [f"{case.name}  {fault}\n" for case in chosen for fault in case.faults()]
    if unfit:
        sys.stderr.writelines(unfit)
        return 2
    bad = 0
    try:
        with scratch_copy() as root:
            for case in chosen:
                for change in case.breaks:
                    began = time.monotonic()
                    right, told = outcome(root, case, change)
                    bad += not right
                    took = f"{time.monotonic() - began:.0f} s"
                    print(f"{case.name}  {change.file}  {took}  {told}", flush=True)
    finally:
        prepared_home.forget()
    return 1 if bad else 0


if __name__ == "__main__":
    # Case files import this module by name; they and this script must mean the same `Break`.
    from cases import breaks

    sys.exit(breaks.main(sys.argv[1:]))
