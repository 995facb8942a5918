"""T49: ids use a fixed alphabet; what is outside of it is refused in words, what is inside works.

No id can lead out of the log root, ids that differ in case alone share nothing, and the command
takes ids that begin with `-` after `--`. Completion and the terminal UI show them as they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from cases.breaks import Break
from cases.deployment import COMMAND, Deployment, deployed
from in_tmux import terminal
from waiting import wait_until

NEEDS: list[str] = []

BREAKS = [
    # Any text is an id.
    Break(
        "engine/flow/graph/check.py",
        "    if not _ID.match(value):\n",
        "    if not value:\n",
        test="test_every_other_id_is_refused_in_words",
    ),
    # Logs of DAGs whose ids differ in case alone share their files.
    Break(
        "engine/flow/logs/files.py",
        '    return quote(value, safe=":+ ")\n',
        '    return quote(value.lower(), safe=":+ ")\n',
        test="test_a_legal_run_id_works_everywhere",
    ),
    # The terminal UI takes the beginning of an id for the id.
    Break(
        "tui/flow_tui/places.py",
        "    dag_id = find_dag(deployment.conn, words[0]).dag_id\n",
        "    dag_id = find_dag(deployment.conn, words[0][:100]).dag_id\n",
        test="test_the_terminal_ui_opens_a_legal_id_and_shows_it_whole",
    ),
]

REFUSED = {
    "letters": "ñ_ö",
    "signs": "数据",
    "above": "..",
    "blank": "a b",
    "slash": "a/b",
    "quote": 'a"b',
    "percent": "a%2Fb",
    "picture": "🙂",
    "composed": unicodedata.normalize("NFC", "é"),
    "decomposed": unicodedata.normalize("NFD", "é"),
    "too_long": "x" * 251,
}
"""Ids by the name of the file that uses them."""

LEGAL = ("a.b", "A", "a", "-n", "x" * 250)

REFUSED_RUN_IDS = ("../../x", "a/b", "..", "-n", "x;rm", "x\ny", "x" * 251)

DAG = """
    from flow import DAG, get_current_context, task

    for name in {names!r}:
        with DAG(name, schedule=None):

            @task(task_id=name)
            def say():
                context = get_current_context()
                print("this is", context["dag"].dag_id, "run", context["run_id"], "over")

            say()
    """


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed({"worker.slots": 4}, prepared=False) as made:
        made.write("legal.py", DAG.format(names=LEGAL))
        for file, name in REFUSED.items():
            made.write(f"{file}.py", DAG.format(names=[name]))
        made.up()
        made.wait_for_dags(*LEGAL)
        yield made


def logs(deployment: Deployment) -> list[Path]:
    """The logs of tries."""
    return sorted((deployment.home / "logs").rglob("attempt=*.log"))


def has_log_of_its_own(deployment: Deployment, dag_id: str, run_id: str) -> bool:
    """Whether `flow logs` shows what the run's task has printed, and nothing of another."""
    shown = deployment.flow("logs", "--", dag_id, run_id, dag_id)
    said = f"this is {dag_id} run {run_id} over"
    return shown.code == 0 and shown.out.count("this is") == shown.out.count(said) == 1


def test_every_other_id_is_refused_in_words(deployment: Deployment) -> None:
    found = {one["file"]: one["error"] for one in deployment.ask("dags", "errors", "--all")}
    assert {Path(file).stem for file in found} == set(REFUSED)
    for file, error in found.items():
        name = REFUSED[Path(file).stem]
        assert repr(name) in error or f"{name[:40]!r}… has 251 characters" in error
    assert {dag["dag_id"] for dag in deployment.ask("dags", "list", "--all")} == set(LEGAL)


@pytest.mark.parametrize("dag_id", LEGAL, ids=lambda dag_id: dag_id[:10])
def test_a_legal_id_runs_and_logs_into_a_file_of_its_own(
    deployment: Deployment, dag_id: str
) -> None:
    run = deployment.run_to_end(dag_id)
    assert run["state"] == "success"
    assert has_log_of_its_own(deployment, dag_id, run["run_id"])
    assert deployment.states(dag_id, run["run_id"]) == {dag_id: "success"}
    assert deployment.ask("runs", "list", "--", dag_id)[0]["run_id"] == run["run_id"]


