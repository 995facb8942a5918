"""Look how full the disk is, and clean up only when it is time to. Bash, and a branch."""

from __future__ import annotations

from datetime import datetime

from flow import TriggerRule, dag, task
from flow.operators.bash import BashOperator
from flow.operators.empty import EmptyOperator

FULL = 90
"""Percent."""


@dag(schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False, tags=["example"])
def housekeeping():
    """Once a day, for the latest day only: what was missed need not be made up for."""

    @task.bash
    def used() -> str:
        """The last line that the command prints becomes the task's result."""
        return "df -P {{ var.value.landing }} | awk 'NR == 2 {print $5}'"

    @task.branch
    def choose(used: str) -> str:
        """The id of the task that goes on; the other one is skipped."""
        return "clean_up" if int(used.rstrip("%")) >= FULL else "leave_alone"

    clean_up = BashOperator(
        task_id="clean_up",
        bash_command="find {{ var.value.landing }} -name '*.csv' -mtime +30 -print -delete",
    )
    leave_alone = EmptyOperator(task_id="leave_alone")
    done = EmptyOperator(task_id="done", trigger_rule=TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS)

    choose(used()) >> [clean_up, leave_alone] >> done


housekeeping()
