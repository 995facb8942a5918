"""`flow test --junit` and `--github`: what continuous integration is told."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from support.rehearsed import Rehearse, Run, Write


def cases(file: Path) -> dict[str, tuple[str, str]]:
    """The test cases of a report: what ended each, and its message."""
    found = {}
    for case in ElementTree.parse(file).iter("testcase"):
        ended = next(iter(case), None)
        how = ("passed", "") if ended is None else (ended.tag, ended.get("message", ""))
        found[f"{case.get('classname')} {case.get('name')}"] = how
    return found


def test_a_run_with_every_kind_of_end(write: Write, rehearse: Rehearse, project: Path) -> None:
    """The result on stdout is a document all the same."""
    write(
        """
        @task
        def bad():
            raise ValueError("a < b, 100%\\x00: no")
        @task.short_circuit
        def enough():
            return False
        bad() >> EmptyOperator(task_id="below")
        enough() >> EmptyOperator(task_id="skipped")
        """
    )
    _, ended = rehearse("--junit", "report.xml", "--github", code=1)
    assert cases(project / "report.xml") == {
        "d bad": ("failure", "ValueError: a < b, 100%\N{REPLACEMENT CHARACTER}: no"),
        "d below": ("skipped", "trigger rule all_success"),
        "d enough": ("passed", ""),
        "d skipped": ("skipped", "skipped by enough"),
    }
    suite = ElementTree.parse(project / "report.xml").getroot()[0]
    figures = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert figures == {"tests": "4", "failures": "1", "errors": "0", "skipped": "2"}
    annotations = [line for line in ended.err.splitlines() if line.startswith("::")]
    assert len(annotations) == 1
    assert annotations[0].startswith("::error file=d.py,line=7,title=d.bad failed::ValueError: a <")
    assert "100%25" in annotations[0]


def test_outlets_that_differ(write: Write, rehearse: Rehearse, project: Path) -> None:
    write(
        f"""
        from flow import File
        for name in "ab":
            into = ">> a" if name == "a" else "> b"
            BashOperator(task_id=name, bash_command="echo 1 " + into, cwd="{project}",
                         outlets=File("{project}/" + name))
        """
    )
    _, ended = rehearse("--idempotent", "--junit", "report.xml", "--github", code=1)
    found = cases(project / "report.xml")
    assert {name: how for name, (how, _) in found.items()} == {
        "d a": "passed",
        "d b": "passed",
        f"d.idempotent a: file {project}/a": "failure",
        f"d.idempotent b: file {project}/b": "passed",
    }
    assert "1 file, 2 bytes" in found[f"d.idempotent a: file {project}/a"][1]
    assert "title=d.a is not idempotent::a: file" in ended.err


def test_a_file_that_cannot_be_imported(write: Write, flow: Run, project: Path) -> None:
    write("\n\n1 / 0\n", whole=True)
    ended = flow("test", "d.py", "--junit", "report.xml", "--github")
    assert ended.code == 1
    ((name, (how, message)),) = cases(project / "report.xml").items()
    assert (name, how) == ("import d.py", "error")
    assert "ZeroDivisionError" in message
    assert "::error file=d.py,line=3,title=import error::" in ended.err


def test_a_report_that_cannot_be_written(write: Write, flow: Run) -> None:
    write("EmptyOperator(task_id='a')")
    ended = flow("test", "d.py", "--junit", "nowhere/report.xml")
    assert ended.code == 2
    assert "nowhere/report.xml cannot be written" in ended.err
