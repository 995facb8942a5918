"""T48: a DAG belongs to the file that had it first, for as long as that file has it.

Every other file that defines the id gets an error that names both paths, while the rest of that
file goes on working. Who owns what never flips: not with several parsers, files that keep changing,
or copies. When the owner gives the id up, another file takes over within one cycle, by itself, and
the DAG keeps its history. One file that makes an id twice is an error too. A DAG is deleted only
when no file defines it, and who defines it then has a new one.

`flow check` finds such files before they are installed.

The tests stand in order: each leaves the files as the next one finds them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, Role, deployed
from waiting import wait_until

NEEDS: list[str] = []

BREAKS = [
    # Whoever was parsed last has it.
    Break(
        "engine/flow/store/dags.py",
        "            elif row.columns.present and row.columns.file != file.file.path:\n",
        "            elif row.columns.present and not row.columns.file:\n",
        test="test_the_first_owner_keeps_it_in_every_cycle",
    ),
    # A file that is gone keeps its ids.
    Break(
        "engine/flow/store/dags.py",
        "    hidden = dag_rows.hide(conn, (row.dag_id for row in rows.values()))\n",
        "    hidden: set[str] = set()\n",
        test="test_when_the_owner_goes_another_takes_over_in_one_cycle",
    ),
    # A free id waits for its file to change.
    Break(
        "engine/flow/store/dag_files.py",
        "  select from dag d where d.dag_id = c.dag_id and d.present and d.file <> f.path))\n",
        "  select from dag d where d.dag_id = c.dag_id))\n",
        test="test_when_the_owner_goes_another_takes_over_in_one_cycle",
    ),
    # Within a file the first one silently counts.
    Break(
        "engine/flow/authoring/collect.py",
        "        if before.dag is not dag:\n",
        "        if before.dag.dag_id != dag.dag_id:\n",
        test="test_one_file_may_not_make_an_id_twice",
    ),
    # The error names one of two.
    Break(
        "engine/flow/store/dags.py",
        'f"DAG {first!r} of {path} is defined by {owners[first]} too, which',
        'f"DAG {first!r} is defined by {owners[first]} too, which',
        test="test_the_others_have_an_error_that_names_both",
    ),
    # A check looks at each file alone.
    Break(
        "engine/flow/ops/checking/across.py",
        "        for file, line in found if len(found) > 1 else ():\n",
        "        for file, line in found if len(found) > len(places) else ():\n",
        test="test_a_check_finds_both_before_they_are_installed",
    ),
    # What a file defines is deleted, and comes back.
    Break(
        "engine/flow/ops/dag_deletion.py",
        "    elif dag.present:\n",
        "    elif dag.present and dag.paused and not dag.version:\n",
        test="test_a_deleted_dag_is_a_new_one_when_it_comes_back",
    ),
    # Its history waits for it.
    Break(
        "engine/flow/store/deleting.py",
        '        *("task_history", "try_history", "xcom_history", "event_history"),\n',
        '        *("try_history", "xcom_history", "event_history"),\n',
        test="test_a_deleted_dag_is_a_new_one_when_it_comes_back",
    ),
]

CYCLES = 20
RUNS = 10

DAG = """
    # in cycle {cycle}
    from flow import DAG, get_current_context, task
    from marks import mark

    def say():
        context = get_current_context()
        mark(f"{{context['run_id']}} {name} {{context['ti'].task_id}}")

    for dag_id in ("my_dag", "only_{name}"):
        with DAG(dag_id, schedule=None):
            for task_id in ("same", "{name}_a", "{name}_b"):
                task(task_id=task_id)(say)()
    """
"""Each file has a DAG of its own, by which it is seen that the file has been parsed."""

FIRST, SECOND, TWIN, OTHER_TWIN = "z_first", "a_second", "twin_one", "twin_two"

TWIN_DAG = DAG.replace("my_dag", "of_twins")

TWICE = """
    from flow import DAG
    from flow.operators.empty import EmptyOperator

    for number in range(2):
        with DAG("of_one_file", schedule=None):
            EmptyOperator(task_id=f"a_{number}")
    """

IMPORTER = "from z_first import *\n"
"""Has every DAG of another file by name, and defines none."""


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed({"parse.interval": 0.2, "worker.slots": 4}) as made:
        assert made.flow("db", "migrate").code == 0
        yield made


def path(deployment: Deployment, name: str) -> str:
    """The path of a DAG file."""
    return str(deployment.dags / f"{name}.py")


def write(deployment: Deployment, name: str, cycle: int) -> None:
    """Write a file as it is in a cycle."""
    template = TWIN_DAG if name.startswith("twin") else DAG
    deployment.write(f"{name}.py", template.format(name=name, cycle=cycle))


def errors(deployment: Deployment) -> dict[str, str]:
    """The import errors by name of file."""
    found = deployment.ask("dags", "errors", "--all")
    return {Path(one["file"]).stem: one["error"] for one in found}


def owner(deployment: Deployment, dag_id: str) -> str:
    """The name of the file that has a DAG."""
    return Path(deployment.ask("dags", "show", dag_id)["file"]).stem


def run_to_end(deployment: Deployment, dag_id: str, run_id: str) -> set[str]:
    """Run it; what its tasks have said, as FILE TASK."""
    ended = deployment.run_to_end(dag_id, "--run-id", run_id)
    assert ended["state"] == "success"
    return said(deployment, run_id)


def said(deployment: Deployment, run_id: str) -> set[str]:
    """What the tasks of a run have said."""
    events = (mark.event.partition(" ") for mark in deployment.marks())
    return {text for of_run, _, text in events if of_run == run_id}


def tasks_of(name: str) -> set[str]:
    """What the tasks of a file's DAG say."""
    return {f"{name} same", f"{name} {name}_a", f"{name} {name}_b"}


