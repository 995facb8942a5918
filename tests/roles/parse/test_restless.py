"""Files that change while they are looked at: what is stored is of the state that is there."""

from __future__ import annotations

import os
from pathlib import Path

from dag_folder import Folder

RENEWS = """
import os
VALUE = "before"
with open(__file__) as file:
    text = file.read()
if "bef" "ore" in text:
    with open(__file__ + ".new", "w") as file:
        file.write(text.replace("bef" "ore", "after"))
    os.rename(__file__ + ".new", __file__)
"""
"""Another file takes its place while it is read, once."""


def stored(folder: Folder, dag_id: str) -> str:
    """The DAG as it is stored."""
    text = folder.value(
        "select s.body from dag d join dag_version v on v.dag_id = d.dag_id"
        " and v.number = d.version join spec s on s.hash = v.spec_hash where d.dag_id = %s",
        dag_id,
    )
    return str(text)


def test_a_module_that_changes_while_it_is_imported_is_imported_again(folder: Folder) -> None:
    folder.write("lib/module.py", RENEWS)
    folder.write(".flowignore", "lib/\n")
    path = Path(folder.dag("one.py", "one", extra="from lib.module import VALUE"))
    path.write_text(path.read_text().replace("'load'", "VALUE"))
    folder.parse()
    assert folder.errors() == {}
    assert "after" in stored(folder, "one")


def test_a_file_that_is_renamed_over_another_while_that_is_imported_counts(folder: Folder) -> None:
    text = RENEWS.replace("VALUE =", "task_id =")
    path = Path(folder.dag("one.py", "one", extra=text))
    path.write_text(path.read_text().replace("'load'", "task_id"))
    folder.parse()
    assert folder.errors() == {}
    assert "after" in stored(folder, "one")


def test_a_file_that_was_another_one_for_a_moment_is_imported_again(folder: Folder) -> None:
    path = Path(folder.dag("one.py", "one", task="as_it_is"))
    with folder.parser() as parser:
        parser.sweep()
        text = path.read_text()
        other = text.replace("as_it_is", "another")
        path.write_text(f"{other}\nwith open(__file__, 'w') as file:\n    file.write({text!r})\n")
        parser.run_once()
    assert path.read_text() == text
    assert "as_it_is" in stored(folder, "one")


def test_a_file_that_changes_whenever_it_is_imported_is_stored_with_a_warning(
    folder: Folder,
) -> None:
    count = folder.path / "count"
    marks = f"with open({str(count)!r}, 'a') as marks:\n    marks.write('x')\n"
    folder.dag("one.py", "one", extra=f"{marks}with open(__file__, 'a') as me:\n    me.write('#')")
    folder.dag("two.py", "two", extra="import touched")
    folder.write("touched.py", "import os\nos.utime(__file__)\n")
    with folder.parser() as parser:
        parser.run_once()
        assert folder.errors() == {}
        assert set(folder.dags()) == {"one", "two"}
        assert len(count.read_text()) == 5
        parser.run_once()
        assert len(count.read_text()) == 6, "it is imported once in each sweep"
        folder.dag("one.py", "one", extra=marks)
        parser.run_once()
        imported = len(count.read_text())
        parser.run_once()
        assert len(count.read_text()) == imported
    warned = folder.conn.execute("select path from dag_file where warnings::text like '%whenever%'")
    assert {Path(row[0]).name for row in warned} == {"two.py", "touched.py"}


def test_a_file_may_become_a_folder_or_a_pipe_and_a_file_again(folder: Folder) -> None:
    path = folder.path / "one.py"
    with folder.parser() as parser:
        for cycle in range(2):
            folder.dag("one.py", "one", task=f"in_{cycle}")
            parser.run_once()
            assert folder.dags() == {"one": "one.py"}
            path.unlink()
            folder.dag("one.py/inner.py", "inner")
            parser.run_once()
            assert folder.dags() == {"inner": "inner.py"}
            (path / "inner.py").unlink()
            path.rmdir()
            os.mkfifo(path)
            parser.run_once()
            assert folder.dags() == {}
            path.unlink()
    assert folder.errors() == {}


def test_a_folder_that_is_unmounted_and_mounted_again_loses_nothing(folder: Folder) -> None:
    folder.dag("one.py", "one")
    away = folder.path.with_name("away")
    with folder.parser() as parser:
        parser.run_once()
        folder.path.rename(away)
        parser.run_once()
        assert set(folder.dags()) == {"one"}, "a folder that is not there says nothing"
        folder.path.mkdir()
        parser.run_once()
        assert folder.dags() == {}, "the empty place says that all is gone"
        folder.path.rmdir()
        away.rename(folder.path)
        parser.run_once()
    assert set(folder.dags()) == {"one"}
    assert folder.value("select version from dag") == 1
