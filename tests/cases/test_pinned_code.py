"""A run with pinned code uses the code of its version or none, and goes on when that is back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from waiting import PATIENCE, wait_until

BREAKS = [
    # Nobody compares.
    Break(
        "engine/flow/process/task.py",
        "    await_code(job.file, pin, version)\n",
        "",
        test="test_a_task_goes_on_when_the_old_code_is_back",
    ),
    # A mismatch is a failure like any other.
    Break(
        "engine/flow/process/ending.py",
        "        if outcome.mismatch:\n",
        "        if False:\n",
        test="test_a_task_goes_on_when_the_old_code_is_back",
    ),
    # The wait counts for the execution timeout.
    Break(
        "engine/flow/roles/work/held.py",
        "            pinned = self.task.code_hash is not None\n",
        "            pinned = False\n",
        test="test_a_task_goes_on_when_the_old_code_is_back",
    ),
]

WAIT = 2 + PATIENCE
"""Seconds that a try waits for its code; more than its execution timeout."""
SETTINGS = {"dags.code": "pinned", "worker.code_wait": WAIT}

DAG = """
    import os
    import time
    from datetime import timedelta
    from flow import DAG, task
    from marks import mark
    from {dag_id}_words import WORD

    with DAG({dag_id!r}, schedule=None):

        @task
        def first():
            mark("first " + WORD, {dag_id!r})
            while not os.path.exists(os.path.join(os.environ["CASE_MARKS"], {dag_id!r} + ".go")):
                time.sleep(0.05)

        @task(execution_timeout=timedelta(seconds={limit}))
        def second():
            mark("second " + WORD, {dag_id!r})

        first() >> second()
    """
OLD, NEW = "WORD = 'old'\n", "WORD = 'new'\n"


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed(SETTINGS) as made:
        (made.dags / ".flowignore").write_text("*_words.py\n")
        for dag_id in ("back", "given_up"):
            made.write(f"{dag_id}_words.py", OLD)
            made.write(f"{dag_id}.py", DAG.format(dag_id=dag_id, limit=WAIT - 1))
        made.up()
        made.wait_for_dags("back", "given_up")
        yield made


def run_into_new_code(deployment: Deployment, dag_id: str) -> str:
    """Start a run, change a local module while its first task runs, and let that end; its id."""
    run_id = deployment.run(dag_id)
    wait_until(lambda: deployment.marks(dag_id), "the first task at work")
    deployment.write(f"{dag_id}_words.py", NEW)
    wait_until(
        lambda: deployment.ask("dags", "show", "--", dag_id)["version"] == 2, "the second version"
    )
    (deployment.folder / "m" / f"{dag_id}.go").touch()
    return run_id


def events(deployment: Deployment, dag_id: str) -> list[str]:
    return [mark.event for mark in deployment.marks(dag_id)]


def test_a_task_goes_on_when_the_old_code_is_back(deployment: Deployment) -> None:
    run_id = run_into_new_code(deployment, "back")

    def first_end() -> str | None:
        tries = deployment.tries("back", run_id, "second")
        return tries[0]["state"] if tries and tries[0]["ended_at"] else None

    assert wait_until(first_end, "the end of a try") == "code_mismatch"
    deployment.write("back_words.py", OLD)
    assert deployment.wait_for_run("back", run_id)["state"] == "success"
    assert events(deployment, "back") == ["first old", "second old"]
    *mismatches, last = deployment.tries("back", run_id, "second")
    assert {one["state"] for one in mismatches} == {"code_mismatch"}
    assert last["state"] == "success"
    (first,) = deployment.tries("back", run_id, "first")
    assert first["code_hash"] == last["code_hash"] != mismatches[0]["code_hash"]
    reason = mismatches[0]["reason"]
    assert reason.startswith("code_mismatch: ") and "back.py (with back_words)" in reason
    assert first["code_hash"][:12] in reason and mismatches[0]["code_hash"][:12] in reason
    shown = deployment.flow("tasks", "tries", "back", run_id, "second")
    assert "code_mismatch" in shown.out


def test_a_run_that_is_cleared_goes_on_with_the_latest_code(deployment: Deployment) -> None:
    run_id = run_into_new_code(deployment, "given_up")
    ended = deployment.wait_for_run("given_up", run_id, seconds=120)
    assert (ended["state"], ended["version"]) == ("failed", 1)
    assert events(deployment, "given_up") == ["first old"]
    tries = deployment.tries("given_up", run_id, "second")
    assert [one["state"] for one in tries] == [*["code_mismatch"] * 3, "failed"]
    why = deployment.ask("why", "--", "given_up", run_id, "second")
    assert [one["code"] for one in why["reasons"]] == ["code_mismatch"]
    cleared = deployment.flow("clear", "--yes", "--version", "latest", "given_up", run_id)
    assert cleared.code == 0, cleared.err
    ended = deployment.wait_for_run("given_up", run_id)
    assert (ended["state"], ended["version"]) == ("success", 2)
    assert events(deployment, "given_up") == ["first old", "first new", "second new"]
