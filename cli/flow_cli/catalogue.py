"""Every command at the top level of `flow`: what `flow --help` shows without importing any of them.

A command is added by one line in `ENTRIES`. Its module has an `app` (a `typer.Typer`), which is
imported when the command is used.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Panel(StrEnum):
    """The groups of `flow --help`, in the order in which it shows them."""

    START = "Start here"
    ROLES = "Roles"
    PIPELINES = "Pipelines"
    REPAIR = "Repair"
    CI = "CI"
    SETTINGS = "Settings"
    OPERATIONS = "Operations"


class Entry(NamedTuple):
    """One command or group: its name, its module, where it is listed and what it is for."""

    name: str
    module: str
    panel: Panel
    summary: str


ENTRIES = (
    Entry(
        "demo",
        "flow_cli.commands.demo",
        Panel.START,
        "Run a shop's nightly pipeline on a database of its own, and kill a worker.",
    ),
    Entry(
        "up",
        "flow_cli.commands.up",
        Panel.START,
        "Run everything on this machine: database, parser, schedulers, workers.",
    ),
    Entry(
        "down",
        "flow_cli.commands.down",
        Panel.START,
        "Stop what flow up started: parser, schedulers, workers, and the embedded database.",
    ),
    Entry(
        "tui",
        "flow_cli.commands.tui",
        Panel.START,
        "See what runs and what failed, and repair it, in the terminal.",
    ),
    Entry(
        "init",
        "flow_cli.commands.init",
        Panel.START,
        "Make a project folder: flow.toml, dags/ with an example, tests/.",
    ),
    Entry(
        "parse",
        "flow_cli.commands.parse",
        Panel.ROLES,
        "Import DAG files, each in a process of its own, and store the DAGs they define.",
    ),
    Entry(
        "schedule",
        "flow_cli.commands.schedule",
        Panel.ROLES,
        "Create due runs, decide what may go, find lost workers.",
    ),
    Entry(
        "work",
        "flow_cli.commands.work",
        Panel.ROLES,
        "Claim queued tasks and run each try in a process of its own.",
    ),
    Entry(
        "dags",
        "flow_cli.commands.dags",
        Panel.PIPELINES,
        "List, show, pause and delete DAGs, see next runs, and what is wrong with their files.",
    ),
    Entry(
        "run", "flow_cli.commands.run", Panel.PIPELINES, "Start a run of a DAG, and print its id."
    ),
    Entry(
        "runs",
        "flow_cli.commands.runs",
        Panel.PIPELINES,
        "List and show runs; cancel, pause, mark and delete them.",
    ),
    Entry(
        "tasks",
        "flow_cli.commands.tasks",
        Panel.PIPELINES,
        "List the tasks of a run and their tries; mark, hold and release them.",
    ),
    Entry(
        "logs",
        "flow_cli.commands.logs",
        Panel.PIPELINES,
        "Print the logs of tasks, by default of the last try.",
    ),
    Entry(
        "grid",
        "flow_cli.commands.grid",
        Panel.PIPELINES,
        "Show the tasks of a DAG over its newest runs, the newest on the right.",
    ),
    Entry(
        "graph",
        "flow_cli.commands.graph",
        Panel.PIPELINES,
        "Draw the tasks of a DAG and what waits for what, also with the states of a run.",
    ),
    Entry(
        "xcom",
        "flow_cli.commands.xcom",
        Panel.PIPELINES,
        "List and print XComs, the values that tasks pass on.",
    ),
    Entry(
        "why",
        "flow_cli.commands.why",
        Panel.PIPELINES,
        "Explain what a task, a run or a DAG waits for, or why it ended so.",
    ),
    Entry(
        "clear",
        "flow_cli.commands.clear",
        Panel.REPAIR,
        "Let tasks run again, in one run or in all runs of a range.",
    ),
    Entry(
        "backfill",
        "flow_cli.commands.backfill",
        Panel.REPAIR,
        "Make the runs of past intervals, or do them again, so many at a time.",
    ),
    Entry(
        "backfills",
        "flow_cli.commands.backfills",
        Panel.REPAIR,
        "List, show, pause, resume and cancel backfills.",
    ),
    Entry(
        "check",
        "flow_cli.commands.check",
        Panel.CI,
        "Import DAG files as the DAG processor would, and tell what is wrong with them.",
    ),
    Entry(
        "plan",
        "flow_cli.commands.plan",
        Panel.CI,
        "List the runs that schedulers will make, or show what a change of DAG files does.",
    ),
    Entry(
        "test",
        "flow_cli.commands.test",
        Panel.CI,
        "Run a DAG of a file here and now, without any database.",
    ),
    Entry(
        "pools",
        "flow_cli.commands.pools",
        Panel.SETTINGS,
        "List, show, set and delete pools, the limits that tasks of all DAGs share.",
    ),
    Entry(
        "vars",
        "flow_cli.commands.vars",
        Panel.SETTINGS,
        "Keep variables, the texts that tasks share. They are encrypted in the database.",
    ),
    Entry(
        "conns",
        "flow_cli.commands.conns",
        Panel.SETTINGS,
        "Keep connections to other systems. They are encrypted in the database.",
    ),
    Entry(
        "status",
        "flow_cli.commands.status",
        Panel.OPERATIONS,
        "Show roles, queue, wake-ups, pools and database; exit 1 when something is wrong.",
    ),
    Entry(
        "audit", "flow_cli.commands.audit", Panel.OPERATIONS, "Show who changed what, newest first."
    ),
    Entry(
        "events",
        "flow_cli.commands.events",
        Panel.OPERATIONS,
        "Show what happened, oldest first: to runs, tries, processes and files.",
    ),
    Entry(
        "compare",
        "flow_cli.commands.compare",
        Panel.OPERATIONS,
        "Compare two runs: by default the last success and the first failure after it.",
    ),
    Entry(
        "db", "flow_cli.commands.db", Panel.OPERATIONS, "Migrate, inspect and check the database."
    ),
    Entry(
        "systemd",
        "flow_cli.commands.systemd",
        Panel.OPERATIONS,
        "Run the roles as services of systemd.",
    ),
    Entry(
        "config",
        "flow_cli.commands.config",
        Panel.SETTINGS,
        "Show settings and where each value comes from.",
    ),
    Entry(
        "completion",
        "flow_cli.commands.completion",
        Panel.OPERATIONS,
        "Print the completion script of a shell.",
    ),
)


def in_panel_order(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The entries sorted by panel; within a panel they keep their order."""
    panels = list(Panel)
    return tuple(sorted(entries, key=lambda entry: panels.index(entry.panel)))
