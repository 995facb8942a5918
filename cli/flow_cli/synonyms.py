"""What somebody types who is used to Airflow or to other tools, and how it is written here."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

COMMANDS: Final = {
    "api-server": "flow tui",
    "backfill cancel": "flow backfills cancel ID",
    "backfill create": "flow backfill DAG --from DATE --to DATE",
    "backfill list": "flow backfills list",
    "backfill pause": "flow backfills pause ID",
    "backfill resume": "flow backfills resume ID",
    "backfill show": "flow backfills show ID",
    "backfill unpause": "flow backfills resume ID",
    "cancel": "flow runs cancel DAG RUN",
    "celery": "flow work",
    "cheat-sheet": "flow --help",
    "config get-value": "flow config get KEY",
    "config list": "flow config show",
    "connections": "flow conns",
    "conns create": "flow conns add CONN",
    "conns set": "flow conns add CONN",
    "conns show": "flow conns get CONN",
    "dag-processor": "flow parse",
    "dags backfill": "flow backfill DAG --from DATE --to DATE",
    "dags clear": "flow clear DAG RUN",
    "dags details": "flow dags show DAG",
    "dags graph": "flow graph DAG",
    "dags list-import-errors": "flow dags errors",
    "dags list-jobs": "flow status",
    "dags list-runs": "flow runs list DAG",
    "dags next-execution": "flow dags next DAG",
    "dags report": "flow dags warnings",
    "dags reserialize": "flow parse --once",
    "dags show --imgcat": "flow graph DAG",
    "dags show --save": "flow graph DAG --dot",
    "dags state": "flow runs show DAG RUN",
    "dags test": "flow test FILE",
    "dags trigger": "flow run DAG",
    "db clean": "flow runs delete DAG --to -90d",
    "db init": "flow db migrate",
    "db upgrade": "flow db migrate",
    "errors": "flow dags errors",
    "help": "flow --help",
    "hold": "flow tasks hold DAG RUN TASK",
    "jobs": "flow status",
    "kill": "flow runs cancel DAG RUN",
    "list": "flow dags list",
    "ls": "flow dags list",
    "mark": "flow runs mark DAG RUN STATE, or flow tasks mark DAG RUN TASK STATE",
    "pause": "flow dags pause DAG",
    "pools get": "flow pools show POOL",
    "release": "flow tasks release DAG RUN TASK",
    "render": "flow tasks render DAG TASK",
    "rerun": "flow clear DAG RUN",
    "retry": "flow clear DAG RUN",
    "resume": "flow runs resume DAG RUN",
    "scheduler": "flow schedule",
    "standalone": "flow up",
    "start": "flow up",
    "stop": "flow down",
    "tasks clear": "flow clear DAG RUN -t TASK",
    "tasks failed-deps": "flow why DAG RUN TASK",
    "tasks logs": "flow logs DAG RUN TASK",
    "tasks run": "flow clear DAG RUN -t TASK",
    "tasks state": "flow tasks list DAG RUN",
    "tasks states-for-dag-run": "flow tasks list DAG RUN",
    "tasks test": "flow test FILE -t TASK",
    "tries": "flow tasks tries DAG RUN TASK",
    "trigger": "flow run DAG",
    "trigger_dag": "flow run DAG",
    "unpause": "flow dags unpause DAG",
    "variables": "flow vars",
    "version": "flow --version",
    "webserver": "flow tui",
    "worker": "flow work",
}
"""The words behind `flow`: the command that does it."""

_ACCOUNTS: Final = "Flow has no accounts: who can reach its database can do everything"
_ASSETS: Final = "There are no assets yet: flow-airflow(7) says what to write instead"
ADVICE: Final = {
    "assets": _ASSETS,
    "dags show-dependencies": "DAGs do not wait for each other; inside of one: flow graph DAG",
    "datasets": _ASSETS,
    "db reset": "Make a new database, name it in database.url, then: flow db migrate",
    "info": "Settings, and where they come from: flow config show; what runs: flow status",
    "plugins": "There are no plugins: DAG files import modules of your own",
    "providers": "There are no providers: flow-airflow(7) says what to write instead",
    "roles": f"{_ACCOUNTS}; the roles that run: flow status",
    "rotate-fernet-key": "Put a new key in front of the key file: flow-arguments(7)",
    "triggerer": "There is no triggerer; everything that runs is started by flow up",
    "users": _ACCOUNTS,
}
"""The words behind `flow`: what to know of something for which there is no command."""

OPTIONS: Final = (
    ("--conn-uri", "--uri"),
    ("--end-date", "--to"),
    ("--exec-date", "--date"),
    ("--execution-date", "--date"),
    ("--from-date", "--from"),
    ("--limit", "-n"),
    ("--logical-date", "--date"),
    ("--only-running", "--state"),
    ("--reprocess-behavior", "--reprocess"),
    ("--rerun-failed-tasks", "--reprocess"),
    ("--reset-dagruns", "--reprocess"),
    ("--run-backwards", "--order"),
    ("--start-date", "--from"),
    ("--task-regex", "-t"),
    ("--to-date", "--to"),
    ("--try-number", "--try"),
    ("--verbose", "--debug"),
    ("-c", "--conf"),
    ("-d", "--downstream"),
    ("-e", "--to"),
    ("-e", "--date"),
    ("-f", "--only-failed"),
    ("-l", "--date"),
    ("-r", "--run-id"),
    ("-s", "--from"),
    ("-u", "--upstream"),
    ("-v", "--debug"),
)
"""Options of any command, each with one that says it; the first that the command has is meant."""

ARGUMENTS: Final = {
    "--dag-id": "DAG",
    "--run-id": "RUN",
    "--task-id": "TASK",
    "-d": "DAG",
    "-r": "RUN",
    "-t": "TASK",
}
"""Options of any command: the argument that says it, where the command has that."""

WITH_LESS: Final = {"tasks list": "the tasks of a DAG without a run: flow graph DAG"}
"""The words behind `flow`: the command that does with fewer arguments."""

VALUES: Final = {"plain": "text", "table": "text", "yaml": "json"}
"""Forms of output that others have, and which of Flow's is nearest."""
_ANYWHERE: Final = frozenset({"--debug"})
"""Options that every command takes, though none declares them."""


def command(path: str, word: str) -> str | None:
    """What to write instead of a word behind `path`, such as `flow dags`; None: nobody knows."""
    _, _, group = path.partition(" ")
    words = f"{group} {word}".strip()
    return f"Write: {COMMANDS[words]}" if words in COMMANDS else ADVICE.get(words)


def option(word: str, options: Collection[str]) -> str | None:
    """The one of a command's options that says what an option does elsewhere; None: none."""
    for typed, written in OPTIONS:
        if word == typed and (written in options or written in _ANYWHERE):
            return written
    return None


def argument(word: str, arguments: Collection[str]) -> str | None:
    """The one of a command's arguments that says what an option does elsewhere; None: none."""
    written = ARGUMENTS.get(word)
    return written if written in arguments else None