def versions(parsers: list[Role], dag_id: str) -> list[int]:
    """The versions that parsers have told of, whichever of them it was."""
    told = re.compile(rf"DAG {dag_id}, version (\d+)$", re.MULTILINE)
    return sorted(int(number) for parser in parsers for number in told.findall(parser.text()))


def wait_for_version(parsers: list[Role], dag_id: str, number: int) -> None:
    """Wait until one of the parsers has stored this version."""
    wait_until(lambda: number in versions(parsers, dag_id), f"version {number} of {dag_id}")


def wait_for_tasks(deployment: Deployment, run_id: str, tasks: set[str]) -> None:
    """Wait until a run has done just this."""
    wait_until(lambda: said(deployment, run_id) == tasks, f"all tasks of {run_id}")


@pytest.fixture(scope="module")
def parsed(deployment: Deployment) -> list[Role]:
    """20 cycles of two parsers in which every file changes, with a run in every second one."""
    write(deployment, FIRST, 1)
    deployment.parse()
    parsers = [deployment.start("parse"), deployment.start("parse")]
    deployment.start("schedule")
    deployment.start("work", "--slots", "4")
    # The first version of `first` is there before these parsers begin.
    for cycle in range(2, CYCLES + 2):
        for name in (SECOND, FIRST, TWIN, OTHER_TWIN):
            write(deployment, name, cycle)
        seen = {SECOND: cycle - 1, FIRST: cycle, TWIN: cycle - 1, OTHER_TWIN: cycle - 1}
        for name, number in seen.items():
            wait_for_version(parsers, f"only_{name}", number)
        if cycle % 2 == 0:
            deployment.run("my_dag", "--run-id", f"in_cycle_{cycle}")
    for parser in parsers:
        assert parser.end() == 0
    return parsers


@pytest.fixture(scope="module")
def twin(deployment: Deployment, parsed: list[Role]) -> str:
    """Which of two files has the id that both had from their first moment on."""
    assert parsed
    return owner(deployment, "of_twins")