@pytest.mark.parametrize("run_id", REFUSED_RUN_IDS, ids=ascii)
def test_a_run_id_that_could_lead_elsewhere_is_refused(deployment: Deployment, run_id: str) -> None:
    before = deployment.ask("runs", "list", "--all", "--", "a")
    done = deployment.flow("run", "a", f"--run-id={run_id}")
    assert done.code == 2, done.err
    assert "run_id" in done.err or "run id" in done.err
    assert "Traceback" not in done.err
    assert deployment.ask("runs", "list", "--all", "--", "a") == before


@pytest.mark.parametrize("run_id", ["x.y", "CASE", "case", "a:b+c"])
def test_a_legal_run_id_works_everywhere(deployment: Deployment, run_id: str) -> None:
    run = deployment.run_to_end("a", f"--run-id={run_id}")
    assert (run["run_id"], run["state"]) == (run_id, "success")
    assert deployment.states("a", run_id) == {"a": "success"}
    assert has_log_of_its_own(deployment, "a", run_id)


def test_completion_offers_them_as_they_are(deployment: Deployment) -> None:
    cache = {"XDG_CACHE_HOME": str(deployment.folder / "m" / "names")}

    def offered(*asked: str) -> list[str]:
        return deployment.flow("--complete", *asked, **cache).out.splitlines()

    wait_until(lambda: sorted(offered("dag", "")) == sorted(LEGAL), "the ids of all DAGs", pause=1)
    for dag_id in LEGAL:
        wait_until(
            lambda dag_id=dag_id: offered("task", "", dag_id) == [dag_id],  # type: ignore[misc]
            f"the task of {dag_id[:10]}",
            pause=1,
        )
    assert offered("dag", "a") == ["a", "a.b"]


def test_the_terminal_ui_shows_them_as_they_are(deployment: Deployment) -> None:
    folder = deployment.folder / "m"
    environment = deployment.environment(XDG_STATE_HOME=str(folder / "state"))
    program = ["env", "-C", str(deployment.project), *COMMAND, "tui"]
    with terminal(program, folder, environment) as screen:
        screen.until("keys")
        screen.press("2")
        for dag_id in LEGAL:  # a long one with its beginning and its end
            screen.until(f" {dag_id} " if len(dag_id) < 50 else "x…x")
        screen.press("q")
        assert screen.until_left() == 0


@pytest.mark.parametrize("dag_id", ["-n", "x" * 250], ids=lambda dag_id: dag_id[:10])
def test_the_terminal_ui_opens_a_legal_id_and_shows_it_whole(
    deployment: Deployment, dag_id: str
) -> None:
    run_id = deployment.run_to_end(dag_id)["run_id"]
    folder = deployment.folder / "m"
    environment = deployment.environment(XDG_STATE_HOME=str(folder))
    opened = ["env", "-C", str(deployment.project), *COMMAND, "tui", "--", dag_id, "latest", dag_id]
    with terminal(opened, folder, environment, size=(600, 24)) as tui:
        tui.until(f"{dag_id} › {run_id} › {dag_id}")
        tui.until(f"this is {dag_id} run {run_id} over")
        tui.press("q")
        assert tui.until_left() == 0


def test_nothing_is_written_outside_of_its_place(deployment: Deployment) -> None:
    """Last in this file: it looks at what all tests before it have made."""
    shape = re.compile(r"dag_id=[^/]+/run_id=[^/]+/task_id=[^/]+/attempt=1\.log")
    root = deployment.home / "logs"
    assert logs(deployment)
    for log in logs(deployment):
        assert shape.fullmatch(str(log.relative_to(root)))
    assert list(deployment.folder.rglob("x")) == []
    assert sorted(path.name for path in deployment.folder.iterdir()) == ["0-up.log", "h", "m", "p"]
