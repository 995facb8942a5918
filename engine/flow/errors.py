"""Every error that Flow raises on purpose.

    FlowError                       a headline, and a hint that says what to do next
    ├── UsageError                  wrong usage, or refused                       exit 2
    │   ├── ConfigError             a setting is missing, illegal or contradictory
    │   └── InvalidConnection       a connection's URI, JSON or field cannot be read
    ├── NotFound                    no such DAG, run, task, …                     exit 3
    ├── Conflict                    exists already, or not in a state for it      exit 4
    ├── DatabaseError               unreachable, not migrated, too old            exit 5
    │   ├── DatabaseUnreachable     it does not answer now, and may later
    │   └── NoPostgres              no PostgreSQL binaries for the embedded one
    ├── AuthoringError              a DAG file says something that cannot be
    │   ├── UnsupportedArgument     an argument or name that does not exist (yet)
    │   ├── InvalidDag              the graph is broken: an edge to nowhere, an illegal id, …
    │   │   ├── Cycle               tasks wait for each other in a circle
    │   │   └── DuplicateId         an id is used twice
    │   ├── InvalidXCom             a value that could not be read back as it was
    │   └── TemplateError           a template field cannot be rendered
    ├── LogUnreadable               a log is there, and cannot be read
    └── ProtocolError               a peer sent what it may not send

Control flow of a task is not an error of Flow and lives in `flow.exceptions`.
"""

from __future__ import annotations


class FlowError(Exception):
    """Something Flow can explain: one line what happened, one line what to do next."""

    code = "error"
    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[type[FlowError], tuple[str, str]]:
        # Exception's own __reduce__ would call the class with one argument and lose the hint.
        return type(self), (self.message, self.hint)


class UsageError(FlowError):
    """The command or call cannot mean anything as it stands, or is refused."""

    code = "usage"
    exit_code = 2


class ConfigError(UsageError):
    """A setting is missing, illegal, or contradicts another."""

    code = "config"


class InvalidConnection(UsageError):
    """A connection cannot be read or written. The text names its id, never what it holds."""

    code = "invalid_connection"


class NotFound(FlowError):
    """The named thing does not exist."""

    code = "not_found"
    exit_code = 3


class Conflict(FlowError):
    """The thing exists already, or is not in a state that allows the change."""

    code = "conflict"
    exit_code = 4


class DatabaseError(FlowError):
    """The database cannot be reached, or its schema does not fit this version of Flow."""

    code = "database"
    exit_code = 5


class DatabaseUnreachable(DatabaseError):
    """The database does not answer. A role waits and tries again; a verb ends with it."""


class NoPostgres(DatabaseError):
    """There are no PostgreSQL binaries from which an embedded database could be started."""

    code = "no_postgres"


class AuthoringError(FlowError):
    """A DAG file says something that cannot be."""

    code = "authoring"


class UnsupportedArgument(AuthoringError, TypeError):
    """An argument or context name that does not exist, or does not exist yet."""

    code = "unsupported_argument"


class InvalidDag(AuthoringError, ValueError):
    """The graph is broken: a cycle, a duplicate id, an edge to nowhere, an illegal id."""

    code = "invalid_dag"


class Cycle(InvalidDag):
    """Tasks wait for each other in a circle."""

    code = "cycle"


class DuplicateId(InvalidDag):
    """Two DAGs of a file, or two tasks or groups of a DAG, have one id."""

    code = "duplicate_id"


class InvalidXCom(AuthoringError, TypeError):
    """A value cannot be stored so that reading it gives the same type and value."""

    code = "invalid_xcom"


class TemplateError(AuthoringError, ValueError):
    """A template field cannot be rendered; the text names field and expression."""

    code = "template"


class LogUnreadable(FlowError):
    """There is something where a log should be, and it cannot be read."""

    code = "log_unreadable"


class ProtocolError(FlowError):
    """A peer process sent a message that it may not send, or that is too large."""

    code = "protocol"
