"""Flow under the service manager of an ordinary user."""

from __future__ import annotations

import json
import os
import pwd
import sys
from pathlib import Path
from typing import Any

from booted.inside.findings import run, say, until

NAME = "ordinary"
UNITS = ("flow-parse.service", "flow-schedule@1.service", "flow-work@1.service")
DAG = """
from flow import DAG, task

with DAG("mine", schedule=None):

    @task
    def who():
        import os

        return os.getuid()

    who()
"""


class User:
    """An account with a home, a manager of its own, and no rights."""

    def __init__(self) -> None:
        assert run("useradd", "--create-home", NAME)["code"] == 0
        account = pwd.getpwnam(NAME)
        self.home, self.uid = Path(account.pw_dir), account.pw_uid
        self.manager = f"user@{self.uid}.service"

    def run(self, *words: str) -> dict[str, Any]:
        """Run a command as this user would from a shell."""
        environment = {
            "HOME": str(self.home),
            "USER": NAME,
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ["PYTHONPATH"],
            "XDG_RUNTIME_DIR": f"/run/user/{self.uid}",
        }
        settings = [f"{name}={value}" for name, value in environment.items()]
        return run(
            "runuser", "-u", NAME, "--", "env", "-i", "-C", str(self.home), *settings, *words
        )

    def flow(self, *words: str) -> dict[str, Any]:
        return self.run(sys.executable, "-P", "-m", "flow_cli", *words)

    def ask(self, *words: str) -> Any:
        done = self.flow(*words, "-o", "json")
        return json.loads(done["out"]) if done["out"] else done

    def states(self) -> list[str]:
        """Of the units, by systemd."""
        return self.run("systemctl", "--user", "is-active", *UNITS)["out"].split()

    def pid(self, unit: str) -> int:
        return int(self.run("systemctl", "--user", "show", "-P", "MainPID", unit)["out"])

    def write(self, place: str, text: str) -> None:
        path = self.home / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        run("chown", "-R", NAME, str(self.home))


def drive(url: str) -> None:
    """Install, run something, kill the scheduler, run something, uninstall."""
    user = User()
    run("systemctl", "start", user.manager)
    say("a user without a database", **user.flow("systemd", "install", "--user"))
    user.write(
        "flow.toml",
        f'database.url = "{url}"\ndags.folders = ["{user.home}/dags"]\n'
        "dags.paused_at_creation = false\n",
    )
    user.flow("db", "migrate")
    user.write("dags/mine.py", DAG)
    for unit in ("flow-parse.service", "flow-schedule@.service", "flow-work@.service"):
        paths = f"[Service]\nEnvironment=PYTHONPATH={os.environ['PYTHONPATH']}\n"
        user.write(f".config/systemd/user/{unit}.d/here.conf", paths)
    say("a user's installation", **user.flow("systemd", "install", "--user"))
    user.run("systemctl", "--user", "daemon-reload")
    user.run("systemctl", "--user", "start", "flow.target")
    until(lambda: user.states() == ["active"] * 3, "the units of a user")
    until(lambda: user.ask("dags", "list"), "the DAGs of a user")
    say("a user's run", uid=user.uid, **_run(user))
    before = user.pid("flow-schedule@1.service")
    os.kill(before, 9)
    until(lambda: user.pid("flow-schedule@1.service") not in (0, before), "another scheduler")
    until(lambda: user.states() == ["active"] * 3, "the units of a user again")
    say("a user's run after a kill", **_run(user))
    say("a user's uninstallation", **user.flow("systemd", "uninstall", "--user", "--yes"),
        left=sorted(map(str, (user.home / ".config/systemd/user").rglob("*flow*"))),
        states=user.states())  # fmt: skip
    run("systemctl", "stop", user.manager)


def _run(user: User) -> dict[str, Any]:
    """A run that is followed to its end, and what its task found."""
    run_id = user.ask("run", "mine", "--wait")["run_id"]
    shown = user.ask("runs", "show", "mine", run_id)
    return {"state": shown["state"], "value": user.ask("xcom", "get", "mine", run_id, "who")}
