"""A zygote whose jobs do what the tests need. Run like `flow.process.zygote_main`.

A task job's task id names a function below; the run's conf is what it is called with.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any, NoReturn

from flow.errors import ProtocolError
from flow.process import zygote
from flow.process.channel import Channel
from flow.process.jobs import ParseJob, TaskJob
from flow.process.messages import Finished, GetVariable, Outcome, PushXCom, Value

ENTRIES = {TaskJob: "__main__:run_task", ParseJob: "__main__:run_parse"}


def run_task(job: TaskJob, line: Channel, *, received: float) -> None:
    globals()[job.task_id](job, line, received, **json.loads(job.run.conf))


def run_parse(job: ParseJob, line: Channel, *, received: float) -> None:
    raise SystemExit(f"cannot parse {job.file}")


def success(line: Channel, value: object = None) -> None:
    line.send(Outcome(state="success", value=json.dumps(value)))


def announce(path: str) -> None:
    """Leave a file that holds the own pid: written beside and renamed, never seen half written."""
    draft = Path(f"{path}.draft")
    draft.write_text(str(os.getpid()))
    draft.rename(path)


def forever() -> NoReturn:
    while True:
        signal.pause()


# ── what jobs do ─────────────────────────────────────────────────────────────────────────────────


def nothing(job: TaskJob, line: Channel, received: float) -> None:
    success(line, [received, time.monotonic()])


def circumstances(job: TaskJob, line: Channel, received: float) -> None:
    descriptors = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            descriptors[name] = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            pass  # the one that listed the folder
    success(
        line,
        {
            "pid": os.getpid(),
            "session": os.getsid(0),
            "descriptors": descriptors,
            "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
            "term": str(signal.getsignal(signal.SIGTERM)),
            "interrupt": str(signal.getsignal(signal.SIGINT)),
            "oom": Path("/proc/self/oom_score_adj").read_text().strip(),
            "environ": dict(os.environ),
            "threads": threading.active_count(),
            "modules": sorted(sys.modules),
            "uid": os.getuid(),
            "groups": os.getgroups(),
        },
    )


def output(job: TaskJob, line: Channel, received: float) -> None:
    print("to stdout")
    subprocess.run(["sh", "-c", "echo from a command >&2"], check=True)
    print("to stderr", file=sys.stderr)
    success(line)


def leave(job: TaskJob, line: Channel, received: float, how: str, code: Any = None) -> None:
    if how == "exit":
        sys.exit(code)
    elif how == "_exit":
        os._exit(code)
    elif how == "signal":
        os.kill(os.getpid(), code)
    elif how == "raise":
        raise KeyboardInterrupt
    elif how == "temporary":
        import tempfile

        folder = tempfile.TemporaryDirectory()
        globals()["kept"] = folder
        success(line, folder.name)


def ask(job: TaskJob, line: Channel, received: float) -> None:
    answer = line.ask(GetVariable(key="colour"))
    assert isinstance(answer, Value)
    success(line, answer.value)


def ask_from_threads(job: TaskJob, line: Channel, received: float, threads: int) -> None:
    answers: dict[str, str] = {}

    def one(key: str) -> None:
        for _ in range(20):
            answer = line.ask(GetVariable(key=key))
            assert isinstance(answer, Value)
            assert answer.value == key, (answer.value, key)
        answers[key] = answer.value

    crowd = [threading.Thread(target=one, args=(f"key-{n}",)) for n in range(threads)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    success(line, len(answers))


def ask_from_fork(job: TaskJob, line: Channel, received: float) -> None:
    pid = os.fork()
    if pid == 0:
        try:
            line.ask(GetVariable(key="colour"))
        except ProtocolError:
            os._exit(3)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    success(line, os.waitstatus_to_exitcode(status))


def oversize(job: TaskJob, line: Channel, received: float, size: int) -> None:
    try:
        line.ask(PushXCom(key="big", value="x" * size))
    except ProtocolError as error:
        success(line, error.message)


def raw(job: TaskJob, line: Channel, received: float, text: str, mark: str) -> None:
    """Write bytes on the line past the channel, then wait for ever."""
    success(line)
    os.write(line.fileno(), bytes.fromhex(text))
    announce(mark)
    forever()


def flood(job: TaskJob, line: Channel, received: float, mark: str) -> None:
    """Send requests for ever and read no answer."""
    announce(mark)
    while True:
        line.send(GetVariable(key="k" * 200))


def sleep(job: TaskJob, line: Channel, received: float, mark: str) -> None:
    announce(mark)
    forever()


def polite(job: TaskJob, line: Channel, received: float, mark: str) -> None:
    """End at SIGTERM, with a word on it."""

    def on_kill(number: int, frame: object) -> None:
        line.send(Outcome(state="failed", reason="on_kill ran"))
        sys.exit(1)

    signal.signal(signal.SIGTERM, on_kill)
    announce(mark)
    forever()


def stubborn(job: TaskJob, line: Channel, received: float, mark: str) -> None:
    """Ignore SIGTERM, with a child of the same kind."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(["sh", "-c", "trap '' TERM; while :; do sleep 1000; done"])
    announce(mark)
    forever()


