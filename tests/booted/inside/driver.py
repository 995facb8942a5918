"""What is done in the container, and what is found: one JSON object a line in /srv/out/findings.

It judges nothing; the test does.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from booted.inside import ordinary
from booted.inside.findings import OUT, run, say, until
from flow.embedded import Server
from waiting import limit

UNITS = Path("/etc/systemd/system")
SCHEDULE, WORK, PARSE = "flow-schedule@1.service", "flow-work@1.service", "flow-parse.service"
ROLES = (PARSE, SCHEDULE, "flow-schedule@2.service", WORK)
FLOW = [sys.executable, "-P", "-m", "flow_cli"]
START_LIMIT, STOP_LIMIT, WATCHDOG = int(limit(5)), 1, int(limit(4))
"""Seconds that the units of this machine get instead of minutes."""

WAITS = "waiting for the database"


def flow(*arguments: str) -> dict[str, Any]:
    """Run `flow` on the deployment."""
    url = Path("/etc/flow/database/url")
    return run(*FLOW, *arguments, FLOW_DATABASE_URL=url.read_text().strip())


def ask(*arguments: str) -> Any:
    """What a verb answers."""
    done = flow(*arguments, "-o", "json")
    return json.loads(done["out"]) if done["out"] else done


def show(unit: str) -> dict[str, str]:
    """The properties of a unit that matter here."""
    names = (
        "ActiveState,SubState,Result,NRestarts,StatusText,MainPID,InactiveExitTimestampMonotonic"
    )
    said = run("systemctl", "show", unit, "-p", f"{names},ActiveEnterTimestampMonotonic")["out"]
    return dict(line.split("=", 1) for line in said.splitlines())


def active(unit: str) -> bool:
    return show(unit)["ActiveState"] == "active"


def make_database(server: Server, name: str) -> str:
    """A database that takes a password; its URL."""
    password = secrets.token_hex(8)
    server.create_database(name, name, password)
    return f"postgresql://{name}:{password}@/{name}?host={server.socket_directory}"


def write_settings(url: str) -> None:
    """Settings, DAG files and the login, as an administrator puts them there."""
    database = Path("/etc/flow/database")
    database.mkdir(parents=True, mode=0o700)
    (database / "url").write_text(url + "\n")
    (database / "url").chmod(0o600)
    Path("/etc/flow/flow.toml").write_text(
        'dags.folders = ["/srv/dags"]\ndags.paused_at_creation = false\nworker.heartbeat = 0.5\n'
        "worker.kill_grace = 1\n"
    )
    shutil.copytree("/srv/inside/dags", "/srv/dags")


def shorten_limits() -> None:
    """Drop-ins: shorter limits than in the units, and where this machine has Flow's code."""
    paths = f"Environment=PYTHONPATH={os.environ['PYTHONPATH']} PYTHONDONTWRITEBYTECODE=1\n"
    limits = {
        PARSE: "",
        "flow-schedule@.service": f"TimeoutStartSec={START_LIMIT}\nWatchdogSec={WATCHDOG}\n",
        "flow-work@.service": f"TimeoutStopSec={STOP_LIMIT}\n",
    }
    for unit, text in limits.items():
        folder = UNITS / f"{unit}.d"
        folder.mkdir()
        (folder / "here.conf").write_text(f"[Service]\n{paths}{text}")


def install() -> None:
    """A file in the way, then the installation, and once more."""
    foreign = UNITS / "flow.target"
    foreign.write_text("[Unit]\nDescription=somebody else's\n")
    said = run(*FLOW, "systemd", "install")
    say("refused", **said, kept=foreign.read_text(), written=(UNITS / WORK).exists())
    foreign.unlink()
    asked = ("systemd", "install", "--workers", "1", "--schedulers", "2", "-o", "json")
    say("installed", **run(*FLOW, *asked))
    say("installed again", **run(*FLOW, "systemd", "install", "--dry-run", "-o", "json"))


def start(server: Server) -> None:
    """Start without a database; then start the database."""
    run("systemctl", "daemon-reload")
    run("systemctl", "start", "--no-block", "flow.target")
    until(lambda: all(map(waiting_for, ROLES)), "roles that wait")
    until(lambda: waiting_for(SCHEDULE) > START_LIMIT + 1, "a start that outlasts its limit")
    say("without a database", units={unit: show(unit) for unit in ROLES})
    before = time.monotonic()
    server.start()
    until(lambda: all(map(active, ROLES)), "roles that are ready")
    say("ready", database_at=before, units={unit: show(unit) for unit in ROLES})


