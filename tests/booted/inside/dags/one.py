"""Tasks that look around, and tasks that run until they are told to end."""

import json
import os
import time
from pathlib import Path

from flow import DAG, task

OUT = Path("/srv/out")


def attempt(path, mode="rb"):
    """What reading a file comes to: its size, or the error."""
    try:
        with open(path, mode) as file:
            return len(file.read(64))
    except OSError as error:
        return type(error).__name__


def worker():
    """The pid of the supervisor: the parent of the zygote."""
    zygote = os.getppid()
    return int(Path(f"/proc/{zygote}/stat").read_text().rpartition(")")[2].split()[1])


def hold(name):
    """Say that it runs, and run until the file `name` is there."""
    with open(OUT / f"{name}.began", "a") as began:
        began.write(f"{os.getpid()}\n")
    while not (OUT / name).exists():
        time.sleep(0.02)


with DAG("looks", schedule=None):

    @task
    def look():
        pid = worker()
        status = Path("/proc/self/status").read_text()
        found = {
            "uid": os.getuid(),
            "worker_uid": os.stat(f"/proc/{pid}").st_uid,
            "credential": attempt("/run/credentials/flow-work@1.service/flow_database_url"),
            "source": attempt("/etc/flow/database/url"),
            "key": attempt("/var/lib/flow/secrets.key"),
            "environ": attempt(f"/proc/{pid}/environ"),
            "memory": attempt(f"/proc/{pid}/mem"),
            "secret_names": sorted(
                name
                for name in os.environ
                if name.startswith(("CREDENTIALS", "FLOW_DATABASE", "NOTIFY", "WATCHDOG"))
            ),
            "capabilities": [
                line.split()[1]
                for line in status.splitlines()
                if line.startswith(("CapP", "CapE", "CapA", "CapI"))
            ],
            "oom_score_adj": int(Path("/proc/self/oom_score_adj").read_text()),
            "worker_oom_score_adj": int(Path(f"/proc/{pid}/oom_score_adj").read_text()),
        }
        (OUT / "look.json").write_text(json.dumps(found))

    look()


with DAG("killed", schedule=None):

    @task(retries=0)
    def held():
        hold("killed")

    held()


with DAG("drained", schedule=None):

    @task(retries=0)
    def slow():
        hold("drained")

    slow()
