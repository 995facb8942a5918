"""What many files define is stored together, and none of them suffers for another one."""

from __future__ import annotations

from collections.abc import Collection

import psycopg
import pytest

from dag_folder import Folder
from flow.graph import DagSpec, TaskSpec, encode, spec_hash
from flow.graph.imported import ImportedDag, ImportFailure
from flow.roles.parse import Memory
from flow.roles.parse.storing import Storing
from flow.store.dag_files import ParsedFile
from flow.timetables import parse


def definition(dag_id: str, max_active_runs: int = 16) -> ImportedDag:
    spec = DagSpec(
        dag_id=dag_id,
        tasks=(TaskSpec(task_id="load", operator="EmptyOperator", owner="ann"),),
        timetable=parse(None, timezone="UTC"),
        max_active_runs=max_active_runs,
    )
    body = encode(spec)
    return ImportedDag(spec, body, spec_hash(body), 1, spec.timetable.words())


def storing(folder: Folder, lost: Collection[str] = ()) -> Storing:
    """What stores, where others hold some files by now."""
    return Storing(folder.conn, lambda paths: {*paths} - {*lost}, paused=True)


def add(storing: Storing, path: str, *dag_ids: str, **fields: int) -> None:
    storing.add(ParsedFile(path, "c1"), [definition(dag_id, **fields) for dag_id in dag_ids])


def commits(folder: Folder) -> int:
    """How many transactions have changed a file's row."""
    return int(folder.value("select count(distinct xmin::text) from dag_file"))


def test_files_are_stored_together(folder: Folder) -> None:
    one = storing(folder)
    add(one, "/a.py", "a1", "a2")
    add(one, "/b.py", "b")
    one.add(ParsedFile("/c.py", "c1"), ImportFailure("SyntaxError: bad", 7))
    settled = one.store()
    assert [found.file.path for found in settled.stored] == ["/a.py", "/b.py", "/c.py"]
    assert folder.dags() == {"a1": "a.py", "a2": "a.py", "b": "b.py"}
    assert folder.errors() == {"c.py": "SyntaxError: bad"}
    assert commits(folder) == 1
    assert one.store() == ((), False, ()), "all has been stored"


def test_what_cannot_be_stored_keeps_nothing_of_the_others_back(folder: Folder) -> None:
    one = storing(folder)
    add(one, "/a.py", "a")
    add(one, "/bad.py", "bad", max_active_runs=2**40)
    add(one, "/c.py", "c")
    settled = one.store()
    assert folder.dags() == {"a": "a.py", "c": "c.py"}
    assert folder.errors()["bad.py"].startswith("a DAG of this file cannot be stored: ")
    failed = {one.file.path: isinstance(one.result, ImportFailure) for one in settled.stored}
    assert failed == {"/a.py": False, "/bad.py": True, "/c.py": False}


def test_a_file_that_another_processor_has_by_now_is_left_out(folder: Folder) -> None:
    one = storing(folder, lost={"/b.py", "/bad.py"})
    add(one, "/a.py", "a")
    add(one, "/b.py", "b")
    add(one, "/bad.py", "bad", max_active_runs=2**40)
    settled = one.store()
    assert settled.taken_over == ["/b.py", "/bad.py"]
    assert folder.dags() == {"a": "a.py"}
    assert folder.value("select count(*) from dag_file") == 1


def test_an_id_that_one_file_gives_up_another_one_of_them_takes(folder: Folder) -> None:
    first = storing(folder)
    add(first, "/z.py", "moved", "stays")
    first.store()
    second = storing(folder)
    add(second, "/a.py", "moved")
    add(second, "/z.py", "stays")
    assert second.store().gave_up
    assert folder.dags() == {"moved": "a.py", "stays": "z.py"}
    assert folder.errors() == {}


def test_of_two_files_that_define_one_new_id_one_gets_it(folder: Folder) -> None:
    one = storing(folder)
    add(one, "/b.py", "same")
    add(one, "/a.py", "same", "own")
    one.store()
    assert folder.dags() == {"own": "a.py", "same": "a.py"}
    assert "is defined by /a.py too" in folder.errors()["b.py"]
    # The same for an id that was there before and is nobody's now.
    add(one, "/a.py", "own")
    one.store()
    add(one, "/c.py", "same")
    add(one, "/b.py", "same")
    one.store()
    assert folder.dags() == {"own": "a.py", "same": "b.py"}
    assert "is defined by /b.py too" in folder.errors()["c.py"]


def test_what_was_not_stored_when_the_database_went_away_is_parsed_again(folder: Folder) -> None:
    memory = Memory()
    folder.dag("one.py", "one")
    with folder.parser(memory) as parser:
        parser.run_once()
    folder.dag("one.py", "other")
    folder.conn.execute(
        "create function lose() returns boolean language sql as "
        "'select pg_terminate_backend(pg_backend_pid())'"
    )
    folder.conn.execute("alter table dag_version add constraint lose check (lose()) not valid")
    with pytest.raises(psycopg.OperationalError), folder.parser(memory) as parser:
        parser.run_once()
    folder.conn.execute("alter table dag_version drop constraint lose")
    # Nobody comes back for the lease of the session that was lost.
    folder.conn.execute("update parse_lease set until = clock_timestamp()")
    with folder.parser(memory) as parser:
        parser.run_once()
    assert folder.dags() == {"other": "one.py"}
