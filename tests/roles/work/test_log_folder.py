"""A folder of logs into which tasks of another user write."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from flow.errors import ConfigError
from flow.process.environment import TaskUser
from flow.roles.work.log_folder import share


def user(gid: int) -> TaskUser:
    return TaskUser("tasks", 12345, gid, (gid,), "/")


def test_the_group_of_the_task_user_may_write(tmp_path: Path) -> None:
    root = tmp_path / "state" / "logs"
    share(root, user(os.getegid()))
    found = root.stat()
    assert (found.st_gid, stat.S_IMODE(found.st_mode) & 0o777) == (os.getegid(), 0o770)
    root.chmod(0o705)
    share(root, user(os.getegid()))
    assert stat.S_IMODE(root.stat().st_mode) & 0o777 == 0o775


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to any group")
def test_root_gives_it_to_any_group(tmp_path: Path) -> None:
    share(tmp_path / "logs", user(12345))
    assert (tmp_path / "logs").stat().st_gid == 12345


@pytest.mark.skipif(os.geteuid() == 0, reason="root can give a folder to any group")
def test_a_group_that_the_worker_is_not_in_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be opened to the group of tasks"):
        share(tmp_path / "logs", user(12345))


def test_a_folder_that_cannot_be_made_is_a_config_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be opened to the group of tasks"):
        share(tmp_path / "file" / "logs", user(os.getegid()))
