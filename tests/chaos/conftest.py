"""The counts of each story, told also when it was right."""

from __future__ import annotations

import pytest

STORY = "story"
"""Under this name a report carries the last line of its story."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the seed and the counts of every story."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == STORY and getattr(report, "when", None) == "call":
                    terminalreporter.write_line(f"chaos: {value}")
