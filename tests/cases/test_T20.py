"""T20: a run goes on with the graph that it started with, or fails and says why.

A task that waits for its retry disappears from the file or becomes another one, or the row of a
task is deleted by hand: the run is not green unless the task has really run, it does not keep its
place for ever, and the scheduler goes on as the same process. What a task has done before it
vanished stays.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from flow.store.connect import connect
from waiting import wait_until

BREAKS = [
    # A run gets the latest graph as soon as there is one: what vanishes is dropped, and what
    # changes has other upstream tasks and retries in mid-run.
    Break(
        "engine/flow/store/migrations/versions/0001_core.sql",
        "  left join dag_version v on v.dag_id = r.dag_id and v.number = r.version\n",
        "  left join dag d on d.dag_id = r.dag_id\n"
        "  left join dag_version v on v.dag_id = r.dag_id and v.number = d.version\n",
        test="test_a_task_that_changes_while_it_waits_keeps_its_place_in_the_graph",
    ),
    # A row that is made again begins with the first number once more.
    Break(
        "engine/flow/store/tasks.py",
        '            "fresh": fresh,\n',
        '            "fresh": True,\n',
        test="test_a_row_that_is_deleted_while_it_waits_is_made_again",
    ),
    # Nobody looks for runs that nobody looks after.
    Break(
        "engine/flow/roles/schedule/sweep.py",
        "        wakeups.wake_runs(conn, [(run_key, None, None) for run_key in forgotten])\n",
        "",
        test="test_a_row_that_is_deleted_with_nothing_to_announce_it_is_made_again",
    ),
]

SETTINGS = {"scheduler.sweep_interval": 1}

DAG = """
    import os
    from datetime import timedelta
    from flow import DAG, get_current_context, task
    from marks import mark

    def told(name):
        return lambda context: open(os.environ["CASE_MARKS"] + "/" + name, "a").write("x")

    def is_there(name):
        return os.path.exists(os.path.join(os.environ["CASE_MARKS"], name))

    with DAG(
        {dag_id!r}, schedule=None, max_active_runs=1, on_success_callback=told({dag_id!r} + ".ok"),
        on_failure_callback=told({dag_id!r} + ".bad"),
    ):

        @task
        def a():
            mark("a", {dag_id!r})

        @task(retries=1, retry_delay=timedelta(hours=1))
        def b():
            mark("b", {dag_id!r})
            if get_current_context()["ti"].try_number == 1 and not is_there({dag_id!r} + ".go"):
                raise RuntimeError("the first try fails")

        {body}
    """
BOTH = "a() >> b()"
ALONE = "a()"

FIRST_GRAPH = """
    from datetime import timedelta
    from flow import DAG, get_current_context, task
    from marks import mark

    with DAG("changing", schedule=None):

        def marked(name, **arguments):
            @task(task_id=name, **arguments)
            def step():
                mark(f"{name} first", "changing")
                if name == "b":
                    raise RuntimeError("the first try fails")

            return step()

        a, b, c = marked("a"), marked("b", retries=1, retry_delay=timedelta(hours=1)), marked("c")
        a >> b >> c
    """
SECOND_GRAPH = """
    from flow import DAG, task
    from flow.operators.bash import BashOperator
    from marks import mark

    with DAG("changing", schedule=None):

        def marked(name):
            @task(task_id=name)
            def step():
                mark(f"{name} second", "changing")

            return step()

        b = BashOperator(
            task_id="b",
            bash_command='echo "0 host $$ {{ ti.try_number }} b second" >> "$CASE_MARKS/changing"',
        )
        marked("a") >> marked("c") >> b >> marked("d")
    """
"""Of b another operator, other arguments, no retries, and c before it instead of behind it."""


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed(SETTINGS) as made:
        for dag_id in ("vanishing", "deleted", "unheard"):
            made.write(f"{dag_id}.py", DAG.format(dag_id=dag_id, body=BOTH))
        made.write("changing.py", FIRST_GRAPH)
        made.up()
        made.wait_for_dags("vanishing", "deleted", "unheard", "changing")
        yield made


def scheduler(deployment: Deployment) -> list[int]:
    """The process ids of the schedulers."""
    roles = deployment.ask("status", codes=(0, 1))["roles"]
    return [role["pid"] for role in roles if role["role"] == "schedule" and role["healthy"]]


def called_back(deployment: Deployment, name: str) -> bool:
    return (deployment.folder / "m" / name).exists()


def run_until_retry(deployment: Deployment, dag_id: str) -> str:
    """Start a run and wait until its second task waits for its retry; its id."""
    run_id = deployment.run(dag_id)
    wait_until(
        lambda: deployment.states(dag_id, run_id)["b"] == "up_for_retry", "b waiting for its retry"
    )
    return run_id


def wait_for_version(deployment: Deployment, dag_id: str, number: int) -> None:
    """Wait until a version of a DAG has been stored."""
    wait_until(
        lambda: deployment.ask("dags", "show", "--", dag_id)["version"] == number,
        f"version {number} of {dag_id}",
    )


def goes_on(deployment: Deployment, dag_id: str, pids: list[int]) -> None:
    """The next run starts and succeeds, and the scheduler is the one that was there before."""
    (deployment.folder / "m" / f"{dag_id}.go").touch()
    assert deployment.run_to_end(dag_id)["state"] == "success"
    assert scheduler(deployment) == pids
    assert "Traceback" not in deployment.roles[0].text()


def events(deployment: Deployment) -> list[str]:
    """What the tasks of the DAG that changes have done, in order."""
    return [mark.event for mark in deployment.marks("changing")]


def retry_now(deployment: Deployment, dag_id: str) -> None:
    """Let the time of a retry come."""
    with connect(deployment.embedded.dsn, name="case") as conn:
        conn.execute(
            "update task_hot set due_at = now() where dag_id = %s and state = 'up_for_retry'",
            (dag_id,),
        )
        conn.execute("update wakeup set due_at = now() where task_id = 'b'")


def delete_row(deployment: Deployment, dag_id: str) -> None:
    """Delete the row of the second task of the unfinished run, as somebody might in a shell."""
    with connect(deployment.embedded.dsn, name="case") as conn:
        done = conn.execute("delete from task_hot where dag_id = %s and task_id = 'b'", (dag_id,))
    assert done.rowcount == 1


def test_a_task_that_vanishes_while_it_waits_is_not_dropped(deployment: Deployment) -> None:
    pids = scheduler(deployment)
    run_id = run_until_retry(deployment, "vanishing")
    deployment.write("vanishing.py", DAG.format(dag_id="vanishing", body=ALONE))
    wait_for_version(deployment, "vanishing", 2)
    retry_now(deployment, "vanishing")
    ended = deployment.wait_for_run("vanishing", run_id)
    # Its graph is the old one; the code of a plain folder is the latest, where b is no more.
    assert (ended["state"], ended["version"]) == ("failed", 1)
    assert deployment.states("vanishing", run_id) == {"a": "success", "b": "failed"}
    first, second = deployment.tries("vanishing", run_id, "b")
    assert first["state"] == "failed"
    assert second["reason"].startswith("code_missing")
    wait_until(lambda: called_back(deployment, "vanishing.bad"), "the failure callback")
    assert not called_back(deployment, "vanishing.ok")
    assert [mark.event for mark in deployment.marks("vanishing")] == ["a", "b"]
    goes_on(deployment, "vanishing", pids)
    assert set(deployment.states("vanishing", run_id)) == {"a", "b"}  # its history stays


def test_a_task_that_changes_while_it_waits_keeps_its_place_in_the_graph(
    deployment: Deployment,
) -> None:
    run_id = run_until_retry(deployment, "changing")
    deployment.write("changing.py", SECOND_GRAPH)
    wait_for_version(deployment, "changing", 2)
    retry_now(deployment, "changing")
    ended = deployment.wait_for_run("changing", run_id)
    assert (ended["state"], ended["version"]) == ("success", 1)
    assert deployment.states("changing", run_id) == dict.fromkeys("abc", "success")
    # The graph is the old one, with b's retry and c behind it; the code is what the folder holds.
    assert events(deployment) == ["a first", "b first", "b second", "c second"]
    later = deployment.run_to_end("changing")
    assert (later["state"], later["version"]) == ("success", 2)
    assert events(deployment)[4:] == ["a second", "c second", "b second", "d second"]


def test_a_row_that_is_deleted_while_it_waits_is_made_again(deployment: Deployment) -> None:
    pids = scheduler(deployment)
    run_id = run_until_retry(deployment, "deleted")
    delete_row(deployment, "deleted")
    retry_now(deployment, "deleted")
    assert deployment.wait_for_run("deleted", run_id)["state"] == "success"
    assert deployment.states("deleted", run_id) == {"a": "success", "b": "success"}
    assert [one["state"] for one in deployment.tries("deleted", run_id, "b")] == [
        "failed",
        "success",
    ]
    assert [(m.event, m.try_number) for m in deployment.marks("deleted")] == [
        ("a", 1),
        ("b", 1),
        ("b", 2),
    ]
    goes_on(deployment, "deleted", pids)


def test_a_row_that_is_deleted_with_nothing_to_announce_it_is_made_again(
    deployment: Deployment,
) -> None:
    """Its own retry does not come either."""
    pids = scheduler(deployment)
    run_id = run_until_retry(deployment, "unheard")
    delete_row(deployment, "unheard")
    with connect(deployment.embedded.dsn, name="case") as conn:
        conn.execute("delete from wakeup where task_id = 'b'")
    assert deployment.wait_for_run("unheard", run_id)["state"] == "success"
    assert [one["state"] for one in deployment.tries("unheard", run_id, "b")] == [
        "failed",
        "success",
    ]
    goes_on(deployment, "unheard", pids)
    checked = deployment.flow("db", "check", "--all")
    assert (checked.code, checked.out) == (0, "")
