"""A role of the deployment as a real process, started again whenever it dies, as systemd would."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from chaos import processes
from chaos.line import Line

COMMAND: Final = (sys.executable, "-m", "flow_cli")
_SKEWED: Final = Path(__file__).with_name("skewed")
_RESTART: Final = 0.1
"""Seconds between a death and the next start: systemd's RestartSec."""
_EXPECTED: Final = {-signal.SIGKILL, -signal.SIGTERM, 0}
"""Codes with which a role may end while others strike: killed, told to end before it has begun, or
told to end."""


@dataclass
class Member:
    """One role to keep alive. `line` is its way to the database; without one it is embedded."""

    name: str
    arguments: tuple[str, ...]
    folder: Path
    environment: Callable[[], Mapping[str, str]]
    say: Callable[[str], None]
    line: Line | None = None
    skew: float = 0.0
    """Seconds by which the clock of the next process is off."""
    kept: bool = True
    """Whether it is started again."""
    deaths: list[str] = field(default_factory=list)
    """Ends that nobody has asked for."""
    process: subprocess.Popen[bytes] | None = None
    _start_at: float = 0.0

    @property
    def role(self) -> str:
        """parse, schedule, work"""
        return self.arguments[0]

    @property
    def log(self) -> Path:
        """What all its processes have logged."""
        return self.folder / f"{self.name.replace(' ', '-')}.log"

    @property
    def pid(self) -> int | None:
        """Its living process, if any."""
        return self.process.pid if self.process and self.process.poll() is None else None

    @property
    def zygote(self) -> int | None:
        """The zygote of its living process, if any."""
        return processes.zygote_of(self.pid) if self.pid else None

    @property
    def whole(self) -> bool:
        """Whether nothing of it is missing or stands still."""
        pids = [self.pid] if self.role == "schedule" else [self.pid, self.zygote]
        return all(pid is not None and processes.state(pid) not in "TtZX" for pid in pids)

    def keep(self) -> None:
        """Start its process unless it lives."""
        now = time.monotonic()
        if self.process is not None:
            code = self.process.poll()
            if code is None:
                return
            if code not in _EXPECTED:
                self.deaths.append(f"{self.name} (pid {self.process.pid}) ended with {code}")
                self.say(self.deaths[-1])
            self.process = None
            self._start_at = now + _RESTART
        if self.kept and now >= self._start_at:
            self.process = self._launch()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to its own process, if it lives."""
        if self.pid is not None and self.process is not None:
            self.process.send_signal(number)

    def text(self) -> str:
        """Its log."""
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""

    def _launch(self) -> subprocess.Popen[bytes]:
        variables = dict(self.environment())
        if self.line is not None:
            variables["FLOW_DATABASE_URL"] = self.line.url
        if self.skew:
            path = (str(_SKEWED), variables.get("PYTHONPATH", ""))
            variables |= {"PYTHONPATH": os.pathsep.join(path), "CHAOS_SKEW": str(self.skew)}
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*COMMAND, *self.arguments],
                cwd=self.folder / "p",
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
