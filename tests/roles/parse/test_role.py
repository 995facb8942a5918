"""The long-lived DAG processor: it is woken, it beats, it survives its database, it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import flow
from dag_folder import Folder
from flow.store import variables
from flow.store.notify import PARSE, Notifier
from waiting import PATIENCE, limit, wait_until

HANG = limit(60)
eventually = partial(wait_until, seconds=60.0)
HANGS = "import time\nwhile True: time.sleep(9999)\n"


@contextmanager
def serving(folder: Folder, **fields: float) -> Iterator[subprocess.Popen[bytes]]:
    """A DAG processor in a process of its own, told to stop at the end."""
    with start(folder, json.dumps(fields)) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                assert process.wait(HANG) == 0
            finally:
                process.kill()


def start(folder: Folder, *arguments: str) -> subprocess.Popen[bytes]:
    script = Path(__file__).with_name("serve_folder.py")
    command = [sys.executable, str(script), folder.dsn, str(folder.path), *arguments]
    package = Path(next(iter(flow.__path__)))
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(package.parent)})


def running(folder: Folder) -> int:
    count: int = folder.value(
        "select count(*) from process where role = 'parse' and ended_at is null"
    )
    return count


def test_once_parses_everything_and_ends(folder: Folder) -> None:
    folder.dag("one.py", "one")
    folder.write("bad.py", "oops(")
    with start(folder, "{}", "once") as process:
        assert process.wait(HANG) == 0
    assert folder.dags() == {"one": "one.py"}
    assert set(folder.errors()) == {"bad.py"}


def test_a_change_is_seen_at_the_next_sweep(folder: Folder) -> None:
    folder.dag("one.py", "one")
    with serving(folder, interval=0.2):
        eventually(lambda: folder.dags() == {"one": "one.py"}, "the first DAG")
        folder.dag("two.py", "two")
        eventually(lambda: "two" in folder.dags(), "the second DAG")


def test_a_change_is_heard_of_between_two_sweeps(folder: Folder) -> None:
    folder.dag("one.py", "one")
    with serving(folder, interval=10_000):
        eventually(lambda: folder.dags() == {"one": "one.py"}, "the first DAG")
        for number in range(3):
            folder.dag(f"more_{number}.py", f"more_{number}")
            eventually(lambda number=number: f"more_{number}" in folder.dags(), f"more_{number}")
        (folder.path / "one.py").unlink()
        eventually(lambda: "one" not in folder.dags(), "the end of the first DAG")


def test_a_variable_that_changes_is_noticed_between_two_sweeps(folder: Folder) -> None:
    folder.dag("one.py", "one", extra="from flow import Variable\nVariable.get('key', 'none')")
    with serving(folder, interval=10_000):
        eventually(lambda: folder.dags() == {"one": "one.py"}, "the first DAG")
        before = folder.value("select variables from dag_file")
        assert before == {"key": None}
        variables.set_(folder.conn, "key", b"x", None)
        eventually(
            lambda: folder.value("select variables from dag_file") != before,
            "an import with the variable",
        )


def test_hanging_files_hold_up_no_new_one(folder: Folder) -> None:
    """Far more of them than processes, all new, and none of them ends while the test runs."""
    for number in range(8):
        folder.write(f"a_{number}.py", HANGS)
    with serving(folder, interval=10_000, timeout=10 * HANG):
        eventually(lambda: running(folder) == 1, "the DAG processor")
        folder.dag("good.py", "good")
        eventually(lambda: folder.dags() == {"good": "good.py"}, "the good DAG")


def test_files_that_hang_hold_up_no_new_one_beside_one_that_kills(folder: Folder) -> None:
    """It ends them all, so each of them is imported alone; none of them ends by itself."""
    mark = folder.path / "mark"
    for number in range(3):
        folder.write(f"hangs_{number}.py", HANGS)
    kill = f"import os\nopen({str(mark)!r}, 'w').close()\nos.kill(os.getppid(), 9)\n"
    folder.write("kills.py", kill + HANGS)
    with serving(folder, interval=10_000, timeout=10 * HANG):
        eventually(mark.exists, "the kill")
        folder.dag("good.py", "good")
        eventually(lambda: folder.dags() == {"good": "good.py"}, "the good DAG")


def test_a_notification_starts_a_sweep_at_once(folder: Folder) -> None:
    folder.dag("one.py", "one")
    with serving(folder, interval=10_000):
        eventually(lambda: folder.dags() == {"one": "one.py"}, "the first DAG")
        folder.dag("two.py", "two")
        Notifier().send(folder.conn, PARSE)
        eventually(lambda: "two" in folder.dags(), "the second DAG")


def test_a_good_file_is_not_held_up_by_endless_ones(folder: Folder) -> None:
    for number in range(3):
        folder.write(f"endless_{number}.py", HANGS)
    folder.parse(timeout=1.0 * PATIENCE, processes=2)
    assert len(folder.errors()) == 3
    # All three are tried again now, and none of these attempts ends while the test runs.
    with serving(folder, interval=0.2, timeout=10 * HANG):
        eventually(lambda: running(folder) == 1, "the DAG processor")
        folder.dag("good.py", "good")
        eventually(lambda: folder.dags() == {"good": "good.py"}, "the good DAG")


def test_what_is_wrong_with_its_folders_is_there_to_be_read_until_it_is_right(
    folder: Folder, tmp_path: Path
) -> None:
    for name, count in (("larger", 15), ("smaller", 12)):  # neither of them is too large alone
        for number in range(count):
            (tmp_path / name / str(number)).mkdir(parents=True)
        (folder.path / name).symlink_to(tmp_path / name)

    def warnings() -> dict[str, str]:
        told: dict[str, str] | None = folder.value(
            "select warnings from process where role = 'parse' and ended_at is null"
        )
        return told or {}

    with serving(folder, interval=0.2, most_folders=20):
        eventually(lambda: warnings().keys() == {f"{folder.path}/larger"}, "a warning of a link")
        folder.dag("beside.py", "beside")
        eventually(lambda: "beside" in folder.dags(), "a DAG beside it")
        (folder.path / "larger").unlink()
        eventually(lambda: not warnings(), "the end of the warning")


def test_it_registers_beats_and_retires(folder: Folder) -> None:
    with serving(folder, heartbeat=0.1) as process:
        eventually(
            lambda: folder.value("select coalesce(max(heartbeat), 0) from process") >= 3,
            "three heartbeats",
        )
        assert running(folder) == 1
        assert folder.value("select pid from process") == process.pid
    assert folder.value("select ended_reason from process") == "stopped"


def test_it_goes_on_after_the_database_was_away(folder: Folder) -> None:
    folder.dag("one.py", "one")
    with serving(folder, interval=0.2, heartbeat=0.1):
        eventually(lambda: folder.dags() == {"one": "one.py"}, "the first DAG")
        folder.conn.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and application_name = 'flow parse'"
        )
        folder.dag("two.py", "two")
        eventually(lambda: "two" in folder.dags(), "the second DAG")
        assert folder.value("select count(*) from process") == 1


def test_an_import_is_ended_with_its_processor(folder: Folder) -> None:
    marker = f"stop-{os.getpid()}-{time.monotonic_ns()}"
    alive = folder.path / "pid"
    folder.write(
        "endless.py",
        f"""
        import os
        with open({str(alive)!r} + ".new", "w") as file:
            file.write(str(os.getpid()))
        os.rename({str(alive)!r} + ".new", {str(alive)!r})
        print({marker!r})
        while True: pass
        """,
    )
    with serving(folder):
        eventually(alive.exists, "the import")
    assert not Path(f"/proc/{alive.read_text()}").exists()
