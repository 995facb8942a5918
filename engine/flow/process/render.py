"""Rendering the template fields of a task without running it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from flow.authoring import runtime
from flow.authoring.context import active, task_context
from flow.authoring.template import render_fields
from flow.process import output, trace
from flow.process.facts import task_instance_of
from flow.process.jobs import RenderJob
from flow.process.line_runtime import JobLine, LineRuntime
from flow.process.load import load_file
from flow.process.masked import MaskedRuntime
from flow.process.messages import Rendered


def run_render(job: RenderJob, line: JobLine, *, received: float) -> None:
    """Serve a render job: the fields as the try itself would render them, secrets masked."""
    runtime.use(MaskedRuntime(LineRuntime(line)))
    line.send(render(job, received))
    output.flush()


def render(job: RenderJob, received: float) -> Rendered:
    """The rendered fields, or why they cannot be rendered."""
    try:
        task = load_file(job.file, job.root, job.timezone).task(job.run.dag_id, job.task_id)
        context = task_context(task_instance_of(job, task, received))
        with active(context):
            fields = render_fields(task, context)
        return Rendered(fields=json.dumps(_plain(fields), ensure_ascii=False))
    except BaseException as error:
        return Rendered(error=trace.one_line(error))


def _plain(value: Any) -> Any:
    """`value` as JSON can say it; anything else is shown as Python prints it."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {str(_plain(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(item) for item in value), key=str)
    return _plain(str(value))
