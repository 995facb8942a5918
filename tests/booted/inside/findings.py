"""What is found in the container: one JSON object a line in /srv/out/findings."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from waiting import limit

OUT = Path("/srv/out")
_LIMIT = 40.0

Found = TypeVar("Found")


def say(what: str, **facts: Any) -> None:
    """Write one finding."""
    with (OUT / "findings").open("a", encoding="utf-8") as findings:
        findings.write(json.dumps({"what": what, "at": round(time.monotonic(), 2), **facts}) + "\n")


def until(condition: Callable[[], Found], what: str) -> Found:
    """Wait for something; give up, and with it the whole drive, when it does not come."""
    end = time.monotonic() + limit(_LIMIT)
    while not (answer := condition()):
        if time.monotonic() > end:
            journal = run("journalctl", "--no-pager", "-o", "short-monotonic")["out"]
            (OUT / "journal").write_text(journal)
            units = run("systemctl", "status", "--no-pager", "flow*")["out"]
            say("gave up", waited_for=what, units=units)
            raise SystemExit(1)
        time.sleep(0.05)
    return answer


def run(*words: str, **environ: str) -> dict[str, Any]:
    """Run a command; how it ended."""
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return {"code": done.returncode, "out": done.stdout, "err": done.stderr}
