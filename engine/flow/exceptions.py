"""What a task raises to say how it ends.

    TaskException                   failed; retries apply (so does every other exception)
    ├── FailException               failed; retries that are left are not used
    └── SkipException               skipped

The names that Airflow gives them work too. Mistakes in a DAG file, and everything else that Flow
itself reports, are in `flow.errors`.
"""

from __future__ import annotations


class TaskException(Exception):
    """The task failed. Base of the exceptions that say more."""


class FailException(TaskException):
    """The task failed, and trying again would not help."""


class SkipException(TaskException):
    """The task has nothing to do: it ends as skipped."""


AirflowException = TaskException
AirflowFailException = FailException
AirflowSkipException = SkipException
