"""How a try ends, whatever its code does, and what the supervisor is told of it."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from flow.authoring.runtime import FoundXCom
from flow.errors import ProtocolError
from flow.process.jobs import TaskJob
from flow.process.messages import Outcome, PullXCom
from flow.process.task import run_task
from support.jobs import Child, Ended, SocketLine, dag_file, run, run_info, task_job
from support.runtime import MemoryRuntime
from waiting import wait_until


def try_task(folder: Path, body: str, **given: Any) -> Ended:
    """Run task `t` of a DAG whose body is `body`."""
    memory = given.pop("memory", None)
    environment = given.pop("environment", None)
    job = task_job(dag_file(folder, body), **given)
    return run(run_task, job, Path(job.log), memory=memory, environment=environment)


def function(*lines: str, decorator: str = "@task") -> str:
    """A DAG body with one task `t` of these lines."""
    return "\n".join([decorator, "def t():", *(f"    {line}" for line in lines), "t()"])


@pytest.mark.parametrize(
    ("line", "state", "reason"),
    [
        ("return 1", "success", None),
        ("sys.exit(0)", "success", None),
        ("sys.exit()", "success", None),
        ("exit(0)", "success", None),
        ("sys.exit(3)", "failed", "exit code 3"),
        ("sys.exit('two\\nlines')", "failed", "exit code 1: two lines"),
        ("exit(4)", "failed", "exit code 4"),
        ("raise KeyboardInterrupt", "failed", "KeyboardInterrupt"),
        ("os.kill(os.getpid(), signal.SIGINT); time.sleep(60)", "failed", "KeyboardInterrupt"),
        ("raise ValueError('no\\ngood')", "failed", "ValueError: no good"),
        ("raise AirflowSkipException('empty')", "skipped", "empty"),
        ("raise AirflowFailException('never')", "failed", "FailException: never"),
        ("raise GeneratorExit", "failed", "GeneratorExit"),
        ("return lambda: 1", "failed", "InvalidXCom: task 't' cannot push XCom 'return_value'"),
    ],
)
def test_how_a_function_ends(tmp_path: Path, line: str, state: str, reason: str | None) -> None:
    ended = try_task(tmp_path, function(line))
    assert (ended.exit_code, ended.outcome.state) == (0, state), ended.log
    assert (ended.outcome.reason or "")[: len(reason or "")] == (reason or "")
    assert ended.outcome.retry is ("never" not in line)
    assert ended.outcome.value == ("1" if line == "return 1" else None)
    assert ended.outcome.code_hash is not None
    assert 0 < ended.outcome.ended <= time.monotonic()


@pytest.mark.parametrize(
    ("line", "exit_code", "by_signal"),
    [
        ("os._exit(0)", 0, None),
        ("os._exit(3)", 3, None),
        ("os.kill(os.getpid(), signal.SIGSEGV)", None, signal.SIGSEGV),
    ],
)
def test_a_death_reports_nothing(
    tmp_path: Path, line: str, exit_code: int | None, by_signal: int | None
) -> None:
    ended = try_task(tmp_path, function(line))
    assert (ended.reports, ended.exit_code, ended.signal) == ([], exit_code, by_signal)


@pytest.mark.parametrize(
    ("command", "state"),
    [("exit 99", "skipped"), ("false; true", "success"), ("exit 1", "failed")],
)
def test_how_a_command_ends(tmp_path: Path, command: str, state: str) -> None:
    body = f"BashOperator(task_id='t', bash_command='{command}')"
    ended = try_task(tmp_path, body)
    assert ended.outcome.state == state
    assert ended.outcome.reason or state == "success"


def test_a_command_knows_its_try(tmp_path: Path) -> None:
    body = "BashOperator(task_id='t', owner='me', bash_command='env | grep ^FLOW_CTX | sort')"
    log = try_task(tmp_path, body, try_number=2).log
    assert [line for line in log.splitlines() if line.startswith("FLOW_CTX")] == [
        "FLOW_CTX_DAG_ID=daily",
        "FLOW_CTX_DAG_OWNER=me",
        "FLOW_CTX_LOGICAL_DATE=2026-10-09T00:00:00+00:00",
        "FLOW_CTX_RUN_ID=scheduled__2026-10-09T00:00:00+00:00",
        "FLOW_CTX_TASK_ID=t",
        "FLOW_CTX_TRY_NUMBER=2",
    ]


def test_the_log(tmp_path: Path) -> None:
    ended = try_task(
        tmp_path,
        """
        import logging
        @task
        def t():
            print("printed ü \\udc80")
            logging.getLogger("mine").info("said %s", "ü")
            logging.getLogger("mine").debug("not said")
            assert sys.stdin.read() == ""
            raise ValueError("broken") from KeyError("deep")
        t()
        """,
        environment={"LC_ALL": "C", "PYTHONIOENCODING": ""},
    )
    lines = ended.log.splitlines()
    assert lines[0] == "printed ü \\udc80"
    stamp = r"\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00\]"
    assert re.fullmatch(f"{stamp} INFO mine - said ü", lines[1])
    assert re.fullmatch(f"{stamp} ERROR flow.task - Task failed", lines[2])
    assert lines[3:] == [
        "KeyError: 'deep'",
        "",
        "The above exception was the direct cause of the following exception:",
        "",
        "Traceback (most recent call last):",
        f'  File "{tmp_path / "daily.py"}", line 20, in t',
        '    raise ValueError("broken") from KeyError("deep")',
        "ValueError: broken",
    ]


RECORDING = """
def note(name):
    def call(context):
        reason, error = context.get("reason"), context.get("exception")
        print("CALLED", name, context["ti"].task_id, reason, type(error).__name__)
    return call
