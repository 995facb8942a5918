"""Names and modules of Airflow that Flow does not have: what replaces each.

`NAMES` are those that Airflow's own face exports. `MODULES` stand without the first part, so that
`airflow.sensors` and `flow.sensors` are one; what is inside a module is answered like the module.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flow.authoring.vocabulary import SETUP, TEARDOWN, WAIT

_ASSETS: Final = (
    "there are no assets yet: put both halves into one DAG, or give each DAG a schedule of its own"
)
_DEADLINE: Final = "dagrun_timeout of the DAG ends a run that takes too long"
_HOOKS: Final = (
    "there are no hooks: use the system's own client library with the fields of "
    "Connection.get(conn_id)"
)
_NOTIFIER: Final = "on_failure_callback and its siblings take functions of the context"
_STATES: Final = "states are texts, such as 'failed'"
_TRIGGER_RUN: Final = (
    "put the tasks into one DAG; a @task_group that two files import makes them in both"
)
_WAIT: Final = f"there are no sensors yet: {WAIT}"

NAMES: Final[Mapping[str, str]] = {
    "Asset": _ASSETS,
    "AssetAlias": _ASSETS,
    "AssetAll": _ASSETS,
    "AssetAny": _ASSETS,
    "AssetOrTimeSchedule": _ASSETS,
    "AssetWatcher": _ASSETS,
    "AsyncCallback": _NOTIFIER,
    "BaseAsyncOperator": WAIT,
    "BaseHook": _HOOKS,
    "BaseNotifier": _NOTIFIER,
    "BaseOperatorLink": "print the link into the task's log",
    "BaseSensorOperator": _WAIT,
    "BaseXCom": "return the value, or push it with ti.xcom_push",
    "DagRunState": _STATES,
    "Dataset": _ASSETS,
    "DeadlineAlert": _DEADLINE,
    "DeadlineReference": _DEADLINE,
    "Metadata": _ASSETS,
    "ObjectStoragePath": "use the storage's own client library inside a task",
    "PokeReturnValue": _WAIT,
    "SyncCallback": _NOTIFIER,
    "TaskInstance": "the context has it by the name ti",
    "TaskInstanceState": _STATES,
    "WeightRule": "write its text: weight_rule='downstream'",
    "XCom": "return the value, or push it with ti.xcom_push and pull it with ti.xcom_pull",
    "asset": _ASSETS,
    "get_parsing_context": "make all DAGs of the file each time",
    "literal": "write {% raw %} before and {% endraw %} behind it in the template",
    "macros": "templates and the context have it by this name",
    "sensor": _WAIT,
    "setup": SETUP,
    "teardown": TEARDOWN,
}

MODULES: Final[Mapping[str, str]] = {
    "assets": _ASSETS,
    "configuration": "settings are not for DAG files: read a Variable or the environment",
    "datasets": _ASSETS,
    "decorators": "write: from flow import dag, task, task_group",
    "hooks": _HOOKS,
    "io": NAMES["ObjectStoragePath"],
    "macros": NAMES["macros"],
    "models": "write: from flow import DAG, BaseOperator, Connection, Param, Variable, XComArg",
    "models.baseoperator": "write: from flow import BaseOperator, chain, cross_downstream",
    "notifications": _NOTIFIER,
    "operators.branch": "write: from flow.operators.python import BranchPythonOperator",
    "operators.dummy": "write: from flow.operators.empty import EmptyOperator",
    "operators.email": "send it from a Python task with smtplib",
    "operators.latest_only": (
        "write @task.short_circuit that compares data_interval_end with the current time"
    ),
    "operators.subdag": "write: from flow import TaskGroup",
    "operators.trigger_dagrun": _TRIGGER_RUN,
    "providers": (
        "there are no providers: use the system's own client library in a Python task, or its "
        "program in a BashOperator"
    ),
    "providers.standard.operators": (
        "write: from flow.operators.bash import BashOperator; also flow.operators.python and "
        "flow.operators.empty"
    ),
    "providers.standard.operators.trigger_dagrun": _TRIGGER_RUN,
    "providers.standard.sensors": _WAIT,
    "sdk": "write: from flow import DAG, dag, task, task_group",
    "sensors": _WAIT,
    "settings": "tasks cannot reach the database: pass values by XCom, or use a Variable",
    "triggers": _WAIT,
    "utils.dates": "write start_date as a datetime",
    "utils.edgemodifier": "write: from flow import Label",
    "utils.email": "send it from a Python task with smtplib",
    "utils.helpers": "write: from flow import chain, cross_downstream",
    "utils.state": _STATES,
    "utils.task_group": "write: from flow import TaskGroup",
    "utils.timezone": "write datetime(…, tzinfo=ZoneInfo('…')), or use pendulum",
    "utils.trigger_rule": "write: from flow import TriggerRule",
    "utils.weight_rule": NAMES["WeightRule"],
}


def instead_of_module(name: str) -> str | None:
    """What replaces `airflow.x.y` or `flow.x.y`, or the package around it; None: nobody knows."""
    _, _, inner = name.partition(".")
    while inner:
        if inner in MODULES:
            return MODULES[inner]
        inner = inner.rpartition(".")[0]
    return None
