"""What systemd is asked to do."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from flow.errors import FlowError
from flow.ops.systemd.unit_files import Scope, UnitFile

_BOOTED: Final = Path("/run/systemd/system")


def version() -> int:
    """The version of systemd on this machine; 0 where there is none."""
    program = _program("systemctl")
    if program is None:
        return 0
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.match(r"systemd (\d+)", said.stdout)
    return int(found[1]) if found else 0


def is_running() -> bool:
    """Whether systemd manages this machine (sd_booted(3)); not so where an image is built."""
    return _BOOTED.is_dir()


def reload(scope: Scope) -> None:
    """Let systemd read unit files again, where it runs."""
    if is_running():
        _run("systemctl", f"--{scope}", "daemon-reload")


def enable(scope: Scope, units: Sequence[str]) -> None:
    """Have units start with what they are wanted by."""
    _run("systemctl", f"--{scope}", "--quiet", "enable", *units)


def disable(scope: Scope, units: Sequence[str]) -> None:
    """The opposite; of a template all instances."""
    if units:
        _run("systemctl", f"--{scope}", "--quiet", "disable", *units)


def stop(scope: Scope, units: Sequence[str]) -> None:
    """Stop units and wait for their end; `*` stands for instances. Where systemd runs."""
    if units and is_running():
        _run("systemctl", f"--{scope}", "stop", *units)


def make_users(file: UnitFile) -> None:
    """Make the users of a list, where they are missing (systemd-sysusers(8))."""
    _run("systemd-sysusers", str(file.path))


def _program(name: str) -> str | None:
    return shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin")


def _run(*command: str) -> None:
    """Raises `FlowError` with what the program said."""
    program = _program(command[0])
    if program is None:
        raise FlowError(
            f"there is no {command[0]} on this machine",
            "`flow systemd print` shows the units for another one",
        )
    done = subprocess.run(
        [program, *command[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        said = done.stderr.strip().replace("\n", "; ") or f"exit code {done.returncode}"
        raise FlowError(f"{' '.join(command)}: {said}", "mend that and run the same command again")
