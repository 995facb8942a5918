"""Argument names that Airflow knows and Flow does not: which are not built yet, which are gone.

`not_yet` holds, for each argument, the values that change nothing and are therefore accepted; any
other value would silently be ignored, so it is an error. `harmless` arguments only qualify one
that is refused, so their value never matters. `gone` says what to write instead of a name of
Airflow 1 or 2, or of one that means nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MAPPED_TASK: Final = (
    "write a Python loop over values that are known: f.override(task_id=…)(value) for each"
)
MAPPED_OPERATOR: Final = (
    "write a Python loop over values that are known: an operator with a task_id for each"
)
MAPPED_GROUP: Final = "write a Python loop over values that are known: a group with an id for each"
SETUP: Final = "write an ordinary task that the others wait for"
TEARDOWN: Final = (
    "write a task with trigger_rule='all_done', and beside it a last one with the default rule: "
    "the last tasks decide how a run ends"
)
WAIT: Final = (
    "write a task that raises an exception until the thing is there, with retries and retry_delay"
)
WITHIN: Final = "do it inside the task that takes the result"
PROGRAM: Final = "start the program that does it with @task.bash or BashOperator"
"""What to write instead of what is not there yet."""


@dataclass(frozen=True)
class Vocabulary:
    """The names that are refused with a better answer than "unknown"."""

    not_yet: Mapping[str, tuple[object, ...]]
    gone: Mapping[str, str]
    harmless: frozenset[str] = frozenset()


DAG = Vocabulary(
    not_yet={
        "access_control": (None,),
        "allowed_run_types": (None,),
        "deadline": (None, []),
        "disable_bundle_versioning": (None, False),
        "rerun_with_latest_version": (None,),
        "sla_miss_callback": (None,),
        "task_group": (None,),
    },
    gone={
        "dag_concurrency": "write concurrency (over all runs) or max_active_tasks (within a run)",
        "default_view": "remove it: Flow has no web page to choose a view for",
        "fail_stop": "it is called fail_fast",
        "full_filepath": "remove it: Flow knows the file of each DAG",
        "is_paused": "write is_paused_upon_creation",
        "orientation": "remove it: Flow has no web page to choose an orientation for",
        "schedule_interval": "write schedule",
        "timetable": "write schedule",
        "timezone": "give start_date the time zone, with zoneinfo.ZoneInfo or pendulum",
    },
)

TASK = Vocabulary(
    not_yet={
        "allow_nested_operators": (True,),
        "executor_config": (None, {}),
        "inlets": (None, [], ()),
        "map_index_template": (None,),
        "resources": (None,),
        "retry_policy": (None,),
        "run_as_user": (None,),
        "sla": (None,),
        "start_from_trigger": (False,),
        "start_trigger_args": (None,),
    },
    gone={
        "execution_date": "write logical_date",
        "max_active_tis": "write max_active_tis_per_dag or max_active_tis_per_dagrun",
        "provide_context": "remove it: a callable gets the context values that it names",
        "schedule": "schedule belongs to the DAG",
        "schedule_interval": "schedule belongs to the DAG",
        "task_concurrency": "it is called max_active_tis_per_dag",
    },
    harmless=frozenset({"email_on_failure", "email_on_retry"}),
)

GROUP = Vocabulary(
    not_yet={},
    gone={
        "execution_timeout": "groups have none; use default_args={'execution_timeout': …}",
        "retries": "groups have none yet; use default_args={'retries': …} for their tasks",
        "retry_delay": "groups have none yet; use default_args={'retry_delay': …}",
        "trigger_rule": "groups have none; set it on the first tasks of the group",
    },
)

_SCHEMA = "values of params are not checked yet; leave it out"

PARAM = Vocabulary(
    not_yet={},
    gone=dict.fromkeys(
        (
            "type",
            "enum",
            "format",
            "pattern",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "items",
            "minItems",
            "maxItems",
            "uniqueItems",
            "properties",
            "required",
            "additionalProperties",
            "const",
            "anyOf",
            "oneOf",
            "allOf",
            "not",
            "schema",
            "source",
            "values_display",
        ),
        _SCHEMA,
    ),
)
