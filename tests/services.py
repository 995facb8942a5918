"""Which real services the tests of a session ran on, and the count of several sessions.

A test counts for a PostgreSQL when one of its fixtures is an embedded server or has one, by itself
or in its deployment, for whatever a fixture names as its `service`, and for what was noted while it
ran. With FLOW_TEST_SUMMARY in the environment each session appends its counts to that file:

    python tests/services.py FILE     print what all sessions in the file add up to
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

PROPERTY = "service"
"""Under this name a report carries the services of its test."""
_OUTCOMES = ("passed", "failed", "skipped", "retried")
_noted: set[str] = set()


class Counts:
    """What one session has run."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter(dict.fromkeys(_OUTCOMES, 0))
        self.services: Counter[str] = Counter()

    def add(self, report: pytest.TestReport) -> None:
        """Count a report: a test once, by its call, or by a set-up that was its end."""
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]  # a plugin's word
            self.outcomes["retried"] += 1
        elif report.when == "call" or report.outcome != "passed":
            self.outcomes[report.outcome] += 1
        if report.when == "call":
            self.services.update(
                str(value) for name, value in report.user_properties if name == PROPERTY
            )

    def append_to(self, file: Path) -> None:
        """Add a line to the file that collects several sessions."""
        with file.open("a", encoding="utf-8") as collected:
            collected.write(json.dumps([self.outcomes, self.services]) + "\n")


def note(service: str) -> None:
    """Let the test that runs count for a service that none of its fixtures has."""
    _noted.add(service)


def noted() -> set[str]:
    """What was noted since the last call."""
    found = set(_noted)
    _noted.clear()
    return found


def services_of(fixtures: Mapping[str, object]) -> set[str]:
    """The services behind a test's fixtures, like `PostgreSQL 18`."""
    parts = (part for fixture in fixtures.values() for part in _parts(fixture))
    return {name for part in parts if (name := _service(part)) is not None}


def postgres_of(data: Path) -> str:
    """The service that a server with this data is."""
    return f"PostgreSQL {(data / 'PG_VERSION').read_text().strip()}"


def postgres_found() -> str:
    """The service that a server is which the product makes by itself."""
    from flow.embedded import binaries

    return f"PostgreSQL {binaries.find().major}"


def _parts(fixture: object) -> Iterator[object]:
    yield fixture
    if isinstance(fixture, tuple):
        yield from fixture
    else:
        yield getattr(fixture, "deployment", None)


def _service(part: object) -> str | None:
    from flow.embedded import Server

    named = getattr(part, "service", None)
    if isinstance(named, str):
        return named
    server = getattr(part, "embedded", part)
    if not isinstance(server, Server) or not server.running():
        return None
    return postgres_of(server.data)


def add_up(lines: Iterable[str]) -> list[str]:
    """The closing lines for the sessions of a file."""
    outcomes: Counter[str] = Counter()
    services: Counter[str] = Counter()
    for line in lines:
        of_session = json.loads(line)
        outcomes.update(of_session[0])
        services.update(of_session[1])
    return [
        *(f"on {name}: {count} tests" for name, count in sorted(services.items())),
        f"skipped: {outcomes['skipped']} tests",
        f"retried: {outcomes['retried']} tests",
        f"{outcomes['passed']} passed, {outcomes['failed']} failed, {outcomes['skipped']} skipped",
    ]


if __name__ == "__main__":
    print("\n".join(add_up(Path(sys.argv[1]).read_text(encoding="utf-8").splitlines())))
