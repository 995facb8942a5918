"""Logs from before a moment are as if they were not there."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flow.errors import LogUnreadable
from flow.logs import LogFiles, LogsSince

MOMENT = datetime(2026, 10, 9, 12, tzinfo=UTC)


def written(folder: Path, at: datetime) -> str:
    path = folder / "attempt=1.log"
    path.write_bytes(b"a story")
    os.utime(path, (at.timestamp(), at.timestamp()))
    return str(path)


@pytest.mark.parametrize(
    ("later", "seen"),
    [(timedelta(0), True), (timedelta(hours=1), True), (timedelta(milliseconds=-1), False)],
)
def test_what_is_older_is_not_there(tmp_path: Path, later: timedelta, seen: bool) -> None:
    place = LogsSince(LogFiles(tmp_path), MOMENT)
    address = written(tmp_path, MOMENT + later)
    assert place.exists(address) is seen
    assert b"".join(place.read(address)) == (b"a story" if seen else b"")
    assert b"".join(place.read(address, 2)) == (b"story" if seen else b"")


def test_what_is_missing_is_no_error_and_what_cannot_be_read_is_one(tmp_path: Path) -> None:
    place = LogsSince(LogFiles(tmp_path), MOMENT)
    address = place.address("sales", "one", "load", (), 1)
    assert (place.exists(address), list(place.read(address))) == (False, [])
    Path(address).mkdir(parents=True)
    with pytest.raises(LogUnreadable, match="it is no file"):
        list(place.read(address))
