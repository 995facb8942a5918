"""What counts as a DAG file: ignore files, archives, links."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from dag_folder import Folder

DAG = """
from flow import DAG
from flow.operators.empty import EmptyOperator
{extra}
with DAG({dag_id!r}):
    EmptyOperator(task_id="load")
"""


def pack(path: Path, modules: Mapping[str, str]) -> None:
    """Write an archive, as a whole."""
    new = path.with_suffix(".new")
    with zipfile.ZipFile(new, "w") as archive:
        for name, text in modules.items():
            archive.writestr(name, text)
    new.rename(path)


def test_an_ignore_file_rules_its_folder_and_what_is_below(folder: Folder) -> None:
    for name in ("keep.py", "skip_one.py", "lib/a.py", "team/b.py", "team/skip_two.py"):
        folder.dag(name, Path(name).stem)
    folder.dag("team/inner/skip_not.py", "skip_not")
    folder.write(".flowignore", "# nothing of these\nskip_*.py\n/lib/\n")
    folder.write("team/inner/.flowignore", "!skip_not.py\n")
    folder.parse()
    assert sorted(folder.dags()) == ["b", "keep", "skip_not"]


def test_airflows_ignore_file_is_read_too_and_flows_has_the_last_word(folder: Folder) -> None:
    folder.dag("one.py", "one")
    folder.dag("two.py", "two")
    folder.write(".airflowignore", "*.py\n")
    folder.write(".flowignore", "!two.py\n")
    folder.parse()
    assert sorted(folder.dags()) == ["two"]


def test_airflows_ignore_file_may_hold_regular_expressions(folder: Folder) -> None:
    folder.dag("one_1.py", "one")
    folder.dag("two.py", "two")
    folder.dag("deep/three_3.py", "three")
    folder.write(".airflowignore", "_\\d+\\.py$  # numbered\n")
    folder.parse(regexp_ignore=True)
    assert sorted(folder.dags()) == ["two"]


def test_a_file_that_is_ignored_from_now_on_is_gone(folder: Folder) -> None:
    folder.dag("one.py", "one")
    folder.dag("two.py", "two")
    with folder.parser() as parser:
        parser.run_once()
        folder.write(".flowignore", "two.py\n")
        parser.run_once()
        assert sorted(folder.dags()) == ["one"]
        (folder.path / ".flowignore").unlink()
        parser.run_once()
        assert sorted(folder.dags()) == ["one", "two"]
    assert folder.value("select version from dag where dag_id = 'two'") == 1


def test_an_ignore_file_that_cannot_be_read_ignores_nothing(folder: Folder) -> None:
    folder.dag("one.py", "one")
    folder.write(".airflowignore", "(\n")
    folder.parse(regexp_ignore=True)
    assert sorted(folder.dags()) == ["one"]


def test_an_archive_defines_the_dags_of_the_modules_at_its_top(folder: Folder) -> None:
    path = folder.path / "packed.zip"
    one = DAG.format(extra="from inner.deep import VALUE", dag_id="one")
    two = DAG.format(extra="import helper", dag_id="two")
    modules = {
        "one.py": one,
        "two.py": two,
        "helper.py": "X = 1",
        "inner/__init__.py": "",
        "inner/deep.py": "VALUE = 1",
        "inner/unseen.py": DAG.format(extra="", dag_id="never"),
    }
    pack(path, modules)
    folder.parse()
    assert folder.errors() == {}
    assert folder.dags() == {"one": "packed.zip", "two": "packed.zip"}
    pack(path, {**modules, "two.py": two.replace("load", "store")})
    folder.parse()
    assert folder.value("select version from dag where dag_id = 'two'") == 2


def test_an_error_in_an_archive_names_its_module(folder: Folder) -> None:
    path = folder.path / "packed.zip"
    pack(path, {"one.py": "\n\n1 / 0\n"})
    folder.parse()
    assert f"({path}/one.py:3)" in folder.errors()["packed.zip"]


def test_a_broken_archive_is_an_error_and_one_of_data_is_nothing(folder: Folder) -> None:
    (folder.path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    with zipfile.ZipFile(folder.path / "data.zip", "w") as archive:
        archive.writestr("rows.csv", "1,2\n")
    folder.parse()
    assert set(folder.errors()) == {"broken.zip"}
    assert "BadZipFile" in folder.errors()["broken.zip"]


def test_links_count_once_and_loops_end(folder: Folder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder.dag("one.py", "one")
    (folder.path / "a_link.py").symlink_to("one.py")
    (folder.path / "loop").symlink_to(folder.path)
    (folder.path / "me.py").symlink_to("me.py")
    (outside / "back").symlink_to(folder.path)
    (folder.path / "elsewhere").symlink_to(outside)
    Path(folder.dag("two.py", "two")).rename(outside / "two.py")
    (folder.path / "to_two.py").symlink_to(outside / "two.py")
    folder.parse()
    assert folder.errors() == {}
    assert folder.dags() == {"one": "one.py", "two": "two.py"}
    owner = folder.value("select file from dag where dag_id = 'two'")
    assert owner == str(folder.path / "elsewhere" / "two.py")


def test_a_link_that_is_turned_to_another_file_is_a_change(folder: Folder, tmp_path: Path) -> None:
    releases = tmp_path / "releases"
    for name in ("first", "second"):
        (releases / name).mkdir(parents=True)
        text = DAG.format(extra="", dag_id="one").replace("load", name)
        (releases / name / "one.py").write_text(text)
    link = folder.path / "current"
    link.symlink_to(releases / "first")
    with folder.parser() as parser:
        parser.run_once()
        new = folder.path / ".new"
        new.symlink_to(releases / "second")
        new.rename(link)
        parser.run_once()
    assert folder.value("select version from dag where dag_id = 'one'") == 2


def test_nothing_is_parsed_of_thousands_of_unchanged_files(folder: Folder) -> None:
    """Guards the order of magnitude; the bench measures."""
    for number in range(1_000):
        folder.write(f"d{number % 10}/f{number}.py", "")
    with folder.parser() as parser:
        parser.sweep()
        now = time.time()
        folder.conn.execute("truncate dag_file")
        for path in folder.path.rglob("*.py"):
            os.utime(path, (now - 60, now - 60))
        folder.conn.cursor().executemany(
            "insert into dag_file (path, content_hash) values (%s, %s)",
            [(str(p), EMPTY) for p in folder.path.rglob("*.py")],
        )
    with folder.parser() as parser:
        parser.sweep()
        began = time.process_time()
        parser.sweep()
        assert time.process_time() - began < 1.0
        parser.run_once()
    assert folder.value("select count(*) from dag_file where parsed_at > now()") == 0


EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("name", ["..data", "node_modules", ".hidden"])
def test_hidden_folders_are_not_looked_into(folder: Folder, name: str) -> None:
    folder.dag(f"{name}/one.py", "one")
    (folder.path / "link.py").symlink_to(folder.path / name / "one.py")
    folder.parse()
    expected = "one.py" if name == "node_modules" else "link.py"
    assert folder.dags() == {"one": expected}
