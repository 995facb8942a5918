"""The README tells the truth: its commands are whole lines, its DAG is one, its verbs exist."""

from __future__ import annotations

import re
from pathlib import Path

from flow.authoring.serialise import to_spec
from support.dag_files import load_text
from verbs import has_verb

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, "" for those that name none."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for named, text in fenced if named == language]


def test_two_commands_of_one_line_each() -> None:
    shown, tested = blocks("sh")
    assert shown.count("\n") == tested.count("\n") == 1
    assert "'.[embedded]'" in shown
    assert shown.endswith("/flow demo\n")
    assert "'.[embedded,dev]'" in tested
    assert tested.endswith("/pytest\n")


def test_its_dag_is_one(tmp_path: Path) -> None:
    (text,) = blocks("python")
    (found,) = load_text(tmp_path, text)
    spec = to_spec(found.dag)
    assert spec.dag_id == "daily_sales"
    assert {task.task_id: task.upstream for task in spec.tasks} == {
        "read": (),
        "report": ("read",),
    }


def test_its_verbs_exist() -> None:
    lines = [line for block in blocks("") for line in block.splitlines()]
    verbs = [re.split(r" {2,}", line)[0].split()[1:] for line in lines]
    assert len(verbs) >= 5
    assert [words for words in verbs if not has_verb(words)] == []
