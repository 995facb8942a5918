"""What holds for every test: an environment without settings, examples that may take their time, a
session that leaves no process behind, and a count of the tests that ran on real services.

The environment is cleaned when this file is imported, before any test module reads it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Whoever starts pytest in the background may ignore it, and every process of a test would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)

for _name in list(os.environ):
    if _name.startswith("PG") or (_name.startswith("FLOW_") and not _name.startswith("FLOW_TEST_")):
        del os.environ[_name]

import prepared_home  # noqa: E402 - they, too, are to see the clean environment
from leaks import Session  # noqa: E402
from pgbouncer import pooler  # noqa: E402, F401 - a fixture for everybody
from postgres import (  # noqa: E402, F401 - fixtures and hooks for everybody
    connection,
    database,
    direct,
    pytest_collection_finish,
    server,
)
from postgres import pytest_sessionfinish as _stop_server  # noqa: E402
from services import PROPERTY, Counts, noted, services_of  # noqa: E402
from support import forked_command  # noqa: E402
from waiting import limit, wait_until  # noqa: E402

os.environ.setdefault("PYTEST_TIMEOUT", str(limit(300)))
"""Seconds after which a test that hangs is ended (pytest-timeout), stretched like all guards."""

# How long an example takes says nothing where several tests share a processor.
settings.register_profile("flow", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("flow")

_SESSION = pytest.StashKey[Session]()
_LEFT = pytest.StashKey[list[str]]()
_COUNTS = Counts()


def pytest_configure(config: pytest.Config) -> None:
    """Mark the session's processes, before workers of pytest-xdist are started."""
    if not hasattr(config, "workerinput"):
        config.stash[_SESSION] = Session()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Forget what was noted as the fixtures of the last test ended."""
    noted()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End what a file's commands were forked from: other files count the children they have."""
    if nextitem is None or nextitem.path != item.path:
        forked_command.forget()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the services while the test's fixtures are still there."""
    if call.when == "call" and isinstance(item, pytest.Function):
        found = services_of(item.funcargs) | noted()
        item.user_properties.extend((PROPERTY, name) for name in sorted(found))
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count tests, in the process that sees all reports."""
    _COUNTS.add(report)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the counts; fail the session that leaves processes behind, now that it is over."""
    _stop_server(session)
    prepared_home.forget()
    config = session.config
    mine = config.stash.get(_SESSION, None)
    if mine is None or config.option.collectonly:
        return
    collected = os.environ.get("FLOW_TEST_SUMMARY")
    if collected:
        _COUNTS.append_to(Path(collected))
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
