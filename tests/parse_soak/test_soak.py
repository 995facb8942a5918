"""The soak at a small size: `just soak` runs it at full size, for ten minutes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import flow
import flow_cli
from waiting import limit

SCRIPT = Path(__file__).with_name("soak.py")


def test_what_is_stored_follows_random_edits() -> None:
    roots = [str(Path(next(iter(package.__path__))).parent) for package in (flow, flow_cli)]
    sizes = ["--files", "60", "--hostile", "6", "--seconds", "12", "--pause", "0.3"]
    done = subprocess.run(
        [
            *(sys.executable, str(SCRIPT), *sizes),
            "--seed",
            "7",
            "--interval",
            "3",
            "--timeout",
            str(limit(3)),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*roots, str(SCRIPT.parents[1])])},
        capture_output=True,
        text=True,
        timeout=limit(280),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["edits"] > 3
