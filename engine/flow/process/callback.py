"""Running callbacks: those of a task in its own process, and those of a callback job."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from flow.authoring import runtime
from flow.authoring.callbacks import Callback
from flow.authoring.context import Context, active, run_context, task_context
from flow.authoring.dag import DAG
from flow.process import output, trace
from flow.process.facts import dag_run_of, last_task_instance_of, task_instance_of
from flow.process.jobs import CallbackJob
from flow.process.line_runtime import JobLine, LineRuntime
from flow.process.load import load_file
from flow.process.messages import Outcome
from flow.process.stop import Stop, Stopped, die
from flow.states import TaskState

_log = logging.getLogger("flow.task.callbacks")


def call_back(callbacks: Sequence[Callback], context: Context) -> str | None:
    """Call each with the context; one that fails is logged and keeps none from being called.

    Returns why the last of those that failed did, or None.
    """
    reason = None
    for callback in callbacks:
        name = getattr(callback, "__qualname__", type(callback).__qualname__)
        try:
            with active(context):
                callback(context)
        except Stopped:
            raise
        except BaseException as error:
            reason = f"callback {name} failed: {trace.one_line(error)}"
            _log.error("Callback %s failed\n%s", name, trace.user_traceback(error))
    return reason


def run_callback(job: CallbackJob, line: JobLine, *, received: float) -> None:
    """Serve a callback job: the callbacks of a task whose process died, or of a run that ended.

    Reports an `Outcome`: `success`, or `failed` with the reason when a callback failed.
    """
    runtime.use(LineRuntime(line))
    stop = Stop()
    stop.install()
    try:
        line.send(_outcome(job, received))
        stop.release()
    except Stopped:
        die()
    output.flush()


def _outcome(job: CallbackJob, received: float) -> Outcome:
    try:
        context, callbacks = _prepare(job, received)
    except Stopped:
        raise
    except BaseException as error:
        _log.error("%s", trace.user_traceback(error))
        return Outcome(state=TaskState.FAILED, reason=trace.one_line(error))
    reason = call_back(callbacks, context)
    return Outcome(state=TaskState.FAILED if reason else TaskState.SUCCESS, reason=reason)


def _prepare(job: CallbackJob, received: float) -> tuple[Context, Sequence[Callback]]:
    loaded = load_file(job.file, job.root, job.timezone)
    if job.task_id is None:
        owner: object = (dag := loaded.dag(job.run.dag_id))
        context = _context_of_run(job, dag, received)
    else:
        owner = task = loaded.task(job.run.dag_id, job.task_id)
        context = task_context(task_instance_of(job, task, received))
    context.update(exception=None, reason=job.reason)
    callbacks: Sequence[Callback] = getattr(owner, f"on_{job.kind}_callback", ())
    return context, callbacks


def _context_of_run(job: CallbackJob, dag: DAG, received: float) -> Context:
    """That of its last task, as in Airflow; without one, and where the file lacks it, the run's."""
    if job.last is None or not dag.has_task(job.last.task_id):
        return run_context(dag, dag_run_of(job.run))
    task = dag.get_task(job.last.task_id)
    return task_context(last_task_instance_of(job.run, job.last, task, received))
