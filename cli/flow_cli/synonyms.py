"""What somebody types who is used to Airflow or to other tools, and how it is written here."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

COMMANDS: Final = {
    "api-server": "flow tui",
    "cancel": "flow runs cancel DAG RUN",
    "celery": "flow work",
    "config get-value": "flow config get KEY",
    "config list": "flow config show",
    "connections": "flow conns",
    "conns create": "flow conns add CONN",
    "conns set": "flow conns add CONN",
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
    "dags state": "flow runs show DAG RUN",
    "dags test": "flow test FILE",
    "dags trigger": "flow run DAG",
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
    "unpause": "flow dags unpause DAG",
    "variables": "flow vars",
    "version": "flow --version",
    "webserver": "flow tui",
    "worker": "flow work",
}
"""The words behind `flow`: the command that does it."""

OPTIONS: Final = {
    "--conn-uri": "--uri",
    "--end-date": "--to",
    "--exec-date": "--date",
    "--execution-date": "--date",
    "--from-date": "--from",
    "--logical-date": "--date",
    "--reprocess-behavior": "--reprocess",
    "--rerun-failed-tasks": "--reprocess",
    "--reset-dagruns": "--reprocess",
    "--run-backwards": "--order",
    "--start-date": "--from",
    "--task-regex": "-t",
    "--to-date": "--to",
    "--try-number": "--try",
    "-c": "--conf",
    "-e": "--to",
    "-l": "--date",
    "-r": "--run-id",
    "-s": "--from",
}
"""Options of any command: the one that says it, where the command has that."""


def command(path: str, word: str) -> str | None:
    """What to write instead of a word behind `path`, such as `flow dags`; None: nobody knows."""
    _, _, group = path.partition(" ")
    written = COMMANDS.get(f"{group} {word}".strip())
    return f"Write: {written}" if written else None


def option(word: str, options: Collection[str]) -> str | None:
    """The one of a command's options that says what an option does elsewhere; None: none."""
    written = OPTIONS.get(word)
    return written if written in options else None
