"""The settings of Flow: their types, defaults and meanings, in one table.

`Settings` is what the rest of Flow reads (`settings.worker.heartbeat`). `TABLE` says for each key
what it is by default, which values are legal and what it means; `flow.toml`, the environment,
`flow config show` and the manual page all follow the table. Where a value comes from is the
business of `flow.config`.

Every role and every verb reads settings first, so this module stays on the cheap side of the
standard library: named tuples, because data classes and msgspec cost more to import than all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from flow import setting_values as values

if TYPE_CHECKING:
    from pathlib import Path


class DatabaseSettings(NamedTuple):
    """How to reach PostgreSQL. Without a URL Flow runs an embedded one under `home`."""

    url: str | None
    direct_url: str | None
    replica_url: str | None
    binaries: Path | None


class DagsSettings(NamedTuple):
    """Where DAG files are and what new DAGs start as."""

    folders: tuple[Path, ...]
    paused_at_creation: bool
    default_timezone: str
    code: str


class LogsSettings(NamedTuple):
    """Where the logs of tries are kept."""

    root: Path


class WorkerSettings(NamedTuple):
    """`flow work`. Durations in seconds; `min_free_memory` and `lease_ratio` are shares of 1."""

    slots: int
    most_slots: int | None
    queues: tuple[str, ...]
    heartbeat: float
    lost_after: float
    lease_ratio: float
    kill_grace: float
    min_free_memory: float
    xcom_limit: int
    code_wait: float
    drain_timeout: float | None
    on_lost_contact: str
    task_user: str | None


class ParseSettings(NamedTuple):
    """`flow parse`. Durations are in seconds."""

    timeout: float
    interval: float
    memory: int
    airflowignore: str


class CheckSettings(NamedTuple):
    """What `flow check`, which asks no database, may take for known. None: it is not."""

    pools: tuple[str, ...] | None
    queues: tuple[str, ...] | None


class SchedulerSettings(NamedTuple):
    """`flow schedule`. Durations are in seconds."""

    poll_interval: float
    sweep_interval: float
    starvation_after: float


class SharesSettings(NamedTuple):
    """Shares of what is scarce, by DAG id and by owner; 1 where nothing is said."""

    dags: Mapping[str, float]
    owners: Mapping[str, float]
    backfills: float


class RehearsalSettings(NamedTuple):
    """`flow test`: what stands in for the deployment that it does without."""

    variables: Mapping[str, object]
    connections: Mapping[str, object]
    pools: Mapping[str, int]


class TuiSettings(NamedTuple):
    """`flow tui`. `keys` are by the name of the action, several with commas."""

    theme: str
    palette: str
    keys: Mapping[str, str]


class SecretsSettings(NamedTuple):
    """Where the keys for stored connections and variables are."""

    key_file: Path


class Settings(NamedTuple):
    """Every setting of Flow, by section."""

    home: Path
    database: DatabaseSettings
    dags: DagsSettings
    logs: LogsSettings
    worker: WorkerSettings
    parse: ParseSettings
    check: CheckSettings
    scheduler: SchedulerSettings
    shares: SharesSettings
    secrets: SecretsSettings
    test: RehearsalSettings
    tui: TuiSettings


class Setting(NamedTuple):
    """One key of the table.

    `default` is written as a user would write it; a relative path in it lies under `home`.
    `read` turns what a user wrote into the value that Flow uses, or raises `ValueError` with what
    the value must be; its second argument is the folder that relative paths start from.
    """

    key: str
    default: object
    read: Callable[[object, Path], object]
    meaning: str
    secret: bool = False

    @property
    def variable(self) -> str:
        """The environment variable that overrides the key: `worker.slots` is FLOW_WORKER_SLOTS."""
        return "FLOW_" + self.key.replace(".", "_").upper()

    @property
    def credential(self) -> str:
        """The systemd credential that a secret may come from: `flow_database_url`."""
        return self.variable.lower()


SECTIONS: Mapping[str, Callable[..., object]] = {
    "database": DatabaseSettings,
    "dags": DagsSettings,
    "logs": LogsSettings,
    "worker": WorkerSettings,
    "parse": ParseSettings,
    "check": CheckSettings,
    "scheduler": SchedulerSettings,
    "shares": SharesSettings,
    "secrets": SecretsSettings,
    "test": RehearsalSettings,
    "tui": TuiSettings,
}

_ENTRIES = (
    Setting(
        "home",
        None,
        values.path,
        "Folder of Flow's own state: the embedded database, logs, sockets. By default"
        " /var/lib/flow for root and the XDG data folder for everybody else.",
    ),
    Setting(
        "database.url",
        None,
        values.optional(values.postgres_url),
        "URL of the PostgreSQL database. Without one, Flow runs an embedded PostgreSQL under home.",
        secret=True,
    ),
    Setting(
        "database.direct_url",
        None,
        values.optional(values.postgres_url),
        "URL that goes past a connection pooler, for migrations and notifications.",
        secret=True,
    ),
    Setting(
        "database.replica_url",
        None,
        values.optional(values.postgres_url),
        "URL of a hot standby, from which the terminal UI reads; it changes nothing there.",
        secret=True,
    ),
    Setting(
        "database.binaries",
        None,
        values.optional(values.path),
        "Folder with the PostgreSQL programs for the embedded database, looked at first.",
    ),
    Setting("dags.folders", ("dags",), values.paths, "Folders in which DAG files are looked for."),
    Setting("dags.paused_at_creation", True, values.flag, "Whether a new DAG starts paused."),
    Setting(
        "dags.default_timezone",
        "UTC",
        values.time_zone,
        "Time zone of DAGs and dates that name none.",
    ),
    Setting(
        "dags.code",
        "latest",
        values.code,
        'Which code the tasks of a run use where the DAG does not say it: "latest", as it is when'
        ' they start, or "pinned", that of the version the run has.',
    ),
    Setting("logs.root", "logs", values.path, "Folder of the log files, one for each try."),
    Setting("worker.slots", 16, values.whole(0), "How many tries a worker runs at once."),
    Setting(
        "worker.most_slots",
        None,
        values.optional(values.whole(0)),
        "How many tries a worker runs at once as long as its host has CPU and memory to spare"
        " (flow-operations(7)). Without it never more than worker.slots.",
    ),
    Setting("worker.queues", ("default",), values.names, "Queues that a worker serves."),
    Setting("worker.heartbeat", 5, values.seconds, "Seconds between two heartbeats of a worker."),
    Setting(
        "worker.lost_after",
        300,
        values.seconds,
        "Seconds without a heartbeat after which a worker is lost; at least three heartbeats.",
    ),
    Setting(
        "worker.lease_ratio",
        0.9,
        values.share,
        "Share of lost_after for which tries may run on without a committed heartbeat.",
    ),
    Setting(
        "worker.kill_grace",
        30,
        values.seconds_or_zero,
        "Seconds between SIGTERM and SIGKILL when a try is stopped.",
    ),
    Setting(
        "worker.min_free_memory",
        0.10,
        values.share,
        "Share of the machine's memory that must be available for a worker to claim tasks.",
    ),
    Setting(
        "worker.xcom_limit",
        1 << 20,
        values.whole(1),
        "Bytes of JSON that one XCom may take; a larger one fails its task.",
    ),
    Setting(
        "worker.code_wait",
        60,
        values.seconds_or_zero,
        "Seconds that a try with pinned code waits for it before it ends as code_mismatch.",
    ),
    Setting(
        "worker.drain_timeout",
        None,
        values.optional(values.seconds_or_zero),
        "Seconds that a draining worker waits for its tries. Without one, until they end.",
    ),
    Setting(
        "worker.on_lost_contact",
        "stop",
        values.lost_contact,
        'What happens to tries when their worker cannot reach the database for the lease: "stop"'
        ' ends them; "keep" lets them go on, so that a try that was declared lost meanwhile may'
        " overlap the next one, and reports afterwards what still counts.",
    ),
    Setting(
        "worker.task_user",
        None,
        values.optional(values.name),
        "Operating system user under which tasks run. Without one, the worker's own.",
    ),
    Setting("parse.timeout", 60, values.seconds, "Seconds that importing one DAG file may take."),
    Setting(
        "parse.interval",
        5,
        values.seconds,
        "Seconds between two looks at the DAG folders for changes that the kernel did not tell.",
    ),
    Setting(
        "parse.memory",
        4 << 30,
        values.whole(64 << 20),
        "Bytes of data that each process of one import may have.",
    ),
    Setting(
        "parse.airflowignore",
        "glob",
        values.ignore_form,
        "How .airflowignore files are written: glob, like .gitignore, or regexp. A .flowignore is"
        " always glob.",
    ),
    Setting(
        "check.pools",
        None,
        values.optional(values.names),
        "Every pool that there is. Then `flow check` tells of tasks that name another one.",
    ),
    Setting(
        "check.queues",
        None,
        values.optional(values.names),
        "Every queue that a worker serves. Then `flow check` tells of tasks that name another one.",
    ),
    Setting(
        "scheduler.poll_interval",
        1,
        values.seconds,
        "Seconds between two looks for wake-ups when no notification arrives.",
    ),
    Setting(
        "scheduler.sweep_interval",
        60,
        values.seconds,
        "Seconds between two sweeps for unfinished runs that nothing would wake.",
    ),
    Setting(
        "scheduler.starvation_after",
        600,
        values.seconds,
        "Seconds after which a task that waits for a slot or a worker goes before all others.",
    ),
    Setting(
        "shares.dags",
        {},
        values.weights,
        "Shares of DAGs in pools and queues among tasks of equal priority: DAG id = number."
        " A DAG that is not named has 1.",
    ),
    Setting(
        "shares.owners",
        {},
        values.weights,
        "Shares of owners: owner = number. The share of a task is that of its DAG times that of"
        " its owner.",
    ),
    Setting(
        "shares.backfills",
        0.25,
        values.weight,
        "Share of a backfill beside the other runs of its DAG.",
    ),
    Setting(
        "secrets.key_file",
        "secrets.key",
        values.path,
        "File with the keys that encrypt stored connections and variables.",
    ),
    Setting(
        "test.variables",
        {},
        values.table,
        "Variables for flow test: key = value. What is no text stands for its JSON.",
        secret=True,
    ),
    Setting(
        "test.connections",
        {},
        values.table,
        "Connections for flow test: id = URI, or a table of fields.",
        secret=True,
    ),
    Setting(
        "test.pools",
        {},
        values.slots,
        "Slots of pools for flow test: pool = number. A pool that is not named has no limit.",
    ),
    Setting("tui.theme", "flow", values.name, "Theme of flow tui, one of those that it lists."),
    Setting(
        "tui.palette",
        "default",
        values.palette,
        'Colours of states in flow tui: "default", "deuteranopia", "tritanopia" or "mono".',
    ),
    Setting(
        "tui.keys",
        {},
        values.keys,
        "Other keys for flow tui: action = key, or several with commas; flow-tui(7) lists both.",
    ),
)

TABLE: Mapping[str, Setting] = {setting.key: setting for setting in _ENTRIES}


def build(found: Mapping[str, object]) -> Settings:
    """The typed tree of values that have been read, one for every key of the table."""
    sections: dict[str, dict[str, object]] = {name: {} for name in SECTIONS}
    top: dict[str, object] = {}
    for key, value in found.items():
        section, _, name = key.rpartition(".")
        (sections[section] if section else top)[name] = value
    built = {name: SECTIONS[name](**inside) for name, inside in sections.items()}
    return Settings(**top, **built)  # type: ignore[arg-type]  # a test compares tree and table
