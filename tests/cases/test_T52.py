"""T52: the values that a run is started with are judged when it is started, and keep their types.

Params have defaults, and the conf of a run stands on top of them, key by key, also with keys that
are no params. What is not a JSON object makes no run. A default may be None, also where a schedule
makes the runs. What would need a schema is refused where the file is imported, and of that file
only: a Param without a default, and the arguments that are part of a schema.

Not yet: checks of conf against a schema, which Params do not have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed

BREAKS = [
    # Anything in JSON is a conf.
    Break(
        "engine/flow/ops/conf.py",
        "    if not isinstance(value, dict):\n",
        "    if False:\n",
        test="test_what_is_no_json_object_makes_no_run",
    ),
    # What JSON does not know is let through.
    Break(
        "engine/flow/ops/conf.py",
        "parse_constant=_not_json",
        "parse_constant=float",
        test="test_what_is_no_json_object_makes_no_run",
    ),
    # Defaults win.
    Break(
        "engine/flow/authoring/context.py",
        '"params": lambda facts: {**facts.params, **facts.dag_run.conf},',
        '"params": lambda facts: {**facts.dag_run.conf, **facts.params},',
        test="test_tasks_see_defaults_and_on_top_of_them_the_conf_with_its_types",
    ),
    # A Param may lack its default.
    Break(
        "engine/flow/authoring/param.py",
        '            raise not_yet("a Param without a default", "give it a default")\n',
        "            default = None\n",
        test="test_what_needs_a_schema_is_an_error_of_its_file",
    ),
]

DAG = """
    import json
    import os
    from flow import DAG, Param, get_current_context, task

    PARAMS = {
        "count": 3, "word": Param("four", description="any word"), "empty": None,
        "nested": {"list": [1, 2.5, None, True], "object": {"a": "b"}},
    }

    with DAG("typed", schedule=None, params=PARAMS):

        @task
        def tell():
            context = get_current_context()
            path = os.path.join(os.environ["CASE_MARKS"], context["run_id"])
            with open(path, "w") as file:
                json.dump({**context["params"]}, file)

        tell()

    settings = dict(schedule="@daily", start_date="2026-01-01", end_date="2026-01-01")
    with DAG("scheduled", catchup=True, params={"empty": None}, **settings):
        tell()
    """
LACKING = """
    from flow import DAG, Param

    DAG({dag_id!r}, schedule="@daily", start_date="2026-01-01", params={{"day": {param}}})
    """
DEFAULTS = {
    "count": 3,
    "word": "four",
    "empty": None,
    "nested": {"list": [1, 2.5, None, True], "object": {"a": "b"}},
}
REFUSED_FILES = {
    "lacking": ("Param(description='which day')", "a Param without a default"),
    "schema": ("Param(3, type='integer')", "type"),
    "unknown": ("Param(3, maximun=5)", "maximun"),
}
"""By name of the file: a value of its params, and what its error names."""
GOOD = {
    "plain": {},
    "typed": {"count": 5, "word": "5"},
    "emptied": {"count": None, "empty": False},
    "deep": {"nested": {"list": [], "more": {"x": [1.0, "1"]}}},
    "other": {"no_param": [1]},
    "large": {"word": "x" * 1_000_000},
}
"""By run: its conf."""
BAD = (
    "",
    "not JSON",
    "{'count': 5}",
    "[1]",
    "5",
    "null",
    '"text"',
    '{"a": NaN}',
    '{"a": 1',
    "[" * 9_999,
)


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed() as made:
        assert made.flow("db", "migrate").code == 0
        made.write("typed.py", DAG)
        for name, (param, _) in REFUSED_FILES.items():
            made.write(f"{name}.py", LACKING.format(dag_id=name, param=param))
        made.parse()
        yield made


def test_what_needs_a_schema_is_an_error_of_its_file(deployment: Deployment) -> None:
    found = {one["file"]: one["error"] for one in deployment.ask("dags", "errors", "--all")}
    by_name = {file.rpartition("/")[2].removesuffix(".py"): text for file, text in found.items()}
    assert by_name.keys() == REFUSED_FILES.keys()
    for name, (_, said) in REFUSED_FILES.items():
        assert said in by_name[name]
    listed = {dag["dag_id"] for dag in deployment.ask("dags", "list", "--all")}
    assert listed == {"typed", "scheduled"}


def test_what_is_no_json_object_makes_no_run(deployment: Deployment) -> None:
    confs = [*BAD, "@nothing.json"]
    done = deployment.together([("run", "typed", "--conf", conf) for conf in confs], 3)
    for conf, ended in zip(confs, done, strict=True):
        assert (ended.code, ended.out) == (2, ""), conf
        assert len(ended.err.splitlines()) == 2
        assert "Traceback" not in ended.err
    assert deployment.ask("runs", "list", "typed") == []


def test_tasks_see_defaults_and_on_top_of_them_the_conf_with_its_types(
    deployment: Deployment,
) -> None:
    commands = []
    for name, conf in GOOD.items():
        (deployment.project / f"{name}.json").write_text(json.dumps(conf), encoding="utf-8")
        # What is larger than an argument may be comes from a file.
        given = f"@{name}.json" if name == "large" else json.dumps(conf)
        commands.append(("run", "typed", "--run-id", name, "--conf", given))
    assert [one.code for one in deployment.together(commands, 3)] == [0] * len(GOOD)
    deployment.up()
    scheduled = "scheduled__2026-01-01T00:00:00+00:00"
    for run_id in GOOD:
        assert deployment.wait_for_run("typed", run_id)["state"] == "success"
    assert deployment.wait_for_run("scheduled", scheduled)["state"] == "success"
    for name, conf in GOOD.items():
        # As text: 1 == 1.0 == True, and a type that has changed is what this is about.
        assert json.dumps(told(deployment, name)) == json.dumps({**DEFAULTS, **conf})
    assert told(deployment, scheduled) == {"empty": None}


def told(deployment: Deployment, run_id: str) -> Any:
    """The params that the task of a run has seen."""
    return json.loads((deployment.folder / "m" / run_id).read_text(encoding="utf-8"))
