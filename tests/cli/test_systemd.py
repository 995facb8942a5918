"""`flow systemd`: unit files that systemd understands, in the right places, and only our own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from absent import absent

EXPOSURE = {"flow-parse.service": 2.5, "flow-schedule@.service": 1.5, "flow-work@.service": 5.5}
"""The most that `systemd-analyze security` may say of the system's units: 0 is safe, 10 is not.
The worker's is what its tasks are left free to do."""
SETTINGS = '[database]\nurl = "postgresql://db.example/flow"\n'
UNITS = ["flow-parse.service", "flow-schedule@.service", "flow-work@.service", "flow.target"]

offline = pytest.mark.skipif(
    Path("/run/systemd/system").exists(), reason="would reload this machine's own systemd"
)


@pytest.fixture
def analyze():
    """The program that checks unit files."""
    program = shutil.which("systemd-analyze")
    if program is None:
        absent("systemd-analyze is not installed (Debian: systemd)")
    return program


@pytest.fixture
def units(flow, project):
    """Print the units of a scope, and write the unit files into a folder."""

    def write(*options):
        folder = project / "units"
        folder.mkdir()
        ended = flow("systemd", "print", *options, "-o", "json")
        assert ended.code == 0, ended.err
        for file in json.loads(ended.out)["files"]:
            (folder / Path(file["path"]).name).write_text(file["text"])
        return folder

    return write


