"""Results on disk: read back as they were, as far as the file is whole; refused, never lost."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from flow.decide import Ending
from flow.errors import ConfigError
from flow.roles.work import kept
from flow.roles.work.kept import EndedCallback, EndedTry, Kept, TooLarge
from flow.roles.work.outbox import Outbox
from flow.states import TaskState, TryState
from flow.store.callbacks import NewCallback
from flow.store.notify import Notifier
from flow.store.tries import Claim, Report

LIMIT = 1 << 20


def ended(task_id: str, **fields) -> EndedTry:
    ending = Ending(TaskState.SUCCESS, TryState.SUCCESS, **fields)
    return EndedTry(Report(Claim(7, task_id, (1, 2), 3), ending, pid=9, log="l"))


CALLBACK = NewCallback(7, "d", "failure", "it failed", "local", "default", "a", (1,), 2, 3)
RECORDS = [
    ended("a", value='{"a": "line\\nbreak \u2028"}', skips=("x", "y"), cpu_time=0.1),
    EndedTry(
        Report(Claim(7, "b", (), 1), Ending(TaskState.UP_FOR_RETRY, TryState.FAILED, delay=3.0)),
        CALLBACK,
    ),
    EndedCallback(12),
]


@pytest.fixture
def file(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "results", LIMIT)


def test_records_are_read_back_as_they_were(file: Kept) -> None:
    file.add(RECORDS[:1])
    file.add(RECORDS[1:])
    assert kept.read(file.path) == (RECORDS, False)
    assert file.path.stat().st_mode & 0o077 == 0
    file.forget()
    assert kept.read(file.path) == ([], False)
    file.add(RECORDS[2:])
    assert kept.read(file.path) == (RECORDS[2:], False)


def test_a_reason_that_no_file_can_hold_is_kept_escaped(file: Kept) -> None:
    file.add([ended("a", reason="\0 and \ud800")])
    [found], _ = kept.read(file.path)
    assert isinstance(found, EndedTry)
    assert found.report.ending.reason == r"\x00 and \ud800"


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_half_a_record_is_known_as_such(file: Kept, cut: int) -> None:
    file.add(RECORDS[:2])
    os.truncate(file.path, file.path.stat().st_size - cut)
    assert kept.read(file.path) == (RECORDS[:1], True)


def test_a_changed_byte_ends_what_is_believed(file: Kept) -> None:
    file.add(RECORDS)
    data = bytearray(file.path.read_bytes())
    data[len(data.splitlines(keepends=True)[0]) + 20] ^= 1
    file.path.write_bytes(data)
    assert kept.read(file.path) == (RECORDS[:1], True)


def test_what_is_set_aside_is_not_read_again(file: Kept) -> None:
    file.path.write_bytes(b"nonsense\n")
    assert kept.read(file.path) == ([], True)
    aside = kept.set_aside(file.path)
    assert kept.read(file.path) == ([], False)
    assert aside.read_bytes() == b"nonsense\n"


def test_more_than_a_worker_can_have_is_refused_and_leaves_the_rest(file: Kept) -> None:
    file.add(RECORDS)
    with pytest.raises(TooLarge):
        file.add([ended("c", value="x" * LIMIT)])
    assert kept.read(file.path) == (RECORDS, False)


def test_a_full_disk_leaves_results_in_memory_and_says_so(
    file: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    outbox = Outbox(Notifier())
    outbox.use(file)
    for callback_id in (1, 2):
        outbox.callback_over(callback_id)
    file.path.symlink_to("/dev/full")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            outbox.keep()
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "No space left on device): they stay in memory" in caplog.text
    assert outbox.callback_ids == {1, 2}
    assert not outbox.safe
    file.path.unlink()
    outbox.keep()
    assert outbox.safe
    assert kept.read(file.path) == ([EndedCallback(1), EndedCallback(2)], False)
    outbox.clear()
    assert not file.path.exists()


def test_a_state_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    kept.require_writable(tmp_path / "home")
    assert list((tmp_path / "home" / "run").iterdir()) == []
    (tmp_path / "run").write_text("a file, no folder")
    with pytest.raises(ConfigError, match="cannot be written") as refused:
        kept.require_writable(tmp_path)
    assert "flow work" in refused.value.hint
