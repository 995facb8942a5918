"""Changes are heard of at once, and leftovers of dead processors are cleared away."""

from __future__ import annotations

import fcntl
import os
import select
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from flow.roles.parse import extent
from flow.roles.parse.scratch import Scratch
from flow.roles.parse.watch import Watch, heard
from waiting import limit, wait_until


def hears(watch: Watch) -> bool:
    """Whether news come."""
    return bool(select.select([watch], [], [], limit(30.0))[0])


def hears_after(watch: Watch, change: Callable[[], object]) -> bool:
    """Whether news come of a change that is made until they do: the watch may just begin."""

    def heard_of() -> bool:
        change()
        return bool(select.select([watch], [], [], 0.2)[0])

    return wait_until(heard_of, "news of a change")


def test_files_that_come_change_and_go_are_heard_of(tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    file = tmp_path / "team" / "one.py"
    with closing(Watch([tmp_path])) as watch:
        watch.renew()
        assert hears_after(watch, lambda: file.write_text("x = 1\n"))
        two, new = file.with_name("two.py"), tmp_path / "new"
        for change, where in (
            (lambda: file.write_text("x = 2\n"), {file}),
            (lambda: file.rename(two), {file, two}),
            (two.unlink, {two}),
            (new.mkdir, {new}),
        ):
            watch.take()
            change()
            heard_of: set[str] = set()
            while not {str(path) for path in where} <= heard_of:
                assert hears(watch)
                heard_of |= watch.take()
        assert not select.select([watch], [], [], 0)[0], "all has been taken"


def test_the_first_news_is_that_there_will_be_news(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file may have come before, while somebody looked at the folder already."""
    late = threading.Event()
    measured = extent.measure

    def slowly(roots: Sequence[str], given_up: Callable[[], bool]) -> extent.Extent:
        assert late.wait(limit(30.0))
        return measured(roots, given_up)

    monkeypatch.setattr("flow.roles.parse.watch.measure", slowly)
    with closing(Watch([tmp_path])) as watch:
        watch.renew()
        (tmp_path / "one.py").write_text("x = 1\n")
        late.set()
        assert hears(watch)
        assert watch.take() == {str(tmp_path)}


def test_a_folder_that_comes_later_or_is_replaced_is_watched_too(tmp_path: Path) -> None:
    folder = tmp_path / "dags"
    with closing(Watch([folder])) as watch:
        watch.renew()
        folder.mkdir()
        watch.renew()
        assert hears_after(watch, lambda: (folder / "one.py").write_text(""))
        folder.rename(tmp_path / "old")
        folder.mkdir()
        watch.renew()
        watch.take()
        assert hears_after(watch, lambda: (folder / "two.py").write_text(""))


def make_huge(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with more folders than are watched, and a link in `folder` that leads there."""
    monkeypatch.setattr(extent, "MOST", 6)
    for number in range(6):
        (folder.parent / "huge" / str(number)).mkdir(parents=True)
    link = folder / "link"
    link.symlink_to(folder.parent / "huge")
    return link


def test_a_link_to_a_huge_tree_is_told_of_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "dags"
    (folder / "team").mkdir(parents=True)
    link = make_huge(folder, monkeypatch)
    with closing(Watch([folder])) as watch:
        watch.renew()
        assert hears(watch)
        assert watch.take() == {str(folder)}, "the folder is to be looked at, which tells of it"
        assert watch.warnings.keys() == {str(link)}

        def change(file: Path) -> None:
            watch.renew()
            file.write_text("x = 1\n")

        assert hears_after(watch, lambda: change(folder / "team" / "one.py"))
        (folder / "new").mkdir()
        wait_until(
            lambda: (hears(watch), str(folder / "new") in watch.take())[1], "news of the folder"
        )
        watch.renew()

        def heard_of_new() -> bool:
            change(folder / "new" / "two.py")
            return str(folder / "new" / "two.py") in watch.take()

        wait_until(heard_of_new, "news of a file in it")
        link.unlink()
        wait_until(lambda: (watch.renew(), not watch.warnings)[1], "the link to be forgotten")
        assert hears_after(watch, lambda: change(folder / "team" / "one.py"))


def test_what_is_measured_ends_where_folders_lie_in_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "dags"
    (folder / "team").mkdir(parents=True)
    (folder / "up").symlink_to(tmp_path)
    (folder / "itself").symlink_to("itself")
    (tmp_path / "beside").mkdir()
    found = extent.measure([str(folder)], lambda: False)
    assert {str(Path(one).relative_to(folder)) for one in found.folders} == {
        ".", "team", "up", "up/beside"
    }  # fmt: skip
    assert found.left_out == []
    for most, left_out, left in ((3, "up", {".", "team"}), (1, ".", set())):
        monkeypatch.setattr(extent, "MOST", most)
        found = extent.measure([str(folder)], lambda: False)
        assert found.left_out == [str(folder / left_out)]
        assert {str(Path(one).relative_to(folder)) for one in found.folders} == left


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/dags/one.py", True),
        ("/dags/conf/one.yaml", True),
        ("/dags/..data", True),
        ("/dags/__pycache__/one.cpython-311.pyc", False),
        ("/dags/.git/index", False),
    ],
)
def test_what_is_nobodys_code_is_not_heard_of(path: str, told: bool) -> None:
    assert heard(path) is told


def test_the_next_processor_clears_away_what_a_killed_one_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "flow-imports-left"
    left.mkdir()
    os.mkfifo(left / "pipe")
    (tmp_path / "flow-imports-file").write_text("no folder")
    (tmp_path / "else").mkdir()
    used = tmp_path / "flow-imports-used"
    used.mkdir()
    lock = os.open(used, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        mine = Scratch()
        assert not left.exists()
        assert used.exists()
        second = Scratch()
        assert mine.path.exists(), "its processor is alive"
        for one in (mine, second):
            one.remove()
    finally:
        os.close(lock)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "else",
        "flow-imports-file",
        "flow-imports-used",
    ]
