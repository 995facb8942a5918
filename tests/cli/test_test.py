"""`flow test`: real files, real processes, no database."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.rehearsed import HEAD, Rehearse, Write, states, task
from waiting import limit

Run = Callable[..., Any]
COMMAND = [sys.executable, "-m", "flow_cli"]
HANG = limit(60)


def test_values_pass_from_task_to_task(write: Write, rehearse: Rehearse) -> None:
    write(
        """
        @task
        def extract():
            return {"n": 20, "of": [1, 2]}
        @task(multiple_outputs=True)
        def double(found):
            return {"twice": found["n"] * 2, "other": found["of"]}
        @task
        def report(twice, other, ti=None):
            print(f"got {twice} and {other}", ti.xcom_pull("extract"))
        found = double(extract())
        report(found["twice"], found["other"])
        """
    )
    result, ended = rehearse()
    assert states(result) == {"extract": "success", "double": "success", "report": "success"}
    assert "report  │ got 40 and [1, 2] {'n': 20, 'of': [1, 2]}" in ended.err
    assert result["state"] == "success"
    assert result["dag_id"] == "d"
    assert [task["map_index"] for task in result["tasks"]] == [[], [], []]


def test_the_result_is_a_table_and_logs_go_to_stderr(write: Write, flow: Run) -> None:
    write("BashOperator(task_id='a', bash_command='echo said')")
    ended = flow("test", "d.py")
    assert ended.code == 0
    heading, row = ended.out.splitlines()
    assert heading.split() == ["TASK", "STATE", "TRIES", "DURATION", "REASON"]
    assert row.split()[:3] == ["a", "success", "1/1"]
    assert "a    │ said\n" in ended.err


def test_a_retry_is_announced_and_waited_for(write: Write, rehearse: Rehearse) -> None:
    write(
        """
        @task(retries=2, retry_delay=timedelta(seconds=0.5))
        def shaky(ti=None):
            ti.xcom_push("from", ti.try_number)
            if ti.try_number == 1:
                raise ValueError("not yet")
        @task
        def after(ti=None):
            print("pulled", ti.xcom_pull("shaky", key="from"))
        shaky() >> after()
        """
    )
    result, ended = rehearse()
    shaky = task(result, "shaky")
    assert (shaky["state"], shaky["try_number"], shaky["max_tries"]) == ("success", 2, 3)
    assert [one["state"] for one in shaky["tries"]] == ["failed", "success"]
    assert shaky["tries"][0]["reason"] == "ValueError: not yet"
    first, second = (one["started_at"] for one in shaky["tries"])
    assert second > first
    assert "shaky: try 1 failed: ValueError: not yet; try 2 in" in ended.err
    assert "pulled 2" in ended.err


def test_no_wait_tries_again_at_once(write: Write, rehearse: Rehearse) -> None:
    write("BashOperator(task_id='a', bash_command='exit 3', retries=3, retry_delay=3600)")
    result, _ = rehearse("--no-wait", code=1)
    assert len(task(result, "a")["tries"]) == 4
    assert task(result, "a")["reason"] == "CommandFailed: exit code 3"


def test_a_failed_run_ends_with_1(write: Write, rehearse: Rehearse) -> None:
    write(
        """
        @task
        def bad():
            raise RuntimeError("no")
        @task
        def below(): ...
        @task(trigger_rule="all_done")
        def cleanup():
            print("cleaned up")
        bad() >> [below(), cleanup()]
        """
    )
    result, ended = rehearse(code=1)
    assert states(result) == {"bad": "failed", "below": "upstream_failed", "cleanup": "success"}
    assert result["state"] == "failed"
    assert "cleaned up" in ended.err


def test_branches_and_short_circuits_skip(write: Write, rehearse: Rehearse) -> None:
    write(
        """
        @task.branch
        def choose():
            return "left"
        @task.short_circuit
        def enough():
            return False
        left, right = EmptyOperator(task_id="left"), EmptyOperator(task_id="right")
        joined = EmptyOperator(task_id="joined", trigger_rule="none_failed_min_one_success")
        choose() >> [left, right] >> joined
        enough() >> EmptyOperator(task_id="b") >> EmptyOperator(task_id="c")
        """
    )
    result, _ = rehearse()
    assert states(result) == {
        "choose": "success",
        "left": "success",
        "right": "skipped",
        "joined": "success",
        "enough": "success",
        "b": "skipped",
        "c": "skipped",
    }
    assert task(result, "right")["reason"] == "skipped by choose"


def test_how_a_process_ends_is_how_the_task_ends(write: Write, rehearse: Rehearse) -> None:
    write(
        """
        def ends(name, how):
            @task(task_id=name)
            def run():
                how()
            run()
        def interrupt():
            raise KeyboardInterrupt
        ends("exit_0", lambda: sys.exit(0))
        ends("exit_none", lambda: sys.exit())
        ends("exit_3", lambda: sys.exit(3))
        ends("exit_text", lambda: sys.exit("msg"))
        ends("builtin_exit", lambda: exit(0))
        ends("os_exit_0", lambda: os._exit(0))
        ends("os_exit_3", lambda: os._exit(3))
        ends("segfault", lambda: os.kill(os.getpid(), signal.SIGSEGV))
        ends("interrupt", interrupt)
        BashOperator(task_id="bash_99", bash_command="exit 99")
        BashOperator(task_id="bash_last", bash_command="false; true")
        """
    )
    result, _ = rehearse(code=1)
    assert states(result) == {
        "exit_0": "success",
        "exit_none": "success",
        "exit_3": "failed",
        "exit_text": "failed",
        "builtin_exit": "success",
        "os_exit_0": "failed",
        "os_exit_3": "failed",
        "segfault": "failed",
        "interrupt": "failed",
        "bash_99": "skipped",
        "bash_last": "success",
    }
    assert all(one["reason"] for one in result["tasks"] if one["state"] in ("failed", "skipped"))
    assert task(result, "os_exit_3")["tries"][0]["exit_code"] == 3
    assert task(result, "segfault")["tries"][0]["signal"] == signal.SIGSEGV


def test_a_timeout_ends_what_ignores_sigterm(write: Write, rehearse: Rehearse) -> None:
    seconds = limit(0.5)  # time enough to become deaf
    write(
        f"""
        @task(execution_timeout=timedelta(seconds={seconds}))
        def stubborn():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            print("deaf", flush=True)
            time.sleep(600)
        stubborn()
        """
    )
    result, _ = rehearse(code=1, FLOW_WORKER_KILL_GRACE="0.3")
    stubborn = task(result, "stubborn")
    assert stubborn["reason"] == f"execution_timeout: still running after {seconds:g} s"
    assert stubborn["tries"][0]["signal"] == signal.SIGKILL


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            f"dagrun_timeout=timedelta(seconds={limit(2)})",  # time enough for the first to fail
            f"dagrun_timeout: the run was not over after {limit(2):g} s",
        ),
        ("fail_fast=True", "fail_fast: fails failed"),
    ],
)
def test_a_run_that_ends_before_its_tasks_skips_the_rest(
    write: Write, rehearse: Rehearse, arguments: str, reason: str
) -> None:
    write(
        """
        fails = BashOperator(task_id="fails", bash_command="exit 3")
        runs = BashOperator(task_id="runs", bash_command="sleep 600", depends_on_past=True)
        runs >> BashOperator(task_id="waits", bash_command="true")
        """,
        arguments=arguments,
    )
    result, _ = rehearse(code=1)
    assert states(result) == {"fails": "failed", "runs": "skipped", "waits": "skipped"}
    assert [task(result, name)["reason"] for name in ("runs", "waits")] == [reason, reason]
    assert result["reason"] == reason


def test_callbacks_run_in_the_task_or_for_a_dead_one(write: Write, rehearse: Rehearse) -> None:
    write(
        """
        def say(what):
            return lambda context: print(what, context["reason"])
        @task(on_failure_callback=say("task failed:"))
        def raises():
            raise ValueError("x")
        @task(on_failure_callback=say("task died:"))
        def dies():
            os._exit(7)
        raises(); dies()
        """,
        arguments="on_failure_callback=lambda context: print('run failed:', context['reason'])",
    )
    _, ended = rehearse(code=1)
    assert "task failed: ValueError: x" in ended.err
    assert "task died: the process ended with exit code 7 and reported no result" in ended.err
    assert "run failed: the run ended: failed" in ended.err


def test_callbacks_of_a_run_see_the_task_that_it_failed_of(
    write: Write, rehearse: Rehearse
) -> None:
    write(
        """
        @task
        def first(): ...
        @task
        def fails():
            raise ValueError("x")
        @task(trigger_rule="all_done")
        def cleans_up(): ...
        first() >> fails() >> [cleans_up(), BashOperator(task_id="never", bash_command="true")]
        """,
        arguments="on_failure_callback=lambda context: print('of', context['ti'].task_id,"
        " context['task_instance'].state)",
    )
    _, ended = rehearse(code=1)
    assert "of fails failed" in ended.err


def test_tasks_run_beside_each_other(write: Write, rehearse: Rehearse, project: Path) -> None:
    """Each waits for a file that the other writes."""
    if (os.cpu_count() or 1) < 2:
        pytest.skip("one processor runs one task at a time")
    write(
        f"""
        def meet(mine, other):
            @task(task_id=mine)
            def run():
                open("{project}/" + mine, "w").close()
                while not os.path.exists("{project}/" + other):
                    time.sleep(0.01)
            run()
        meet("a", "b"); meet("b", "a")
        """
    )
    result, _ = rehearse()
    assert result["state"] == "success"


def test_max_active_tasks_holds(write: Write, rehearse: Rehearse) -> None:
    write(
        """
        for number in range(4):
            BashOperator(task_id=f"t{number}", bash_command="true")
        """,
        arguments="max_active_tasks=1",
    )
    result, _ = rehearse()
    spans = sorted((one["started_at"], one["ended_at"]) for one in result["tasks"])
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))


MEETING = """
def meet(mine, other, **arguments):
    @task(task_id=mine, **arguments)
    def run():
        open(mine, "w").close()
        while not os.path.exists(other):
            time.sleep(0.01)
    run()
