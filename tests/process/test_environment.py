"""What user code may see of the environment, and as whom it runs."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flow.errors import ConfigError
from flow.process.environment import TaskUser, marker, scrubbed


def test_scrubbing_takes_secrets_and_leaves_the_rest() -> None:
    environ = {
        "PATH": "/bin",
        "FLOW_HOME": "/flow",
        "FLOW_DATABASE_URL": "s",
        "FLOW_DATABASE_DIRECT_URL": "s",
        "PGPASSWORD": "s",
        "PGHOST": "s",
        "CREDENTIALS_DIRECTORY": "s",
        "FLOW_CONN_WAREHOUSE": "s",
        "FLOW_VAR_COLOUR": "s",
        "FLOW_KEYS_FILE": "s",
        "LISTEN_FDS": "1",
        "FLOW_WORKER": "outer",
    }
    assert scrubbed(environ, "w1") == {
        "PATH": "/bin",
        "FLOW_HOME": "/flow",
        "FLOW_WORKER": "w1",
    }
    assert marker("w1") == "FLOW_WORKER=w1"


def test_an_unknown_user_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="no user 'nobody-of-that-name'"):
        TaskUser.named("nobody-of-that-name")


def can_run(user: str) -> bool:
    """Whether this process can start its Python as another user."""
    try:
        subprocess.run([sys.executable, "-c", ""], user=user, check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


@pytest.mark.skipif(not can_run("nobody"), reason="cannot run this Python as another user")
def test_jobs_run_as_the_task_user(
    make_host: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = TaskUser.named("nobody")
    temporary = Path(tempfile.gettempdir())
    for folder in (tmp_path, *tmp_path.parents):
        if temporary in folder.parents:
            folder.chmod(0o777)
    watched = make_host(user=user)
    seen = watched.value_of(watched.start("circumstances"))
    assert (seen["uid"], seen["environ"]["USER"]) == (user.uid, "nobody")
    assert sorted(seen["groups"]) == sorted(set(user.groups))
    job_id, _ = watched.start_marked("stubborn")
    watched.host.stop(job_id, 0.0)
    assert watched.end_of(job_id).killed == "stop"
