"""Running one try of one task in the process that was forked for it.

How the try ends, and what the supervisor is told:

    returns                        success, with the value
    SystemExit, code None or 0     success, without a value
    SystemExit, any other code     failed, "exit code 3"; retries apply
    SkipException                  skipped
    FailException                  failed, retries that are left are not used
    anything else raised           failed (also KeyboardInterrupt); retries apply
    os._exit, a deadly signal      nothing: the supervisor sees that no outcome came
    SIGTERM                        nothing: `flow.process.stop`

Callbacks run here, before the outcome is reported, and cannot change it. Whether a failure calls
`on_retry` or `on_failure` depends on the tries that are left.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

# The environment of templates is loaded ahead, so that no child spends time on it.
from flow.authoring import (
    runtime,
    template_environment,  # noqa: F401
)
from flow.authoring.context import Context, active, task_context
from flow.authoring.operator import BaseOperator
from flow.authoring.task_instance import RETURN_VALUE, TaskInstance
from flow.authoring.template import render_fields
from flow.errors import ProtocolError
from flow.exceptions import CommandFailed, FailException, SkipException, TaskException
from flow.operators.skipping import Decider
from flow.process import output, trace
from flow.process.callback import call_back
from flow.process.compiled import CodeMissing
from flow.process.facts import task_instance_of
from flow.process.jobs import TaskJob
from flow.process.line_runtime import JobLine, LineRuntime
from flow.process.load import LoadedFile, load_file
from flow.process.messages import CodeFound, Outcome
from flow.process.pinned import CodeMismatch, await_code, require_code
from flow.process.stop import Stop, Stopped, die
from flow.states import TaskState

_log = logging.getLogger("flow.task")


def run_task(job: TaskJob, line: JobLine, *, received: float) -> None:
    """Run the try and report its `Outcome`; `received` is in seconds of CLOCK_MONOTONIC.

    Sets up streams, logging, signals and environment of the whole process, which therefore serves
    no other job. Returns when the outcome has been sent and the log is written; the caller then
    ends the process. Does not return when the process was told to stop.
    """
    stop = Stop()
    stop.install()
    runtime.use(LineRuntime(line))
    try:
        outcome = attempt(job, received, stop, line)
        stop.check()
        _report(outcome, line)
        stop.release()
    except Stopped:
        die()
    output.flush()


def attempt(job: TaskJob, received: float, stop: Stop, line: JobLine) -> Outcome:
    """Import the file, run the task and its callbacks; how it ended. Raises only `Stopped`."""
    _tell_environment(job)
    try:
        loaded = _load(job, line)
        task = loaded.task(job.run.dag_id, job.task_id)
    except Stopped:
        raise
    except BaseException as error:
        return _not_loaded(job, error)
    os.environ["FLOW_CTX_DAG_OWNER"] = task.owner
    ti = task_instance_of(job, task, received)
    return _Attempt(task, ti, task_context(ti), stop, loaded, job.terminal).run()


def _tell_environment(job: TaskJob) -> None:
    """What a command that the task starts may want to know."""
    environ = os.environ
    environ["FLOW_CTX_DAG_ID"] = job.run.dag_id
    environ["FLOW_CTX_TASK_ID"] = job.task_id
    environ["FLOW_CTX_RUN_ID"] = job.run.run_id
    environ["FLOW_CTX_LOGICAL_DATE"] = job.run.logical_date.isoformat()
    environ["FLOW_CTX_TRY_NUMBER"] = str(job.try_number)


def _load(job: TaskJob, line: JobLine) -> LoadedFile:
    """Import the file; with pinned code only that of the version of the run.

    Raises `CodeMismatch`, and what `load_file` raises.
    """
    pin, version = job.pin, job.run.version
    if pin is None:
        return load_file(job.file, job.root, job.timezone, schedules=False)
    await_code(job.file, pin, version)
    line.send(CodeFound())
    try:
        loaded = load_file(job.file, job.root, job.timezone, schedules=False)
    except (CodeMissing, Stopped):
        raise
    except BaseException:
        require_code(job.file, pin, version)  # half of a deploy may be why it fails
        raise
    require_code(job.file, pin, version, loaded.code_hash)
    return replace(loaded, code_hash=pin.code_hash)


def _not_loaded(job: TaskJob, error: BaseException) -> Outcome:
    ended = time.monotonic()
    if isinstance(error, CodeMismatch):
        _log.error("%s\n%s", error.message, error.hint)
        return Outcome(
            state=TaskState.FAILED,
            reason=f"{error.code}: {error.message}",
            ended=ended,
            code_hash=error.found,
            mismatch=True,
        )
    missing = isinstance(error, CodeMissing)
    if isinstance(error, CodeMissing):
        reason = f"code_missing: {error.message}"
        _log.error("%s\n%s", error.message, error.hint)
    else:
        reason = f"cannot import {job.file}: {trace.one_line(error)}"
        _log.error("Cannot import %s\n%s", job.file, trace.user_traceback(error))
    return Outcome(state=TaskState.FAILED, reason=reason, ended=ended, missing=missing)


def _report(outcome: Outcome, line: JobLine) -> None:
    try:
        line.send(outcome)
    except ProtocolError as error:
        # The value is too large for a message; if the line itself is broken, this fails as well.
        _log.error("The outcome cannot be reported: %s", error.message)
        reason = f"the return value cannot be sent: {error.message}"
        line.send(Outcome(state=TaskState.FAILED, reason=reason, ended=outcome.ended))


@dataclass(frozen=True)
class _End:
    """How the task itself ended, before its callbacks."""

    state: TaskState
    ended: float
    error: BaseException | None = None
    reason: str | None = None
    retry: bool = True
    value: str | None = None
    skips: tuple[str, ...] = ()
    exit_code: int | None = None


_CALLBACKS: Final = {
    TaskState.SUCCESS: "on_success_callback",
    TaskState.SKIPPED: "on_skipped_callback",
    TaskState.FAILED: "on_failure_callback",
}


class _Attempt:
    """One try, from rendering to its callbacks."""

    def __init__(
        self,
        task: BaseOperator,
        ti: TaskInstance,
        context: Context,
        stop: Stop,
        loaded: LoadedFile,
        terminal: str | None,
    ) -> None:
        self._task = task
        self._ti = ti
        self._context = context
        self._stop = stop
        self._loaded = loaded
        self._terminal = terminal
        self._ended = 0.0

    def run(self) -> Outcome:
        end = self._end()
        self._stop.check()
        self._call_back(end)
        return Outcome(
            state=end.state,
            reason=end.reason,
            retry=end.retry,
            value=end.value,
            skips=end.skips,
            ended=end.ended,
            code_hash=self._loaded.code_hash,
            exit_code=end.exit_code,
        )

    def _end(self) -> _End:
        try:
            result = self._execute()
            skips = self._task.skips_for(result) if isinstance(self._task, Decider) else ()
            value = self._keep(result)
            return _End(TaskState.SUCCESS, self._ended, value=value, skips=skips)
        except Stopped:
            raise
        except BaseException as error:
            end = _judge(error, self._ended or time.monotonic())
            self._look_around(end)
            return end

    def _look_around(self, end: _End) -> None:
        """Let whoever sits at the terminal look at a failure."""
        if self._terminal is None or end.state is not TaskState.FAILED or end.error is None:
            return
        # Only when the supervisor has answered, which shows what the task has said until now first.
        if runtime.current().counts(failed=True):
            from flow.process.post_mortem import look_around  # no other try needs pdb

            look_around(end.error, self._terminal)

    def _execute(self) -> Any:
        task, context = self._task, self._context
        render_fields(task, context)
        call_back(task.on_execute_callback, context)
        with active(context), self._stop.killing(task.on_kill):
            task.pre_execute(context)
            try:
                result = task.execute(context)
            finally:
                self._ended = time.monotonic()
            task.post_execute(context, result)
        return result

    def _keep(self, result: Any) -> str | None:
        """Push what is to be pushed; the text of the return value, which the outcome carries."""
        if result is None or not self._task.do_xcom_push:
            return None
        if self._task.multiple_outputs:
            self._push_each(result)
        text = self._ti.encode_xcom(RETURN_VALUE, result)
        if self._task.on_success_callback:
            # Now, not with the outcome: a callback may want to pull it.
            runtime.current().push_xcom(RETURN_VALUE, text)
            return None
        return text

    def _push_each(self, result: Any) -> None:
        if not isinstance(result, Mapping):
            raise TaskException(
                f"with multiple_outputs a task must return a dict, not {type(result).__name__}"
            )
        for key, value in result.items():
            if not isinstance(key, str):
                raise TaskException(f"with multiple_outputs keys must be text, not {key!r}")
            self._ti.xcom_push(key, value)

    def _call_back(self, end: _End) -> None:
        name = _CALLBACKS[end.state]
        tries_left = self._ti.try_number < self._ti.tries_allowed
        failed = end.state is TaskState.FAILED
        if failed and end.retry and tries_left:
            name = "on_retry_callback"
        callbacks = getattr(self._task, name)
        # Code that handles SIGTERM itself may end in whatever way: `stop` has not seen the signal.
        if callbacks and runtime.current().counts(failed=failed):
            self._context["exception"] = end.error
            self._context["reason"] = end.reason
            call_back(callbacks, self._context)


def _judge(error: BaseException, ended: float) -> _End:
    """How a task ends that raised `error`; says it in the log."""
    if isinstance(error, SystemExit):
        return _judge_exit(error, ended)
    if isinstance(error, SkipException):
        _log.info("Skipped: %s", error)
        reason = str(error) or None
        return _End(TaskState.SKIPPED, ended, error, reason, exit_code=error.exit_code)
    _log.error("Task failed\n%s", trace.user_traceback(error))
    return _End(
        TaskState.FAILED,
        ended,
        error,
        trace.one_line(error),
        retry=not isinstance(error, FailException),
        exit_code=error.exit_code if isinstance(error, CommandFailed) else None,
    )


def _judge_exit(error: SystemExit, ended: float) -> _End:
    code = error.code
    if code is None or code == 0:
        return _End(TaskState.SUCCESS, ended)
    # Python ends with code 1 and prints what is not a number.
    status = int(code) if isinstance(code, int) else 1
    reason = f"exit code {status}" if isinstance(code, int) else f"exit code 1: {code}"
    _log.error("Task called sys.exit: %s", reason)
    reason = " ".join(reason.split())
    # The kernel keeps the lowest eight bits of what a process exits with.
    return _End(TaskState.FAILED, ended, error, reason, exit_code=status & 0xFF)
