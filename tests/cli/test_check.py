"""`flow check`: real files, real imports, no database."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from flow.ops.checking import RULES, Report
from flow.ops.checking.rules import finding
from flow_cli.check_github import workflow_commands
from flow_cli.check_junit import junit
from flow_cli.check_sarif import sarif
from waiting import limit, wait_until

Run = Callable[..., Any]
COMMAND = [sys.executable, "-m", "flow_cli"]

FILES = {
    "lib/__init__.py": "",
    "lib/helper.py": """
        import os
        os.listdir("/etc")
        """,
    "fine.py": """
        from datetime import datetime
        from flow import DAG
        from flow.operators.empty import EmptyOperator
        print("noise")
        with DAG("fine", schedule="@daily", start_date=datetime(2026, 1, 1)):
            EmptyOperator(task_id="load", pool="warehouse")
        """,
    "moves.py": """
        import os, socket, subprocess, time
        from datetime import datetime
        from flow import DAG, Variable
        from flow.operators.empty import EmptyOperator
        import lib.helper
        with DAG("moves", schedule=None, start_date=datetime.fromtimestamp(int(time.time()))):
            EmptyOperator(task_id=f"of_{abs(hash('x'))}")  # another number in each process tree
            EmptyOperator(task_id="task", pool="warehose", retries=os.getpid())
        subprocess.run(["true"])
        subprocess.run(["true"])  # flow: ignore[top-level-process]
        Variable.get("land", None)
        """,
    "copy.py": "from flow import DAG\nDAG('fine')\n",
    "broken.py": "import jsn\n",
    "circle.py": """
        from flow import DAG
        from flow.operators.empty import EmptyOperator
        with DAG("circle"):
            a, b = EmptyOperator(task_id="a"), EmptyOperator(task_id="b")
            a >> b >> a
        """,
    "dies.py": "import os\nos._exit(3)\n",
}


@pytest.fixture
def dags(project: Path) -> Path:
    folder = project / "dags"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text).lstrip())
    (project / "flow.toml").write_text("dags.folders = ['dags']\ncheck.pools = ['warehouse']\n")
    return folder


def check(flow: Run, *arguments: str, code: int = 0, **variables: str) -> dict[str, Any]:
    """The report as JSON."""
    ended = flow("check", *arguments, "--format", "json", **variables)
    assert ended.code == code, ended.err
    document: dict[str, Any] = json.loads(ended.out)
    return document


def found(report: dict[str, Any]) -> set[tuple[str, str, int | None]]:
    return {(one["file"], one["rule"], one["line"]) for one in report["findings"]}


def test_every_file_is_imported_and_told_of(flow: Run, dags: Path) -> None:
    report = check(flow, "dags", code=1)
    assert report["files"] == len(FILES)
    assert found(report) == {
        ("dags/broken.py", "import-error", 1),
        ("dags/circle.py", "cycle", 3),
        ("dags/copy.py", "duplicate-dag-id", 2),
        ("dags/dies.py", "import-error", None),
        ("dags/fine.py", "duplicate-dag-id", 5),
        ("dags/lib/helper.py", "top-level-file", 2),
        ("dags/moves.py", "moving-start-date", 6),
        ("dags/moves.py", "top-level-process", 9),
        ("dags/moves.py", "top-level-variable", 11),
        ("dags/moves.py", "unknown-pool", 6),
        ("dags/moves.py", "unstable-dag", 6),
    }
    (unstable,) = (one["message"] for one in report["findings"] if one["rule"] == "unstable-dag")
    assert "retries" in unstable
    assert "task of_" in unstable
    (lacking,) = (one for one in report["findings"] if one["file"] == "dags/broken.py")
    assert lacking["hint"] == "did you mean 'json'?"
    assert (report["errors"], report["hints"]) == (6, 1)


def test_without_a_path_the_folders_of_the_deployment_are_checked(flow: Run, dags: Path) -> None:
    for file in dags.glob("*.py"):
        if file.name != "fine.py":
            file.unlink()
    (dags / "lib" / "helper.py").write_text("")
    (dags.parent / "elsewhere.py").write_text("import jsn\n")
    report = check(flow)
    assert (report["files"], report["findings"]) == (3, [])


def test_an_import_that_hangs_is_stopped_at_its_place(flow: Run, dags: Path) -> None:
    (dags / "hangs.py").write_text("import threading\nthreading.Event().wait()\n")
    # The place is printed by the process itself, a quarter of its time before that is over.
    seconds = f"{limit(1):g}"
    report = check(flow, "dags/hangs.py", "--timeout", seconds, code=1)
    assert found(report) == {("dags/hangs.py", "import-error", 2)}
    assert f"took longer than {seconds} s" in report["findings"][0]["message"]


def test_a_file_that_kills_the_importing_process_is_the_only_one_to_blame(
    flow: Run, dags: Path
) -> None:
    (dags / "kills.py").write_text(
        "import os, signal, threading\n"
        "os.kill(os.getppid(), signal.SIGKILL)\n"
        "threading.Event().wait()\n"
    )
    report = check(flow, "dags/fine.py", "dags/kills.py", code=1)
    assert found(report) == {("dags/kills.py", "import-error", None)}
    assert report["files"] == 2


def test_an_interrupt_ends_every_import(
    dags: Path, project: Path, environment: dict[str, str]
) -> None:
    began = project / "began"
    (dags / "hangs.py").write_text(
        f"import os, threading\nopen({str(began)!r}, 'w').write(str(os.getpid()))\n"
        "threading.Event().wait()\n"
    )
    with subprocess.Popen(
        [*COMMAND, "check", "dags/hangs.py"],
        cwd=project,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell's background job would ignore the signal, and so would what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        try:
            wait_until(lambda: began.exists() and bool(began.read_text()), "the import")
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=limit(60))
        finally:
            process.kill()
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert not Path("/proc", began.read_text()).exists()


def test_a_sound_file_is_exit_0_and_its_output_is_in_nobodys_way(flow: Run, dags: Path) -> None:
    ended = flow("check", "dags/fine.py")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == "1 file: nothing found\n"


@pytest.mark.parametrize("form", ["text", "junit"])
def test_a_folder_without_dag_files_does_not_pass(
    flow: Run, dags: Path, project: Path, form: str
) -> None:
    (project / "docs").mkdir()
    (project / "docs" / "notes.md").write_text("nothing to import")
    ended = flow("check", "docs", "--format", form)
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith("there is no DAG file in docs\n")
    assert flow("check", "docs", "dags/fine.py").code == 0


def test_warnings_fail_where_it_is_strict(flow: Run, dags: Path) -> None:
    assert flow("check", "dags/lib").code == 0
    ended = flow("check", "dags/lib", "--strict")
    assert ended.code == 1
    assert ended.out.startswith("dags/lib/helper.py:2: warning top-level-file: ")


def test_a_budget_shows_where_the_time_goes(flow: Run, dags: Path) -> None:
    (dags / "fine.py").write_text("import lib.helper\n")
    (dags / "lib" / "helper.py").write_text("import time\ntime.sleep(0.4)\nimport lib.inner\n")
    (dags / "lib" / "inner.py").write_text("import time\ntime.sleep(0.2)\n")
    ended = flow("check", "dags/fine.py", "--import-budget", "0.5")
    assert ended.code == 1
    first, *tree = ended.out.splitlines()
    assert first.startswith("dags/fine.py: error slow-import: the import took ")
    assert "lib.helper" in first
    shown = [line.split(" s  ")[1] for line in tree if " s  " in line]
    assert shown == ["dags/fine.py", "  lib.helper", "    lib.inner"]


def test_values_are_given_or_in_the_environment(flow: Run, dags: Path) -> None:
    (dags / "fine.py").write_text(
        "from flow import Variable\nassert Variable.get('land') == 'ch'\n"
    )
    lacking = check(flow, "dags/fine.py", code=1)["findings"]
    assert "FLOW_VAR_LAND" in next(one for one in lacking if one["rule"] == "import-error")["hint"]
    assert check(flow, "dags/fine.py", "--var", "land=ch")["errors"] == 0
    assert check(flow, "dags/fine.py", FLOW_VAR_LAND="ch")["errors"] == 0


def test_a_rule_that_is_off_is_turned_on(flow: Run, dags: Path) -> None:
    assert found(check(flow, "dags/fine.py", "--rule", "airflow-logical-date")) == {
        ("dags/fine.py", "airflow-logical-date", 5)
    }
    ended = flow("check", "dags/fine.py", "--rule", "airflow-logical-dat", "--format", "json")
    assert (ended.code, ended.out) == (3, "")
    assert json.loads(ended.err)["error"]["hint"] == "did you mean airflow-logical-date?"


def git(folder: Path, *arguments: str) -> None:
    name = ("-c", "user.name=Flow", "-c", "user.email=flow@localhost")
    subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True)


def test_only_what_a_change_concerns_is_told(flow: Run, dags: Path, project: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    unchanged = check(flow, "dags", "--changed", "main")
    assert (unchanged["files"], unchanged["findings"]) == (0, [])

    git(project, "switch", "-q", "-c", "branch")
    (dags / "lib" / "helper.py").write_text("print('changed')\n")
    git(project, "commit", "-q", "-a", "-m", "second")
    (dags / "jsn.py").write_text("lacked = 'not any more'\n")
    (dags / "new.py").write_text("from flow import DAG\nDAG('circle')\nDAG('fine')\n")
    (dags / "copy.py").unlink()
    report = check(flow, "dags", "--changed", "main", code=1)
    told = {file for file, _, _ in found(report)}
    assert report["files"] == 5  # helper, moves, jsn, broken, new
    assert told == {"dags/moves.py", "dags/new.py"}


def test_a_change_that_cannot_be_known_is_refused(flow: Run, dags: Path, project: Path) -> None:
    ended = flow("check", "dags/fine.py", "--changed", "main")
    assert ended.code == 2
    assert "not in a Git repository" in ended.err
    git(project, "init", "-q", "-b", "main")
    ended = flow("check", "dags/fine.py", "--changed", "--output=x")
    assert ended.code == 3
    assert "has no commit '--output=x'" in ended.err


ODD = "a: 100 %, of,\r\nit\0"
REPORT = Report(
    files=["/work place/a.py", "/work place/b.py"],
    findings=[
        finding("import-error", "/work place/a.py", ODD, line=3, hint="mend it"),
        finding("slow-import", "/work place/b.py", "slow"),
        finding("top-level-variable", "/elsewhere/c.py", "reads", line=2),
    ],
    slow=[],
)
FOLDER = "/work place"


def test_annotations_are_escaped_and_relative() -> None:
    assert workflow_commands(REPORT, FOLDER) == [
        "::error file=a.py,line=3,title=import-error::a: 100 %25, of,%0D%0Ait\0%0Amend it",
        "::warning file=b.py,line=1,title=slow-import::slow",
        "::notice file=/elsewhere/c.py,line=2,title=top-level-variable::reads",
    ]


@pytest.mark.parametrize(("strict", "failing"), [(False, ["a.py"]), (True, ["a.py", "b.py"])])
def test_junit_has_a_case_for_each_file(strict: bool, failing: list[str]) -> None:
    root = ElementTree.fromstring(junit(REPORT, FOLDER, strict=strict))
    (suite,) = root
    assert suite.attrib["tests"] == "3"
    assert suite.attrib["failures"] == str(len(failing))
    cases = {case.attrib["name"]: case for case in suite}
    assert list(cases) == ["a.py", "b.py", "/elsewhere/c.py"]
    assert [name for name, case in cases.items() if case.find("failure") is not None] == failing
    failure = cases["a.py"].find("failure")
    assert failure is not None
    assert failure.attrib["type"] == "import-error"
    assert "mend it" in (failure.text or "")
    assert "reads" in (cases["/elsewhere/c.py"].findtext("system-out") or "")


def test_sarif_has_what_the_schema_requires() -> None:
    log = json.loads(json.dumps(sarif(REPORT, RULES, FOLDER, "1.0")))
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "flow check"
    ids = [rule["id"] for rule in driver["rules"]]
    assert ids == list(RULES)
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert places == [
        {"artifactLocation": {"uri": "a.py", "uriBaseId": "ROOT"}, "region": {"startLine": 3}},
        {"artifactLocation": {"uri": "b.py", "uriBaseId": "ROOT"}},
        {"artifactLocation": {"uri": "file:///elsewhere/c.py"}, "region": {"startLine": 2}},
    ]
    assert run["originalUriBaseIds"] == {"ROOT": {"uri": "file:///work%20place/"}}
