"""The names that the context of a task has."""

from __future__ import annotations

from typing import Final

CONTEXT_KEYS: Final = frozenset(
    {
        "conn",
        "dag",
        "dag_run",
        "data_interval_end",
        "data_interval_start",
        "ds",
        "ds_nodash",
        "logical_date",
        "macros",
        "params",
        "prev_data_interval_end_success",
        "prev_data_interval_start_success",
        "prev_end_date_success",
        "prev_start_date_success",
        "run_id",
        "task",
        "task_instance",
        "task_instance_key_str",
        "test_mode",
        "ti",
        "try_number",
        "ts",
        "ts_nodash",
        "ts_nodash_with_tz",
        "var",
    }
)
"""What a task function may name as a parameter."""