def waiting_for(unit: str) -> float:
    """Seconds since a unit began to start, if it waits for its database."""
    shown = show(unit)
    if shown["StatusText"] != WAITS or shown["ActiveState"] != "activating":
        return 0.0
    return time.monotonic() - int(shown["InactiveExitTimestampMonotonic"]) / 1e6


def run_task(dag_id: str, until_file: str) -> str:
    """Start a run, and wait until its task has written a file."""
    run_id = ask("run", dag_id)["run_id"]
    until((OUT / until_file).exists, f"the task of {dag_id}")
    return str(run_id)


def tries(dag_id: str, run_id: str, task_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask("tasks", "tries", dag_id, run_id, task_id)
    return found


def state(dag_id: str, run_id: str) -> str:
    return str(ask("runs", "show", dag_id, run_id).get("state"))


def look_around() -> None:
    """What a task of a service can see."""
    until(lambda: any(dag["dag_id"] == "looks" for dag in ask("dags", "list")), "the DAGs")
    run_id = ask("run", "looks", "--wait")["run_id"]
    found = OUT / "look.json"
    facts = json.loads(found.read_text()) if found.exists() else {}
    say("looked", facts=facts, log=flow("logs", "looks", run_id, "look"))


def hang_and_kill() -> None:
    """Stop a scheduler for good, and kill a worker's supervisor in the middle of a task."""
    run_id = run_task("killed", "killed.began")
    task = int((OUT / "killed.began").read_text().split()[0])
    hung, killed = show(SCHEDULE), show(WORK)
    os.kill(int(hung["MainPID"]), 19)
    os.kill(int(killed["MainPID"]), 9)
    began = OUT / "killed.began"
    until(lambda: len(began.read_text().split()) > 1, "the second try")
    say(
        "killed",
        before=killed,
        after=show(WORK),
        first_alive=Path(f"/proc/{task}").exists(),
    )
    (OUT / "killed").touch()
    until(lambda: state("killed", run_id) == "success", "the run of the killed task")
    say("tried again", tries=tries("killed", run_id, "held"))
    until(
        lambda: show(SCHEDULE)["NRestarts"] != hung["NRestarts"] and active(SCHEDULE),
        "the scheduler again",
    )
    say("hung", before=hung, after=show(SCHEDULE), journal=records(SCHEDULE))


def drain() -> None:
    """Stop a worker that has a task, and let the task end after the limit on stopping."""
    run_id = run_task("drained", "drained.began")
    until(lambda: "1 of 16" in show(WORK)["StatusText"], "a status with a task")
    until(lambda: show(SCHEDULE)["StatusText"] != WAITS, "the status of the new scheduler")
    say("status", texts={unit: show(unit)["StatusText"] for unit in ROLES})
    asked = time.monotonic()
    run("systemctl", "stop", "--no-block", WORK)
    until(lambda: show(WORK)["StatusText"].startswith("draining"), "the drain")
    until(lambda: time.monotonic() > asked + STOP_LIMIT + 1, "the end of the limit on stopping")
    say("draining", unit=show(WORK))
    (OUT / "drained").touch()
    until(lambda: show(WORK)["ActiveState"] in ("inactive", "failed"), "the end of the worker")
    until(lambda: state("drained", run_id) == "success", "the run of the drained task")
    say("drained", unit=show(WORK), tries=tries("drained", run_id, "slow"))


def records(unit: str, *fields: str) -> list[tuple[str, str]]:
    """Priorities and messages that the journal has of a unit."""
    run("journalctl", "--sync")
    lines = run("journalctl", "-o", "json", "-u", unit, *fields)["out"].splitlines()
    return [(one["PRIORITY"], one["MESSAGE"]) for one in map(json.loads, lines)]


def uninstall() -> None:
    """Take it all away."""
    said = run(*FLOW, "systemd", "uninstall", "--yes", "-o", "json")
    left = sorted(str(path) for path in UNITS.rglob("*flow*"))
    running = {unit: show(unit)["ActiveState"] for unit in ROLES}
    kept = [
        str(path)
        for path in (Path("/etc/flow/flow.toml"), Path("/var/lib/flow/secrets.key"))
        if path.exists()
    ]
    say("uninstalled", **said, left=left, running=running, kept=kept)


def main() -> None:
    """The whole drive."""
    server = Server(Path("/srv/pg"), shared_socket=True)
    write_settings(make_database(server, "orchestrator"))
    say("migrated", **flow("db", "migrate"))
    server.stop()
    install()
    shorten_limits()
    start(server)
    look_around()
    hang_and_kill()
    drain()
    say("journal", records=records(WORK, "_COMM=python3"))
    uninstall()
    ordinary.drive(make_database(server, ordinary.NAME))
    server.stop()
    say("done")


main()
