"""What a task raises to say how it ends.

    TaskException                   failed; retries apply (so does every other exception)
    ├── CommandFailed               failed: a command that the task ran ended so
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
    """The task has nothing to do: it ends as skipped.

    `exit_code` is that of the command which said so, if one did.
    """

    exit_code: int | None = None


class CommandFailed(TaskException):
    """A command that the task ran ended with an exit code other than 0."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(f"exit code {exit_code}")
        self.exit_code = exit_code

    def __reduce__(self) -> tuple[type[CommandFailed], tuple[int]]:
        # Exception's own would call the class with its text.
        return type(self), (self.exit_code,)


AirflowException = TaskException
AirflowFailException = FailException
AirflowSkipException = SkipException
