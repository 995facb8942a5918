"""Tasks with a context, made in the test itself."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, ClassVar

from flow.authoring.context import Context, task_context
from flow.authoring.dag import DAG
from flow.authoring.dag_run import DagRun, RunDates
from flow.authoring.operator import BaseOperator
from flow.authoring.task_instance import Stamps, TaskInstance

DAY = datetime(2026, 10, 9, tzinfo=UTC)


class Echo(BaseOperator):
    """Has one template field of every kind, and returns it."""

    template_fields: ClassVar[tuple[str, ...]] = ("value",)
    template_ext: ClassVar[tuple[str, ...]] = (".sql", ".sh")

    def __init__(self, *, value: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.value = value

    def execute(self, context: Context) -> Any:
        return self.value


def try_of(task: BaseOperator, conf: dict[str, Any] | None = None, **given: Any) -> TaskInstance:
    """A try of `task` in the run of 9 October 2026."""
    run = DagRun(
        dag_id=task.dag_id,
        run_id="scheduled__2026-10-09T00:00:00+00:00",
        run_type="scheduled",
        dates=RunDates(DAY, DAY, DAY.replace(day=10), DAY.replace(day=10), DAY.replace(day=10)),
        conf=json.dumps(conf or {}),
    )
    arguments = {"try_number": 1, "max_tries": 1, "stamps": Stamps(received=0.0), **given}
    return TaskInstance(task, run, **arguments)


def echo(value: Any, dag: DAG | None = None, **given: Any) -> tuple[Echo, Context]:
    """A task whose template field is `value`, and its context."""
    conf = given.pop("conf", None)
    task = Echo(task_id="echo", value=value, dag=dag or DAG("daily"), **given)
    return task, task_context(try_of(task, conf))
