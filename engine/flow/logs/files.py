"""Where the log of a try is, and reading it.

    ROOT/dag_id=ID/run_id=ID/task_id=ID[/map=0.3]/attempt=N.log

Ids are legal file names already, except for run ids, whose `:` and `+` are harmless there; anything
else is percent-encoded, so that no id can leave the root. An id so long that no file may have its
name is cut and ends in a hash of the whole. The logs of an earlier run of the same id lie beside
those of the run (`flow.logs.earlier`).
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import quote

from flow.errors import LogUnreadable
from flow.logs.earlier import earlier_logs

CHUNK: Final = 1 << 16
"""Bytes read at once."""
_LONGEST_NAME: Final = 255
"""Bytes that the name of a file may have on Linux (NAME_MAX); all of ours are ASCII."""


def log_path(
    root: Path, dag_id: str, run_id: str, task_id: str, map_path: Sequence[int], try_number: int
) -> Path:
    """The log file of one try."""
    folder = dag_folder(root, dag_id) / _part("run_id", run_id) / _part("task_id", task_id)
    if map_path:
        folder /= "map=" + ".".join(map(str, map_path))
    return folder / f"attempt={try_number}.log"


def dag_folder(root: Path, dag_id: str) -> Path:
    """The folder of all logs of a DAG."""
    return root / _part("dag_id", dag_id)


def callback_log_path(root: Path, dag_id: str, run_id: str, callback_id: int) -> Path:
    """The log file of a callback that runs in a process of its own."""
    return dag_folder(root, dag_id) / _part("run_id", run_id) / f"callback={callback_id}.log"


def _part(kind: str, value: str) -> str:
    """One folder of the path, `dag_id=sales`."""
    name = f"{kind}={_name(value)}"
    if len(name) <= _LONGEST_NAME:
        return name
    # `~` is in no id, so a name that was cut is nobody else's whole name.
    end = "~" + hashlib.sha256(value.encode()).hexdigest()[:16]
    return name[: _LONGEST_NAME - len(end)] + end


def read_log(path: Path, offset: int = 0) -> Iterator[bytes]:
    """The bytes of a log from `offset` on, in chunks; nothing when there is no such file yet.

    Raises `LogUnreadable` for what is there and cannot be read.
    """
    try:
        with _open(path) as file:
            file.seek(offset)
            while chunk := file.read(CHUNK):
                yield chunk
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error


def _open(path: Path) -> BinaryIO:
    # Without O_NONBLOCK a pipe would wait for somebody who writes.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _unreadable(path, "it is no file")
    return os.fdopen(descriptor, "rb")


def _unreadable(path: Path, why: str) -> LogUnreadable:
    return LogUnreadable(
        f"the log {path} cannot be read: {why}",
        "Look at what is there, and who may read it; see logs.root in flow.toml(5).",
    )


class LogFiles:
    """Logs in files below a root; a `flow.logs.backend.Logs`. An address is an absolute path."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def address(
        self, dag_id: str, run_id: str, task_id: str, map_path: Sequence[int], try_number: int
    ) -> str:
        """The path of a try's log."""
        return str(log_path(self._root, dag_id, run_id, task_id, map_path, try_number).absolute())

    def exists(self, address: str) -> bool:
        """Whether the file is there."""
        return Path(address).is_file()

    def written_at(self, address: str) -> datetime | None:
        """When the file was last written; None: it is not there. Raises `LogUnreadable`."""
        path = Path(address)
        try:
            return datetime.fromtimestamp(path.stat().st_mtime, UTC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _unreadable(path, error.strerror or str(error)) from error

    def earlier(self, address: str) -> list[str]:
        """The files beside it that were set aside from its path; none where nobody may look."""
        try:
            return [str(path) for path in earlier_logs(Path(address))]
        except OSError:
            return []

    def read(self, address: str, offset: int = 0) -> Iterator[bytes]:
        """The bytes of the file from `offset` on, in pieces. Raises `LogUnreadable`."""
        return read_log(Path(address), offset)


def _name(value: str) -> str:
    return quote(value, safe=":+ ")
