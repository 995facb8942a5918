"""What is filled into unit files."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.config import Config, load
from flow.ops.systemd import Scope
from flow.ops.systemd.unit_files import command_line, fill


def config(folder: Path) -> Config:
    return load(environ={"FLOW_HOME": str(folder), "HOME": str(folder)}, folder=folder)


@pytest.mark.parametrize(("version", "lines"), [(252, 1), (253, 1), (254, 3), (260, 3)])
def test_starts_are_spaced_out_by_a_systemd_that_can(
    tmp_path: Path, version: int, lines: int
) -> None:
    (file,) = fill({"a.service": "@restart@"}, Scope.USER, config(tmp_path), version)
    assert len(file.text.splitlines()) == lines
    assert ("RestartSteps=" in file.text) == (lines == 3)


def test_lists_of_users_go_where_systemd_looks_for_them(tmp_path: Path) -> None:
    found = fill({"flow.sysusers": "u @task_user@ -"}, Scope.SYSTEM, config(tmp_path), 252)
    assert [(str(file.path), file.text, file.is_unit) for file in found] == [
        ("/etc/sysusers.d/flow.conf", "u flow-task -", False)
    ]


def test_a_command_is_what_its_words_say() -> None:
    said = command_line(["/opt/flow 2/python", "-m", "100%", "$HOME", "a;b", ""])
    assert said == '"/opt/flow 2/python" -m 100%% $$HOME "a;b" ""'
