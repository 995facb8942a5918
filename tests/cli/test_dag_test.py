"""`dag.test()` in a DAG file that is run as a program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from support.rehearsed import HEAD, Write
from waiting import limit

HANG = limit(60)


def run(
    environment: dict[str, str], project: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=HANG,
        check=False,
    )


def file_with(body: str, call: str) -> str:
    return f"""{HEAD}
with DAG("d", schedule="@daily", start_date=datetime(2026, 1, 1)) as d:
{body}
with DAG("other"):
    EmptyOperator(task_id="never")
if __name__ == "__main__":
    {call}
    print("after")
"""


def test_it_does_what_the_command_does(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    (project / "vars.json").write_text('{"country": "ch"}')
    (project / "conns.json").write_text('{"shop": "postgres://me@warehouse/d"}')
    body = """
    @task
    def read(ds, dag_run=None):
        print("read", ds, dag_run.conf["n"], Variable.get("country"), Connection.get("shop").host)
    read()
"""
    call = (
        "d.test(logical_date=datetime(2026, 10, 9), run_conf={'n': 7},"
        " conn_file_path='conns.json', variable_file_path='vars.json')"
    )
    write(file_with(body, call), whole=True)
    ended = run(environment, project, "d.py")
    assert ended.returncode == 0, ended.stderr
    assert "read 2026-10-09 7 ch warehouse" in ended.stderr
    assert ended.stdout.splitlines()[-1] == "after"


def test_a_failed_run_is_the_exit_code(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    body = "    BashOperator(task_id='a', bash_command='exit 3')"
    write(file_with(body, "d.test()"), whole=True)
    ended = run(environment, project, str(project / "d.py"))
    assert ended.returncode == 1
    assert "a is failed" in ended.stderr
    assert "after" not in ended.stdout


def test_what_it_cannot_do_is_refused(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    body = "    BashOperator(task_id='a', bash_command='echo ran')"
    for argument, words in (
        ("mark_success_pattern='a'", "mark_success_pattern='a' of dag.test() is not supported yet"),
        ("run_conf={1, 2}", "run_conf"),
        ("run_conf={'a': datetime.max}", "run_conf cannot be said in JSON"),
    ):
        write(file_with(body, f"d.test({argument})"), whole=True)
        ended = run(environment, project, "d.py")
        assert ended.returncode == 1
        assert words in ended.stderr
        assert "│ ran" not in ended.stderr


def test_ctrl_c_ends_every_process(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    body = """
    @task
    def sleeper():
        print("sleeping", os.getpid(), flush=True)
        time.sleep(600)
    sleeper()
"""
    write(file_with(body, "d.test()"), whole=True)
    with subprocess.Popen(
        [sys.executable, "d.py"],
        cwd=project,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # with a process group of its own, as a terminal gives it
    ) as process:
        assert process.stderr is not None
        pid = next(line.split()[-1] for line in process.stderr if "sleeping" in line)
        os.killpg(process.pid, signal.SIGINT)
        process.stderr.read()
    assert process.returncode == 130
    assert not os.path.exists(f"/proc/{pid}")
