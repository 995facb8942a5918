"""Template fields are rendered exactly once, and what cannot be rendered is named."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path
from typing import Any

import jinja2
import pytest

from flow.authoring import runtime
from flow.authoring.context import GONE, NOT_YET
from flow.authoring.dag import DAG
from flow.authoring.template import render_fields
from flow.errors import TemplateError
from flow.exceptions import SkipException
from support.runtime import MemoryRuntime
from support.tries import Echo, echo


@pytest.fixture
def memory() -> Any:
    memory = MemoryRuntime(
        variables={"table": "sales", "list": "[1, 2]", "trap": "{{ 1 + 1 }}"},
        connections={"db": '{"conn_type": "pg", "password": "hunter2", "extra": {"a": 1}}'},
    )
    runtime.use(memory)
    yield memory
    runtime.use(None)


def render(value: Any, dag: DAG | None = None, **given: Any) -> Any:
    task, context = echo(value, dag, **given)
    assert render_fields(task, context) == {"value": task.value}
    return task.value


def failure(value: Any, dag: DAG | None = None) -> TemplateError:
    with pytest.raises(TemplateError) as caught:
        render(value, dag)
    assert caught.value.message.startswith("task 'echo', field value")
    return caught.value


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ ds }}", "2026-10-09"),
        ("{{ ds_nodash }} {{ ts }}", "20261009 2026-10-09T00:00:00+00:00"),
        ("{{ ts_nodash }} {{ ts_nodash_with_tz }}", "20261009T000000 20261009T000000+0000"),
        ("{{ data_interval_end | ds }}", "2026-10-10"),
        (
            "{{ logical_date.in_timezone('Asia/Tokyo') | ts_nodash_with_tz }}",
            "20261009T090000+0900",
        ),
        ("{{ macros.ds_add(ds, -1) }}", "2026-10-08"),
        ("{{ macros.ds_format(ds, '%Y-%m-%d', '%d.%m.%y') }}", "09.10.26"),
        ("{{ macros.timedelta(days=1) }}", "1 day, 0:00:00"),
        ("{{ macros.dateutil.parser.parse('9 Oct 2026').day }}", "9"),
        ("{{ macros.datetime_diff_for_humans(logical_date, data_interval_end) }}", "1 day before"),
        ("{{ task.task_id }}.{{ dag.dag_id }}.{{ ti.try_number }}", "echo.daily.1"),
        ("{{ task_instance_key_str }}", "daily__echo__20261009"),
        ("{{ dag_run.run_type }} {{ run_id }}", "scheduled scheduled__2026-10-09T00:00:00+00:00"),
        ("{{ var.value.table }} {{ var.json.list[1] }}", "sales 2"),
        ("{{ var.value.get('none', 'x') }} {{ var.value['table'] }}", "x sales"),
        ("{{ var.value.none | default('x') }} {{ conn.none is defined }}", "x False"),
        ("{{ conn.db.password }} {{ conn.db.extra_dejson.a }}", "hunter2 1"),
        ("{% if ds > '2026' %}late{% endif %}", "late"),
        ("{% set rows = [] %}{% do rows.append(1) %}{{ rows }}", "[1]"),
        ("{{ range(3) | list }}", "[0, 1, 2]"),
        ("{{ next_ds is defined }}", "False"),
        ("line\n{{ ds }}\n", "line\n2026-10-09\n"),
        ("no template\n", "no template\n"),
    ],
)
def test_what_a_template_may_use(memory: MemoryRuntime, template: str, expected: str) -> None:
    assert render(template) == expected


def test_every_place_is_rendered_and_keys_are_not() -> None:
    value = {
        "{{ ds }}": ["{{ ds }}", {"b": ("{{ ds }}", {"{{ ds }}"})}],
        "n": [1, None, Point("{{ ds }}", 2.5), frozenset({"{{ ds }}"})],
    }
    day = "2026-10-09"
    assert render(value) == {
        "{{ ds }}": [day, {"b": (day, {day})}],
        "n": [1, None, Point(day, 2.5), frozenset({day})],
    }


class Inner:
    template_fields = ("sql",)

    def __init__(self, sql: Any) -> None:
        self.sql = sql


def test_an_object_with_fields_of_its_own_is_rendered_once() -> None:
    inner = Inner(["{{ var.value.trap }}", "{{ ds }}"])
    runtime.use(MemoryRuntime(variables={"trap": "{{ ds }}"}))
    assert render([inner, {"again": inner}])[0].sql == ["{{ ds }}", "2026-10-09"]
    runtime.use(None)


def test_what_is_shared_stays_shared() -> None:
    shared = ["{{ ds }}"]
    first, second = render([shared, shared])
    assert first is second
    assert shared == ["{{ ds }}"]


def test_what_a_template_gives_is_not_rendered_again(memory: MemoryRuntime) -> None:
    assert render("{{ dag_run.conf.x }}", conf={"x": "{{ 1 + 1 }}"}) == "{{ 1 + 1 }}"
    assert render("{{ params.x }}", conf={"x": "{{ 1 + 1 }}"}) == "{{ 1 + 1 }}"
    assert render(["{{ var.value.trap }}"]) == ["{{ 1 + 1 }}"]


def test_the_result_of_a_task_is_not_rendered(memory: MemoryRuntime) -> None:
    from flow.authoring.runtime import FoundXCom

    memory.xcoms.append(
        ("return_value", FoundXCom("source", (), '["{{ ds }}", {"a": "{{ ds }}"}]'))
    )
    dag = DAG("daily")
    source = Echo(task_id="source", value=1, dag=dag)
    assert render({"rows": source.output, "day": "{{ ds }}"}, dag) == {
        "rows": ["{{ ds }}", {"a": "{{ ds }}"}],
        "day": "2026-10-09",
    }
    assert memory.asked == ["pull_xcoms"]


def test_params_of_dag_task_and_run_in_this_order() -> None:
    dag = DAG("daily", params={"a": 1, "b": 1, "c": 1})
    text = "{{ params.a }}{{ params.b }}{{ params.c }}"
    assert render(text, dag, params={"b": 2, "c": 2}, conf={"c": 3}) == "123"


def test_only_what_is_used_is_asked_for(memory: MemoryRuntime) -> None:
    render("{{ ds }} {{ run_id }}")
    assert memory.asked == []
    render("{{ prev_start_date_success }}")
    assert memory.asked == ["previous_success"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": [1, "x {{ nothing }} y {{ ds }}"]}, ["value['a'][1]: {{ nothing }}: 'nothing' is"]),
        ("{{ exectuion_dat }}", ["exectuion_dat", "user_defined_macros"]),
        ("{{ logcal_date }}", ["did you mean 'logical_date'?"]),
        ("{{ ds }}\n{{ params.none }}\n{{ ds }}", ["{{ params.none }}", "'none'", "default"]),
        ("{{ var.value.missing }}", ["{{ var.value.missing }}", "variable 'missing' does not"]),
        ("{{ conn.missing.password }}", ["connection 'missing' does not exist"]),
        ("{% if nothing %}x{% endif %}", ["{% if nothing %}"]),
        ("{{ 1 / 0 }}", ["{{ 1 / 0 }}: ZeroDivisionError"]),
        ("{{ ds", ["{{ ds", "unexpected end"]),
        ("{{ ds | dss }}", ["dss"]),
        ("{{ macros.nothing() }}", ["nothing"]),
        ("{{ macros.yaml }}", ["PyYAML"]),
    ],
)
def test_a_failure_names_field_and_expression(
    memory: MemoryRuntime, value: Any, words: list[str]
) -> None:
    error = failure(value)
    said = f"{error.message} {error.hint}"
    assert all(word in said for word in words), said


@pytest.mark.parametrize("name", sorted(GONE))
def test_a_name_of_an_older_airflow_says_what_to_write(name: str) -> None:
    for dag in (DAG("strict"), DAG("lenient", template_undefined=jinja2.Undefined)):
        error = failure(f"{{{{ {name} }}}}", dag)
        assert GONE[name] in error.message


@pytest.mark.parametrize("name", sorted(NOT_YET))
def test_a_name_that_flow_does_not_have_yet_says_so(name: str) -> None:
    assert "not supported yet" in failure(f"{{{{ {name} }}}}").message


def test_a_dag_may_be_lenient() -> None:
    dag = DAG("lenient", template_undefined=jinja2.Undefined)
    assert render("[{{ nothing }}]", dag) == "[]"


def test_settings_of_the_dag_count() -> None:
    dag = DAG(
        "daily",
        user_defined_macros={"double": lambda x: x * 2, "ds": "not this one"},
        user_defined_filters={"shout": str.upper},
        jinja_environment_kwargs={"variable_start_string": "<<", "variable_end_string": ">>"},
    )
    assert render("<< double('a') | shout >> << ds >> {{ ds }}", dag) == "AA 2026-10-09 {{ ds }}"


def test_a_macro_may_decide_how_the_task_ends() -> None:
    def skip() -> None:
        raise SkipException("nothing to do")

    with pytest.raises(SkipException):
        render("{{ skip() }}", DAG("daily", user_defined_macros={"skip": skip}))


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ params.list }}", [1, "1", None]),
        ("{{ params.text }}", "007"),
        ("{{ params.like }}", "[1]"),
        ("{{ 5 }}", 5),
        ("{{ [1, ds] }}", [1, "2026-10-09"]),
        ("{{ none }}", None),
        ("[{{ 1 }}, {{ 2 }}]", [1, 2]),
        ("day {{ ds }}", "day 2026-10-09"),
        ("007", "007"),
    ],
)
def test_native_templates_keep_types(template: str, expected: Any) -> None:
    params = {"list": [1, "1", None], "text": "007", "like": "[1]"}
    by_dag = DAG("daily", params=params, render_template_as_native_obj=True)
    by_task = DAG("daily", params=params)
    for value in (
        render(template, by_dag),
        render(template, by_task, render_template_as_native_obj=True),
    ):
        assert type(value) is type(expected)
        assert value == expected


def test_a_native_template_that_is_not_defined_fails() -> None:
    error = failure("{{ nothing }}", DAG("daily", render_template_as_native_obj=True))
    assert "{{ nothing }}: 'nothing' is undefined" in error.message


class TestFiles:
    @pytest.fixture
    def dag(self, tmp_path: Path) -> DAG:
        for folder in ("dags", "dags/sql", "shared"):
            (tmp_path / folder).mkdir()
        self.folder = tmp_path / "dags"
        dag = DAG("daily", template_searchpath=[str(tmp_path / "shared"), "sql"])
        dag.origin = dag.origin._replace(file=str(self.folder / "daily.py"))
        return dag

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def test_beside_the_file_and_on_the_search_path(self, dag: DAG) -> None:
        self.write("a.sql", "select '{{ ds }}' -- ü\n")
        self.write("sql/b.sql", "b {{ ds }}")
        self.write("../shared/c.sh", "{% include 'a.sql' %}c")
        day = "2026-10-09"
        assert render(["a.sql", "b.sql", "c.sh"], dag) == [
            f"select '{day}' -- ü\n",
            f"b {day}",
            f"select '{day}' -- ü\nc",
        ]

    def test_a_blank_or_a_second_line_makes_it_text(self, dag: DAG) -> None:
        assert render(["run.sh ", "cd /\nrun.sh"], dag) == ["run.sh ", "cd /\nrun.sh"]

    def test_a_missing_file_names_the_folders(self, dag: DAG) -> None:
        error = failure("bash run.sh", dag)
        assert "'bash run.sh' does not exist" in error.message
        assert str(self.folder / "sql") in error.message
        assert "template_searchpath" in error.hint
        assert "blank" in error.hint

    def test_a_missing_include_names_both(self, dag: DAG) -> None:
        self.write("a.sql", "{% include 'none.sql' %}")
        assert "'none.sql' (needed by 'a.sql')" in failure("a.sql", dag).message

    def test_a_failure_names_the_line(self, dag: DAG) -> None:
        self.write("a.sql", "one\ntwo {{ ds }} {{ nothing }}\n")
        self.write("b.sql", "one\n{% if %}")
        assert "a.sql, line 2, {{ nothing }}" in failure("a.sql", dag).message
        del dag.task_dict["echo"]
        assert "b.sql, line 2, {% if %}" in failure("b.sql", dag).message
