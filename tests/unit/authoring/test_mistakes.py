"""What a DAG file may get wrong, and that the error names the line and what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.authoring.serialise import to_spec
from flow.errors import AuthoringError, DuplicateId, InvalidDag, UnsupportedArgument
from support.dag_files import load_text

HEAD = """
from datetime import date, datetime, timedelta, timezone
from flow import *
from flow import BaseOperator
from flow.operators.bash import BashOperator
from flow.operators.empty import EmptyOperator
from flow.operators.python import PythonOperator
def f(x, ds): ...
class NoSuper(BaseOperator):
    def __init__(self, **kwargs): self.x = 1
class Closed(BaseOperator):
    def __init__(self, task_id): super().__init__(task_id=task_id)
class Untemplated(BaseOperator):
    template_fields = ("sql",)
with DAG("d", start_date=datetime(2024, 1, 1)) as dag:
    a = EmptyOperator(task_id="a")
    g = TaskGroup("g")
other = DAG("other")
alien = EmptyOperator(task_id="alien", dag=other)
"""
LINE = HEAD.strip().count("\n") + 2

UNSUPPORTED, INVALID, AUTHORING = UnsupportedArgument, InvalidDag, AuthoringError
TWICE = DuplicateId

# What stands in line `LINE` (inside `with dag:` in the first table): the error, words of its
# message, words of its hint.
IN_DAG = [
    (
        "EmptyOperator(task_id='t', retires=3)",
        UNSUPPORTED,
        "EmptyOperator has no argument 'retires'",
        "'retries'",
    ),
    ("EmptyOperator(task_id='t', zzz=3)", UNSUPPORTED, "no argument 'zzz'", "remove it"),
    ("EmptyOperator('t')", AUTHORING, "keyword arguments only", "task_id="),
    ("EmptyOperator()", AUTHORING, "needs the argument 'task_id'", "task_id="),
    ("BashOperator(task_id='t')", AUTHORING, "needs the argument 'bash_command'", "default_args"),
    (
        "BashOperator(task_id='t', bash_comand='x', bash_command='x')",
        UNSUPPORTED,
        "'bash_comand'",
        "'bash_command'",
    ),
    ("BashOperator(task_id='t', bash_command=['ls'])", INVALID, "bash_command must be text", ""),
    (
        "EmptyOperator(task_id='t', start_from_trigger=True)",
        UNSUPPORTED,
        "start_from_trigger=True",
        "remove it",
    ),
    (
        "EmptyOperator(task_id='t', start_from_trigger=0)",
        UNSUPPORTED,
        "start_from_trigger=0",
        "remove it",
    ),
    ("EmptyOperator(task_id='t', outlets=['x'])", UNSUPPORTED, "outlets=['x']", "File(path)"),
    ("File('')", INVALID, "path of a File", ""),
    ("Table('shop', 7)", INVALID, "name of a Table", ""),
    ("Table('shop', 'orders', ignore='id')", INVALID, "a list of columns", "ignore=['id']"),
    (
        "EmptyOperator(task_id='t', email='x@example.com')",
        UNSUPPORTED,
        "email=",
        "on_failure_callback",
    ),
    (
        "EmptyOperator(task_id='t', email=['x'], email_on_failure=False)",
        UNSUPPORTED,
        "email=",
        "email_on_retry",
    ),
    (
        "EmptyOperator(task_id='t', provide_context=True)",
        UNSUPPORTED,
        "'provide_context'",
        "remove it",
    ),
    (
        "EmptyOperator(task_id='t', task_concurrency=1)",
        UNSUPPORTED,
        "'task_concurrency'",
        "max_active_tis_per_dag",
    ),
    (
        "EmptyOperator(task_id='a')",
        TWICE,
        "task_id 'a' is taken in DAG 'd' by a task made at",
        "id of its own",
    ),
    ("EmptyOperator(task_id='g')", TWICE, "taken in DAG 'd' by a task group made at", ""),
    ("TaskGroup('a')", TWICE, "group_id 'a' is taken in DAG 'd' by a task made at", ""),
    ("TaskGroup('x.y')", INVALID, "contains a dot", "nested"),
    (
        "TaskGroup('x', retries=2)",
        UNSUPPORTED,
        "TaskGroup has no argument 'retries'",
        "default_args",
    ),
    ("TaskGroup('x', tooltp='')", UNSUPPORTED, "'tooltp'", "'tooltip'"),
    ("EmptyOperator(task_id='a b')", INVALID, "task_id 'a b' is not legal", "ASCII"),
    ("EmptyOperator(task_id='ñ')", INVALID, "is not legal", "ASCII"),
    ("EmptyOperator(task_id='x' * 251)", INVALID, "251 characters", ""),
    ("EmptyOperator(task_id='t', retries=-1)", INVALID, "retries must be at least 0", ""),
    ("EmptyOperator(task_id='t', retries=1.5)", INVALID, "retries must be a whole number", ""),
    (
        "EmptyOperator(task_id='t', priority_weight=1.5)",
        INVALID,
        "priority_weight must be a whole",
        "",
    ),
    (
        "EmptyOperator(task_id='t', max_active_tis_per_dag=0)",
        INVALID,
        "max_active_tis_per_dag must be at least 1",
        "",
    ),
    ("EmptyOperator(task_id='t', pool_slots=0)", INVALID, "pool_slots must be at least 1", ""),
    ("EmptyOperator(task_id='t', weight_rule='up')", INVALID, "no weight rule 'up'", "upstream"),
    (
        "EmptyOperator(task_id='t', trigger_rule='all_sucess')",
        INVALID,
        "no trigger rule",
        "'all_success'",
    ),
    ("EmptyOperator(task_id='t', trigger_rule='dummy')", INVALID, "no trigger rule", "'always'"),
    (
        "EmptyOperator(task_id='t', execution_timeout=30)",
        INVALID,
        "execution_timeout must be a timedelta",
        "timedelta(",
    ),
    ("EmptyOperator(task_id='t', retry_delay=timedelta(-1))", INVALID, "must not be negative", ""),
    ("EmptyOperator(task_id='t', on_failure_callback='x')", INVALID, "must be a function", ""),
    ("EmptyOperator(task_id='t', retry_exponential_backoff='x')", INVALID, "multiplier", ""),
    ("PythonOperator(task_id='t', python_callable='x')", INVALID, "must be a function", ""),
    (
        "PythonOperator(task_id='t', python_callable=f)",
        AUTHORING,
        "missing a required argument: 'x'",
        "",
    ),
    (
        "PythonOperator(task_id='t', python_callable=f, op_kwargs={'y': 1})",
        AUTHORING,
        "f() cannot be called",
        "",
    ),
    (
        "PythonOperator(task_id='t', python_callable=f, op_args=[1, 2, 3])",
        AUTHORING,
        "too many positional",
        "",
    ),
    (
        "PythonOperator(task_id='t', python_callable=lambda execution_date: 1)",
        AUTHORING,
        "'execution_date'",
        "logical_date",
    ),
    (
        "PythonOperator(task_id='t', python_callable=lambda loggical_date: 1)",
        AUTHORING,
        "'loggical_date'",
        "'logical_date'",
    ),
    ("a >> a", INVALID, "'a' cannot wait for itself", "remove"),
    ("a >> task", INVALID, "cannot be in a dependency", ""),
    ("a >> f", INVALID, "cannot be in a dependency", "write f() instead of f"),
    ("a >> 'a'", INVALID, "cannot be in a dependency", "use tasks"),
    ("a >> alien", INVALID, "'a' of DAG 'd' and 'alien' of DAG 'other'", "same DAG"),
    ("Label('x') >> a", INVALID, "stands at an end", "a >> Label"),
    ("chain([a, a], [a])", INVALID, "of one length, not of 2 and 1", "chain_linear"),
    ("chain_linear(a)", INVALID, "two elements or more", ""),
    ("chain(a, Label('x'))", INVALID, "between two tasks", ""),
    ("NoSuper(task_id='t')", INVALID, "NoSuper does not call super().__init__()", "kwargs"),
    ("Closed(task_id='t', retries=1)", UNSUPPORTED, "Closed has no argument 'retries'", ""),
    (
        "Untemplated(task_id='t')",
        INVALID,
        "template field 'sql', but no such attribute",
        "self.sql",
    ),
    ("dag.add_task(alien)", INVALID, "belongs to DAG 'other' already", ""),
    ("dag.param('zzz')", INVALID, "has no param 'zzz'", "default"),
    ("Param()", UNSUPPORTED, "without a default", ""),
    ("Param(1, type='integer')", UNSUPPORTED, "no argument 'type'", "not checked yet"),
    ("BashOperator.partial(task_id='x')", UNSUPPORTED, "BashOperator.partial", "Python loop"),
    ("a.as_teardown(setups=a)", UNSUPPORTED, "as_teardown", "all_done"),
    ("a.as_setup()", UNSUPPORTED, "as_setup", "ordinary task"),
    ("a.defer()", UNSUPPORTED, "defer", "raises an exception until"),
    ("task.sensor", UNSUPPORTED, "@task.sensor is not supported yet", "raises an exception until"),
    ("g.expand(x=[1])", UNSUPPORTED, "expand", "Python loop"),
    ("task_group(f).expand(x=[1])", UNSUPPORTED, "expand", "Python loop"),
    ("task(f)(1).map(f)", UNSUPPORTED, "XComArg.map", "inside the task"),
    ("task.virtualenv", UNSUPPORTED, "@task.virtualenv is not supported yet", "@task.bash"),
    ("task.brunch", UNSUPPORTED, "there is no @task.brunch", "@task.branch"),
    ("task(f, retries=2)", AUTHORING, "keyword arguments only", ""),
    ("task(retires=2)(f)", UNSUPPORTED, "@task has no argument 'retires'", "'retries'"),
    ("task.bash(env_={})(f)", UNSUPPORTED, "@task.bash has no argument", "'env'"),
    ("task(f)()", AUTHORING, "f() cannot be called", ""),
    ("task(f).expand(x=[1])", UNSUPPORTED, "expand", "Python loop"),
    ("task(f)(1)[0]", INVALID, "takes the name of an XCom", ""),
    ("task.skip_if(lambda c: True)(f)", AUTHORING, "must stand above @task", ""),
    ("task_group(group='x')(f)", UNSUPPORTED, "@task_group has no argument 'group'", ""),
    ("task_group(lambda x: None)()", AUTHORING, "missing a required argument: 'x'", ""),
]

OUTSIDE = [
    (
        "DAG('x', schedule_interval='@daily')",
        UNSUPPORTED,
        "DAG has no argument 'schedule_interval'",
        "write schedule",
    ),
    ("DAG('x', default_view='graph')", UNSUPPORTED, "'default_view'", "remove it"),
    ("DAG('x', catchp=True)", UNSUPPORTED, "'catchp'", "'catchup'"),
    ("DAG('x', catchup='all')", INVALID, "catchup='all' is not one of True, False, 'none'", ""),
    ("DAG('x', catchup=1)", INVALID, "catchup=1", ""),
    ("DAG('x', code='newest')", INVALID, "code='newest'", ""),
    ("DAG('x', fail_stop=True)", UNSUPPORTED, "fail_stop", "fail_fast"),
    ("DAG('x', dagrun_timeout=60)", INVALID, "dagrun_timeout must be a timedelta", ""),
    (
        "DAG('x', max_consecutive_failed_dag_runs=-1)",
        INVALID,
        "max_consecutive_failed_dag_runs must be at least 0",
        "",
    ),
    ("DAG('x', max_active_runs=0)", INVALID, "max_active_runs must be at least 1", ""),
    ("DAG('x', concurrency='4')", INVALID, "concurrency must be a whole number", ""),
    ("DAG('x', tags='x')", INVALID, "tags must be a list", "tags=['x']"),
    ("DAG('x', 'y')", AUTHORING, "too many positional arguments", ""),
    ("DAG()", AUTHORING, "missing a required argument: 'dag_id'", ""),
    ("DAG('..')", INVALID, "dag_id '..' is not legal", ""),
    ("DAG('数据')", INVALID, "is not legal", ""),
    ("DAG('x', schedule='61 * * * *')", INVALID, "61", ""),
    ("DAG('x', schedule='@fortnightly')", INVALID, "@fortnightly", ""),
    ("DAG('x', start_date=date(2024, 1, 1))", INVALID, "start_date must be a datetime", ""),
    (
        "DAG('x', start_date=datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=5.5))))",
        INVALID,
        "fixed offset 5:30:00",
        "zoneinfo",
    ),
    ("DAG('d')", TWICE, "DAG 'd' was made before, in line 14", "id of its own"),
    ("TaskGroup('x')", INVALID, "task group 'x' does not belong to a DAG", "with DAG"),
    ("EmptyOperator(task_id='lost')", INVALID, "task 'lost' does not belong to a DAG", "with DAG"),
    ("task(f)(1)", INVALID, "task 'f' does not belong to a DAG", "with DAG"),
    (
        "EmptyOperator(task_id='p') >> EmptyOperator(task_id='q')",
        INVALID,
        "do not belong to a DAG yet",
        "",
    ),
    ("dag('x', shedule=None)(f)", UNSUPPORTED, "@dag has no argument 'shedule'", "'schedule'"),
]


def raised(folder: Path, text: str) -> AuthoringError:
    with pytest.raises(AuthoringError) as caught:
        load_text(folder, text)
    return caught.value


def check(error: AuthoringError, kind: type, message: str, hint: str, path: Path) -> None:
    assert type(error) is kind
    assert error.message.startswith(f"{path}:{LINE}: ")
    assert message in error.message
    assert hint in error.hint


@pytest.mark.parametrize(("text", "kind", "message", "hint"), IN_DAG)
def test_mistake_in_a_dag(tmp_path: Path, text: str, kind: type, message: str, hint: str) -> None:
    error = raised(tmp_path, HEAD + "with dag: " + text)
    check(error, kind, message, hint, tmp_path / "one.py")


@pytest.mark.parametrize(("text", "kind", "message", "hint"), OUTSIDE)
def test_mistake_outside(tmp_path: Path, text: str, kind: type, message: str, hint: str) -> None:
    error = raised(tmp_path, HEAD.replace("as dag:", "as dag1:") + text)
    check(error, kind, message, hint, tmp_path / "one.py")


NEUTRAL = [
    "EmptyOperator(task_id='t', depends_on_past=True, wait_for_downstream=False)",
    "EmptyOperator(task_id='t', ignore_first_depends_on_past=False)",
    "EmptyOperator(task_id='t', email=None, email_on_failure=True)",
    "EmptyOperator(task_id='t', email=['x'], email_on_failure=False, email_on_retry=False)",
    "EmptyOperator(task_id='t', outlets=[], inlets=None, run_as_user=None, resources=None)",
    "EmptyOperator(task_id='t', executor_config={}, max_active_tis_per_dag=None)",
    "EmptyOperator(task_id='t', start_date=datetime(2023, 1, 1))",
    "EmptyOperator(task_id='t', retries=None, retry_delay=30, max_retry_delay=60.5)",
    "BashOperator(task_id='t', bash_command='x', allow_nested_operators=True)",
    "PythonOperator(task_id='t', python_callable=f, op_args=[1])",
    "PythonOperator(task_id='t', python_callable=f, op_kwargs={'x': 1, 'ds': 2})",
    "PythonOperator(task_id='t', python_callable=lambda **kw: 1, op_kwargs={'zzz': 1})",
    "PythonOperator(task_id='t', python_callable=lambda templates_dict: 1)",
    "PythonOperator(task_id='t', python_callable=print, op_args=[1, 2, 3])",
    "PythonOperator(task_id='t', python_callable=f, op_kwargs='{{ params.all }}')",
    "DAG('x', fail_fast=False, dagrun_timeout=None, max_consecutive_failed_dag_runs=0)",
    "DAG('x', max_active_tasks=3, tags={'a'}, template_searchpath='/srv')",
    "Closed(task_id='t')",
]


@pytest.mark.parametrize("text", NEUTRAL)
def test_values_that_change_nothing_are_accepted(tmp_path: Path, text: str) -> None:
    for found in load_text(tmp_path, HEAD + "with dag: " + text):
        to_spec(found.dag)


SPEC_TIME = [
    ("a >> b >> a", "has a cycle: a >> b >> a"),
    ("a >> b >> c >> a", "has a cycle: a >> b >> c >> a"),
    ("g >> a; a >> g", "has a cycle"),
    ("g >> ga", "group and member cannot depend on each other: 'g' >> 'g.ga'"),
    ("dag.params['x'] = object()", "which JSON cannot say"),
]


@pytest.mark.parametrize(("text", "message"), SPEC_TIME)
def test_mistakes_of_the_whole_graph(tmp_path: Path, text: str, message: str) -> None:
    dags = load_text(
        tmp_path,
        f"""
        from datetime import datetime
        from flow import DAG, TaskGroup
        from flow.operators.empty import EmptyOperator
        with DAG("d", start_date=datetime(2024, 1, 1)) as dag:
            a, b, c = (EmptyOperator(task_id=name) for name in "abc")
            with TaskGroup("g") as g:
                ga = EmptyOperator(task_id="ga")
            {text}
        """,
    )
    with pytest.raises(AuthoringError, match=f"{tmp_path}/one.py:") as caught:
        to_spec(next(iter(dags)).dag)
    assert message in caught.value.message


DEFAULTS = [
    ("{'catchup': False}", "'catchup'", "belongs to the DAG itself"),
    ("{'schedule_interval': None}", "'schedule_interval'", "belongs to the DAG"),
    ("{'retires': 3}", "'retires'", "'retries'"),
    ("{'provide_context': True}", "'provide_context'", "remove it"),
]


@pytest.mark.parametrize(("defaults", "message", "hint"), DEFAULTS)
@pytest.mark.parametrize("place", ["DAG", "TaskGroup"])
def test_defaults_that_would_be_ignored(
    tmp_path: Path, place: str, defaults: str, message: str, hint: str
) -> None:
    given = {"DAG": "", "TaskGroup": "", place: f", default_args={defaults}"}
    dags = load_text(
        tmp_path,
        f"""
        from flow import DAG, TaskGroup
        from flow.operators.empty import EmptyOperator
        with DAG("d"{given["DAG"]}), TaskGroup("g"{given["TaskGroup"]}):
            EmptyOperator(task_id="a")
        """,
    )
    with pytest.raises(UnsupportedArgument) as caught:
        to_spec(next(iter(dags)).dag)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_defaults_for_operators_that_are_not_used_are_accepted(tmp_path: Path) -> None:
    dags = load_text(
        tmp_path,
        """
        from flow import DAG
        from flow.operators.empty import EmptyOperator
        with DAG("d", default_args={"postgres_conn_id": "x", "bash_command": "y"}):
            EmptyOperator(task_id="a")
        """,
    )
    to_spec(next(iter(dags)).dag)


@pytest.mark.parametrize("defaults", ["{'inlets': ['x']}", "{'email': 'x'}"])
def test_defaults_that_are_not_supported_yet(tmp_path: Path, defaults: str) -> None:
    error = raised(
        tmp_path,
        f"""
        from flow import DAG
        from flow.operators.empty import EmptyOperator
        with DAG("d", default_args={defaults}):
            EmptyOperator(task_id="a")
        """,
    )
    assert isinstance(error, UnsupportedArgument)
    assert f"{tmp_path}/one.py:4: " in error.message


def test_a_mistake_behind_a_factory_names_the_line_of_the_factory(tmp_path: Path) -> None:
    error = raised(
        tmp_path,
        """
        from flow import DAG
        from flow.operators.empty import EmptyOperator
        def make(name):
            return EmptyOperator(task_id=name, retires=1)
        with DAG("d"):
            make("a")
        """,
    )
    assert error.message.startswith(f"{tmp_path}/one.py:4: ")


def test_iterating_a_result_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="known only when it has run; iterate inside the task"):
        load_text(
            tmp_path,
            """
            from flow import DAG, task
            with DAG("d"):
                for x in task(lambda: 1).override(task_id="t")():
                    pass
            """,
        )
