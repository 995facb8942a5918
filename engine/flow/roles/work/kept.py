"""Results on disk: what a worker owes the store, while the database is away.

One file a worker, beside its lock, under the state folder. It is appended to only while there is no
connection, and removed when the store has been told. Each line is one record, after the checksum of
its bytes: so half a record, from a host that died as it was written, is known as such.

When the worker dies meanwhile, its successor on the host reads the file and reports what it says
before it frees the claims that the worker left (`flow.roles.work.succession`).
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from flow.embedded.files import synchronise
from flow.errors import ConfigError
from flow.store.callbacks import NewCallback
from flow.store.text import storable_or_none
from flow.store.tries import Report

_SUFFIX: Final = ".results"
_DAMAGED: Final = ".damaged"
_MODE: Final = 0o600
"""What tasks return is nobody else's business."""


class EndedTry(msgspec.Struct, frozen=True, tag="try"):
    """A try has ended, and a callback has to run where the try's own process could not."""

    report: Report
    callback: NewCallback | None = None


class EndedCallback(msgspec.Struct, frozen=True, tag="callback"):
    """A callback is over."""

    callback_id: int


Record = EndedTry | EndedCallback
_decoder: Final[msgspec.json.Decoder[Record]] = msgspec.json.Decoder(Record)


class Found(NamedTuple):
    """What a file says, and whether something in it could not be read."""

    records: list[Record]
    damaged: bool


class TooLarge(OSError):
    """The file would become larger than a worker's results can be."""


class Kept:
    """The file of one worker, which lives. `limit` is its largest size in bytes."""

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        self._limit = limit
        self._size = 0

    def add(self, records: Sequence[Record]) -> None:
        """Append records, and return when the disk has them: all of them or none.

        Raises OSError if they cannot be written.
        """
        data = b"".join(_line(record) for record in records)
        if self._size + len(data) > self._limit:
            raise TooLarge(f"{self._size + len(data)} bytes are more than {self._limit}")
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, _MODE)
        try:
            # Over what an attempt that failed has left there.
            _write(descriptor, data, self._size)
            os.ftruncate(descriptor, self._size + len(data))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        synchronise(self.path.parent)
        self._size += len(data)

    def forget(self) -> None:
        """Remove the file: its records are told, or do not count. May be called twice."""
        self.path.unlink(missing_ok=True)
        self._size = 0


def path_of(home: Path, process_id: int) -> Path:
    """Where a worker keeps its results."""
    return home / "run" / f"worker-{process_id}{_SUFFIX}"


def require_writable(home: Path) -> None:
    """Raise ConfigError unless something can be kept in the state folder."""
    folder = home / "run"
    probe = folder / f"worker-{os.getpid()}.probe"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        Kept(probe, 1 << 10).add([EndedCallback(0)])
        probe.unlink()
    except OSError as error:
        raise ConfigError(
            f"{folder} cannot be written: {error.strerror or error}",
            "results are kept there while the database is away: make it writable for the user of "
            "flow work, with some space left, or let `home` name another folder",
        ) from error


def read(path: Path) -> Found:
    """The records of a file up to the first that cannot be read; none where there is no file."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Found([], damaged=False)
    records: list[Record] = []
    for line in data.splitlines(keepends=True):
        record = _parse(line)
        if record is None:
            return Found(records, damaged=True)
        records.append(record)
    return Found(records, damaged=False)


def set_aside(path: Path) -> Path:
    """Rename a damaged file, so that nobody reads it again; its new path."""
    aside = path.with_name(path.name + _DAMAGED)
    path.replace(aside)
    return aside


def _line(record: Record) -> bytes:
    if isinstance(record, EndedTry):
        ending = record.report.ending
        fit = ending._replace(reason=storable_or_none(ending.reason))
        record = EndedTry(record.report._replace(ending=fit), record.callback)
    body = msgspec.json.encode(record)
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _parse(line: bytes) -> Record | None:
    """The record of a line; None where it is not whole."""
    checksum, _, body = line.removesuffix(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(body):
        return None
    try:
        return _decoder.decode(body)
    except msgspec.MsgspecError:  # another version of Flow wrote it
        return None


def _write(descriptor: int, data: bytes, offset: int) -> None:
    while data:
        written = os.pwrite(descriptor, data, offset)
        data, offset = data[written:], offset + written
