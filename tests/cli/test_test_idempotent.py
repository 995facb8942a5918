"""`flow test --idempotent`: two runs for one interval, and what they leave in files and tables."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from support.rehearsed import Rehearse, Write, task

COMMAND = [sys.executable, "-m", "flow_cli"]
DAILY = "schedule='@daily', start_date=datetime(2026, 1, 1)"
LOADED = """
    import sqlite3
    from flow import File, Table
    def execute(*statements):
        with sqlite3.connect("shop.db", timeout=60) as shop:
            for statement in statements:
                shop.execute(statement)
"""
SHOP = ("--conn", "shop=sqlite:///shop.db", "--date", "2026-10-09")


def output(result: dict[str, Any], task_id: str) -> dict[str, Any]:
    """The one line about a task."""
    (found,) = [one for one in result["outputs"] if one["task_id"] == task_id]
    return dict(found)


@pytest.fixture
def shop(project: Path) -> Path:
    """A SQLite database with an empty table of orders, and one of sums."""
    file = project / "shop.db"
    with sqlite3.connect(file) as made:
        made.execute("create table orders (id integer primary key, day, n, loaded_at)")
        made.execute("create table sums (total)")
    return file


def test_an_append_that_a_retry_would_double_is_caught(
    write: Write, rehearse: Rehearse, shop: Path
) -> None:
    write(
        LOADED
        + """
    @task(outlets=[Table("shop", "orders", "day", ignore=["id"])])
    def append(ds, dag_run):
        print("of a run that began at", dag_run.start_date)
        execute(f"insert into orders (day, n) values ('{ds}', 1), ('{ds}', 2)")
    append()
        """,
        arguments=DAILY,
    )
    result, ended = rehearse("--idempotent", *SHOP, code=1)
    found = output(result, "append")
    assert (result["state"], result["idempotent"]) == ("success", False)
    assert (found["output"], found["verdict"]) == ("table shop:orders", "differs")
    assert (found["before"]["amount"], found["after"]["amount"]) == (2, 4)
    said = r"append: table shop:orders differs: 2 rows \(\w+\) after the first run, 4 rows \(\w+\)"
    assert re.search(said, ended.err)
    assert "not idempotent: append\n" in ended.err
    starts = re.findall(r"of a run that began at (.+)", ended.err)
    assert len(set(starts)) == 2, "each run has its own time limit"


def test_a_load_that_replaces_its_interval_and_one_that_writes_other_rows(
    write: Write, rehearse: Rehearse, shop: Path
) -> None:
    """Ids and the time of loading differ each time, and other intervals do not matter."""
    write(
        LOADED
        + """
    @task(outlets=[Table("shop", "main.orders", "day", ignore=["id", "loaded_at"])])
    def replace(data_interval_start):
        moments = (data_interval_start, data_interval_start.add(hours=23))
        execute(
            f"delete from orders where day like '{data_interval_start:%Y-%m-%d}%'",
            *(f"insert into orders (day, n, loaded_at) values ('{one}', 1, {time.time()})"
              for one in moments),
            f"insert into orders (day, n) values ('2026-10-10', {time.time()}), (null, 5)",
        )
    @task(outlets=[Table("shop", "sums")])
    def change():
        execute("delete from sums", f"insert into sums values ({time.time()})")
    replace() >> change()
        """,
        arguments=DAILY,
    )
    result, ended = rehearse("--idempotent", *SHOP, code=1)
    found = output(result, "replace")
    assert (found["verdict"], found["reason"]) == ("same", None)
    assert found["before"] == found["after"]
    assert found["before"]["amount"] == 2
    assert "replace: table shop:main.orders is the same after both runs: 2 rows" in ended.err
    changed = output(result, "change")
    assert (changed["verdict"], changed["reason"]) == (
        "differs",
        "as much of it, with other content",
    )
    assert changed["before"]["digest"] != changed["after"]["digest"]


def test_trees_of_files_are_compared_by_name_content_and_link(
    write: Write, rehearse: Rehearse, project: Path
) -> None:
    """The order of writing, times and modes do not count."""
    write(
        f"""
        from flow import File
        def tree(name, script):
            BashOperator(
                task_id=name,
                bash_command=f"mkdir -p {{name}}; cd {{name}}; {{script}}",
                cwd="{project}",
                outlets=[File("{project}/" + name)],
            )
        tree("kept", "mkdir -p in; echo 1 > in/a; chmod 6$(ls -A | wc -l)0 in/a; ln -sfn in/a link")
        tree("grown", "echo 1 >> a")
        tree("renamed", "if [ -e a ]; then mv a b; else echo 1 > a; fi")
        tree("moved", "if [ -L link ]; then ln -sfn elsewhere link; else ln -s there link; fi")
        tree("emptied", "mkdir $(ls | wc -l)")
        """,
        arguments=DAILY,
    )
    result, _ = rehearse("--idempotent", code=1)
    verdicts = {one["task_id"]: one["verdict"] for one in result["outputs"]}
    assert verdicts == {
        "kept": "same",
        "grown": "differs",
        "renamed": "differs",
        "moved": "differs",
        "emptied": "differs",
    }
    grown = output(result, "grown")
    assert [grown[when]["size_bytes"] for when in ("before", "after")] == [2, 4]


def test_what_declares_nothing_is_not_proven(write: Write, rehearse: Rehearse) -> None:
    write("BashOperator(task_id='a', bash_command='true')")
    result, ended = rehearse("--idempotent", code=1)
    assert output(result, "a")["verdict"] == "nothing"
    assert result["idempotent"] is False
    assert "a: nothing to compare: it declares no outlets" in ended.err
    assert "nothing was compared, so nothing is proven" in ended.err


def test_what_is_not_there_is_not_proven(
    write: Write, rehearse: Rehearse, project: Path, shop: Path
) -> None:
    """Beside something that is proven, what cannot be is named and does no harm."""
    (project / "fixed").write_text("1")
    write(
        f"""
        from flow import File, Table
        BashOperator(
            task_id="a",
            bash_command="true",
            outlets=[
                File("{project}/nowhere"), Table("shop", "orders", "day"), File("{project}/fixed")
            ],
        )
        """
    )
    result, _ = rehearse("--idempotent", "--conn", "shop=sqlite:///shop.db")
    assert [one["verdict"] for one in result["outputs"]] == ["nothing", "nothing", "same"]
    assert result["idempotent"] is True
    assert result["outputs"][0]["before"] is None
    assert result["outputs"][1]["before"]["amount"] == 0


UNMEASURABLE = {
    "Table('nowhere', 'orders')": "connection 'nowhere' does not exist",
    "Table('shop', 'nowhere')": "no such table",
    "Table('shop', 'orders', 'nowhere')": "has no column 'nowhere'; its columns are id, day",
    "Table('shop', 'orders', 'day')": "'soon'",
    "Table('mine', 'orders')": "type 'mysql' cannot be compared; those of postgres and",
    "File('{{ nowhere }}')": "nowhere",
}


def test_what_cannot_be_measured_fails(write: Write, rehearse: Rehearse, shop: Path) -> None:
    with sqlite3.connect(shop) as made:
        made.execute("insert into orders (day) values ('soon')")
    write(
        f"""
        from flow import File, Table
        BashOperator(task_id="a", bash_command="true", outlets=[{", ".join(UNMEASURABLE)}])
        """
    )
    result, _ = rehearse("--idempotent", *SHOP[:2], "--conn", "mine=mysql://h/d", code=1)
    for found, words in zip(result["outputs"], UNMEASURABLE.values(), strict=True):
        assert found["verdict"] == "failed"
        assert words in found["reason"]


def test_a_task_that_fails_the_second_time(write: Write, rehearse: Rehearse, shop: Path) -> None:
    write(
        LOADED
        + """
    @task(outlets=[Table("shop", "orders")])
    def insert():
        execute("insert into orders (id, n) values (1, 1)")
    insert()
        """
    )
    result, ended = rehearse("--idempotent", *SHOP[:2], code=1)
    assert (result["state"], result["idempotent"]) == ("failed", False)
    assert output(result, "insert")["verdict"] == "failed"
    assert "it is failed the second time: IntegrityError: UNIQUE constraint" in ended.err


def test_a_run_that_fails_is_not_repeated(write: Write, rehearse: Rehearse) -> None:
    write("BashOperator(task_id='a', bash_command='echo once; exit 3')")
    result, ended = rehearse("--idempotent", code=1)
    assert (result["state"], result["idempotent"], result["outputs"]) == ("failed", None, [])
    assert ended.err.count("│ once") == 1
    assert "it is not run again and nothing is compared" in ended.err


def test_a_selection_is_all_that_runs_twice(
    write: Write, rehearse: Rehearse, project: Path
) -> None:
    write(
        f"""
        from flow import File
        for name in "ab":
            BashOperator(task_id=name, bash_command=f"echo 1 >> {project}/{{name}}", cwd="/",
                         outlets=File(f"{project}/{{name}}"))
        """
    )
    result, _ = rehearse("--idempotent", "-t", "a", code=1)
    assert [one["task_id"] for one in result["outputs"]] == ["a"]
    assert (project / "a").read_text() == "1\n1\n"
    assert not (project / "b").exists()


MOMENTS = {
    "appended": ("date", "2026-10-09"),
    "dates": ("date", "2026-10-09"),
    "local": ("timestamp", "2026-10-09 00:00"),
    "moments": ("timestamptz", "2026-10-09T23:59:59+02:00"),
    "texts": ("text", "2026-10-09T01:00"),
}
"""The type of a table's interval column, and a value of the ninth of October in Zurich."""