def broken(context):
    raise SystemExit(5)
calls = {f"on_{kind}_callback": [broken, note(kind)]
         for kind in ("execute", "success", "failure", "retry", "skipped")}
@task(**calls)
def t():
    LINE
    return 1
t()
"""


@pytest.mark.parametrize(
    ("line", "try_number", "max_tries", "called"),
    [
        ("pass", 1, 1, "success t None NoneType"),
        ("sys.exit(0)", 1, 1, "success t None NoneType"),
        ("raise ValueError('x')", 1, 1, "failure t ValueError: x ValueError"),
        ("raise ValueError('x')", 1, 2, "retry t ValueError: x ValueError"),
        ("raise ValueError('x')", 2, 2, "failure t ValueError: x ValueError"),
        ("sys.exit(3)", 1, 2, "retry t exit code 3 SystemExit"),
        ("raise AirflowFailException('x')", 1, 2, "failure t FailException: x FailException"),
        ("raise AirflowSkipException", 1, 2, "skipped t None SkipException"),
    ],
)
def test_callbacks(tmp_path: Path, line: str, try_number: int, max_tries: int, called: str) -> None:
    body = RECORDING.replace("LINE", line)
    ended = try_task(tmp_path, body, try_number=try_number, max_tries=max_tries)
    calls = [text[7:] for text in ended.log.splitlines() if text.startswith("CALLED")]
    assert calls == ["execute t None NoneType", called]
    assert ended.log.count("Callback broken failed") == 2
    assert ended.outcome.state == called.split()[0].replace("retry", "failed").replace(
        "failure", "failed"
    )


def test_a_try_that_does_not_count_any_more_calls_nobody_back(tmp_path: Path) -> None:
    memory = MemoryRuntime(still_counts=False)
    body = RECORDING.replace("LINE", "raise ValueError('x')")
    ended = try_task(tmp_path, body, memory=memory)
    calls = [text[7:] for text in ended.log.splitlines() if text.startswith("CALLED")]
    assert calls == ["execute t None NoneType"]
    assert ended.outcome.state == "failed"


def test_a_success_callback_can_pull_the_result(tmp_path: Path) -> None:
    memory = MemoryRuntime()
    ended = try_task(
        tmp_path,
        """
        def pull(context):
            print("PULLED", context["ti"].xcom_pull())
        @task(on_success_callback=pull)
        def t():
            return (1, 2)
        t()
        """,
        memory=memory,
    )
    assert "PULLED (1, 2)" in ended.log
    assert ended.outcome.value is None
    assert list(memory.pushed) == ["return_value"]


def test_values_travel_between_tasks_unrendered(tmp_path: Path) -> None:
    memory = MemoryRuntime(
        xcoms=[("return_value", FoundXCom("source", (), '{"day": "{{ ds }}"}'))],
        variables={"v": "text"},
    )
    ended = try_task(
        tmp_path,
        """
        from flow import Variable, get_current_context
        @task
        def source(): ...
        @task
        def t(value, day, *, ds, ti, missing=5, **rest):
            ti.xcom_push("extra", {1})
            assert get_current_context()["ti"] is ti
            assert rest["prev_start_date_success"] is None
            return [value, day, ds, missing, Variable.get("v"), ti.stamps.received > 0]
        t(source(), "{{ ds_nodash }}")
        """,
        memory=memory,
    )
    assert ended.outcome.value == (
        '[{"day": "{{ ds }}"}, "20261009", "2026-10-09", 5, "text", true]'
    ), ended.log
    assert memory.pushed == {"extra": '{"__flow__": "set", "items": [1]}'}
    assert [type(request).__name__ for request in ended.requests] == [
        "PullXCom",
        "GetPreviousSuccess",
        "PushXCom",
        "GetVariable",
    ]
    assert ended.requests[0] == PullXCom(task_ids=("source",), key="return_value")


def test_outputs_are_pushed_one_by_one(tmp_path: Path) -> None:
    memory = MemoryRuntime()
    body = function("return {'a': 1, 'b': (2,)}", decorator="@task(multiple_outputs=True)")
    ended = try_task(tmp_path, body, memory=memory)
    assert memory.pushed == {"a": "1", "b": '{"__flow__": "tuple", "items": [2]}'}
    assert ended.outcome.value is not None
    for line in ("return 5", "return {1: 2}"):
        outcome = try_task(
            tmp_path, function(line, decorator="@task(multiple_outputs=True)")
        ).outcome
        assert outcome.state == "failed"
        assert "multiple_outputs" in (outcome.reason or "")


def test_nothing_is_pushed_where_nothing_is_to_be(tmp_path: Path) -> None:
    for decorator, line in (("@task", "return None"), ("@task(do_xcom_push=False)", "return 1")):
        ended = try_task(tmp_path, function(line, decorator=decorator))
        assert ended.outcome.value is None
        assert ended.requests == []


def test_a_result_over_the_limit_fails_the_task(tmp_path: Path) -> None:
    ended = try_task(tmp_path, function("return 'x' * 99"), xcom_limit=100)
    assert "101 bytes of JSON, and the limit is 100" in (ended.outcome.reason or "")


def test_a_result_that_no_message_can_carry_fails_the_task(tmp_path: Path) -> None:
    class Narrow:
        """A line that carries no large message."""

        def __init__(self, line: SocketLine) -> None:
            self.ask = line.ask
            self._line = line

        def send(self, message: Outcome) -> None:
            if message.value:
                raise ProtocolError("a message of 99 bytes is larger than the limit of 9 bytes")
            self._line.send(message)

    def serve(job: TaskJob, line: SocketLine, *, received: float) -> None:
        run_task(job, Narrow(line), received=received)

    job = task_job(dag_file(tmp_path, function("return 'x' * 99")))
    outcome = run(serve, job, Path(job.log)).outcome
    assert outcome.state == "failed"
    assert "the return value cannot be sent: a message of 99" in (outcome.reason or "")


def test_branches_report_what_they_skip(tmp_path: Path) -> None:
    body = """
        @task.branch
        def t():
            return "b"
        @task
        def a(): ...
        @task
        def b(): ...
        t() >> [a(), b()]
        """
    outcome = try_task(tmp_path, body).outcome
    assert (outcome.state, outcome.skips, outcome.value) == ("success", ("a",), '"b"')
    outcome = try_task(tmp_path, body.replace('"b"', '"c"')).outcome
    assert outcome.state == "failed"
    assert "branch chose 'c'" in (outcome.reason or "")


def test_a_template_that_fails_fails_the_task(tmp_path: Path) -> None:
    body = "BashOperator(task_id='t', bash_command='echo', env={'a': '{{ nothing }}'})"
    reason = try_task(tmp_path, body).outcome.reason or ""
    assert "field env['a']: {{ nothing }}: 'nothing' is undefined" in reason


def test_hooks_run_around_execute(tmp_path: Path) -> None:
    ended = try_task(
        tmp_path,
        """
        def before(context): print("BEFORE", context["ds"])
        def after(context, result): print("AFTER", result)
        PythonOperator(task_id="t", python_callable=lambda: print("DURING") or 7,
                       pre_execute=before, post_execute=after)
        """,
    )
    order = [line.split()[0] for line in ended.log.splitlines() if line[0].isupper()]
    assert order == ["BEFORE", "DURING", "AFTER"]


class TestCodeThatIsNotThere:
    def test_file(self, tmp_path: Path) -> None:
        job = task_job(tmp_path / "gone.py")
        outcome = run(run_task, job, Path(job.log)).outcome
        assert outcome.missing
        assert (outcome.reason or "").startswith("code_missing: file ")

    def test_dag_and_task(self, tmp_path: Path) -> None:
        reason = try_task(tmp_path, function("pass"), task_id="gone").outcome.reason or ""
        assert reason.startswith("code_missing: task 'gone'")
        other = run_info(dag_id="gone")
        reason = try_task(tmp_path, function("pass"), run=other).outcome.reason or ""
        assert reason.startswith("code_missing: DAG 'gone'")

    @pytest.mark.parametrize("line", ["1 / 0", "sys.exit(0)", "raise KeyboardInterrupt", "("])
    def test_file_that_cannot_be_imported(self, tmp_path: Path, line: str) -> None:
        outcome = try_task(tmp_path, line).outcome
        assert outcome.state == "failed"
        assert (outcome.reason or "").startswith(f"cannot import {tmp_path / 'daily.py'}: ")


class TestStops:
    def start(self, folder: Path, body: str) -> tuple[Child, Path]:
        job = task_job(dag_file(folder, body))
        child = Child(run_task, job, Path(job.log))
        try:
            self.await_line(Path(job.log), "READY")
        except AssertionError:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
            raise
        return child, Path(job.log)

    def await_line(self, log: Path, text: str) -> None:
        wait_until(lambda: log.exists() and text in log.read_text(), text, pause=0.005)

    OPERATOR = """
    class Slow(BaseOperator):
        def execute(self, context):
            try:
                print("READY")
                while True:
                    try:
                        time.sleep(60)
                    except Exception:
                        print("SWALLOWED")
            finally:
                print("FINALLY")
        def on_kill(self):
            print("ON_KILL")
            EXTRA
    def never(context):
        print("CALLBACK")
    Slow(task_id="t", on_failure_callback=never, on_success_callback=never)
    """

    def stop(self, folder: Path, extra: str = "pass", change: tuple[str, str] = ("", "")) -> Ended:
        child, _ = self.start(folder, self.OPERATOR.replace("EXTRA", extra).replace(*change))
        os.kill(child.pid, signal.SIGTERM)
        return child.wait()

    def test_on_kill_then_finally_then_death_by_the_signal(self, tmp_path: Path) -> None:
        ended = self.stop(tmp_path)
        assert (ended.reports, ended.signal) == ([], signal.SIGTERM)
        assert re.findall("[A-Z_]{5,}", ended.log.replace("WARNING", "")) == [
            "READY",
            "SIGTERM",
            "ON_KILL",
            "FINALLY",
        ]

    def test_a_second_signal_does_not_call_on_kill_again(self, tmp_path: Path) -> None:
        ended = self.stop(tmp_path, "os.kill(os.getpid(), signal.SIGTERM); time.sleep(0.01)")
        assert ended.log.count("ON_KILL") == 1
        assert ended.signal == signal.SIGTERM

    def test_an_on_kill_that_fails_is_logged(self, tmp_path: Path) -> None:
        ended = self.stop(tmp_path, "raise SystemExit(0)")
        assert "on_kill failed" in ended.log
        assert ended.signal == signal.SIGTERM

    def test_an_on_kill_that_hangs_is_cut_short(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("flow.process.stop.ON_KILL_SECONDS", 0.05)
        monkeypatch.setattr("flow.process.stop.Stop.__init__.__defaults__", (0.05,))
        ended = self.stop(tmp_path, "time.sleep(60)")
        assert "on_kill did not end within 0.05 s" in ended.log
        assert ended.signal == signal.SIGTERM

    def test_code_that_swallows_everything_dies_all_the_same(self, tmp_path: Path) -> None:
        swallow = (
            'except Exception:\n                        print("SWALLOWED")',
            "except BaseException:\n                        return 1",
        )
        ended = self.stop(tmp_path, change=swallow)
        assert (ended.reports, ended.signal) == ([], signal.SIGTERM)
        assert "CALLBACK" not in ended.log

    def test_a_command_is_told(self, tmp_path: Path) -> None:
        command = "trap 'echo TRAPPED; exit 1' TERM; echo READY; sleep 60 & wait"
        child, _ = self.start(tmp_path, f'BashOperator(task_id="t", bash_command="{command}")')
        os.kill(child.pid, signal.SIGTERM)
        ended = child.wait()
        assert ended.signal == signal.SIGTERM, ended.log

    def test_a_command_that_its_operator_does_not_know_yet_is_told(self, tmp_path: Path) -> None:
        """SIGTERM strikes after the command has begun and before `Popen` returns."""
        ready = tmp_path / "ready"
        os.mkfifo(ready)
        ended = try_task(
            tmp_path,
            f"""
            import subprocess
            begin = subprocess.Popen.__init__
            def begin_and_stop(process, *arguments, **named):
                begin(process, *arguments, **named)
                open("{ready}").read()  # a fifo: this waits for the trap
                os.kill(os.getpid(), signal.SIGTERM)
            subprocess.Popen.__init__ = begin_and_stop
            command = "trap 'echo TRAPPED; exit 1' TERM; echo > {ready}; sleep 60 & wait"
            BashOperator(task_id="t", bash_command=command)
            """,
        )
        assert (ended.reports, ended.signal) == ([], signal.SIGTERM), ended.log
        assert "TRAPPED" in ended.log

    def test_a_stop_during_the_import(self, tmp_path: Path) -> None:
        child, _ = self.start(tmp_path, "print('READY', flush=True)\ntime.sleep(60)")
        os.kill(child.pid, signal.SIGTERM)
        ended = child.wait()
        assert (ended.reports, ended.signal) == ([], signal.SIGTERM)

    def test_a_process_pool_of_the_task_ends_as_usual(self, tmp_path: Path) -> None:
        ended = try_task(
            tmp_path,
            """
            class Pooled(BaseOperator):
                def execute(self, context):
                    child = os.fork()
                    if child == 0:
                        time.sleep(60)
                    os.kill(child, signal.SIGTERM)
                    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                def on_kill(self):
                    print("ON_KILL")
            Pooled(task_id="t")
            """,
        )
        assert ended.outcome.value == str(-signal.SIGTERM)
        assert "ON_KILL" not in ended.log
