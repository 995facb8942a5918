"""A role's row among the processes."""

import gc
from threading import Thread

from flow.roles.loop import Stop
from flow.roles.registration import Registration
from flow.roles.schedule import Settings, serve
from flow.store import processes
from flow.store.connect import connect, transaction
from waiting import wait_until


def rows(conn) -> list[tuple[str, int, str | None]]:
    return conn.execute(
        "select role, heartbeat, ended_reason from process order by process_id"
    ).fetchall()


def test_a_role_counts_up_its_row_and_takes_another_when_it_was_taken_for_lost(connection):
    mine = Registration("parse", "test", heartbeat=0.0, lost_after=300.0)
    assert mine.keep(connection)
    assert mine.keep(connection)
    assert rows(connection) == [("parse", 1, None)]
    [seen] = processes.alive(connection, ["parse"])
    with transaction(connection, "test"):
        assert processes.lose(connection, seen.process_id, seen.heartbeat)
    assert mine.keep(connection)
    mine.end(connection)
    assert rows(connection) == [("parse", 1, "lost"), ("parse", 0, "stopped")]


def test_a_heartbeat_that_is_not_due_costs_nothing(connection):
    mine = Registration("parse", "test", heartbeat=1_000.0, lost_after=3_000.0)
    assert mine.keep(connection)
    assert not mine.keep(connection)
    assert 0.0 < mine.due_in() <= 1_000.0
    assert rows(connection) == [("parse", 0, None)]


def test_a_scheduler_has_a_row_until_it_is_asked_to_stop(database, connection, monkeypatch):
    monkeypatch.setattr(gc, "set_threshold", lambda _: None)  # this process is not a scheduler
    stop = Stop()
    settings = Settings(dsn=database, listen_dsn=database, version="test")
    scheduler = Thread(target=serve, args=(settings, stop))
    scheduler.start()
    try:
        with connect(database, name="test") as seen:
            wait_until(lambda: rows(seen) == [("schedule", 0, None)], "the row")
    finally:
        stop.ask()
        scheduler.join()
    assert rows(connection) == [("schedule", 0, "stopped")]