def test_the_first_owner_keeps_it_in_every_cycle(
    deployment: Deployment, parsed: list[Role], twin: str
) -> None:
    shown = deployment.ask("dags", "show", "my_dag")
    assert (shown["file"], shown["version"]) == (path(deployment, FIRST), CYCLES + 1)
    told = deployment.ask("dags", "versions", "my_dag")
    assert [one["number"] for one in told] == list(range(CYCLES + 1, 0, -1))
    # A flip would have made another version.
    assert versions(parsed, "my_dag") == list(range(2, CYCLES + 2))
    assert versions(parsed, "of_twins") == list(range(1, CYCLES + 1))
    assert twin in (TWIN, OTHER_TWIN)


@pytest.mark.usefixtures("parsed")
def test_all_runs_did_the_same(deployment: Deployment) -> None:
    run_ids = [f"in_cycle_{cycle}" for cycle in range(2, CYCLES + 2, 2)]
    assert len(run_ids) == RUNS
    for run_id in run_ids:
        wait_for_tasks(deployment, run_id, tasks_of(FIRST))
    for run_id in (run_ids[0], run_ids[-1]):
        assert deployment.wait_for_run("my_dag", run_id)["state"] == "success"
        assert set(deployment.states("my_dag", run_id)) == {"same", f"{FIRST}_a", f"{FIRST}_b"}


@pytest.mark.usefixtures("parsed")
def test_the_others_have_an_error_that_names_both(deployment: Deployment, twin: str) -> None:
    other = OTHER_TWIN if twin == TWIN else TWIN
    found = errors(deployment)
    assert set(found) == {SECOND, other}
    for name, first in ((SECOND, FIRST), (other, twin)):
        assert path(deployment, name) in found[name]
        assert path(deployment, first) in found[name]


@pytest.mark.usefixtures("parsed")
def test_a_check_finds_both_before_they_are_installed(deployment: Deployment) -> None:
    told = deployment.ask("check", "dags", codes=(1,))["findings"]
    found = {(one["rule"], one["dag_id"], Path(one["file"]).stem) for one in told}
    places = ((FIRST, "my_dag"), (SECOND, "my_dag"), (TWIN, "of_twins"), (OTHER_TWIN, "of_twins"))
    assert found == {("duplicate-dag-id", dag_id, name) for name, dag_id in places}


@pytest.mark.usefixtures("parsed")
def test_the_rest_of_a_refused_file_works(deployment: Deployment) -> None:
    shown = deployment.ask("dags", "show", f"only_{SECOND}")
    assert (shown["version"], shown["file"]) == (CYCLES, path(deployment, SECOND))


@pytest.mark.usefixtures("parsed")
def test_a_copy_is_refused_and_an_import_is_none(deployment: Deployment) -> None:
    before = set(errors(deployment))
    copy = deployment.dags / "0_copy.py"
    shutil.copy(path(deployment, FIRST), copy)
    deployment.write("0_importer.py", IMPORTER)
    deployment.parse()
    assert set(errors(deployment)) == before | {"0_copy"}
    assert owner(deployment, "my_dag") == FIRST
    copy.unlink()
    deployment.parse()
    assert set(errors(deployment)) == before
    (deployment.dags / "0_importer.py").unlink()


@pytest.mark.usefixtures("parsed")
def test_one_file_may_not_make_an_id_twice(deployment: Deployment) -> None:
    twice = deployment.write("twice.py", TWICE)
    deployment.parse()
    found = errors(deployment)
    assert "twice" in found
    assert "'of_one_file' was made before" in found["twice"]
    assert str(twice) in found["twice"]
    assert deployment.flow("dags", "show", "of_one_file").code == 3
    twice.unlink()