def busy_in_c(job: TaskJob, line: Channel, received: float, mark: str) -> None:
    """Hold the interpreter in C, where no Python signal handler can run."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    announce(mark)
    deque(itertools.repeat(None), maxlen=0)


def leave_session(job: TaskJob, line: Channel, received: float, mark: str) -> None:
    """End well, and leave a process in a session of its own."""
    script = f"echo $$ > {mark}.draft; mv {mark}.draft {mark}; exec sleep 1000"
    subprocess.Popen(["sh", "-c", script], start_new_session=True)
    while not os.path.exists(mark):
        time.sleep(0.001)
    success(line)


def leave_daemons(
    job: TaskJob, line: Channel, received: float, mark: str, count: int, stay: bool = False
) -> None:
    """Leave daemons as daemon(7) makes them: fork, setsid, fork, without a marked environment."""
    for number in range(count):
        place = f"{mark}.{number}"
        script = f"echo $$ > {place}.draft; mv {place}.draft {place}; exec sleep 1000"
        middle = os.fork()
        if middle == 0:
            os.setsid()
            if os.fork() == 0:
                os.execve("/bin/sh", ["sh", "-c", script], {"PATH": os.environ["PATH"]})
            os._exit(0)
        os.waitpid(middle, 0)
    while not all(os.path.exists(f"{mark}.{number}") for number in range(count)):
        time.sleep(0.001)
    success(line)
    if stay:
        announce(mark)
        forever()


def breed(job: TaskJob, line: Channel, received: float, mark: str) -> None:
    """Leave a family in which every process keeps forking another one and then ends.

    Each is in a session of its own and says its name in the environment that it got at its exec.
    """
    script = 'sleep 0.01; setsid sh -c "$0" "$0" & exit'
    environ = {"PATH": os.environ["PATH"], "FLOW_BREED": mark}
    for _ in range(3):
        subprocess.Popen(["setsid", "sh", "-c", script, script], env=environ)
    time.sleep(0.1)
    success(line)


def pool(job: TaskJob, line: Channel, received: float) -> None:
    """Children that end well, by the hand of multiprocessing, and one that is killed."""
    with multiprocessing.get_context("fork").Pool(2) as workers:
        squares = workers.map(abs, range(-4, 0))
    victim = subprocess.Popen(["sleep", "1000"])
    victim.kill()
    success(line, [squares, victim.wait()])


def leave_thread(job: TaskJob, line: Channel, received: float) -> None:
    """End well, with a thread that would go on for ever."""
    threading.Thread(target=forever, daemon=True).start()
    success(line)


def leave_zombie(job: TaskJob, line: Channel, received: float) -> None:
    """End well, without having waited for a child that is dead."""
    pid = os.fork()
    if pid == 0:
        os._exit(3)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    success(line)


def fail(job: TaskJob, line: Channel, received: float) -> None:
    line.send(Outcome(state="failed", reason="as it should"))


def busy_child(job: TaskJob, line: Channel, received: float, size: int) -> None:
    """Use up time and memory in a child that is waited for."""
    pid = os.fork()
    if pid == 0:
        kept = b"x" * size
        began = time.process_time()
        while time.process_time() - began < 0.2:
            pass
        os._exit(len(kept) == 0)
    success(line, os.waitpid(pid, 0)[1])


def claim_finished(job: TaskJob, line: Channel, received: float, mark: str, **said: Any) -> None:
    """Say a last word that is not true, and stay."""
    success(line)
    line.send(Finished(**said))
    announce(mark)
    forever()


def memory(job: TaskJob, line: Channel, received: float, size: int) -> None:
    kept = b"x" * size
    began = time.process_time()
    while time.process_time() - began < 0.2:
        pass
    success(line, len(kept))


if __name__ == "__main__":
    zygote.main(sys.argv[1:], ENTRIES, ("json", "logging", "subprocess", "multiprocessing"))
