"""A render job shows what the try would get, without a secret in it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from flow.process.jobs import RenderJob
from flow.process.messages import Rendered
from flow.process.render import run_render
from flow.process.task import run_task
from support.jobs import dag_file, run, run_info, task_job
from support.runtime import MemoryRuntime

SECRET = "hunter2"


def render(folder: Path, body: str, conf: str = "{}", **stored: Any) -> Rendered:
    file = dag_file(folder, body)
    job = RenderJob(run=run_info(conf=conf), task_id="t", file=str(file))
    (rendered,) = run(run_render, job, folder / "log", memory=MemoryRuntime(**stored)).reports
    return rendered


def test_render_equals_the_run(tmp_path: Path) -> None:
    body = """
    class Show(BaseOperator):
        template_fields = ("a", "b")
        def __init__(self, *, a, b, **kwargs):
            super().__init__(**kwargs)
            self.a, self.b = a, b
        def execute(self, context):
            return {"a": self.a, "b": self.b}
    Show(task_id="t", a=["{{ ds }}", {"b": "{{ params.x }}"}], b="{{ params.x }} {{ try_number }}")
    """
    conf = '{"x": "{{ 1+1 }}"}'
    rendered = render(tmp_path, body, conf)
    job = task_job(tmp_path / "daily.py", run=run_info(conf=conf))
    outcome = run(run_task, job, tmp_path / "log").outcome
    assert rendered.error is None
    assert json.loads(rendered.fields) == json.loads(outcome.value or "")
    assert json.loads(rendered.fields)["b"] == "{{ 1+1 }} 1"


def test_no_secret_comes_out(tmp_path: Path) -> None:
    connection = {
        "conn_type": "pg",
        "login": "me",
        "password": SECRET,
        "extra": {"api_token": SECRET, "nested": {"private_key": [SECRET]}, "mode": "x"},
    }
    body = """
    BashOperator(task_id="t", bash_command="{{ conn.x.login }} {{ conn.x.password }}", env={
        "upper": "{{ conn.x.password | upper }}", "uri": "{{ conn.x.get_uri() }}",
        "extra": "{{ conn.x.extra }}", "mode": "{{ conn.x.extra_dejson.mode }}",
        "plain": "{{ var.value.api_token }}", "json": "{{ var.json.settings.password }}",
        "kept": "{{ var.json.settings.table }} {{ var.value.text }}",
        "quoted": "{{ var.json.my_secret }}",
    })
    """
    rendered = render(
        tmp_path,
        body,
        connections={"x": json.dumps(connection)},
        variables={
            "api_token": SECRET,
            "settings": json.dumps({"password": SECRET, "table": "sales"}),
            "text": "shown",
            "my_secret": json.dumps(SECRET),
        },
    )
    assert rendered.error is None
    for form in (SECRET, SECRET.upper(), base64.b64encode(SECRET.encode()).decode()):
        assert form not in rendered.fields
    fields = json.loads(rendered.fields)
    assert fields["bash_command"] == "me ***"
    assert fields["env"]["kept"] == "sales shown"
    assert fields["env"]["mode"] == "x"
    assert fields["env"]["quoted"] == "***"


def test_what_cannot_be_rendered_says_why(tmp_path: Path) -> None:
    rendered = render(tmp_path, "BashOperator(task_id='t', bash_command='{{ nothing }}')")
    assert "field bash_command: {{ nothing }}: 'nothing' is undefined" in (rendered.error or "")
    assert rendered.fields == "{}"
    assert "code" not in (rendered.error or "")
    gone = render(tmp_path, "BashOperator(task_id='u', bash_command='x')")
    assert "task 't' is not in DAG 'daily'" in (gone.error or "")


def test_any_value_is_shown_as_json(tmp_path: Path) -> None:
    body = """
    PythonOperator(task_id="t", python_callable=lambda *args: None, op_args=[
        float("nan"), {1: (2, 3)}, {"b", "a"}, datetime(2026, 1, 1), "\\udc80", None, True])
    """
    assert json.loads(render(tmp_path, body).fields)["op_args"] == [
        "nan",
        {"1": [2, 3]},
        ["a", "b"],
        "2026-01-01 00:00:00",
        "\\udc80",
        None,
        True,
    ]
