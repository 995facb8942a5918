"""What importing the authoring API costs: which modules it loads, and which it must not."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"alembic", "jinja2", "pendulum", "psycopg", "rich", "sqlalchemy", "textual", "typer"}

NAMES = [
    "DAG",
    "BaseOperator",
    "Connection",
    "Context",
    "Label",
    "Param",
    "TaskGroup",
    "File",
    "Table",
    "TriggerRule",
    "Variable",
    "XComArg",
    "ContinuousTimetable",
    "CronDataIntervalTimetable",
    "CronTriggerTimetable",
    "DeltaDataIntervalTimetable",
    "DeltaTriggerTimetable",
    "EventsTimetable",
    "MultipleCronTriggerTimetable",
    "NullTimetable",
    "OnceTimetable",
    "chain",
    "chain_linear",
    "cross_downstream",
    "dag",
    "get_current_context",
    "task",
    "task_group",
]


def loaded(code: str) -> set[str]:
    """The top-level modules in a new interpreter that has run `code`."""
    script = f"{code}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import flow",
        f"from flow import {', '.join(NAMES)}",
        "import flow.operators.bash, flow.operators.python, flow.operators.empty",
        "import flow.authoring.serialise, flow.authoring.collect",
    ],
)
def test_no_heavy_module_is_loaded(code: str) -> None:
    assert loaded(code) & HEAVY == set()


def test_importing_flow_loads_nothing_but_itself() -> None:
    bare = loaded("import importlib")
    assert loaded("import importlib, flow") - bare == {"flow"}


def test_the_names_of_the_face() -> None:
    import flow

    assert sorted(flow.__all__) == sorted(NAMES)
    for name in NAMES:
        assert getattr(flow, name) is not None
    assert set(NAMES) <= set(dir(flow))
    with pytest.raises(AttributeError, match="'Dag'"):
        _ = flow.Dag