@pytest.mark.parametrize("scope", ["system", "user"])
def test_systemd_has_nothing_to_say_of_the_units(units, analyze, scope, tmp_path):
    folder = units(*(["--user"] if scope == "user" else []))
    done = subprocess.run(
        [analyze, f"--{scope}", "verify", "--man=no", *(folder / name for name in UNITS)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    # It exits 0 even for a key that it does not know.
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("unit", EXPOSURE)
def test_the_exposure_of_a_unit_has_a_ceiling(units, analyze, unit):
    path = units() / unit
    done = subprocess.run(
        [analyze, "security", "--offline=yes", path], capture_output=True, text=True
    )
    said = re.search(r"exposure level for \S+: ([0-9.]+)", done.stdout)
    assert said is not None, done.stderr
    print(f"{unit}: {said[1]}")
    assert 0.5 <= float(said[1]) <= EXPOSURE[unit]


def test_print_shows_every_file_with_its_place(flow):
    out = flow("systemd", "print").out
    assert re.findall(r"^# (/\S+)$", out, re.MULTILINE) == [
        "/etc/systemd/system/flow-parse.service",
        "/etc/systemd/system/flow-schedule@.service",
        "/etc/systemd/system/flow-work@.service",
        "/etc/sysusers.d/flow.conf",
        "/etc/systemd/system/flow.target",
    ]
    assert f"ExecStart={sys.executable} -P -m flow_cli work" in out
    assert "@" not in re.sub(r"^#.*$|flow-\w+@|^.*SystemCallFilter=.*$", "", out, flags=re.M)


def test_units_find_the_settings_of_the_command_line(flow, project):
    (project / "flow.toml").write_text(SETTINGS)
    out = flow("systemd", "print", "--user", FLOW_HOME=f"{project}/all of 100%").out
    assert f"flow_cli --config {project}/flow.toml parse" in out
    # systemd would take a single % for the beginning of one of its own words.
    assert f'Environment="FLOW_HOME={project}/all of 100%%"' in out


def test_a_dry_run_says_what_would_be_done_and_does_nothing(flow, project):
    (project / "flow.toml").write_text(SETTINGS)
    ended = flow("systemd", "install", "--user", "--workers", "2", "--dry-run")
    folder = project.parent / "home/.config/systemd/user"
    assert ended.code == 0
    assert ended.out.splitlines() == [
        *(f"would write: {folder}/{name} (new)" for name in UNITS),
        "would enable: flow-parse.service",
        "would enable: flow-schedule@1.service",
        "would enable: flow-work@1.service",
        "would enable: flow-work@2.service",
        "would enable: flow.target",
    ]
    told = json.loads(
        flow("systemd", "install", "--user", "--workers", "2", "--dry-run", "-o", "json").out
    )
    assert told["files"] == [f"{folder}/{name}" for name in UNITS]
    assert set(told["standing"].values()) == {"new"}
    assert (told["dry_run"], told["enabled"][-1], told["disabled"]) == (True, "flow.target", [])
    assert not folder.exists()


def installed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def enabled(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "flow.target.wants").iterdir())


@offline
def test_a_user_installs_changes_the_number_and_uninstalls(flow, project, analyze):
    (project / "flow.toml").write_text(SETTINGS)
    folder = project.parent / "home/.config/systemd/user"
    ended = flow("systemd", "install", "--user", "--workers", "3")
    assert ended.code == 0, ended.err
    assert "systemctl --user restart flow.target" in ended.err
    assert installed(folder) == UNITS
    assert enabled(folder)[2:] == [f"flow-work@{n}.service" for n in (1, 2, 3)]
    (folder / "flow.target.wants/flow-work@gpu.service").symlink_to(folder / "flow-work@.service")
    assert flow("systemd", "install", "--user", "--workers", "1", "--schedulers", "0").code == 0
    assert enabled(folder) == ["flow-parse.service", "flow-work@1.service", "flow-work@gpu.service"]
    assert flow("systemd", "install", "--user").code == 0
    assert "flow-work@2.service" not in enabled(folder)
    refused = flow("systemd", "uninstall", "--user")
    assert (refused.code, installed(folder)) == (2, UNITS)
    assert flow("systemd", "uninstall", "--user", "--yes").code == 0
    assert list(folder.rglob("flow*")) == []


@offline
def test_a_unit_that_was_changed_by_hand_is_neither_overwritten_nor_removed(flow, project, analyze):
    (project / "flow.toml").write_text(SETTINGS)
    folder = project.parent / "home/.config/systemd/user"
    assert flow("systemd", "install", "--user").code == 0
    changed = folder / "flow-work@.service"
    text = changed.read_text().replace("WatchdogSec=3min", "WatchdogSec=1h")
    changed.write_text(text)
    dry = flow("systemd", "install", "--user", "--dry-run").out
    assert f"in the way: {changed} (changed)" in dry
    ended = flow("systemd", "install", "--user")
    assert (ended.code, ended.out) == (4, "")
    assert str(changed) in ended.err
    ended = flow("systemd", "uninstall", "--user", "--yes")
    assert (ended.code, installed(folder)) == (0, [changed.name])
    assert changed.read_text() == text
    assert "stays" in ended.err


def test_a_user_without_a_database_in_the_settings_file_is_refused(flow, project):
    ended = flow("systemd", "install", "--user", FLOW_DATABASE_URL="postgresql://shell/only")
    assert (ended.code, ended.out) == (2, "")
    assert "set [database] url in flow.toml" in ended.err
    assert not (project.parent / "home/.config").exists()


def test_tasks_as_the_user_of_the_roles_are_refused(flow):
    ended = flow("systemd", "print", FLOW_WORKER_TASK_USER="flow")
    assert (ended.code, ended.out) == (2, "")
    assert "can read the database login" in ended.err


def test_a_path_that_no_unit_file_can_hold_is_refused(flow):
    ended = flow("systemd", "print", FLOW_HOME='/srv/"flow"')
    assert (ended.code, ended.out) == (2, "")
    assert "cannot stand in a unit file" in ended.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may install the system's units")
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_without_root_the_command_that_would_work_is_named(flow, verb):
    ended = flow("systemd", verb)
    assert (ended.code, ended.out) == (2, "")
    assert f"run: sudo {sys.executable} -P -m flow_cli systemd {verb}" in ended.err
