"""`flow up` and the embedded database say what they do: where DAGs are, what is waited for."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from cases.deployment import Deployment, deployed
from waiting import wait_until

DAG = """
    import time
    from pathlib import Path
    from flow import DAG, task

    with DAG("slow", schedule=None):
        @task
        def waits():
            while not (Path(__file__).parent / "go").exists():
                time.sleep(0.01)
        waits()
    """
REVIVED = "the embedded database was down; it runs now, until `flow down`\n"


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    with deployed() as made:
        yield made


def test_an_end_says_what_it_waits_for_and_what_stays(deployment: Deployment) -> None:
    deployment.write("slow.py", DAG)
    up = deployment.up()
    assert f"DAG files: {deployment.dags}\n" in up.text()
    deployment.wait_for_dags("slow")
    run_id = deployment.run("slow")
    wait_until(lambda: deployment.states("slow", run_id) == {"waits": "running"}, "the task")
    up.send(signal.SIGINT)
    told = "waiting for work 1: tries that run may end; a second Ctrl-C, or flow down --now"
    wait_until(lambda: told in up.text(), "what it waits for")
    (deployment.dags / "go").touch()
    assert up.wait() == 0
    assert up.text().endswith("\nthe embedded database still runs; `flow down` stops it\n")

    assert deployment.flow("dags", "list").err == ""
    assert (
        deployment.flow("down").out
        == "flow up was not running here\nthe embedded database stopped\n"
    )
    assert deployment.flow("dags", "list", "-o", "json").err == REVIVED
    assert deployment.flow("dags", "list").err == ""


def test_a_folder_that_was_made_is_named(flow, project) -> None:
    nowhere = "postgresql://nobody@127.0.0.1:1/nothing?connect_timeout=1"
    for words in (", which was made just now; put some there", ""):
        ended = flow("up", "--dags", "elsewhere", FLOW_DATABASE_URL=nowhere)
        assert ended.code == 5
        assert ended.err.splitlines()[0] == f"DAG files: {project}/elsewhere{words}"
