"""Every commit and every message of the roles has its fault points, where they should stand.

That there is no other way to commit or to say something is read from the source; that each point is
really passed shows a deployment at work, which notes the points that it comes by.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest

from cases import points
from cases.deployment import Deployment, deployed
from flow import faults
from flow.process.channel import Channel
from flow.process.messages import Done, FromChild, SetVariable
from flow.process.wire import Line
from flow.store.connect import Conn, connect, transaction
from waiting import wait_until

SENDERS = (
    "process/wire.py",
    "process/child.py",  # the order for a spare child, which has a point of its own
)
"""Who writes to a socket."""


def test_there_is_no_other_way_to_commit_or_to_say_something() -> None:
    # Processes cannot even import the driver (import-linter).
    speaking = {"execute", "executemany", "cursor", "commit"}
    for path, name, call in points.calls("roles"):
        assert name not in speaking, f"{path}:{call.lineno} speaks SQL by itself"
    commits = [
        path.name
        for path in (points.SOURCE / "store").glob("*.py")
        if '"commit"' in (text := path.read_text(encoding="utf-8")) or "; commit" in text
    ]
    assert sorted(commits) == ["connect.py", "notify.py"]
    for path, name, call in points.calls("roles", "process"):
        if name in ("sendall", "sendmsg", "send_fds"):
            assert str(path.relative_to(points.SOURCE)) in SENDERS, f"{path}:{call.lineno}"


def test_the_points_of_a_transaction_stand_before_and_after_its_commit(
    connection: Conn, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {}
    with connect(database, name="other") as other:

        def look(name: str) -> None:
            row = other.execute("select from pool where name = 'p'").fetchone()
            seen[name] = row is not None

        monkeypatch.setattr(faults, "point", look)
        with transaction(connection, "test"):
            connection.execute("insert into pool (name, slots) values ('p', 1)")
    assert seen == {"test.before_commit": False, "test.after_commit": True}


def test_the_points_of_a_message_stand_before_and_after_it_and_where_it_arrives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line = Line(ours, msgspec.msgpack.Decoder(FromChild), name="host")
        channel = Channel(theirs)
        seen = []

        def look(name: str) -> None:
            seen.append(
                (name, *(bool(select.select([end], [], [], 0)[0]) for end in (line, channel)))
            )

        monkeypatch.setattr(faults, "point", look)
        line.send(Done())
        assert isinstance(channel.ask(SetVariable(key="k", value="v")), Done)
        assert line.receive() == [SetVariable(key="k", value="v")]
    asked = "set_variable"
    assert seen == [
        ("host.done.before_send", False, False),
        ("host.done.after_send", False, True),
        (f"child.{asked}.before_send", False, True),
        (f"child.{asked}.after_send", True, True),
        ("child.done.received", True, False),
        (f"host.{asked}.received", False, False),
    ]


WORK = """
import time
from datetime import UTC, datetime

from flow import DAG, Connection, Variable, get_current_context, task
from flow.operators.empty import EmptyOperator
from flow.timetables.base import DagRunInfo, Timetable


class Shifts(Timetable):
    def next_dagrun_info(self, *, last_automated_data_interval, restriction):
        last = last_automated_data_interval
        start = last.end if last else restriction.earliest
        return DagRunInfo.interval(start, start.add(seconds=3600))


with DAG("own", schedule=Shifts(), start_date=datetime(2026, 1, 1, tzinfo=UTC), catchup="none"):
    EmptyOperator(task_id="nothing")


def told(context):
    pass


with DAG("talk", schedule=None):

    @task
    def push():
        get_current_context()["ti"].xcom_push("more", 1)
        return 2

    @task
    def talk(number):
        Variable.set("v", "1")
        Variable.get("v")
        Variable.delete("v")
        Variable.get("absent", default=None)
        Connection.get("c")
        get_current_context()["prev_data_interval_start_success"]

    @task(on_failure_callback=told)
    def fail():
        raise RuntimeError("it calls back")

    talk(push()) >> fail()

with DAG("linger", schedule=None):

    @task
    def linger():
        time.sleep(3600)

    linger()
"""

MEASURED = """
from pathlib import Path

from flow import DAG, File, task

OUTPUT = str(Path(__file__).with_name("output.txt"))

with DAG("measured", schedule=None):

    @task(outlets=[File(OUTPUT)])
    def write():
        Path(OUTPUT).write_text("the same")

    write()
"""


@contextmanager
def recorded() -> Iterator[Deployment]:
    """A deployment with pinned code whose roles leave a file for each point that they pass."""
    with deployed({"dags.code": "pinned", "worker.heartbeat": 0.5}) as deployment:
        (deployment.folder / "passed").mkdir()
        (deployment.folder / "passed").chmod(0o777)
        yield deployment


def recording(deployment: Deployment, wanted: set[str]) -> dict[str, str]:
    return {
        "FLOW_FAULTS": ";".join(f"{point}=sleep:0" for point in sorted(wanted)),
        "FLOW_FAULTS_ONCE_DIR": str(deployment.folder / "passed"),
    }


def test_every_message_and_notification_passes_its_points() -> None:
    wanted = points.of_messages() | points.of_notifications()
    with recorded() as deployment:
        variables = recording(deployment, wanted)
        up = deployment.up(**variables)
        added = deployment.flow("conns", "add", "c", "--uri", "tcp://localhost:1")
        assert added.code == 0, added.err
        deployment.write("work.py", WORK)
        deployment.wait_for_dags("own", "talk", "linger")
        first = deployment.run("talk")
        deployment.wait_for_run("talk", first)
        shown = deployment.flow("tasks", "render", "talk", "talk", first, **variables)
        assert shown.code == 0, shown.err
        deployment.write("measured.py", MEASURED)
        file = str(deployment.dags / "measured.py")
        rehearsed = deployment.flow("test", file, "--idempotent", **variables)
        assert rehearsed.code == 0, rehearsed.err
        lingering = deployment.run("linger")
        wait_until(lambda: "running" in deployment.states("linger", lingering).values(), "the task")
        deployment.flow("runs", "cancel", "linger", lingering, "--yes", **variables)
        deployment.flow("dags", "pause", "own", **variables)
        assert up.end() == 0, up.text()
        passed = {path.name for path in (deployment.folder / "passed").iterdir()}
    assert wanted - passed == set()