@pytest.mark.usefixtures("parsed")
def test_when_the_owner_goes_another_takes_over_in_one_cycle(deployment: Deployment) -> None:
    parser = deployment.start("parse")
    write(deployment, SECOND, 0)
    wait_for_version([parser], f"only_{SECOND}", CYCLES + 1)  # it knows all files now
    (deployment.dags / f"{FIRST}.py").unlink()
    wait_for_version([parser], "my_dag", CYCLES + 2)
    assert parser.end() == 0
    assert owner(deployment, "my_dag") == SECOND
    assert SECOND not in errors(deployment)
    assert run_to_end(deployment, "my_dag", "of_second") == tasks_of(SECOND)
    runs: list[dict[str, Any]] = deployment.ask("runs", "list", "my_dag", "--all")
    assert len(runs) == RUNS + 1


@pytest.mark.usefixtures("parsed")
def test_who_comes_back_has_lost_it(deployment: Deployment) -> None:
    write(deployment, FIRST, 1)
    deployment.parse()
    assert owner(deployment, "my_dag") == SECOND
    assert set(errors(deployment)) >= {FIRST}
    (deployment.dags / f"{FIRST}.py").unlink()


@pytest.mark.usefixtures("parsed")
def test_an_id_that_is_given_up_is_taken_too(deployment: Deployment, twin: str) -> None:
    """The owner stays and defines something else now."""
    other = OTHER_TWIN if twin == TWIN else TWIN
    text = (deployment.dags / f"{twin}.py").read_text(encoding="utf-8")
    deployment.write(f"{twin}.py", text.replace("of_twins", "of_nobody_else"))
    deployment.parse()
    assert owner(deployment, "of_twins") == other
    assert errors(deployment) == {}


@pytest.mark.usefixtures("parsed")
def test_a_renamed_file_keeps_its_dags(deployment: Deployment) -> None:
    assert deployment.flow("dags", "pause", "my_dag").code == 0
    before = deployment.ask("dags", "show", "my_dag")
    (deployment.dags / f"{SECOND}.py").rename(deployment.dags / "moved.py")
    deployment.parse()
    after = deployment.ask("dags", "show", "my_dag")
    assert after["file"] == path(deployment, "moved")
    assert after["paused"]
    assert after["version"] - before["version"] in (0, 1)
    assert errors(deployment) == {}
    checked = deployment.flow("db", "check", "--all")
    assert (checked.code, checked.out) == (0, "")


@pytest.mark.usefixtures("parsed")
def test_a_deleted_dag_is_a_new_one_when_it_comes_back(deployment: Deployment) -> None:
    delete = ("dags", "delete", "my_dag", "--yes")
    runs = [one["run_id"] for one in deployment.ask("runs", "list", "my_dag", "--all")]
    for run_id in runs:
        assert deployment.wait_for_run("my_dag", run_id)["state"] == "success"
    refused = deployment.flow(*delete)
    assert refused.code == 4
    assert path(deployment, owner(deployment, "my_dag")) in refused.err
    assert len(deployment.ask("runs", "list", "my_dag", "--all")) == len(runs) >= RUNS
    for name in (FIRST, SECOND, "moved"):
        (deployment.dags / f"{name}.py").unlink(missing_ok=True)
    deployment.parse()
    deleted = deployment.ask(*delete)
    assert (deleted["runs"], deleted["begins_anew"]) == ({"success": len(runs)}, False)
    assert deployment.flow("dags", "show", "my_dag").code == 3
    left = "select count(*) from task_history where dag_id = 'my_dag'"
    assert deployment.flow("db", "shell", "-c", f"copy ({left}) to stdout").out == "0\n"
    write(deployment, SECOND, 0)
    deployment.parse()
    shown = deployment.ask("dags", "show", "my_dag")
    assert (shown["file"], shown["version"]) == (path(deployment, SECOND), 1)
    assert not shown["paused"]
    assert deployment.ask("runs", "list", "my_dag") == []
    assert run_to_end(deployment, "my_dag", "anew") == tasks_of(SECOND)
    checked = deployment.flow("db", "check", "--all")
    assert (checked.code, checked.out) == (0, "")
