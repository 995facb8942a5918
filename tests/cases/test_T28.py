"""T28: what a task waits for in the previous run is one rule, and it is told.

The interval runs of a DAG form its chain, whoever made them; an ad hoc run is outside of it. The
first run goes at once, success and skipped let the next one go, a failure keeps it waiting until it
is repaired. A skip overtakes the previous run, unless the task says that it is to wait before that
too. Nothing here waits longer than for what it has to wait for.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.steady import check_log
from waiting import wait_until

NEEDS: list[str] = []

BREAKS = [
    # Nobody says what is waited for.
    Break(
        "engine/flow/decide/explain.py",
        "    if task_id in decision.closed:\n",
        "    if False:\n",
        test="test_a_failure_blocks_and_says_so_until_it_is_repaired",
    ),
    # A skipped previous instance blocks.
    Break(
        "engine/flow/decide/past.py",
        "_SATISFIED = frozenset({TaskState.SUCCESS, TaskState.SKIPPED})\n",
        "_SATISFIED = frozenset({TaskState.SUCCESS})\n",
        test="test_a_skip_overtakes_or_waits_as_the_task_says",
    ),
    # A failed one does not.
    Break(
        "engine/flow/decide/past.py",
        "    open_ = [id for id in ids if past.states[id] not in _SATISFIED]\n",
        "    open_ = [id for id in ids if past.states[id] not in FINISHED]\n",
        test="test_a_failure_blocks_and_says_so_until_it_is_repaired",
    ),
    # A skip does not wait for the past.
    Break(
        "engine/flow/decide/run.py",
        "        if spec.wait_for_past_depends_before_skipping and self._past_holds(spec):\n",
        "        if spec.wait_for_past_depends_before_skipping and self.run.fresh:\n",
        test="test_a_skip_overtakes_or_waits_as_the_task_says",
    ),
    # Ad hoc runs are in the chain.
    Break(
        "engine/flow/store/past.py",
        " and (k.whole or r.interval_run),\n",
        ",\n",
        test="test_a_failure_blocks_and_says_so_until_it_is_repaired",
    ),
    # Nobody is woken when a task of the previous run has ended.
    Break(
        "engine/flow/roles/schedule/decided.py",
        "        if not self.chained:\n            return []\n",
        "        if not self.chained or self.dag_id:\n            return []\n",
        test="test_a_skip_overtakes_or_waits_as_the_task_says",
    ),
    # What is downstream does not count.
    Break(
        "engine/flow/decide/past.py",
        "    if task.wait_for_downstream:\n",
        "    if False:\n",
        test="test_what_is_downstream_of_the_previous_instance_is_waited_for",
    ),
]

DAG = """
    import os
    from flow import DAG, get_current_context, task
    from flow.exceptions import FailException, SkipException
    from marks import mark, stay

    def conf():
        return get_current_context()["dag_run"].conf

    def is_there(name):
        return os.path.exists(os.path.join(os.environ["CASE_MARKS"], name))

    def chain(dag_id, **past):
        settings = dict(schedule="@hourly", start_date="2026-01-01", end_date="2026-01-02")
        with DAG(dag_id, catchup="none", default_args={"retries": 0}, **settings):

            @task
            def t1():
                name = dag_id + "." + get_current_context()["run_id"]
                mark("t1", name)
                if conf().get("skip"):
                    raise SkipException("as the conf says")

            @task(**past)
            def t2():
                name = dag_id + "." + get_current_context()["run_id"]
                stay(600, name, until=lambda: is_there("go") or not conf().get("stay"))
                if conf().get("fail"):
                    raise FailException("as the conf says")

            t1() >> t2()

    chain("overtaking", depends_on_past=True)
    chain("waiting", depends_on_past=True, wait_for_past_depends_before_skipping=True)

    settings = dict(schedule="@hourly", start_date="2026-01-01", end_date="2026-01-02")
    with DAG("downstream", catchup="none", default_args={"retries": 0}, **settings):

        @task(wait_for_downstream=True)
        def first():
            mark("first", "downstream." + get_current_context()["run_id"])

        @task
        def second():
            stay(600, "second", until=lambda: is_there("downstream"))
            raise SkipException("downstream skips")

        first() >> second()
    """


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed({"worker.slots": 8, "scheduler.sweep_interval": 1}) as made:
        made.write("chains.py", DAG)
        made.up("--schedulers", "2")
        made.wait_for_dags("overtaking", "waiting", "downstream")
        yield made


def start(deployment: Deployment, dag_id: str, hour: int, conf: str = "{}") -> str:
    """Start the run of an hour; its id."""
    return deployment.run(dag_id, "--date", f"2026-01-01T{hour:02}:00Z", "--conf", conf)


def events(deployment: Deployment, dag_id: str, run_id: str) -> list[str]:
    """What the tasks of a run have marked, without signs of life."""
    marks = deployment.marks(f"{dag_id}.{run_id}")
    return [mark.event for mark in marks if mark.event != "alive"]


def wait_for(deployment: Deployment, dag_id: str, run_id: str, event: str) -> None:
    wait_until(lambda: event in events(deployment, dag_id, run_id), f"{event} of {run_id}")


def wait_for_state(deployment: Deployment, dag_id: str, run_id: str, state: str) -> None:
    """Wait until t1 of a run is in a state."""
    wait_until(
        lambda: deployment.states(dag_id, run_id)["t1"] == state, f"t1 of {run_id} to be {state}"
    )


def why(deployment: Deployment, dag_id: str, run_id: str) -> list[tuple[str, str]]:
    """Why t2 of a run waits."""
    answer = deployment.ask("why", "--", dag_id, run_id, "t2")
    assert answer["verdict"] == "waits"
    return [(reason["code"], reason["text"]) for reason in answer["reasons"]]


def ended_at(deployment: Deployment, dag_id: str, run_id: str, task_id: str) -> datetime:
    tasks = deployment.ask("tasks", "list", "--", dag_id, run_id)
    [text] = [task["ended_at"] for task in tasks if task["task_id"] == task_id]
    return datetime.fromisoformat(text)


def at(deployment: Deployment, dag_id: str, run_id: str, event: str) -> float:
    return next(m.at for m in deployment.marks(f"{dag_id}.{run_id}") if m.event == event)


@pytest.mark.parametrize("dag_id", ["overtaking", "waiting"])
def test_a_skip_overtakes_or_waits_as_the_task_says(deployment: Deployment, dag_id: str) -> None:
    (deployment.folder / "m" / "go").unlink(missing_ok=True)
    one = start(deployment, dag_id, 1, '{"stay": true}')
    wait_for(deployment, dag_id, one, "start")  # there is no earlier run
    two = start(deployment, dag_id, 2, '{"skip": true}')
    three = start(deployment, dag_id, 3)
    for run_id in (two, three):
        wait_for(deployment, dag_id, run_id, "t1")
    if dag_id == "overtaking":
        assert deployment.wait_for_run(dag_id, two)["state"] == "success"
        assert deployment.wait_for_run(dag_id, three)["state"] == "success"
        assert deployment.states(dag_id, one)["t2"] == "running"
    else:
        wait_for_state(deployment, dag_id, two, "skipped")
        assert deployment.states(dag_id, two)["t2"] == "none"
        assert deployment.states(dag_id, three)["t2"] == "none"
        assert why(deployment, dag_id, two) == [
            ("past_unfinished", f"the previous run has not got there: t2 of {one} is running")
        ]
    (deployment.folder / "m" / "go").touch()
    for run_id in (one, two, three):
        assert deployment.wait_for_run(dag_id, run_id)["state"] == "success"
    assert deployment.states(dag_id, two) == {"t1": "skipped", "t2": "skipped"}
    if dag_id == "waiting":
        order = [ended_at(deployment, dag_id, run_id, "t2") for run_id in (one, two, three)]
        assert order == sorted(order)
        assert at(deployment, dag_id, three, "start") > at(deployment, dag_id, one, "end")
    check_log(deployment.roles[0])  # nobody had to be woken by the sweep


def test_a_failure_blocks_and_says_so_until_it_is_repaired(deployment: Deployment) -> None:
    (deployment.folder / "m" / "go").touch()
    one = start(deployment, "waiting", 11, '{"fail": true}')
    two = start(deployment, "waiting", 12, '{"skip": true}')
    three = start(deployment, "waiting", 13)
    assert deployment.wait_for_run("waiting", one)["state"] == "failed"
    ad_hoc = deployment.run("waiting")  # waits for nobody, and nobody waits for it
    assert deployment.wait_for_run("waiting", ad_hoc)["state"] == "success"
    for run_id, state in ((two, "skipped"), (three, "success")):
        wait_for_state(deployment, "waiting", run_id, state)
        assert deployment.states("waiting", run_id)["t2"] == "none"
        assert deployment.ask("runs", "show", "--", "waiting", run_id)["state"] == "running"
    mark = ("tasks", "mark", "waiting", one, "t2", "success")
    assert why(deployment, "waiting", two) == [
        (
            "past_failed",
            f"the previous run failed: t2 of {one} is failed; it goes on after "
            f"flow clear waiting {one} --only-failed, or flow {' '.join(mark)}",
        )
    ]
    assert why(deployment, "waiting", three) == [
        ("past_unfinished", f"the previous run has not got there: t2 of {two} is none")
    ]
    done = deployment.flow(*mark, "--yes")
    assert done.code == 0, done.err
    for run_id in (two, three):
        assert deployment.wait_for_run("waiting", run_id)["state"] == "success"
    assert "start" not in events(deployment, "waiting", two)
    assert "start" in events(deployment, "waiting", three)


def test_what_is_downstream_of_the_previous_instance_is_waited_for(deployment: Deployment) -> None:
    one = start(deployment, "downstream", 1)
    two = start(deployment, "downstream", 2)
    wait_until(lambda: deployment.marks("second"), "the second task of the first run")
    assert deployment.states("downstream", two)["first"] == "none"
    (deployment.folder / "m" / "downstream").touch()
    for run_id in (one, two):
        assert deployment.wait_for_run("downstream", run_id)["state"] == "success"
    over = next(mark.at for mark in deployment.marks("second") if mark.event == "end")
    assert at(deployment, "downstream", two, "first") > over


def test_nothing_was_forgotten(deployment: Deployment) -> None:
    """Last in this file: it looks at what all runs of it have left."""
    checked = deployment.flow("db", "check", "--all")
    assert (checked.code, checked.out) == (0, "")
