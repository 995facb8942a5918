"""Every command of `flow`, in a form that a case can run on a deployment that it has filled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


def long_id(kind: str) -> str:
    """An id of 200 characters."""
    return f"{kind}_{kind[0] * 200}"[:200]


DAG, TASK, RUN, POOL, VARIABLE, CONN, FILLED, PAUSED = map(
    long_id, ("dag", "task", "run", "pool", "variable", "conn", "filled", "paused")
)


@dataclass(frozen=True)
class Verb:
    """How a command is used here, and what must be seen.

    `unknown`: arguments that name something missing. `offline`: it needs no database.
    """

    arguments: tuple[str, ...] = ()
    code: int = 0
    whole: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    offline: bool = False


VERBS = {
    "dags list": Verb(whole=(DAG,)),
    "dags show": Verb((DAG,), whole=(DAG, TASK), unknown=("nope",)),
    "dags pause": Verb(("waits",), unknown=("nope",)),
    "dags unpause": Verb(("fails",), unknown=("nope",)),
    "dags warnings": Verb(unknown=("nope.py",)),
    "dags versions": Verb((DAG,), unknown=("nope",)),
    "dags errors": Verb(whole=("broken.py",), unknown=("nope.py",)),
    "dags next": Verb((DAG,), unknown=("nope",)),
    "dags delete": Verb(
        (PAUSED, "--begin-anew", "--dry-run"), whole=(PAUSED,), unknown=("nope", "--dry-run")
    ),
    "dags diff": Verb((DAG, "1", "1"), whole=(DAG,), unknown=(DAG, "1", "99")),
    "run": Verb(("fails", "--wait"), code=1, unknown=("nope",)),
    "runs list": Verb((DAG,), whole=(RUN,), unknown=("nope",)),
    "runs show": Verb((DAG, RUN), whole=(DAG, RUN), unknown=(DAG, "nope")),
    "runs cancel": Verb((DAG, "--from", "2020-01-01", "--dry-run"), unknown=(DAG, "nope")),
    "runs delete": Verb((DAG, RUN, "--dry-run"), whole=(RUN,), unknown=(DAG, "nope", "--dry-run")),
    "runs mark": Verb(
        (DAG, RUN, "failed", "--dry-run"), whole=(RUN,), unknown=(DAG, "nope", "failed")
    ),
    "runs pause": Verb((DAG, "--from", "2020-01-01", "--dry-run"), unknown=(DAG, "nope")),
    "runs resume": Verb((DAG, "--from", "2020-01-01", "--dry-run"), unknown=(DAG, "nope")),
    "tasks list": Verb((DAG, RUN), whole=(TASK,), unknown=(DAG, "nope")),
    "tasks tries": Verb((DAG, RUN, TASK), unknown=(DAG, RUN, "nope")),
    "tasks render": Verb((DAG, TASK, RUN), unknown=(DAG, "nope", RUN)),
    "tasks mark": Verb(
        (DAG, RUN, TASK, "failed", "--dry-run"),
        whole=(TASK,),
        unknown=(DAG, RUN, "nope", "failed", "--dry-run"),
    ),
    "tasks hold": Verb(
        (DAG, TASK, "--from", "2020-01-01", "--dry-run"), unknown=(DAG, "nope", TASK)
    ),
    "tasks release": Verb(
        (DAG, TASK, "--from", "2020-01-01", "--dry-run"), unknown=(DAG, "nope", TASK)
    ),
    "audit": Verb(("--dag", DAG), whole=(DAG,), unknown=("--dag", "nope")),
    "events": Verb((DAG, RUN), whole=(RUN, TASK), unknown=("nope",)),
    "why": Verb((DAG, RUN, TASK), whole=(RUN, TASK), unknown=(DAG, RUN, "nope")),
    "clear": Verb(
        (DAG, RUN, "-t", TASK, "--where", f"task={TASK}", "--dry-run"),
        whole=(RUN, TASK),
        unknown=(DAG, RUN, "-t", "nope", "--dry-run"),
    ),
    "backfill": Verb(
        (FILLED, "--from", "2026-02-01", "--to", "2026-02-03", "--dry-run"),
        whole=(FILLED,),
        unknown=("nope", "--from", "2026-02-01"),
    ),
    "backfills list": Verb(whole=(FILLED,), unknown=("nope",)),
    "backfills show": Verb(("1",), whole=(FILLED,), unknown=("99",)),
    "backfills pause": Verb(("1",), whole=(FILLED,), unknown=("99",)),
    "backfills resume": Verb(("1",), whole=(FILLED,), unknown=("99",)),
    "backfills cancel": Verb(("1", "--dry-run"), whole=(FILLED,), unknown=("99", "--dry-run")),
    "logs": Verb((DAG, RUN, TASK), unknown=(DAG, RUN, "nope")),
    "grid": Verb((DAG,), whole=(TASK,), unknown=("nope",)),
    "graph": Verb((DAG, RUN), whole=(RUN, TASK), unknown=(DAG, "nope")),
    "compare": Verb((DAG, RUN, RUN), whole=(RUN, TASK), unknown=(DAG, "nope")),
    "xcom list": Verb((DAG, RUN), whole=(TASK,), unknown=("nope", "latest")),
    "xcom get": Verb((DAG, RUN, TASK), unknown=(DAG, RUN, TASK, "--key", "nope")),
    "pools list": Verb(whole=(POOL,)),
    "pools show": Verb((POOL,), whole=(POOL,), unknown=("nope",)),
    "pools set": Verb((POOL, "3"), whole=(POOL,)),
    "pools delete": Verb((POOL, "--dry-run"), whole=(POOL,), unknown=("nope", "--dry-run")),
    "vars list": Verb(whole=(VARIABLE,)),
    "vars get": Verb((VARIABLE,), unknown=("nope",)),
    "vars set": Verb((VARIABLE, "value"), whole=(VARIABLE,)),
    "vars delete": Verb((VARIABLE, "--dry-run"), whole=(VARIABLE,), unknown=("nope", "--dry-run")),
    "vars import": Verb(("vars.json", "--existing", "overwrite"), whole=(VARIABLE,)),
    "conns list": Verb(whole=(CONN,)),
    "conns get": Verb((CONN,), whole=(CONN,), unknown=("nope",)),
    "conns add": Verb((CONN, "--uri", "tcp://127.0.0.1:1", "--replace"), whole=(CONN,)),
    "conns test": Verb((CONN,), code=1, unknown=("nope",)),
    "conns delete": Verb((CONN, "--dry-run"), whole=(CONN,), unknown=("nope", "--dry-run")),
    "conns import": Verb(("conns.json", "--existing", "overwrite"), whole=(CONN,)),
    "status": Verb(code=1),  # tasks wait for a pool that does not exist
    "db migrate": Verb(),
    "db status": Verb(),
    "db check": Verb(),
    "check": Verb(
        ("dags/noisy.py",), whole=("top-level-process",), unknown=("dags/nope.py",), offline=True
    ),
    "plan": Verb(),
    "test": Verb(
        (f"dags/noisy.py:{DAG}",), whole=(TASK,), unknown=("dags/noisy.py:nope",), offline=True
    ),
    "config show": Verb(offline=True),
    "config get": Verb(("worker.slots",), unknown=("worker.nope",), offline=True),
    "init": Verb(("made-{form}",), offline=True),
    "systemd print": Verb(("--user",), offline=True),
    "systemd install": Verb(("--user", "--dry-run"), offline=True),
    "systemd uninstall": Verb(("--user", "--dry-run"), offline=True),
}
"""Commands with -o, each in a form that can be repeated."""

WITHOUT_FORMS = {
    "parse": ("--once",),
    "schedule": ("--once",),
    "work": ("--once",),
    "db shell": ("-c", "copy (select 1) to stdout"),
    "vars export": (),
    "conns export": (),
    "completion": ("bash",),
}
"""Commands that print in one form, or nothing."""

ELSEWHERE = {"up", "down", "demo", "tui"}
"""`up` and `down` are the fixture and the last test; the demo and the terminal UI have tests of
their own.
"""

EMPTY_LISTS = (
    *("dags list", "dags errors", "runs list", "backfills list"),
    *("vars list", "conns list", "db check"),
)
"""Commands that have nothing to tell of a new deployment."""

CONFLICTS = (
    ("run", DAG, "--run-id", RUN),
    ("backfill", FILLED, "--from", "2026-01-03", "--to", "2026-01-04", "--yes"),
    ("dags", "delete", DAG, "--yes"),
    ("conns", "add", CONN, "--uri", "tcp://h"),
    ("init", "made-json"),
    ("vars", "import", "vars.json"),
)
"""Command lines that ask for what exists already, or is not in a state for it."""

READERS_LEAVE = (
    ("dags", "list"),
    ("runs", "list", "-o", "json"),
    ("tasks", "list", DAG, RUN, "-o", "jsonl"),
    ("logs", DAG, RUN, TASK),
    ("grid", DAG),
    ("vars", "export"),
    ("completion", "bash"),
    ("dags", "--help"),
)
"""Command lines whose reader may leave early."""

LINES = (
    ("vars list", ()),
    ("tasks list", (DAG, RUN)),
    ("runs show", (DAG, RUN)),
    ("runs list", ("waits",)),
)
"""Lists, what is no list, and nothing, for `-o jsonl`."""

TERMINALS = (
    ("dags", "list"),
    ("runs", "list", DAG),
    ("tasks", "list", DAG, RUN),
    ("pools", "list"),
)
"""Command lines whose tables a terminal shows."""


def words(verb: str, *arguments: str) -> tuple[str, ...]:
    """A command line."""
    return (*verb.split(), *arguments)


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command below one, by its words."""
    below = getattr(command, "commands", None)
    if below is None:
        yield " ".join(path), command
        return
    for name, one in below.items():
        yield from leaves(one, (*path, name))
