"""Which DAGs a file makes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flow.authoring.collect import AuthoringWarning, collecting
from flow.errors import InvalidDag
from support.dag_files import load, load_text


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A DAG folder on sys.path; what is imported from it is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def found(dags) -> list[tuple[str, int]]:
    return [(one.dag.dag_id, one.line) for one in dags]


def test_every_way_to_make_a_dag_in_order(folder: Path) -> None:
    dags = load_text(
        folder,
        """
        from flow import DAG, dag
        one = DAG("one")
        with DAG("two"):
            pass
        @dag
        def three(): ...
        three()
        def make(name):
            return DAG(name)
        make("four")
        for name in ("five", "six"):
            globals()[name] = make(name)
        """,
    )
    assert found(dags) == [
        ("one", 2),
        ("two", 3),
        ("three", 7),
        ("four", 10),
        ("five", 12),
        ("six", 12),
    ]


def test_a_factory_in_another_module_makes_dags_of_the_caller(folder: Path) -> None:
    (folder / "factories.py").write_text(
        "from flow import DAG, dag\ndef make(name):\n    return DAG(name)\n"
        "@dag\ndef decorated(): ...\n"
    )
    dags = load_text(folder, "import factories\n\nfactories.make('a')\nfactories.decorated()\n")
    assert found(dags) == [("a", 3), ("decorated", 4)]
    assert next(iter(dags)).dag.fileloc == str(folder / "one.py")


def test_a_dag_of_an_imported_dag_file_belongs_to_that_file(folder: Path) -> None:
    (folder / "b.py").write_text("from flow import DAG\nb = DAG('b')\n")
    dags = load_text(folder, "from flow import DAG\nfrom b import b\na = DAG('a')\n", "a.py")
    assert found(dags) == [("a", 3)]
    assert found(load(folder / "b.py")) == [("b", 2)]


def test_a_dag_imported_from_outside_of_the_folder_is_taken_by_its_name(folder: Path) -> None:
    inside = folder / "dags"
    inside.mkdir()
    (folder / "library.py").write_text("from flow import DAG\nshared = DAG('shared')\n")
    dags = load_text(inside, "from library import shared\n")
    assert found(dags) == [("shared", 1)]


def test_auto_register_false_needs_a_name_at_top_level(folder: Path) -> None:
    dags = load_text(
        folder,
        """
        from flow import DAG
        with DAG("kept", auto_register=False) as kept:
            pass
        with DAG("dropped", auto_register=False):
            pass
        """,
    )
    assert found(dags) == [("kept", 2)]


def test_one_id_twice_names_both_lines(folder: Path) -> None:
    with pytest.raises(InvalidDag) as caught:
        load_text(folder, "from flow import DAG\nDAG('a')\n\nDAG('a')\n")
    assert caught.value.message == (f"{folder}/one.py:4: DAG 'a' was made before, in line 2")


def test_a_dag_function_that_is_never_called_is_a_warning(folder: Path) -> None:
    with pytest.warns(AuthoringWarning, match="the @dag function etl is never called") as told:
        load_text(folder, "from flow import dag\n@dag\ndef etl(): ...\n")
    assert [(one.filename, one.lineno) for one in told] == [(f"{folder}/one.py", 2)]


def test_a_task_that_gets_its_dag_later_is_no_mistake(folder: Path) -> None:
    dags = load_text(
        folder,
        """
        from flow import DAG
        from flow.operators.empty import EmptyOperator
        a, b = EmptyOperator(task_id="a"), EmptyOperator(task_id="b")
        dag = DAG("d")
        dag.add_task(a)
        a >> b
        c = EmptyOperator(task_id="c")
        c.dag = dag
        """,
    )
    assert next(iter(dags)).dag.task_ids == ["a", "b", "c"]


def test_a_file_that_fails_leaves_nothing_open(folder: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        load_text(folder, "from flow import DAG\nwith DAG('d'):\n    1 / 0\n")
    assert found(load_text(folder, "from flow import DAG\nDAG('d')\n")) == [("d", 2)]


def test_the_default_time_zone_is_that_of_the_collection(folder: Path) -> None:
    path = folder / "one.py"
    path.write_text(
        "from datetime import datetime\nfrom flow import DAG\n"
        "DAG('a', start_date=datetime(2024, 7, 1), schedule='@daily')\n"
    )
    dag = load(path, default_timezone="Europe/Zurich").get("a")
    assert dag is not None
    assert dag.timezone.key == "Europe/Zurich"
    assert str(dag.start_date) == "2024-07-01 00:00:00+02:00"
    assert dag.timetable.timezone == "Europe/Zurich"


def test_tasks_outside_of_a_collection_need_no_dag_to_be_made() -> None:
    from flow.operators.empty import EmptyOperator

    task = EmptyOperator(task_id="alone")
    assert task.upstream_task_ids == set()
    with pytest.raises(InvalidDag, match=r"test_collect.py:\d+: task 'alone' does not belong"):
        _ = task.dag


def test_a_collection_without_dags(tmp_path: Path) -> None:
    with collecting(tmp_path / "none.py") as dags:
        pass
    assert (len(dags), dags.get("x")) == (0, None)
