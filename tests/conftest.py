"""What holds for every test: an environment without settings, and a session that leaves nothing.

The environment is cleaned when this file is imported, before any test module reads it.
"""

from __future__ import annotations

import os

import pytest

for _name in list(os.environ):
    if _name.startswith("PG") or (_name.startswith("FLOW_") and not _name.startswith("FLOW_TEST_")):
        del os.environ[_name]

from leaks import Session  # noqa: E402 - it, too, is to see the clean environment
from postgres import (  # noqa: E402, F401 - fixtures and hooks for everybody
    connection,
    database,
    pytest_collection_finish,
    server,
)
from postgres import pytest_sessionfinish as _stop_server  # noqa: E402
from waiting import wait_until  # noqa: E402

_SESSION = pytest.StashKey[Session]()
_LEFT = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Mark the session's processes, before workers of pytest-xdist are started."""
    if not hasattr(config, "workerinput"):
        config.stash[_SESSION] = Session()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the session that leaves processes behind, once its own workers are gone."""
    _stop_server(session)
    config = session.config
    mine = config.stash.get(_SESSION, None)
    if mine is None or config.option.collectonly:
        return
    try:
        wait_until(lambda: not mine.leftovers(), "the end of every process of the tests")
    except AssertionError:
        config.stash[_LEFT] = mine.leftovers()
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name the processes that were left behind."""
    for line in config.stash.get(_LEFT, ()):
        terminalreporter.write_line(f"LEFT BEHIND by the tests: {line}", red=True)
