"""Names of DAGs, runs, tasks and pools, completed in real shells from a cache, without a driver."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from flow.config import load
from flow_cli.name_cache import Kind, NameCache, cache_of
from loaded import loaded

COMPLETIONS = Path(__file__).parents[2] / "completions"
RUN = "manual__2026-10-09T00:00:00+00:00"
OTHER_RUN = "manual__2026-10-10T00:00:00+00:00"
DAGS = {"sales", "sales_eu", "stock"}
TASKS = {"extract", "group.load", "load"}
HEAVY = {
    "psycopg",
    "sqlalchemy",
    "typer",
    "rich",
    "msgspec",
    "flow.store",
    "flow.ops",
    "subprocess",
}
ASKED = [
    ("flow dags show ", DAGS),
    ("flow dags show sal", {"sales", "sales_eu"}),
    ("flow dags pause stock sales_", {"sales_eu"}),
    ("flow runs show sales man", {RUN, OTHER_RUN}),
    ("flow runs show sales ", {RUN, OTHER_RUN, "latest"}),
    ("flow runs show sales manual__2026-10-09T00:", {RUN}),
    ("flow tasks tries sales manual__2026-10-09T00:00:00+00:00 ", TASKS),
    ("flow logs sales latest load ext", {"extract"}),
    ("flow tasks hold sales l", {"latest", "load"}),
    ("flow clear sales -t gr", {"group.load"}),
    ("flow clear --from 2026-10-01 sales -t gr", {"group.load"}),
    ("flow audit --dag st", {"stock"}),
    ("flow pools show ", {"warehouse"}),
    ("flow --deployment other dags show ", {"elsewhere"}),
    ("flow dags --deployment other show ", {"elsewhere"}),
    ("flow runs show stock ", set()),
    ("flow dags list ", set()),
]
"""Lines, and the names that are offered at their ends."""


@pytest.fixture
def cache(environment: dict[str, str], project: Path) -> NameCache:
    """What a refresh has left of two deployments; and `flow` on the path."""
    (project / "flow.toml").write_text('[deployment.other]\nhome = "elsewhere"\n')
    made, other = (
        cache_of(load(None, name, environment, project).settings, environment)
        for name in (None, "other")
    )
    for one in (made, other):
        one.folder.mkdir(parents=True)
    made.write(None, {Kind.DAG: [*DAGS], Kind.POOL: ["warehouse"]})
    made.write("sales", {Kind.RUN: [OTHER_RUN, RUN], Kind.TASK: [*TASKS]})
    other.write(None, {Kind.DAG: ["elsewhere"], Kind.POOL: []})
    program = project.parent / "programs" / "flow"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m flow_cli "$@"\n')
    program.chmod(0o755)
    environment["PATH"] = f"{program.parent}:{environment['PATH']}"
    return made


Run = Callable[..., Any]
Place = tuple[dict[str, str], Path]


@pytest.fixture
def place(cache: NameCache, environment: dict[str, str], project: Path) -> Place:
    """Environment and folder in which shells are asked, the cache being filled."""
    return environment, project


def ask(program: Sequence[str], place: Place) -> list[set[str]]:
    """What a shell offers at the end of each line of `ASKED`, without options; it says no more.

    The program is given the lines and prints `==` before what is offered for each.
    """
    environment, project = place
    ended = subprocess.run(
        [*program, *(line for line, _ in ASKED)],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stderr == ""
    _, *answers = ended.stdout.split("==\n")
    return [
        {line for line in answer.split("\n") if line and not line.startswith("-")}
        for answer in answers
    ]


def test_bash_completes(place: Place) -> None:
    # The words as bash splits them: a colon stands alone.
    program = """
        source "$1"; shift
        for line in "$@"; do
            echo ==
            read -ra COMP_WORDS <<<"${line//:/ : }"
            [[ $line == *" " ]] && COMP_WORDS+=("")
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _flow
            (( ${#COMPREPLY[@]} )) && printf '%s\\n' "${COMPREPLY[@]}"
        done
        true
    """
    found = ask(["bash", "-uc", program, "bash", str(COMPLETIONS / "flow.bash")], place)
    for (line, offered), names in zip(ASKED, found, strict=True):
        typed = line.rpartition(" ")[2]
        begun = typed[: typed.rfind(":") + 1]  # bash replaces what is behind the last colon
        assert {begun + name for name in names} == offered, line


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(place: Place) -> None:
    program = "source $argv[1]; for line in $argv[2..]; echo ==; complete -C $line; end"
    found = ask(["fish", "-c", program, str(COMPLETIONS / "flow.fish")], place)
    for (line, offered), described in zip(ASKED, found, strict=True):
        assert {word.split("\t")[0] for word in described} == offered, line


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes(place: Place) -> None:
    # What takes offers works only while a line is edited; here it prints, and zsh chooses not.
    program = """
        _describe() { : }
        compadd() { shift; print -l -- "$@" }
        _files() { : }
        _message() { : }
        compdef() { : }
        source "$1"; shift
        for line in "$@"; do
            print "=="
            words=("${(@s: :)line}")
            CURRENT=${#words}
            _flow
        done
        true
    """
    found = ask(["zsh", "-fc", program, "zsh", str(COMPLETIONS / "flow.zsh")], place)
    for (line, offered), names in zip(ASKED, found, strict=True):
        assert names == offered, line


def test_it_loads_neither_a_driver_nor_a_parser(place: Place) -> None:
    environment, project = place
    code = "from flow_cli.complete import main; assert main(['dag', 'sal']) == 0"
    found = loaded(f"import os; os.chdir({str(project)!r}); {code}", environment)
    assert "flow_cli.name_cache" in found
    assert found & HEAVY == set()


def test_it_is_silent_where_there_is_nothing_to_tell(flow: Run, project: Path) -> None:
    def ask(kind: str) -> tuple[int, str, str]:
        ended = flow("--complete", kind, "")
        return ended.code, ended.out, ended.err

    assert ask("dag") == (0, "", "")
    assert ask("no-such-kind") == (1, "", "")
    (project / "flow.toml").write_text("this is no TOML")
    assert ask("dag") == (1, "", "")


def test_one_name_of_twenty_thousand(cache: NameCache, flow: Run) -> None:
    cache.write(None, {Kind.DAG: [f"team.dag_{number}" for number in range(20_000)]})
    found = flow("--complete", "dag", "team.dag_1999").out.split()
    assert found == ["team.dag_1999", *(f"team.dag_1999{digit}" for digit in range(10))]


def test_a_file_of_another_format_is_none(cache: NameCache) -> None:
    (file,) = (one for one in cache.folder.iterdir() if one.name == "common")
    file.write_text(file.read_text().replace("flow names 1", "flow names 2"))
    assert cache.names(Kind.DAG, "") == []


def test_what_is_old_is_forgotten_but_nothing_behind_a_link(cache: NameCache) -> None:
    others = cache.folder.parents[2] / "others"
    others.mkdir()
    (cache.folder.parent / "link").symlink_to(others)
    mine, theirs = cache.folder / "old", others / "old"
    for file in (mine, theirs):
        file.touch()
        os.utime(file, (0, 0))
    cache.forget_old()
    assert not mine.exists()
    assert theirs.exists()
    assert cache.names(Kind.DAG, "s") == sorted(DAGS)


def test_no_names_are_left_in_folders_of_another_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    cache = NameCache(tmp_path / "names" / "one")
    if os.getuid() != 0:  # root's folders are the system's
        with pytest.raises(PermissionError):
            cache.make()
        assert list(tmp_path.iterdir()) == []
    cache.folder.mkdir(parents=True)
    with pytest.raises(PermissionError):
        cache.make()


def test_nobody_follows_a_link_in_place_of_the_lock(
    cache: NameCache, flow: Run, tmp_path: Path
) -> None:
    cache.lock.symlink_to(tmp_path / "made")
    assert flow("--refresh-names").code == 1
    assert not (tmp_path / "made").exists()


def test_only_their_owner_reads_the_files_and_none_is_half_written(cache: NameCache) -> None:
    for file in cache.folder.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    there = set(cache.folder.iterdir())
    with pytest.raises(UnicodeEncodeError):
        cache.write(None, {Kind.DAG: ["lost", "\udc80"]})
    assert cache.names(Kind.DAG, "s") == sorted(DAGS)
    assert set(cache.folder.iterdir()) == there
