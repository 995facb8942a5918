"""T42: templates are rendered once, everywhere alike, and undefined names are errors.

Text is rendered wherever it stands in a list, tuple, set, dict or declared field. `flow tasks
render` shows what the try itself renders; text that comes from a conf or an XCom is never rendered
again; values keep their types where that is asked for; secrets are masked in what is shown, and
only there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed

NEEDS: list[str] = []

BREAKS = [
    Break(
        "engine/flow/authoring/template.py",
        "return self._templates.render_file(text) if is_file else self._templates.render(text)",
        "return self._templates.render_file(text) if is_file else "
        "self._templates.render(self._templates.render(text))",
        test="test_nested_values_are_rendered_once",
    ),
    Break(
        "engine/flow/authoring/template_environment.py",
        '"undefined": dag.template_undefined or jinja2.StrictUndefined,',
        '"undefined": dag.template_undefined or jinja2.Undefined,',
        test="test_undefined_names_fail_alike",
    ),
    Break(
        "engine/flow/process/masked.py",
        "            connection.password = MASK\n",
        "            pass\n",
        test="test_a_secret_is_masked_where_it_is_shown",
    ),
    Break(
        "engine/flow/ops/rendering.py",
        "try_number=made[-1].try_number if made else 1,",
        "try_number=1,",
        test="test_the_last_try_is_shown",
    ),
]

DAG = """
    import json
    from datetime import datetime, timedelta
    from flow import DAG, BaseOperator, task
    from flow.operators.bash import BashOperator

    def plain(value):
        return list(value) if isinstance(value, set) else str(value)

    class Nested:
        template_fields = ("inner",)
        def __init__(self, inner):
            self.inner = inner
        def __str__(self):
            return f"Nested({self.inner})"

    class Show(BaseOperator):
        template_fields = ("payload",)
        def __init__(self, payload, fail_first=False, **arguments):
            super().__init__(**arguments)
            self.payload = payload
            self.fail_first = fail_first
        def execute(self, context):
            print("PAYLOAD", json.dumps(self.payload, default=plain))
            if self.fail_first and context["ti"].try_number == 1:
                raise ValueError("once more")

    with DAG("templates", schedule="@daily", start_date=datetime(2026, 1, 1),
             params={"x": "param"}, default_args={"retry_delay": timedelta(seconds=0.1)}):

        @task
        def hands_on():
            return "{{ 2 + 2 }}"

        nested = Show(task_id="nested", payload={
            "a": ["{{ ds }}", {"b": "{{ params.x }}", "{{ ds }}": 1}, ("{{ run_id }}", 7)],
            "conf": "{{ dag_run.conf['text'] }}",
            "xcom": "{{ ti.xcom_pull('hands_on') }}",
            "set": {"{{ ds }}"},
            "object": Nested("{{ data_interval_end }}"),
            "variable": "{{ var.value.country }}",
        })
        native = Show(task_id="native", render_template_as_native_obj=True,
             payload=["{{ [1, params.x] }}", "{{ 1 + 1 }}", "{{ ti.xcom_pull('hands_on') }}"])
        hands_on() >> [nested, native]
        Show(task_id="tried_twice", payload="try {{ ti.try_number }} of {{ ti.max_tries }}",
             retries=1, fail_first=True)
        Show(task_id="secret", payload="{{ conn.shop.password }} at {{ conn.shop.host }}")
        BashOperator(task_id="file", bash_command="say.sh")
        Show(task_id="undefined", payload={"deep": ["{{ nowhere }}"]})
        Show(task_id="missing", payload="{{ var.value.missing }}")
    """


@dataclass(frozen=True)
class Ran:
    """A run that is over, on a deployment that still answers."""

    deployment: Deployment
    run_id: str

    def rendered(self, task_id: str) -> dict[str, Any]:
        """The fields that `flow tasks render` shows."""
        found = self.deployment.ask("tasks", "render", "--", "templates", task_id, self.run_id)
        fields: dict[str, Any] = found["fields"]
        return fields

    def logged(self, task_id: str) -> Any:
        """The value that the last try of a task of class Show printed."""
        text = self.deployment.flow("logs", "templates", self.run_id, task_id).out
        lines = [line for line in text.splitlines() if line.startswith("PAYLOAD ")]
        return json.loads(lines[-1].removeprefix("PAYLOAD "))


@pytest.fixture(scope="module")
def ran() -> Iterator[Ran]:
    with deployed() as deployment:
        (deployment.dags / "say.sh").write_text("{% include 'part.sh' %}\necho said on {{ ds }}\n")
        (deployment.dags / "part.sh").write_text("# of {{ params.x }}\n")
        deployment.write("templates.py", DAG)
        uri = "postgres://me:p%2Fw@db.example/shop"
        deployment.up(FLOW_CONN_SHOP=uri, FLOW_VAR_COUNTRY="ch")
        deployment.wait_for_dags("templates")
        for verb in (("vars", "set", "country", "ch"), ("conns", "add", "shop", "--uri", uri)):
            done = deployment.flow(*verb)
            assert done.code == 0, done.err
        conf = json.dumps({"text": "{{ 1 + 1 }}"})
        run = deployment.run_to_end("templates", "--date", "2026-10-09", "--conf", conf)
        yield Ran(deployment, run["run_id"])


def test_nested_values_are_rendered_once(ran: Ran) -> None:
    shown = ran.rendered("nested")["payload"]
    assert shown["a"] == ["2026-10-09", {"b": "param", "{{ ds }}": 1}, [ran.run_id, 7]]
    assert shown["conf"] == "{{ 1 + 1 }}"
    assert shown["xcom"] == "{{ 2 + 2 }}"
    assert shown["set"] == ["2026-10-09"]
    assert shown["object"] == "Nested(2026-10-10 00:00:00+00:00)"
    assert shown["variable"] == "ch"


def test_a_value_keeps_its_type_where_that_is_asked_for(ran: Ran) -> None:
    expected = [[1, "param"], 2, "{{ 2 + 2 }}"]
    assert ran.rendered("native")["payload"] == ran.logged("native") == expected


@pytest.mark.parametrize("task_id", ["nested", "tried_twice"])
def test_the_verb_shows_what_the_try_rendered(ran: Ran, task_id: str) -> None:
    assert ran.rendered(task_id)["payload"] == ran.logged(task_id)


def test_the_last_try_is_shown(ran: Ran) -> None:
    assert ran.rendered("tried_twice")["payload"].startswith("try 2 of ")


def test_two_runs_are_compared_by_what_they_render(ran: Ran) -> None:
    other = ran.deployment.run("templates", "--date", "2026-10-11")
    found = ran.deployment.ask("compare", "templates", ran.run_id, other, "--fields")
    tasks = {task["task_id"]: task for task in found["tasks"]}
    assert [one["field"] for one in tasks["file"]["fields"]] == ["bash_command"]
    assert tasks["file"]["fields"][0]["after"].endswith("echo said on 2026-10-11\n")
    assert tasks["secret"]["fields"] == []
    assert "nowhere" in tasks["undefined"]["error"]


def test_files_are_templates_and_include_others(ran: Ran) -> None:
    command = ran.rendered("file")["bash_command"]
    assert command.split("\n") == ["# of param", "", "echo said on 2026-10-09", ""]
    assert "said on 2026-10-09" in ran.deployment.flow("logs", "templates", ran.run_id, "file").out


def test_a_secret_is_masked_where_it_is_shown(ran: Ran) -> None:
    assert ran.rendered("secret")["payload"] == "*** at db.example"
    assert ran.logged("secret") == "p/w at db.example"


@pytest.mark.parametrize(
    ("task_id", "words"),
    [
        ("undefined", ["field payload['deep'][0]", "nowhere"]),
        ("missing", ["field payload", "variable 'missing' does not exist"]),
    ],
)
def test_undefined_names_fail_alike(ran: Ran, task_id: str, words: list[str]) -> None:
    shown = ran.deployment.flow("tasks", "render", "templates", task_id, ran.run_id)
    assert shown.code == 1
    (one,) = ran.deployment.tries("templates", ran.run_id, task_id)
    assert one["state"] == "failed"
    for word in words:
        assert word in shown.err
        assert word in one["reason"]


def test_a_date_needs_no_run(ran: Ran) -> None:
    found = ran.deployment.ask("tasks", "render", "templates", "file", "--date", "2026-11-01")
    assert found["run_id"] is None
    assert "2026-11-01" in found["fields"]["bash_command"]
    refused = ran.deployment.flow(
        "tasks", "render", "templates", "file", "--date", "2026-11-01T05:00"
    )
    assert refused.code == 2
    assert "2026-11-02T00:00:00+00:00" in refused.err


def test_what_is_not_there(ran: Ran) -> None:
    misspelt = ran.deployment.flow("tasks", "render", "templates", "nestet", ran.run_id)
    assert misspelt.code == 3
    assert "did you mean nested?" in misspelt.err