def test_tables_of_postgresql(write: Write, rehearse: Rehearse, database: str) -> None:
    """A row belongs to the day of the DAG's time zone, whatever its column is made of."""
    with psycopg.connect(database, autocommit=True) as made:
        made.execute("create schema shop")
        for name, (kind, _) in MOMENTS.items():
            made.execute(f"create table shop.{name} (id serial, moment {kind}, n numeric)")
    write(
        """
        from flow import Table
        @task(outlets=[Table("shop", f"shop.{name}", "moment", ignore=["id"]) for name in MOMENTS])
        def load():
            import psycopg
            shop = Connection.get("shop")
            with psycopg.connect(host=shop.host, port=shop.port, user=shop.login,
                                 password=shop.password, dbname=shop.schema) as conn:
                for name, (_, moment) in MOMENTS.items():
                    if name != "appended":
                        conn.execute(f"delete from shop.{name}")
                    for when, n in [(moment, 1.5), (moment, 1.5), ("2026-10-10", time.time())]:
                        conn.execute(f"insert into shop.{name} values (default, %s, %s)", (when, n))
        load()
        """,
        arguments="schedule='@daily', start_date=datetime(2026, 1, 1, tzinfo=ZURICH)",
        head="from zoneinfo import ZoneInfo\n"
        f"ZURICH = ZoneInfo('Europe/Zurich')\nMOMENTS = {MOMENTS!r}\n",
    )
    result, _ = rehearse(
        "--idempotent", "--conn", f"shop={as_connection(database)}", "--date", "2026-10-09", code=1
    )
    found = {one["output"].rpartition(".")[2]: one for one in result["outputs"]}
    assert {name: one["verdict"] for name, one in found.items()} == {
        **dict.fromkeys(MOMENTS, "same"),
        "appended": "differs",
    }
    assert {one["before"]["amount"] for one in found.values()} == {2}
    assert found["appended"]["after"]["amount"] == 4


