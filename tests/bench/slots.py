"""slots: the memory of each of 1,000 tries that sleep on one worker, and their heartbeat.

Usage: slots.py [--reduced]

The proportional set size of the whole worker divided by its tries, against as many bare forked
children of a process with the zygote's modules. Beside it the statements that the worker sends from
one heartbeat to the next, against what it sends without any try: they are for all tries together.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

import cpu
from harness import Aim, Conn, Deployment, Results, deployment, main, one, run_floor, wait_for
from runs import dag_files, let_go, many

AIM: Final = Aim(3.0)
STATEMENTS: Final = Aim(1.0)
TASKS: Final = 25
BEATS: Final = 3
_RUNNING: Final = "select count(*) from task_hot where state = 'running'"
_UNNOTED: Final = "select exists(select from try_hot where pid is null)"
_BEATEN: Final = "select heartbeat from process where role = 'work'"
_BACKEND: Final = "select pid from pg_stat_activity where application_name = 'flow work'"
_ENTRY: Final = re.compile(r"^(?=\d{4}-\d\d-\d\d )", re.MULTILINE)


def measure(results: Results, reduced: bool) -> None:
    """Print statements a heartbeat, and memory a try against a bare child."""
    tries = 100 if reduced else 1_000
    settings = {"HEARTBEAT": "1", "KILL_GRACE": "0", "DRAIN_TIMEOUT": "0"}
    with (
        deployment(**{f"FLOW_WORKER_{name}": value for name, value in settings.items()}) as flow,
        flow.connect() as conn,
    ):
        text = many("sleepers", runs=tries // TASKS, tasks=TASKS, body="time.sleep(3600)")
        dag_files(flow, {"sleepers": text})
        flow.start("schedule")
        worker = flow.start("work", "--slots", str(tries))
        flow.await_roles(conn, "schedule", "work")
        idle = _statements(flow, conn)
        let_go(conn, "sleepers")
        wait_for(lambda: one(conn, _RUNNING) == tries, f"{tries} tries to run")
        wait_for(lambda: not one(conn, _UNNOTED), "the process of each try to be noted")
        busy = _statements(flow, conn)
        size = cpu.proportional_size([worker.pid]) / tries
        script = [sys.executable, str(Path(__file__).with_name("bare_children.py")), str(tries)]
        bare = run_floor(script, flow.environment)["bytes"]
    results.line(busy, "statements", idle, STATEMENTS, figure="a heartbeat", tries=tries)
    results.line(size / 1e6, "MB/try", bare / 1e6, AIM, tries=tries)


def _statements(flow: Deployment, conn: Conn) -> float:
    """Statements of the worker's connection from one heartbeat to the next."""
    backend = one(conn, _BACKEND)
    already = flow.server.log_path.stat().st_size
    _log_statements(conn, "all")
    first = one(conn, _BEATEN)
    wait_for(lambda: one(conn, _BEATEN) > first + BEATS, "heartbeats")
    _log_statements(conn, "none")
    with flow.server.log_path.open(encoding="utf-8") as log:
        log.seek(already)
        entries = _ENTRY.split(log.read())
    mine = [
        entry
        for entry in entries
        if f" [{backend}] " in entry and re.search("LOG:  (statement|execute)", entry)
    ]
    beats = [number for number, text in enumerate(mine) if "set heartbeat = heartbeat + 1" in text]
    return (beats[-1] - beats[0]) / (len(beats) - 1)


def _log_statements(conn: Conn, which: str) -> None:
    conn.execute(f"alter system set log_statement = '{which}'")
    conn.execute("select pg_reload_conf()")


if __name__ == "__main__":
    main("slots", measure)
