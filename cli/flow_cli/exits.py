"""Exit codes of `flow`, fixed by contract. Errors carry theirs in `FlowError.exit_code`."""

from __future__ import annotations

from typing import Final

DONE: Final = 0
FAILED: Final = 1  # the thing itself failed: a run failed, a check found errors
USAGE: Final = 2  # wrong usage, or refused
NOT_FOUND: Final = 3
CONFLICT: Final = 4  # exists already, or not in a state that allows it
DATABASE: Final = 5  # unreachable, or not migrated
INTERRUPTED: Final = 130
READER_GONE: Final = 141  # what a shell reports for any program whose reader closed the pipe