def as_connection(dsn: str) -> str:
    """The JSON form of a connection to a PostgreSQL."""
    parts = conninfo_to_dict(dsn)
    fields = {
        "conn_type": "postgres",
        "host": parts.get("host"),
        "port": parts.get("port"),
        "login": parts.get("user"),
        "password": parts.get("password"),
        "schema": parts.get("dbname"),
    }
    return json.dumps({name: value for name, value in fields.items() if value})


def test_no_driver_is_loaded_where_the_comparison_is_asked_for(
    write: Write, environment: dict[str, str], project: Path, shop: Path
) -> None:
    write(
        """
        from flow import Table
        BashOperator(task_id="a", bash_command="true", outlets=Table("shop", "orders"))
        """
    )
    check = (
        "import sys; from flow_cli.application import main;"
        "code = main(['test', 'd.py', '--idempotent', '--conn', 'shop=sqlite:///shop.db']);"
        "print(code, *sorted({'psycopg', 'sqlite3', 'sqlalchemy'} & sys.modules.keys()))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", check],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.splitlines()[-1] == "1"


def test_ctrl_c_ends_the_measuring_too(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    """The import of the file, once the task has run, is what the measuring process does first."""
    (project / "fixed").write_text("1")
    write(
        f"""
        from flow import File
        @task(outlets=File("{project}/fixed"))
        def run():
            open("{project}/has-run", "w").close()
        run()
        if os.path.exists("{project}/has-run"):
            print("measuring", os.getpid(), flush=True)
            time.sleep(600)
        """
    )
    with subprocess.Popen(
        [*COMMAND, "test", "d.py", "--idempotent", "-o", "json"],
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        pid = next(line.split()[-1] for line in process.stderr if "measuring" in line)
        process.send_signal(signal.SIGINT)
        result = json.load(process.stdout)
        process.stderr.read()
    assert process.returncode == 130
    assert (result["state"], result["reason"]) == ("running", "interrupted")
    assert task(result, "run")["state"] == "success"
    assert not os.path.exists(f"/proc/{pid}")
