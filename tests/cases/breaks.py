"""Breaking the product on purpose: a case that stays green over its own break proves nothing.

Each case file declares `BREAKS`, changes of product code that must turn it red, and `NEEDS`, verbs
(`flow trigger`) and packages (`flow.sensors`) that it would use if they existed.

    python -m cases.breaks [T43 …]     break and run in a scratch copy (or: just breaks T43)

Exit code 1 when a broken case was green, or did not even run.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[2]

_COPIED: Final = ("engine", "cli", "tui", "tests", "pyproject.toml", "man", "completions")
_RED: Final = 1
"""pytest's exit code when tests ran and some failed; others say that it could not run them."""


@dataclass(frozen=True)
class Break:
    """Put `replacement` where `text` stands, exactly once, in `file` of the repository."""

    file: str
    text: str
    replacement: str

    def fault(self, root: Path = REPOSITORY) -> str | None:
        """Why it cannot be applied; None if it can."""
        path = root / self.file
        if not path.is_file():
            return f"there is no file {self.file}"
        count = path.read_text(encoding="utf-8").count(self.text)
        return None if count == 1 else f"{self.text!r} stands {count} times in {self.file}"


@dataclass(frozen=True)
class Case:
    """One case file and what it declares."""

    path: Path
    breaks: Sequence[Break]
    needs: Sequence[str]

    @property
    def name(self) -> str:
        """T43"""
        return self.path.stem.removeprefix("test_")


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
    return Case(path, tuple(getattr(module, "BREAKS", ())), tuple(getattr(module, "NEEDS", ())))


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
    path.write_text(whole.replace(change.text, change.replacement), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(whole, encoding="utf-8")


def run(root: Path, case: Case) -> subprocess.CompletedProcess[str]:
    """Run a case file of the copy on the product of the copy, to the first failure."""
    file = root / case.path.relative_to(REPOSITORY)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(file)],
        cwd=root,
        env={
            **os.environ,
            "PYTHONPATH": f"{root / 'engine'}:{root / 'cli'}:{root / 'tui'}",
            "PYTEST_ADDOPTS": "",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def outcome(root: Path, case: Case, change: Break) -> str | None:
    """What is wrong with a break; None when the case turned red as it should."""
    fault = change.fault(root)
    if fault is not None:
        return fault
    with broken(root, change):
        done = run(root, case)
    if done.returncode == _RED:
        return None
    if done.returncode == 0:
        return "the case is green although the product is broken"
    return f"pytest could not run the case (exit {done.returncode}):\n{done.stdout}{done.stderr}"


def main(names: Sequence[str]) -> int:
    """Break the named cases, or all; return the exit code."""
    cases = [read(path) for path in files()]
    chosen = [case for case in cases if not names or case.name in names]
    unknown = set(names) - {case.name for case in chosen}
    if unknown or not chosen:
        sys.stderr.write(f"no such case: {' '.join(sorted(unknown)) or 'none at all'}\n")
        return 2
    bad = 0
    with scratch_copy() as root:
        for case in chosen:
            for change in case.breaks:
                wrong = outcome(root, case, change)
                bad += wrong is not None
                print(f"{case.name}  {change.file}: {wrong or 'red, as it should be'}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    # Case files import this module by name; they and this script must mean the same `Break`.
    from cases import breaks

    sys.exit(breaks.main(sys.argv[1:]))
