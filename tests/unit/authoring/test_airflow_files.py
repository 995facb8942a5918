"""Files as people write them for Airflow, with nothing changed but the imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.authoring.serialise import to_spec
from flow.graph import decode, encode
from support.dag_files import load

FILES = Path(__file__).parent / "dag_files"

EDGES: dict[str, dict[str, dict[str, str]]] = {
    "tutorial": {
        "tutorial": {"print_date": "", "sleep": "print_date", "templated": "print_date"},
    },
    "taskflow_etl": {"taskflow_etl": {"extract": "", "transform": "extract", "load": "transform"}},
    "branching": {
        "branching": {
            "run_this_first": "",
            "branching": "run_this_first",
            "branch_a": "branching",
            "branch_b": "branching",
            "branch_c": "branching",
            "follow_branch_a": "branch_a",
            "follow_branch_b": "branch_b",
            "follow_branch_c": "branch_c",
            "join": "follow_branch_a follow_branch_b follow_branch_c",
        }
    },
    "short_circuit": {
        "short_circuit": {
            "condition_is_True": "",
            "true_1": "condition_is_True",
            "true_2": "true_1",
            "condition_is_False": "",
            "false_1": "condition_is_False",
            "false_2": "false_1",
        }
    },
    "generated": {
        "generated_1": {"hello": ""},
        "generated_2": {"hello": ""},
        "generated_3": {"hello": ""},
    },
    "groups": {
        "groups": {
            "start": "",
            "section_1.task_1": "start",
            "section_1.task_2": "section_1.task_1",
            "section_1.task_3": "section_1.task_1",
            "section_2.task_1": "section_1.task_2 section_1.task_3",
            "section_2.inner_section_2.task_2": "section_1.task_2 section_1.task_3",
            "section_2.inner_section_2.task_3": "section_1.task_2 section_1.task_3",
            "section_2.inner_section_2.task_4": (
                "section_2.inner_section_2.task_2 section_2.inner_section_2.task_3"
            ),
            "end": "section_2.inner_section_2.task_4 section_2.task_1",
        }
    },
    "classic": {"classic": {"fetch": "", "store": "fetch", "check": "store"}},
    "custom_operator": {"custom_operator": {"first": "", "second": "first"}},
    "decorators": {
        "decorators": {
            "list_tables": "",
            "describe": "list_tables",
            "decide": "describe is_open",
            "is_open": "",
            "small": "decide",
            "big": "decide",
            "export.dump": "decide describe",
            "export.upload": "describe export.dump",
            "export.dump__1": "decide describe",
            "export.upload__1": "describe export.dump__1",
            "final_report": "describe",
        }
    },
    "loops": {
        "loops": {
            "begin": "",
            "load_orders": "begin",
            "load_customers": "load_orders",
            "load_items": "load_customers",
            "x0": "begin load_items",
            "x1": "begin load_items",
            "add": "",
            "add__1": "add",
            "add__2": "add__1",
            "add__3": "add__2",
            "y0": "add__3",
            "y1": "add__3",
            "finish": "load_items y0 y1",
        }
    },
    "output_passing": {
        "output_passing": {"find": "", "count": "find", "show": "count", "deep": "count find"}
    },
    "callbacks": {"callbacks": {"a": "", "b": "a", "c": "b"}},
}


def test_every_file_has_a_row() -> None:
    assert {path.stem for path in FILES.glob("*.py")} == EDGES.keys()


@pytest.mark.parametrize("name", EDGES)
def test_the_file_makes_its_dags_and_edges(name: str) -> None:
    specs = [to_spec(found.dag) for found in load(FILES / f"{name}.py")]
    edges = {
        spec.dag_id: {task.task_id: " ".join(task.upstream) for task in spec.tasks}
        for spec in specs
    }
    assert edges == EDGES[name]
    for spec in specs:
        assert decode(encode(spec)) == spec


def spec_of(name: str, dag_id: str = ""):
    dag = load(FILES / f"{name}.py").get(dag_id or name)
    assert dag is not None
    spec = to_spec(dag)
    return spec, {task.task_id: task for task in spec.tasks}


def test_tutorial_details() -> None:
    spec, tasks = spec_of("tutorial")
    assert spec.timetable.seconds == 86400
    assert (spec.doc_md, spec.tags) == ("### A first pipeline", ("example",))
    assert [tasks[name].retries for name in ("print_date", "sleep")] == [1, 3]
    assert tasks["sleep"].owner == "data"
    assert tasks["print_date"].doc == "#### Task documentation"


def test_taskflow_details() -> None:
    spec, tasks = spec_of("taskflow_etl")
    assert spec.timezone == "Europe/Zurich"
    assert str(spec.start_date) == "2020-12-31 23:00:00+00:00"
    assert spec.doc_md == "### TaskFlow"
    assert tasks["load"].operator == "@task"


def test_branching_labels() -> None:
    spec, tasks = spec_of("branching")
    assert spec.edge_labels == {
        f"branching→branch_{letter}": f"branch_{letter}" for letter in "abc"
    }
    assert tasks["join"].trigger_rule == "none_failed_min_one_success"
    assert not tasks["join"].runs_code


def test_classic_details() -> None:
    spec, tasks = spec_of("classic")
    fetch, check = tasks["fetch"], tasks["check"]
    assert (fetch.retries, fetch.retry_delay, fetch.max_retry_delay) == (2, 180.0, 3600.0)
    assert (fetch.retry_exponential_backoff, fetch.execution_timeout) == (2.0, 1800.0)
    assert (fetch.callbacks, spec.callbacks) == (("failure",), ("failure",))
    assert (fetch.pool, fetch.priority, check.priority) == ("api", 12, 10)
    assert (spec.catchup, spec.max_active_runs, spec.max_active_tasks) == (True, 1, 4)
    assert spec.paused_at_creation is False
    assert spec.params == {"limit": 100}


def test_defaults_reach_every_class_of_a_custom_operator() -> None:
    dag = load(FILES / "custom_operator.py").get("custom_operator")
    assert dag is not None
    first, second = dag.tasks
    assert [(task.conn_id, task.sql, task.retries) for task in (first, second)] == [
        ("lake", "select 1", 1)
    ] * 2
    assert (first.do_xcom_push, second.do_xcom_push) == (True, False)


def test_groups_give_defaults_and_are_flattened() -> None:
    spec, tasks = spec_of("groups")
    assert tasks["section_2.inner_section_2.task_2"].retries == 4
    assert tasks["section_2.task_1"].retries == 0
    assert [(group.group_id, group.parent, group.tooltip) for group in spec.groups] == [
        ("section_1", None, "Tasks for section_1"),
        ("section_2", None, "Tasks for section_2"),
        ("section_2.inner_section_2", "section_2", ""),
    ]


def test_decorator_details() -> None:
    spec, tasks = spec_of("decorators")
    assert spec.params == {"region": "eu", "rows": 10}
    assert {task.operator for task in spec.tasks} == {
        "@task",
        "@task.branch",
        "@task.short_circuit",
        "@task.bash",
    }
    assert (tasks["list_tables"].retries, tasks["describe"].retries) == (0, 1)
    assert (tasks["export.dump"].pool, tasks["export.upload"].queue) == ("exports", "net")
    assert tasks["final_report"].trigger_rule == "all_done"
    dag = load(FILES / "decorators.py").get("decorators")
    assert dag is not None
    flags = {name: dag.get_task(name).multiple_outputs for name in ("list_tables", "describe")}
    assert flags == {"list_tables": False, "describe": True}


def test_flow_arguments_and_times() -> None:
    spec, _ = spec_of("output_passing")
    assert (spec.concurrency, spec.code, spec.catchup) == (8, "latest", False)
    assert spec.params == {"path": "/tmp/x", "depth": 2}
    assert spec_of("loops")[0].catchup == "none"
    generated, _ = spec_of("generated", "generated_2")
    assert str(generated.start_date) == "2023-07-01 00:00:00+00:00"


def test_callbacks_decide_whether_an_empty_task_runs() -> None:
    spec, tasks = spec_of("callbacks")
    assert {name: task.runs_code for name, task in tasks.items()} == {
        "a": True,
        "b": False,
        "c": False,
    }
    assert (tasks["c"].display_name, tasks["c"].doc, tasks["c"].owner) == ("Tsé", "text", "data")
    assert tasks["a"].group == "g"
    assert (spec.display_name, spec.callbacks) == ("Rückrufe", ("success",))
