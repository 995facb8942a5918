"""Flow: data pipelines as Python graphs. These are the names that DAG files are written with.

Each name is loaded when it is first used, so `import flow` costs next to nothing.
"""

from importlib import import_module

TYPE_CHECKING = False  # what typing calls so; importing typing would be most of the cost
if TYPE_CHECKING:
    from flow.authoring.connection import Connection
    from flow.authoring.context import Context, get_current_context
    from flow.authoring.dag import DAG
    from flow.authoring.dag_decorator import dag
    from flow.authoring.group import TaskGroup
    from flow.authoring.group_decorator import task_group
    from flow.authoring.node import Label
    from flow.authoring.operator import BaseOperator
    from flow.authoring.outlets import File, Table
    from flow.authoring.param import Param
    from flow.authoring.relations import chain, chain_linear, cross_downstream
    from flow.authoring.task_decorator import task
    from flow.authoring.variable import Variable
    from flow.authoring.xcom_arg import XComArg
    from flow.graph.spec import TriggerRule
    from flow.timetables.events import EventsTimetable
    from flow.timetables.interval import CronDataIntervalTimetable, DeltaDataIntervalTimetable
    from flow.timetables.simple import ContinuousTimetable, NullTimetable, OnceTimetable
    from flow.timetables.trigger import (
        CronTriggerTimetable,
        DeltaTriggerTimetable,
        MultipleCronTriggerTimetable,
    )

_HOME = {
    "BaseOperator": "flow.authoring.operator",
    "Connection": "flow.authoring.connection",
    "Context": "flow.authoring.context",
    "ContinuousTimetable": "flow.timetables.simple",
    "CronDataIntervalTimetable": "flow.timetables.interval",
    "CronTriggerTimetable": "flow.timetables.trigger",
    "DAG": "flow.authoring.dag",
    "DeltaDataIntervalTimetable": "flow.timetables.interval",
    "DeltaTriggerTimetable": "flow.timetables.trigger",
    "EventsTimetable": "flow.timetables.events",
    "File": "flow.authoring.outlets",
    "Label": "flow.authoring.node",
    "MultipleCronTriggerTimetable": "flow.timetables.trigger",
    "NullTimetable": "flow.timetables.simple",
    "OnceTimetable": "flow.timetables.simple",
    "Param": "flow.authoring.param",
    "Table": "flow.authoring.outlets",
    "TaskGroup": "flow.authoring.group",
    "TriggerRule": "flow.graph.spec",
    "Variable": "flow.authoring.variable",
    "XComArg": "flow.authoring.xcom_arg",
    "chain": "flow.authoring.relations",
    "chain_linear": "flow.authoring.relations",
    "cross_downstream": "flow.authoring.relations",
    "dag": "flow.authoring.dag_decorator",
    "get_current_context": "flow.authoring.context",
    "task": "flow.authoring.task_decorator",
    "task_group": "flow.authoring.group_decorator",
}

__all__ = [
    "DAG",
    "BaseOperator",
    "Connection",
    "Context",
    "ContinuousTimetable",
    "CronDataIntervalTimetable",
    "CronTriggerTimetable",
    "DeltaDataIntervalTimetable",
    "DeltaTriggerTimetable",
    "EventsTimetable",
    "File",
    "Label",
    "MultipleCronTriggerTimetable",
    "NullTimetable",
    "OnceTimetable",
    "Param",
    "Table",
    "TaskGroup",
    "TriggerRule",
    "Variable",
    "XComArg",
    "chain",
    "chain_linear",
    "cross_downstream",
    "dag",
    "get_current_context",
    "task",
    "task_group",
]


if not TYPE_CHECKING:  # type checkers would otherwise accept any name

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'flow' has no attribute {name!r}")
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOME})
