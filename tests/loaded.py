"""Which modules a process loads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

RUN_COMMAND = """
from flow_cli.application import main
assert main({arguments!r}) == {code}
"""


def loaded(code: str, environment: Mapping[str, str] = os.environ) -> set[str]:
    """The names of the modules in a new interpreter that has run `code`."""
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules, file=sys.stderr)"],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return set(ran.stderr.splitlines()[-1].split())


def loaded_by_command(
    *arguments: str, code: int = 0, environment: Mapping[str, str] = os.environ
) -> set[str]:
    """The names of the modules that `flow ARGUMENTS…` has loaded at its end; it must exit so."""
    return loaded(RUN_COMMAND.format(arguments=list(arguments), code=code), environment)
