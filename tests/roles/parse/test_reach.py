"""What a change leads to, told without a look at all files: as a sweep would have told it."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dag_folder import Folder
from flow.roles.parse import Memory, Parser, folders
from flow.roles.parse.folders import Scan
from flow.roles.parse.reach import Reach
from flow.store import dag_files


@contextmanager
def at_rest(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Parser]:
    """A parser that knows the folder, and from now on may not look at all files or all rows."""
    with folder.parser(Memory(), interval=3600.0) as parser:
        parser.run_once()

        def fail(*arguments: object, **options: object) -> None:
            raise AssertionError("a look at everything")

        monkeypatch.setattr(folders, "scan", fail)
        monkeypatch.setattr(dag_files, "known", fail)
        yield parser


def settle(parser: Parser) -> None:
    """Import what waits, and store it."""
    while parser.busy:
        parser.turn()
        select.select([parser], [], [], 0.1)


def test_a_changed_and_a_new_file_are_parsed_without_a_sweep(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = folder.dag("one.py", "one")
    rest = folder.dag("rest.py", "rest")
    with at_rest(folder, monkeypatch) as parser:
        before = folder.value("select parsed_at from dag_file where path = %s", rest)
        folder.dag("one.py", "other")
        new = folder.dag("team/new.py", "new")
        parser.look_at({changed, new})
        settle(parser)
        assert folder.dags() == {"other": "one.py", "new": "new.py", "rest": "rest.py"}
        after = folder.value("select parsed_at from dag_file where path = %s", rest)
        assert after == before


def test_a_changed_module_leads_to_the_files_that_read_it(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write(".flowignore", "lib/\n")
    module = folder.write("lib/names.py", "NAME = 'one'\n")
    source = "from lib.names import NAME\nfrom flow import DAG\nDAG(NAME)\n"
    folder.write("reader.py", source)
    folder.dag("rest.py", "rest")
    with at_rest(folder, monkeypatch) as parser:
        folder.write("lib/names.py", "NAME = 'another'\n")
        parser.look_at({module})
        settle(parser)
        assert folder.dags() == {"another": "reader.py", "rest": "rest.py"}


def test_a_file_that_comes_and_goes_between_two_sweeps_is_forgotten(folder: Folder) -> None:
    with folder.parser(Memory(), interval=3600.0) as parser:
        parser.run_once()
        new = folder.dag("new.py", "new")
        parser.look_at({new})
        settle(parser)
        assert folder.dags() == {"new": "new.py"}
        os.unlink(new)
        parser.look_at({new})
        parser.run_once()
        assert folder.dags() == {}


def test_what_only_a_look_at_the_folders_can_tell_is_left_to_it(tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    (tmp_path / "skipped").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "team")
    (tmp_path / ".flowignore").write_text("skipped/\nno_*.py\n")
    for name in ("team/old.py", "team/new.py", "team/data.csv", ".hidden.py", "pack.zip"):
        (tmp_path / name).touch()
    for name in ("skipped/x.py", "no_x.py", "team/.#new.py"):
        (tmp_path / name).touch()
    (tmp_path / "link.py").symlink_to(tmp_path / "team" / "old.py")
    old, new = str(tmp_path / "team/old.py"), str(tmp_path / "team/new.py")
    reach = Reach([tmp_path])
    scan = Scan(files={old: str(tmp_path)})
    reach.renew({old: {"data": "/elsewhere/data.py"}})
    told = {
        "team/old.py": ({old}, True),
        "team/new.py": ({new}, True),
        "team/data.csv": (set(), True),
        ".hidden.py": (set(), True),
        "team/.#new.py": (set(), True),
        "team/gone.py": (set(), False),
        "team": (set(), False),
        "pack.zip": (set(), False),
        "link.py": (set(), False),
        "linked/new.py": (set(), False),
        "skipped/x.py": (set(), False),
        "no_x.py": (set(), False),
        ".flowignore": (set(), False),
        "/elsewhere/data.py": ({old}, False),
    }
    for name, expected in told.items():
        assert reach.of([str(tmp_path / name)], scan) == expected, name
    assert scan.files == {old: str(tmp_path), new: str(tmp_path)}
    every = [str(tmp_path / name) for name in told]
    assert reach.of(every, scan) == ({old, new}, False)
