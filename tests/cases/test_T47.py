"""T47: a DAG that cannot be is refused before anything is stored, and a fix is all it takes.

Cycles, self-dependency, ids used twice or too long, modules that import each other, a task
without a DAG: each is one clear error that names what is wrong and where. The scheduler never
meets it. When the file is right, the error is gone after the next look, and the DAG runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed

BREAKS = [
    # Cycles are not looked for.
    Break(
        "engine/flow/graph/check.py",
        "    if cycle:\n",
        "    if cycle and not spec.tasks:\n",
        test="test_the_error_says_what_and_where",
    ),
    # Ids may have any length.
    Break(
        "engine/flow/graph/check.py",
        "    if len(value) > MAX_ID:\n",
        "    if len(value) < 0:\n",
        test="test_the_error_says_what_and_where",
    ),
    # Of modules that import each other only the last line is told.
    Break(
        "engine/flow/process/trace.py",
        '    if "partially initialized module" in said:\n',
        '    if "partially initialised module" in said:\n',
        test="test_modules_that_import_each_other_show_the_first_cause",
    ),
    # An error is told where the DAG file imports what is wrong.
    Break(
        "engine/flow/process/parse.py",
        "    said = trace.with_place(error, job.file, job.root)\n",
        "    said = trace.one_line(error)\n",
        test="test_an_error_behind_a_circle_is_told_with_its_own_place",
    ),
    # A task without a DAG is nobody's business.
    Break(
        "engine/flow/authoring/collect.py",
        "    collection.check_tasks()\n",
        "",
        test="test_a_task_without_a_dag_is_an_error",
    ),
]


@dataclass(frozen=True)
class Mistake:
    """A file that cannot be a DAG, what its error must say, and the file put right."""

    wrong: str
    says: tuple[str, ...]
    right: str
    line: int | None = None


def dag_of(name: str, body: str) -> str:
    """The text of a DAG file; its body begins in line 6."""
    lines = body.strip("\n").splitlines()
    return "\n".join(
        [
            "from flow import DAG, TaskGroup, task",
            "from flow.operators.empty import EmptyOperator",
            "",
            f'with DAG("{name}", schedule=None):',
            '    a, b = EmptyOperator(task_id="a"), EmptyOperator(task_id="b")',
            *(f"    {line}" for line in lines),
            "",
        ]
    )


FINE = "a >> b"

MISTAKES = {
    "cycle": Mistake(dag_of("cycle", "a >> b >> a"), ("a >> b >> a", "cycle.py:4"), FINE, line=4),
    "itself": Mistake(dag_of("itself", "a >> a"), ("'a' cannot wait for itself",), FINE, line=6),
    "loop": Mistake(
        dag_of("loop", 'for n in range(2):\n    EmptyOperator(task_id="same")'),
        ("'same'", "loop.py:7", "made at"),
        FINE,
        line=7,
    ),
    "group": Mistake(
        dag_of("group", 'with TaskGroup("g"):\n' + '    EmptyOperator(task_id="x")\n' * 2),
        ("'g.x'", "group.py:8", "by a task made at", "group.py:7"),
        FINE,
        line=8,
    ),
    "long": Mistake(
        dag_of("long", f'EmptyOperator(task_id="{"t" * 251}")'),
        ("251 characters", "250"),
        f'EmptyOperator(task_id="{"t" * 250}")',
        line=6,
    ),
    "named_alike": Mistake(
        dag_of("named_alike", 'with TaskGroup("a"):\n    EmptyOperator(task_id="x")'),
        ("group_id 'a'", "named_alike.py:6", "by a task made at", "named_alike.py:5"),
        FINE,
        line=6,
    ),
}

ORPHAN = "from flow.operators.empty import EmptyOperator\nEmptyOperator(task_id='lost')\n"
ONE_OF_TWO = "from other import there\nhere = 1\n"
OTHER_OF_TWO = "from circle import here\nthere = 1\n"
RING = {
    "ring_a": "import ring_b\n",
    "ring_b": "import ring_c\n",
    "ring_c": "import ring_a\n\nimport not_there_at_all\n",
}
"""Modules that import each other, which is harmless; what is not stands in the last one."""


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed() as made:
        assert made.flow("db", "migrate").code == 0
        for name, mistake in MISTAKES.items():
            made.write(f"{name}.py", mistake.wrong)
        made.write("orphan.py", ORPHAN)
        made.write("circle.py", ONE_OF_TWO)
        made.write("other.py", OTHER_OF_TWO)
        for name, text in RING.items():
            made.write(f"{name}.py", text)
        made.parse()
        yield made


Errors = dict[str, dict[str, object]]


def errors(deployment: Deployment) -> Errors:
    """The import errors by the stem of their files."""
    found = deployment.ask("dags", "errors", "--all")
    return {one["file"].rpartition("/")[2].removesuffix(".py"): one for one in found}


@pytest.fixture(scope="module")
def told(deployment: Deployment) -> Errors:
    """The import errors before anything is mended."""
    return errors(deployment)


@pytest.mark.parametrize("name", MISTAKES)
def test_the_error_says_what_and_where(told: Errors, name: str) -> None:
    assert name in told
    mistake, found = MISTAKES[name], told[name]
    for piece in mistake.says:
        assert piece in str(found["error"])
    if mistake.line is not None:
        assert found["line"] == mistake.line


def test_a_task_without_a_dag_is_an_error(told: Errors) -> None:
    assert "orphan" in told
    found = str(told["orphan"]["error"])
    assert "'lost'" in found and "orphan.py:2" in found


def test_modules_that_import_each_other_show_the_first_cause(told: Errors) -> None:
    found = str(told["circle"]["error"])
    assert "ImportError" in found and "circular import" in found and "'there'" in found
    assert "the circle is circle.py:1 → other.py:1 → circle.py:1" in found


@pytest.mark.parametrize("name", RING)
def test_an_error_behind_a_circle_is_told_with_its_own_place(told: Errors, name: str) -> None:
    found = told[name]
    assert str(found["error"]).startswith("ModuleNotFoundError: No module named 'not_there_at_all'")
    assert found["line"] == (3 if name == "ring_c" else 1)
    assert name == "ring_c" or "ring_c.py:3)" in str(found["error"])


def test_nothing_of_it_is_stored_and_the_scheduler_is_silent(deployment: Deployment) -> None:
    assert deployment.ask("dags", "list", "--all") == []
    done = deployment.flow("schedule", "--once")
    assert done.code == 0
    assert [line for line in done.err.splitlines() if " INFO " not in line] == []


def test_each_fix_is_seen_at_the_next_look_and_runs(deployment: Deployment) -> None:
    """Last in this file: it mends what the tests before it look at."""
    broken = {*MISTAKES, "orphan", "circle", "other", *RING}
    for name, mistake in MISTAKES.items():
        deployment.write(f"{name}.py", dag_of(name, mistake.right))
        deployment.parse()
        broken.remove(name)
        assert set(errors(deployment)) == broken
    runs = {name: deployment.run(name) for name in MISTAKES}
    deployment.start("schedule")
    deployment.start("work", "--slots", "4")
    for name, run_id in runs.items():
        assert deployment.wait_for_run(name, run_id)["state"] == "success"
