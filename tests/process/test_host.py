"""A host, its zygote and the jobs: the ways that go well, and the account of those that do not."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flow.process import tree
from flow.process.events import ChildMessage, JobGone, JobStarted, ZygoteReady
from flow.process.jobs import ParseJob
from flow.process.messages import GetVariable, Outcome, Value


def test_a_job_reports_its_result(watched: Any) -> None:
    job_id = watched.start("nothing")
    ended = watched.end_of(job_id)
    assert isinstance(ended.result, Outcome)
    assert (ended.result.state, ended.exit_code, ended.signal, ended.killed) == (
        "success",
        0,
        None,
        None,
    )
    assert watched.host.jobs == frozenset()


def test_the_zygote_tells_its_pid(watched: Any) -> None:
    assert watched.wait_for(ZygoteReady).pid == watched.host.zygote


@pytest.mark.parametrize("spare", [0, 1, 3])
def test_each_job_has_a_process_of_its_own(make_host: Any, spare: int) -> None:
    watched = make_host(spare=spare)
    jobs = [watched.start("nothing") for _ in range(12)]
    for job_id in jobs:
        assert watched.end_of(job_id).exit_code == 0
    pids = {watched.pid_of(job_id) for job_id in jobs}
    assert len(pids) == 12


def test_a_child_starts_without_ties(watched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = watched.start("circumstances", env={"FLOW_TRY": "seven"})
    seen = watched.value_of(job_id)
    assert seen["session"] == seen["pid"] == watched.pid_of(job_id)
    log = str(watched.folder / "logs" / "circumstances.log")
    assert seen["descriptors"].pop("0") == "/dev/null"
    assert seen["descriptors"].pop("1") == seen["descriptors"].pop("2") == log
    assert [kind.partition(":")[0] for kind in seen["descriptors"].values()] == ["socket"]
    assert (seen["blocked"], seen["threads"]) == ([], 1)
    assert seen["term"] == str(signal.SIG_DFL)
    assert seen["oom"] == "500"
    assert seen["environ"]["FLOW_TRY"] == "seven"
    loaded = {name.partition(".")[0] for name in seen["modules"]}
    assert not loaded & {"sqlalchemy", "psycopg", "typer", "rich", "textual"}


def test_a_try_begins_its_log_and_sets_aside_what_is_there(watched: Any) -> None:
    watched.end_of(watched.start("output"))
    log = watched.folder / "logs" / "output.log"
    said = log.read_text()
    assert "to stdout" in said
    for _ in range(2):
        assert watched.end_of(watched.start("output")).result.state == "success"
    kept = [log.with_name(f"output.earlier-run-{number}.log") for number in (1, 2)]
    assert sorted(log.parent.iterdir()) == sorted([log, *kept])
    assert {path.read_text() for path in log.parent.iterdir()} == {said}


def test_a_log_that_cannot_be_set_aside_is_shared_and_says_so(watched: Any) -> None:
    job = watched.job("output")
    log = watched.folder / ("x" * 250)  # a file beside it has no room for its name
    log.write_text("the beginning of a line")
    job_id = watched.host.start(msgspec.structs.replace(job, log=str(log)))
    assert watched.end_of(job_id).result.state == "success"
    first, second, *rest = log.read_text().splitlines()
    assert first == "the beginning of a line"
    assert second.startswith("flow: above is the log of an earlier run; it cannot be set aside: ")
    assert "to stdout" in rest


def test_a_child_heeds_signals_that_its_role_ignores(make_host: Callable[..., Any]) -> None:
    """A shell lets what it starts in the background ignore SIGINT."""
    ignored = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, signal.SIG_IGN) for number in ignored]
    try:
        watched = make_host()
    finally:
        for number, handler in zip(ignored, before, strict=True):
            signal.signal(number, handler)
    seen = watched.value_of(watched.start("circumstances"))
    assert seen["interrupt"] == str(signal.default_int_handler)
    assert seen["term"] == str(signal.SIG_DFL)


def test_secrets_stay_with_the_role(
    make_host: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = ("FLOW_DATABASE_URL", "PGPASSWORD", "CREDENTIALS_DIRECTORY", "FLOW_CONN_X", "FLOW_KEY")
    for name in (*secret, "FLOW_VAR_X", "FLOW_KEYS", "NOTIFY_SOCKET"):
        monkeypatch.setenv(name, "secret-value")
    watched = make_host()
    environ = watched.value_of(watched.start("circumstances"))["environ"]
    assert "secret-value" not in environ.values()
    assert environ["FLOW_WORKER"] == f"test-{os.getpid()}"
    assert environ["PATH"] == os.environ["PATH"]
    held = Path(f"/proc/{watched.host.zygote}/environ").read_bytes()
    assert b"secret-value" not in held


def test_output_goes_to_the_log_in_order(watched: Any) -> None:
    watched.end_of(watched.start("output"))
    log = watched.folder / "logs" / "output.log"
    assert log.read_text().splitlines() == ["to stdout", "from a command", "to stderr"]


def test_a_log_that_cannot_be_opened_fails_the_try(watched: Any) -> None:
    (watched.folder / "logs").write_text("a file where the folder should be")
    ended = watched.end_of(watched.start("nothing"))
    assert ended.exit_code == 1
    assert ended.result.state == "failed"
    assert ended.result.reason.startswith("cannot open the log file: ")


@pytest.mark.parametrize(
    ("how", "code", "exit_code", "killed_by"),
    [
        ("exit", None, 0, None),
        ("exit", 3, 3, None),
        ("exit", "a message", 1, None),
        ("_exit", 0, 0, None),
        ("_exit", 3, 3, None),
        ("signal", int(signal.SIGSEGV), None, signal.SIGSEGV),
        ("signal", int(signal.SIGKILL), None, signal.SIGKILL),
        ("raise", None, 1, None),
    ],
)
def test_how_a_child_ended_is_told(
    watched: Any, how: str, code: Any, exit_code: int | None, killed_by: int | None
) -> None:
    ended = watched.end_of(watched.start("leave", how=how, code=code))
    assert (ended.result, ended.exit_code, ended.signal) == (None, exit_code, killed_by)


def test_exit_handlers_run(watched: Any) -> None:
    folder = watched.value_of(watched.start("leave", how="temporary"))
    assert folder and not os.path.exists(folder)


def test_jobs_go_to_the_function_of_their_kind(watched: Any) -> None:
    ended = watched.end_of(watched.host.start(ParseJob(file="dag.py", root=".")))
    assert (ended.result, ended.exit_code) == (None, 1)


def test_use_of_resources_is_told(watched: Any) -> None:
    ended = watched.end_of(watched.start("memory", size=50_000_000))
    assert ended.peak_rss > 50_000_000
    assert 0.2 <= ended.cpu_time < 10


def test_requests_are_answered_while_the_job_runs(watched: Any) -> None:
    job_id = watched.start("ask")
    asked = watched.wait_for(ChildMessage)
    assert asked == ChildMessage(job_id, GetVariable(key="colour"))
    assert job_id in watched.host.jobs
    watched.host.reply(job_id, Value(value="blue"))
    assert watched.value_of(job_id) == "blue"


def test_answers_go_to_the_thread_that_asked(watched: Any) -> None:
    watched.answers = lambda asked: watched.host.reply(asked.job_id, Value(value=asked.message.key))
    assert watched.value_of(watched.start("ask_from_threads", threads=8)) == 8


def test_a_fork_of_the_task_cannot_use_its_line(watched: Any) -> None:
    assert watched.value_of(watched.start("ask_from_fork")) == 3


def test_an_answer_after_the_end_is_no_error(watched: Any) -> None:
    job_id = watched.start("nothing")
    watched.end_of(job_id)
    watched.host.reply(job_id, Value(value="late"))
    watched.host.stop(job_id, 0.0)
    assert watched.end_of(watched.start("nothing")).exit_code == 0


def test_user_children_that_end_are_harmless(watched: Any) -> None:
    assert watched.value_of(watched.start("pool")) == [[4, 3, 2, 1], -signal.SIGKILL]


def test_many_jobs_leak_no_descriptor(watched: Any) -> None:
    def open_descriptors() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), len(os.listdir(f"/proc/{watched.host.zygote}/fd"))

    def at_rest() -> bool:
        """Whether nobody is left but one child that waits for a job."""
        left = [pid for pid in tree.children(watched.host.zygote) if tree.alive(pid)]
        return len(watched.all(JobGone)) == len(watched.all(JobStarted)) and len(left) == 1

    for _ in range(2):  # from the second try of a file on, its memory file is kept
        watched.wait_for(JobGone, job_id=watched.start("nothing"))
    watched.wait_until(at_rest, "a spare child")
    before = open_descriptors()
    for _ in range(25):
        for job_id in [watched.start("nothing") for _ in range(8)]:
            watched.end_of(job_id)
    watched.wait_until(at_rest, "the end of all jobs")
    # What others have forgotten to close may be collected meanwhile.
    watched.wait_until(
        lambda: all(now <= then for now, then in zip(open_descriptors(), before, strict=True)),
        f"no more than {before} descriptors",
    )


def test_close_ends_jobs_and_can_be_called_twice(make_host: Callable[..., Any]) -> None:
    watched = make_host()
    _, pid = watched.start_marked("stubborn")
    watched.host.close()
    watched.host.close()
    assert not os.path.exists(f"/proc/{pid}")
