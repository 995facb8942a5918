"""The demo's folder: settings, the DAG files of a small shop, and an empty landing folder."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from flow import config
from flow.config import Config
from flow.errors import FlowError

NIGHTLY: Final = "shop_nightly"
HOUSEKEEPING: Final = "housekeeping"
LOAD: Final = "load"
"""The task of `NIGHTLY` that writes a day's orders."""
NIGHTS: Final = 3

_START_DATE: Final = "datetime(2026, 1, 1)"
"""The start date as the shipped DAG files have it; the demo's nights are those before today."""
_OURS: Final = "FLOW_"


class Totals(NamedTuple):
    """What the orders of a day add up to."""

    orders: int
    revenue_cents: int


class Project(NamedTuple):
    """The folder with everything in it. `nights` are days in UTC (2026-10-09), oldest first."""

    folder: Path
    environment: Mapping[str, str]
    """That of its processes: without what the caller's says about another deployment."""
    config: Config
    nights: Sequence[str]
    expected: Mapping[str, Totals]
    """By night: what a correct load adds up to, by the till's own account."""

    @property
    def settings_file(self) -> Path:
        """The project's `flow.toml`."""
        return self.folder / config.FILE_NAME

    @property
    def landing(self) -> Path:
        """Where the pipeline puts what it has fetched and not yet loaded."""
        return self.folder / "landing"

    @property
    def warehouse_schema(self) -> str:
        """The statements that make the warehouse's tables."""
        return (self.folder / "warehouse.sql").read_text(encoding="utf-8")


@contextmanager
def scratch_folder(*, keep: bool) -> Iterator[Path]:
    """A new folder with a short path, removed at the end unless it is to be kept."""
    folder = Path(tempfile.mkdtemp(prefix="flow-demo-", dir=_base()))
    if os.geteuid() == 0:
        folder.chmod(0o755)  # the database's own user must get through to its data
    try:
        yield folder
    except BaseException:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)  # what went wrong before matters more
        raise
    if not keep:
        shutil.rmtree(folder)


def make(folder: Path, files: Path, binaries: Path | None) -> Project:
    """Copy the project's `files` to `folder`, with a schedule that began `NIGHTS` days ago.

    `binaries` is where the caller's settings say that PostgreSQL's programs are.
    """
    without = shutil.ignore_patterns("__pycache__")
    try:
        shutil.copytree(files, folder, dirs_exist_ok=True, ignore=without)
    except shutil.Error as error:  # of each file that could not be copied
        (_, _, reason), *_ = error.args[0]
        raise FlowError(
            f"the demo's files cannot be copied to {folder}: {reason}",
            "Make room there, or name another place with TMPDIR.",
        ) from error
    (folder / "landing").mkdir()
    if binaries is not None:
        with (folder / config.FILE_NAME).open("a", encoding="utf-8") as settings:
            settings.write(f"\n[database]\nbinaries = {json.dumps(str(binaries))}\n")
    today = datetime.now(UTC).date()
    days = [today - timedelta(days=back) for back in range(NIGHTS, 0, -1)]
    first = f"datetime({days[0].year}, {days[0].month}, {days[0].day})"
    for name in (NIGHTLY, HOUSEKEEPING):
        _replace(folder / "dags" / f"{name}.py", _START_DATE, first)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(_OURS)}
    found = config.load(folder / config.FILE_NAME, environ=environment, folder=folder)
    nights = [day.isoformat() for day in days]
    expected = _ask_the_till(folder / "dags" / "till.py", nights, environment)
    return Project(folder, environment, found, nights, expected)


def _base() -> Path:
    """Where scratch folders go. As root not below a folder that shuts other users out."""
    usual = Path(tempfile.gettempdir()).resolve()
    passable = all(path.stat().st_mode & stat.S_IXOTH for path in (usual, *usual.parents))
    return usual if os.geteuid() != 0 or passable else Path("/tmp")


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise FlowError(f"{file.name} of the demo has {old} {text.count(old)} times, not once")
    file.write_text(text.replace(old, new), encoding="utf-8")


def _ask_the_till(
    till: Path, nights: Sequence[str], environment: Mapping[str, str]
) -> dict[str, Totals]:
    """In a process of its own, as for every file of a project."""
    answer = subprocess.run(
        [sys.executable, "-I", str(till), *nights],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        start_new_session=True,  # a terminal's Ctrl-C is for the demo alone
    )
    return {night: Totals(**totals) for night, totals in json.loads(answer.stdout).items()}
