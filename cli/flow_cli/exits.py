"""Exit codes of `flow`, fixed by contract. Errors carry theirs in `FlowError.exit_code`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
CONFLICT: Final = 4
DATABASE: Final = 5
INTERRUPTED: Final = 130
READER_GONE: Final = 141
"""What a shell reports for any program whose reader closed the pipe."""

MEANINGS: Final[Mapping[int, str]] = {
    DONE: "Done.",
    FAILED: "The thing itself failed: a run failed, a check found errors.",
    USAGE: "Wrong usage, or refused.",
    NOT_FOUND: "Not found.",
    CONFLICT: "Conflict: it exists already, or is not in a state that allows it.",
    DATABASE: "The database is unreachable or not migrated.",
    INTERRUPTED: "Interrupted.",
    READER_GONE: "The reader of the output has gone.",
}
"""As the manual gives them."""
