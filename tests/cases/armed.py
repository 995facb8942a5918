"""Fault points that act when a test says so, once.

A point that has left its marker in FLOW_FAULTS_ONCE_DIR does nothing. So all markers are there
from the beginning; taking one away arms its point, and it comes back when the point has acted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cases.deployment import Deployment
from waiting import wait_until


class Armory:
    """The fault points of a deployment; its roles are to be started with `environment`."""

    def __init__(self, deployment: Deployment, points: Sequence[str], action: str = "kill") -> None:
        self._folder = deployment.folder / "once"
        self._folder.mkdir()
        self._folder.chmod(0o777)
        self.environment = {
            "FLOW_FAULTS": ";".join(f"{point}={action}" for point in points),
            "FLOW_FAULTS_ONCE_DIR": str(self._folder),
        }
        for point in points:
            self._marker(point).touch()

    def arm(self, point: str) -> None:
        """Let the point act at its next hit in any process."""
        self._marker(point).unlink()

    def has_acted(self, point: str) -> bool:
        return self._marker(point).exists()

    def wait(self, point: str) -> None:
        """Wait until an armed point has acted."""
        wait_until(lambda: self.has_acted(point), f"{point} to be hit", seconds=40)

    def _marker(self, point: str) -> Path:
        return self._folder / point
