"""What kills its worker ends by itself, and says so: a task fails, its callback is given up.

Worker after worker is killed by one task, and then by its failure callback. Each has four of them
and no more; then the next worker lives and does what else there is.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from waiting import wait_until

BREAKS = [
    Break(
        "engine/flow/decide/after.py",
        "    if facts.losses < MAX_LOSSES:\n",
        "    if facts.losses >= 0:\n",
    ),
    Break(
        "engine/flow/store/callbacks.py",
        "  given_up = case when losses >= %(most)s then %(reason)s end\n",
        "  given_up = null\n",
    ),
]

DAG = """
    import os, signal
    from flow import DAG, task

    def kill_worker(name):
        with open(os.path.join(os.environ["CASE_MARKS"], name), "a") as file:
            file.write("x")
        with open(f"/proc/{os.getppid()}/stat") as file:  # of the zygote
            worker = int(file.read().rpartition(") ")[2].split()[1])
        os.kill(worker, signal.SIGKILL)
        signal.pause()

    with DAG("poison", schedule=None, default_args={"retries": 0}):

        @task(on_failure_callback=lambda context: kill_worker("callback"))
        def deadly():
            kill_worker("task")

        deadly()

    with DAG("harmless", schedule=None):

        @task
        def work():
            pass

        work()
    """
WORKERS = 4


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    with deployed({"worker.heartbeat": 1, "worker.lost_after": 600}) as made:
        assert made.flow("db", "migrate").code == 0
        made.write("poison.py", DAG)
        made.parse()
        yield made


def test_task_and_callback_take_four_workers_each(deployment: Deployment) -> None:
    deployment.start("schedule")
    run_id = deployment.run("poison")
    for _ in range(2 * WORKERS):
        worker = deployment.start("work", "--slots", "1")
        assert worker.wait() == -signal.SIGKILL, worker.text()
    last = deployment.start("work", "--slots", "1")
    wait_until(
        lambda: "is given up" in last.text() or last.process.poll() is not None,
        "what the successor says of the callback",
    )
    assert "is given up" in last.text()
    assert deployment.wait_for_run("poison", run_id)["state"] == "failed"
    assert deployment.run_to_end("harmless")["state"] == "success"
    for name in ("task", "callback"):
        assert (deployment.folder / "m" / name).read_text() == "x" * WORKERS
    tries = deployment.tries("poison", run_id, "deadly")
    assert [one["state"] for one in tries] == ["lost", "lost", "lost", "failed"]
    why = deployment.ask("why", "poison", run_id, "deadly")
    assert [one["code"] for one in why["reasons"]] == ["worker_lost", "callback_given_up"]
    warnings = deployment.ask("status", codes=(0, 1))["warnings"]
    assert [one for one in warnings if f"flow why poison {run_id} deadly" in one]
    assert last.end() == 0
