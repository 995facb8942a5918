"""Completion scripts, asked in the shells they are for."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from flow_cli.catalogue import ENTRIES

COMPLETIONS = Path(__file__).parents[2] / "completions"
COMMANDS = {entry.name for entry in ENTRIES}
ASKED = [
    ("flow ", COMMANDS),
    ("flow conf", {"config"}),
    ("flow config ", {"show", "get"}),
    ("flow --config x config ", {"show", "get"}),
    ("flow config show --rev", {"--reveal"}),
    ("flow config show -o ", {"text", "json", "jsonl"}),
    ("flow completion ", {"bash", "zsh", "fish"}),
    ("flow --deployment config ", COMMANDS),
]


def ask(program: list[str], project: Path) -> list[str]:
    (project / "a folder").mkdir(exist_ok=True)
    ended = subprocess.run(program, cwd=project, capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    return ended.stdout.split("\n")


@pytest.mark.parametrize(("line", "offered"), ASKED)
def test_bash_completes(line, offered, project):
    program = """
        source "$1"
        read -ra COMP_WORDS <<<"$2"
        [[ $2 == *" " ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _flow
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    script = str(COMPLETIONS / "flow.bash")
    words = ask(["bash", "-uc", program, "bash", script, line], project)
    assert {word for word in words if word and (line.endswith("rev") or word[0] != "-")} == offered


def test_bash_offers_folders_whole(project):
    script = str(COMPLETIONS / "flow.bash")
    program = """
        source "$1"
        COMP_WORDS=(flow init a) COMP_CWORD=2
        _flow
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    assert ask(["bash", "-uc", program, "bash", script], project) == ["a folder", ""]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(("line", "offered"), ASKED)
def test_fish_completes(line, offered, project):
    script = str(COMPLETIONS / "flow.fish")
    words = ask(["fish", "-c", f'source {script}; complete -C "{line}"'], project)
    assert {word.split("\t")[0] for word in words if word} == offered


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize(("line", "offered"), ASKED)
def test_zsh_completes(line, offered, project):
    # The functions through which zsh takes offers work only while a line is edited, so they are
    # replaced by ones that print.
    program = """
        _describe() { print -l -- "${(@)${(P)2}%%:*}" }
        compadd() { shift; print -l -- "$@" }
        _files() { : }
        _message() { : }
        compdef() { : }
        source "$1"
        words=("${(@s: :)2}")
        CURRENT=${#words}
        _flow
    """
    script = str(COMPLETIONS / "flow.zsh")
    offers = ask(["zsh", "-fc", program, "zsh", script, line], project)
    start = line.rpartition(" ")[2]
    matching = {word for word in offers if word.startswith(start)} - {""}
    assert {word for word in matching if start.startswith("-") or word[0] != "-"} == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_command_prints_the_shipped_script(flow, shell):
    ended = flow("completion", shell)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (COMPLETIONS / f"flow.{shell}").read_text()
