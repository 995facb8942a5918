"""Fault points do what the environment names, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import flow.errors
from flow.errors import ConfigError
from flow.faults import EXIT_STATUS, Fault, parse

ENGINE = str(Path(flow.errors.__file__).parent.parent)


def run(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"from flow.faults import point\n{code}"],
        env=os.environ | {"PYTHONPATH": ENGINE} | environ,
        capture_output=True,
        text=True,
    )


def test_the_plan_is_read() -> None:
    assert parse("a.b=kill; c=sleep:1.5@2;;d=raise@1;") == {
        "a.b": Fault("kill"),
        "c": Fault("sleep", 1.5, 2),
        "d": Fault("raise", 0.0, 1),
    }
    assert parse("") == {}


@pytest.mark.parametrize(
    "text", ["a", "a=", "a=burn", "a=sleep", "a=sleep:x", "a=kill:1", "a=kill@x", "a=@1"]
)
def test_what_cannot_be_read_is_a_config_error(text: str) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        parse(text)


@pytest.mark.parametrize(
    ("action", "status"), [("kill", -signal.SIGKILL), ("exit", EXIT_STATUS), ("raise", 1)]
)
def test_a_point_acts(action: str, status: int) -> None:
    done = run("point('other'); print('before', flush=True); point('x')", FLOW_FAULTS=f"x={action}")
    assert (done.returncode, done.stdout) == (status, "before\n")


def test_stop_stops_the_process() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", "from flow.faults import point; point('x')"],
        env=os.environ | {"PYTHONPATH": ENGINE, "FLOW_FAULTS": "x=stop"},
    )
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    process.send_signal(signal.SIGCONT)
    assert process.wait() == 0


def test_sleep_sleeps() -> None:
    code = "import time; t = time.monotonic(); point('x'); print(time.monotonic() - t)"
    assert float(run(code, FLOW_FAULTS="x=sleep:0.2").stdout) >= 0.2


def test_only_the_named_hit_counts() -> None:
    done = run("for n in range(5): print(n, flush=True); point('x')", FLOW_FAULTS="x=exit@3")
    assert done.stdout.split() == ["0", "1", "2"]


def test_once_means_once_over_restarts(tmp_path: Path) -> None:
    once = {"FLOW_FAULTS": "x=exit;y=exit", "FLOW_FAULTS_ONCE_DIR": str(tmp_path)}
    assert [run("point('x')", **once).returncode for _ in range(2)] == [EXIT_STATUS, 0]
    assert [run("point('y')", **once).returncode for _ in range(2)] == [EXIT_STATUS, 0]


def test_without_a_plan_nothing_happens() -> None:
    assert run("point('x'); print('after')", FLOW_FAULTS="").stdout == "after\n"


def test_within_a_suspension_no_point_acts_and_no_hit_counts() -> None:
    code = """
from flow.faults import suspended
with suspended():
    point('x')
    print("inside")
point('x')
print("once")
point('x')
"""
    done = run(code, FLOW_FAULTS="x=exit@2")
    assert (done.returncode, done.stdout) == (EXIT_STATUS, "inside\nonce\n")
