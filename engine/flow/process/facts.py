"""From the facts in a job to the objects that user code sees."""

from __future__ import annotations

from flow.authoring.dag_run import DagRun, RunDates
from flow.authoring.operator import BaseOperator
from flow.authoring.task_instance import Stamps, TaskInstance
from flow.process.jobs import CallbackJob, LastTask, MeasureJob, RenderJob, RunInfo, TaskJob


def dag_run_of(run: RunInfo) -> DagRun:
    """The run of a job."""
    return DagRun(
        dag_id=run.dag_id,
        run_id=run.run_id,
        run_type=run.run_type,
        dates=RunDates(
            run.logical_date,
            run.data_interval_start,
            run.data_interval_end,
            run.run_after,
            run.started_at,
        ),
        conf=run.conf,
        version=run.version,
    )


def task_instance_of(
    job: TaskJob | CallbackJob | RenderJob | MeasureJob, task: BaseOperator, received: float
) -> TaskInstance:
    """The try that a job is about. `received` is in seconds of CLOCK_MONOTONIC."""
    return TaskInstance(
        task,
        dag_run_of(job.run),
        try_number=job.try_number,
        max_tries=job.max_tries,
        map_path=job.map_path,
        stamps=Stamps(received=received),
        xcom_limit=job.xcom_limit if isinstance(job, TaskJob) else None,
    )


def last_task_instance_of(
    run: RunInfo, last: LastTask, task: BaseOperator, received: float
) -> TaskInstance:
    """What the callbacks of a run see of its tasks. `received` as of `task_instance_of`."""
    return TaskInstance(
        task,
        dag_run_of(run),
        try_number=last.try_number,
        max_tries=last.max_tries,
        map_path=last.map_path,
        stamps=Stamps(received=received),
        state=last.state,
    )
