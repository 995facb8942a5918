"""A database that stays away for longer than the lease, and what its workers' tries do meanwhile.

With `on_lost_contact = "stop"` the try is ended when the lease runs out, and another one follows
that costs no retry. With "keep" it goes on to its end, and its result counts afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from cases import marker_file
from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.steady import check_log
from support.stalling_proxy import StallingProxy
from waiting import wait_until

LEASE = 1.8
"""Seconds."""

BREAKS = [
    # Tries never end with the lease.
    Break(
        "engine/flow/process/zygote.py",
        '            self._family.kill_all("lease")\n',
        "            pass\n",
    ),
    # They always do.
    Break(
        "engine/flow/roles/work/settings.py",
        "        return None if self.keeps_tries else self.lost_after * self.lease_ratio\n",
        "        return self.lost_after * self.lease_ratio\n",
    ),
]

DAG = """
    import os
    from flow import DAG, task
    from marks import stay

    with DAG("away", schedule=None, default_args={"retries": 0}):

        @task
        def work():
            go = os.path.join(os.environ["CASE_MARKS"], "go")
            stay(600, "work", until=lambda: os.path.exists(go))

        work()
    """


@contextmanager
def running(on_lost_contact: str) -> Iterator[tuple[Deployment, StallingProxy, str]]:
    """A deployment whose roles reach the database through a line, and a run whose task works."""
    with deployed({"worker.heartbeat": 0.5, "worker.lost_after": LEASE / 0.9}) as made:
        assert made.flow("db", "migrate").code == 0
        made.write("away.py", DAG)
        made.parse()
        with StallingProxy(made.folder / "line", made.embedded.socket_directory) as line:
            for role in ("schedule", "work"):
                made.start(
                    role, FLOW_DATABASE_URL=line.url, FLOW_WORKER_ON_LOST_CONTACT=on_lost_contact
                )
            run_id = made.run("away")
            wait_until(lambda: made.marks("work"), "the start of the task")
            yield made, line, run_id


def test_the_lease_ends_tries_and_costs_no_retry() -> None:
    with running("stop") as (deployment, line, run_id):
        pid = deployment.marks("work")[0].pid
        line.stall()
        wait_until(lambda: not psutil.pid_exists(pid), "the end of the try")
        (deployment.folder / "m" / "go").touch()
        line.flow()
        assert deployment.wait_for_run("away", run_id)["state"] == "success"
        found = deployment.tries("away", run_id, "work")
        assert [one["state"] for one in found] == ["lease_expired", "success"]
        marks = deployment.marks("work")
        assert marker_file.overlaps(marks) == []
        for role in deployment.roles:
            check_log(role)


def test_kept_tries_go_on_and_count_afterwards() -> None:
    with running("keep") as (deployment, line, run_id):
        line.stall()
        stalled = deployment.marks("work")[-1].at
        wait_until(
            lambda: deployment.marks("work")[-1].at > stalled + 2 * LEASE,
            "signs of life long after the lease",
        )
        (deployment.folder / "m" / "go").touch()
        wait_until(lambda: deployment.marks("work")[-1].event == "end", "the end of the task")
        line.flow()
        assert deployment.wait_for_run("away", run_id)["state"] == "success"
        found = deployment.tries("away", run_id, "work")
        assert [one["state"] for one in found] == ["success"]
        for role in deployment.roles:
            check_log(role)
