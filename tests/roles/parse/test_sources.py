"""What counts as a DAG file: ignore files, archives, links."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from dag_folder import Folder
from flow.roles.parse import extent, folders
from flow.store.read import status

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
    unread = folder.path / ".airflowignore"
    unread.mkdir()
    with folder.parser(regexp_ignore=True) as parser:
        parser.run_once()
        assert sorted(folder.dags()) == ["one"]
        assert warnings(folder) == {str(unread): "it ignores nothing: Is a directory"}
        unread.rmdir()
        unread.write_text("two\n*\n")
        parser.run_once()
        why = "line 2 ignores nothing: nothing to repeat at position 0"
        assert warnings(folder) == {str(unread): why}
        unread.unlink()
        parser.run_once()
        assert warnings(folder) == {}


def warnings(folder: Folder) -> dict[str, str]:
    """What is told of the folder, by path."""
    return {one.path: one.text for one in status.warned(folder.conn)}


def test_a_wrong_line_of_an_ignore_file_costs_no_other(folder: Folder) -> None:
    folder.dag("one.py", "one")
    folder.dag("two.py", "two")
    folder.write(".airflowignore", "(\ntwo\n")
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


def test_a_link_to_a_huge_tree_is_not_read_and_told_of(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = folder.path / "a_link"
    link.symlink_to(tmp_path / "huge")
    for number in range(4):
        (tmp_path / "huge" / str(number)).mkdir(parents=True)
    folder.dag("one.py", "one")
    folder.dag("team/two.py", "two")
    folder.dag("a_link/three.py", "three")
    with folder.parser() as parser:
        parser.run_once()
        assert sorted(folder.dags()) == ["one", "three", "two"]
        monkeypatch.setattr(extent, "MOST", 4)
        folder.dag("team/four.py", "four")
        folder.dag("a_link/3/five.py", "five")
        parser.unheard = {"/dags": "nobody tells of changes"}
        parser.run_once()
        assert sorted(folder.dags()) == ["four", "one", "three", "two"], "three stays as it is"
        assert warnings(folder) == {
            "/dags": "nobody tells of changes",
            str(link): "it cannot be read (more than 4 folders lie behind this link): its DAGs "
            "stay as they are",
        }


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


@pytest.mark.parametrize("place", [".flowignore", "lacking.py"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "huge"])
def test_what_is_no_plain_file_holds_nobody_up(folder: Folder, place: str, kind: str) -> None:
    folder.dag("one.py", "one")
    folder.write("lacks.py", "import lacking\n")
    path = folder.path / place
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(1 << 40)
    folder.parse()
    assert folder.dags() == {"one": "one.py"}
    assert "lacks.py" in folder.errors()
    if (place, kind) == ("lacking.py", "huge"):
        assert "larger than 256 MiB" in folder.errors()["lacking.py"]


@pytest.mark.parametrize(
    ("name", "text"), [(".flowignore", "*a" * 12), (".airflowignore", "(a+)+$")]
)
def test_a_pattern_that_would_be_matched_for_ever_is_passed_over(
    folder: Folder, name: str, text: str
) -> None:
    folder.dag("one.py", "one")
    folder.dag("deep/" + "a" * 200 + "b.py", "two")
    folder.write(f"deep/{name}", f"{text}\n")
    folder.parse(regexp_ignore=True)
    assert set(folder.dags()) == {"one", "two"}


def test_an_archive_of_bad_will_is_an_error_of_its_own(folder: Folder) -> None:
    folder.dag("one.py", "one")
    pack(folder.path / "names.zip", {"é.py": "x = 1", "/up.py": "1 / 0", "../up.py": "1 / 0"})
    whole = (folder.path / "names.zip").read_bytes()
    (folder.path / "no_text.zip").write_bytes(whole.replace("é".encode(), b"\xff\xfe"))
    pack(folder.path / "many.zip", {f"{number:0200}/": "" for number in range(40_000)})
    with (
        zipfile.ZipFile(folder.path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("bomb.py", "w") as file,
    ):
        for _ in range(512):
            file.write(b"#" * (1 << 20))
    folder.parse(memory=1 << 28)
    assert folder.dags() == {"one": "one.py"}
    errors = folder.errors()
    assert set(errors) == {"no_text.zip", "many.zip", "bomb.zip"}
    assert "can't decode byte 0xff" in errors["no_text.zip"]
    assert "its list of files is larger than 8 MiB" in errors["many.zip"]
    assert "MemoryError" in errors["bomb.zip"]


def test_an_archive_that_cannot_be_read_is_not_gone(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(archive: str) -> list[str]:
        raise PermissionError(13, "Permission denied", archive)

    pack(folder.path / "packed.zip", {"one.py": DAG.format(extra="", dag_id="one")})
    folder.parse()
    monkeypatch.setattr(folders, "names_in", refuse)
    (folder.path / "packed.zip").touch()
    folder.parse()
    assert folder.dags() == {"one": "packed.zip"}


def test_a_link_to_where_its_own_folder_lies_is_not_followed(
    folder: Folder, tmp_path: Path
) -> None:
    folder.dag("one.py", "one")
    (tmp_path / "beside.py").write_text("1 / 0\n")
    (folder.path / "up").symlink_to("..")
    (folder.path / "root").symlink_to("/")
    folder.parse()
    assert folder.dags() == {"one": "one.py"}
    assert folder.errors() == {}


def test_what_can_not_be_told_is_not_gone(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that has failed under a folder, and behind a link."""
    folder.dag("deep/one.py", "one")
    folder.dag("two.py", "two")
    with folder.parser() as parser:
        parser.run_once()
        (folder.path / "two.py").unlink()
        # Neither there nor not there: no name may be so long.
        (folder.path / "two.py").symlink_to("x" * 300)

        def failing(path: str) -> os._ScandirIterator[str]:
            if path.endswith("deep"):
                raise OSError(5, "Input/output error", path)
            return scandir(path)

        scandir = os.scandir
        with monkeypatch.context() as context:
            context.setattr(folders.os, "scandir", failing)
            parser.run_once()
        assert set(folder.dags()) == {"one", "two"}
        (folder.path / "two.py").unlink()
        (folder.path / "deep" / "one.py").unlink()
        parser.run_once()
        assert folder.dags() == {}
    assert folder.errors() == {}


def test_one_folder_under_two_names_is_told_of_by_both(folder: Folder) -> None:
    folder.dag("one.py", "one")
    other = folder.path.with_name("other")
    other.symlink_to(folder.path)
    folder.parse()
    by_link = Folder(other, folder.dsn, folder.conn)
    for _ in range(2):
        by_link.parse()
        folder.parse()
        row = folder.conn.execute("select file from dag where present").fetchall()
        assert row == [(str(folder.path / "one.py"),)]
        (error,) = folder.errors().values()
        assert str(other / "one.py") in error and str(folder.path / "one.py") in error