"""


def test_jobs_run_beside_each_other_and_their_lines_stay_whole(
    write: Write, rehearse: Rehearse
) -> None:
    """All three wait for each other, whatever the number of processors."""
    write(
        MEETING
        + """
meet("a", "b"); meet("b", "c"); meet("c", "a")
@task
def talk(number):
    for line in range(200):
        print(f"line {line} of {number}")
talk(1); talk(2)
        """
    )
    result, ended = rehearse("--jobs", "3")
    assert result["state"] == "success"
    said = [line.partition("│ ")[2] for line in ended.err.splitlines() if "│ line" in line]
    assert sorted(said) == sorted(f"line {i} of {n}" for i in range(200) for n in (1, 2))


def test_slots_of_pools_hold(write: Write, rehearse: Rehearse, project: Path) -> None:
    """A pool of two slots: the large task runs alone. Others of no pool do not wait for it."""
    (project / "flow.toml").write_text("[test.pools]\nsmall = 1\nother = 9\n")
    write(
        MEETING
        + """
meet("a", "b", pool="free"); meet("b", "a", pool="small")
for number in range(3):
    BashOperator(task_id=f"t{number}", bash_command="true", pool="small", pool_slots=1 + number % 2)
        """
    )
    result, _ = rehearse("--jobs", "5", "--pool", "small=2")
    begun, ended = task(result, "t1")["started_at"], task(result, "t1")["ended_at"]
    for name in ("b", "t0", "t2"):
        one = task(result, name)
        assert one["ended_at"] <= begun or ended <= one["started_at"]


def test_a_task_that_its_pool_cannot_hold_is_refused(write: Write, flow: Run) -> None:
    write("BashOperator(task_id='a', bash_command='echo ran', pool='small', pool_slots=3)")
    refused = flow("test", "d.py", "--pool", "small=2")
    assert refused.code == 2
    assert "a needs 3 slots of pool small, which has 2" in refused.err
    assert "--pool small=3" in refused.err
    assert "ran" not in refused.err


def test_conf_params_variables_and_connections(write: Write, rehearse: Rehearse) -> None:
    write(
        """
        @task
        def read(dag_run=None, params=None):
            print("conf", dag_run.conf["x"], "param", params["p"])
            print("var", Variable.get("given"), Variable.get("from_env"))
            Variable.set("given", "changed")
            print("now", Variable.get("given"), Variable.get("missing", default="none"))
            shop = Connection.get("shop")
            print("conn", shop.host, shop.password, Connection.get("other").login)
        read() >> BashOperator(
            task_id="template",
            bash_command="echo '{{ var.value.from_env }} {{ conn.shop.port }} {{ params.p }}'",
        )
        """,
        arguments="params={'p': 1}",
    )
    _, ended = rehearse(
        "--conf",
        '{"x": "{{ 1 + 1 }}"}',
        "--var",
        "given=a=b",
        "--conn",
        "shop=postgres://me:p%2Fw@db:5433/shop",
        FLOW_VAR_FROM_ENV="e",
        FLOW_VAR_GIVEN="overridden",
        FLOW_CONN_OTHER="http://somebody@host",
    )
    assert "conf {{ 1 + 1 }} param 1" in ended.err
    assert "var a=b e\n" in ended.err
    assert "now changed none" in ended.err
    assert "conn db p/w somebody" in ended.err
    assert "e 5433 1\n" in ended.err


def test_exports_and_settings_stand_in_for_the_store(
    write: Write, rehearse: Rehearse, project: Path
) -> None:
    """What is typed comes before a file, then the environment, and last `flow.toml`."""
    (project / "flow.toml").write_text(
        "[test.variables]\na = 1\nb = 1\nc = 1\nd = { k = 1 }\n[test.connections]\n"
        "a = 'http://settings'\nb = 'http://settings'\nc = 'http://settings'\n"
        "d = { conn_type = 'http', host = 'settings' }\n"
    )
    exported = {"value": "file", "description": "d"}
    (project / "vars.json").write_text(json.dumps({"a": exported, "b": "file"}))
    one = {"conn_type": "http", "host": "file"}
    (project / "conns.json").write_text(json.dumps({"a": one, "b": one}))
    write(
        """
        @task
        def read():
            print("vars", *(Variable.get(key) for key in "abcd"))
            print("conns", *(Connection.get(key).host for key in "abcd"))
            Variable.set("d", "changed")
            print("now", Variable.get("d"))
        read()
        """
    )
    typed = ("--var", "a=typed", "--conn", "a=http://typed")
    files = ("--vars", "vars.json", "--conns", "conns.json")
    environment = {"FLOW_VAR_B": "env", "FLOW_VAR_C": "env"}
    environment |= {"FLOW_CONN_B": "http://env", "FLOW_CONN_C": "http://env"}
    _, ended = rehearse(*typed, *files, **environment)
    assert 'vars typed file env {"k": 1}\n' in ended.err
    assert "conns typed file env settings\n" in ended.err
    assert "now changed\n" in ended.err


def test_a_missing_variable_fails_its_task(write: Write, rehearse: Rehearse) -> None:
    write("BashOperator(task_id='a', bash_command='echo {{ var.value.nowhere }}')")
    result, _ = rehearse(code=1)
    assert "nowhere" in task(result, "a")["reason"]


def test_the_date_chooses_the_interval(write: Write, rehearse: Rehearse, flow: Run) -> None:
    write(
        "BashOperator(task_id='a', bash_command='echo {{ ds }} {{ data_interval_end }}')",
        arguments="schedule='@daily', start_date=datetime(2026, 1, 1)",
    )
    result, ended = rehearse("--date", "2026-10-09")
    assert result["run_id"] == "manual__2026-10-09T00:00:00+00:00"
    assert result["data_interval_end"] == "2026-10-10T00:00:00Z"
    assert "2026-10-09 2026-10-10" in ended.err
    refused = flow("test", "d.py", "--date", "2026-10-09T06:00")
    assert refused.code == 2
    assert "2026-10-09T00:00:00+00:00 and 2026-10-10T00:00:00+00:00" in refused.err


def test_without_a_date_the_latest_complete_interval(write: Write, rehearse: Rehearse) -> None:
    write(
        "EmptyOperator(task_id='a')",
        arguments="schedule='@hourly', start_date=datetime(2026, 1, 1)",
    )
    result, _ = rehearse()
    assert result["logical_date"] == result["data_interval_start"]
    assert result["data_interval_end"] <= result["started_at"]


def test_a_selection_keeps_the_order_over_gaps(write: Write, rehearse: Rehearse) -> None:
    write(
        """
        a, b, c, d = [BashOperator(task_id=name, bash_command="true") for name in "abcd"]
        a >> b >> c >> d
        """
    )
    result, _ = rehearse("-t", "a,c")
    assert states(result) == {"a": "success", "c": "success"}
    assert task(result, "a")["ended_at"] <= task(result, "c")["started_at"]
    result, _ = rehearse("-t", "c+")
    assert states(result) == {"c": "success", "d": "success"}


def test_modules_are_found_from_the_dag_folder(project: Path, flow: Run) -> None:
    (project / "dags" / "team").mkdir(parents=True)
    (project / "dags" / "shared.py").write_text("WORD = 'shared word'\n")
    (project / "dags" / "team" / "x.py").write_text(
        HEAD
        + "from shared import WORD\nwith DAG('x'):\n"
        + "    BashOperator(task_id='a', bash_command=f'echo {WORD}')\n"
    )
    (project / "flow.toml").write_text("[dags]\nfolders = ['dags']\n")
    ended = flow("test", "dags/team/x.py")
    assert ended.code == 0, ended.err
    assert "shared word" in ended.err


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("x = (\n", "d.py, line 1: SyntaxError"),
        ("\n\n1 / 0\n", "d.py, line 3: ZeroDivisionError"),
        ("import os\nos._exit(3)\n", "exit code 3"),
    ],
)
def test_a_file_that_cannot_be_imported(write: Write, flow: Run, body: str, words: str) -> None:
    write(body, whole=True)
    ended = flow("test", "d.py")
    assert ended.code == 1
    assert words in ended.err
    assert ended.out == ""


def test_an_import_that_takes_too_long(write: Write, flow: Run) -> None:
    write("import time\ntime.sleep(600)\n", whole=True)
    ended = flow("test", "d.py", FLOW_PARSE_TIMEOUT="0.3")
    assert ended.code == 1
    assert "took longer than 0.3 s" in ended.err


def test_the_dag_is_named_when_there_are_several(write: Write, flow: Run) -> None:
    write(
        HEAD + "for name in ('sales', 'stock'):\n    with DAG(name): EmptyOperator(task_id='a')\n",
        whole=True,
    )
    assert flow("test", "d.py:stock").code == 0
    several = flow("test", "d.py")
    assert several.code == 2
    assert "sales, stock" in several.err
    misspelt = flow("test", "d.py:sale")
    assert misspelt.code == 3
    assert "did you mean sales?" in misspelt.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nowhere.py"], 3, "there is no file nowhere.py"),
        (["."], 2, "is not a file"),
        (["d.py", "--conf", "[1]"], 2, "not a JSON object"),
        (["d.py", "--var", "x"], 2, "KEY=VALUE"),
        (["d.py", "--conn", "postgres://me:secret@db"], 2, "has no id"),
        (["d.py", "--conn", "c=me:secret@db"], 2, "'c'"),
        (["d.py", "--pool", "small"], 2, "write --pool NAME=SLOTS"),
        (["d.py", "--vars", "nowhere.json"], 2, "nowhere.json cannot be read"),
        (["d.py", "--conns", "d.py"], 2, "the file of connections is not JSON"),
        (["d.py", "-t", "b"], 3, "has no task 'b'"),
        (["d.py", "--date", "soon"], 2, "is not a date"),
    ],
)
def test_what_cannot_be_meant(
    write: Write, flow: Run, arguments: list[str], code: int, words: str
) -> None:
    write("EmptyOperator(task_id='a')")
    ended = flow("test", *arguments, "-o", "json")
    assert ended.code == code
    assert words in ended.err
    assert "secret" not in ended.err
    assert ended.out == ""
    assert "error" in json.loads(ended.err.splitlines()[-1])


def test_raw_bytes_do_not_reach_the_terminal(write: Write, flow: Run) -> None:
    write(
        r"""
        @task
        def noisy():
            out = sys.stdout.buffer
            out.write(b"\x1b[31mred\x1b[0m \xff\x00\n 10%\r 20%\r100%\nno end")
            out.flush()
        noisy()
        """
    )
    ended = flow("test", "d.py")
    assert ended.code == 0
    assert "\x1b" not in ended.err
    lines = [line.partition("│ ")[2] for line in ended.err.splitlines()]
    assert r"\x1b[31mred\x1b[0m \xff\x00" in lines
    assert lines[lines.index(" 10%") :][:3] == [" 10%", " 20%", "100%"]
    assert any(line.startswith("no end") for line in lines)


def test_ctrl_c_ends_every_process(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    write(
        """
        @task
        def sleeper():
            import subprocess
            child = subprocess.Popen(["sleep", "600"], start_new_session=True)
            print("sleeping", os.getpid(), child.pid, flush=True)
            time.sleep(600)
        sleeper() >> EmptyOperator(task_id="after")
        """
    )
    command = [*COMMAND, "test", "d.py", "-o", "json"]
    with subprocess.Popen(
        command,
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        pids = next(line.split()[-2:] for line in process.stderr if "sleeping" in line)
        process.send_signal(signal.SIGINT)
        result = json.load(process.stdout)
        process.stderr.read()
    assert process.returncode == 130
    assert states(result) == {"sleeper": "failed", "after": "none"}
    assert task(result, "sleeper")["reason"] == "interrupted"
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)


def test_no_driver_is_loaded(write: Write, environment: dict[str, str], project: Path) -> None:
    write("BashOperator(task_id='a', bash_command='true')")
    check = (
        "import sys; from flow_cli.application import main; code = main(['test', 'd.py']);"
        "print(code, *sorted({'psycopg', 'sqlalchemy', 'cryptography'} & sys.modules.keys()))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", check],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=True,
    )
    assert ended.stdout.splitlines()[-1] == "0"
