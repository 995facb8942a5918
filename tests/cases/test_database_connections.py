"""How the roles reach the database: how many connections each holds, and through PgBouncer.

Counted are the server's own rows of who is connected. A pooler hands each transaction any of its
server connections, so nothing may stay in one: through a real PgBouncer a deployment works as
without, its roles listen past it where `database.direct_url` says how, and otherwise look often
enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import psycopg
import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from flow.store.connect import connect
from pgbouncer import PgBouncer, running_pgbouncer, url
from waiting import wait_until

BREAKS = [
    # LISTEN stays in a connection of everybody's.
    Break(
        "engine/flow/store/notify.py",
        "if _is_pooled(self._conn):",
        "if False:",
        test="test_where_only_pgbouncer_is_known_roles_look_instead_of_listening",
    ),
    # Nobody listens past the pooler.
    Break(
        "cli/flow_cli/roles.py",
        "return config.settings.database.direct_url or dsn",
        "return dsn",
        test="test_through_pgbouncer_roles_work_and_listen_past_it",
    ),
    # A connection that nobody needs.
    Break(
        "engine/flow/store/notify.py",
        "        self._descriptor = self._conn.fileno()\n",
        "        self._descriptor = self._conn.fileno()\n"
        '        self._spare = connect(dsn, name="listen")\n',
        test="test_a_role_holds_as_many_connections_as_it_needs_however_much_it_does",
    ),
]

SLOTS = 12
DAG = f"""
    import os
    from flow import DAG, Variable, task
    from marks import stay

    with DAG("wide", schedule=None, max_active_tasks={2 * SLOTS}):

        @task
        def first():
            return 7

        @task
        def wait(value):
            assert (value, Variable.get("greeting")) == (7, "hello")
            stay(600, until=lambda: os.path.exists(os.environ["CASE_MARKS"] + "/full"))

        value = first()
        for number in range({SLOTS + 1}):
            wait.override(task_id="wait_" + str(number))(value)

    with DAG("endless", schedule=None):

        @task
        def endless():
            stay(600.0, "endless")

        endless()
    """
CONNECTED = """
select application_name from pg_stat_activity
where datname = current_database() and application_name ~ '^flow (parse|schedule|work|listen)$'
"""
LISTENING = "select query from pg_stat_activity where application_name = 'flow listen'"
ROLES = ("parse", "schedule", "work")


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    """A deployment whose server runs; it is told of it as of anybody's, by URLs."""
    with deployed({"worker.heartbeat": 0.5}) as made:
        made.embedded.start()
        made.write("wide.py", DAG)
        yield made


@pytest.fixture
def pooler(deployment: Deployment) -> Iterator[PgBouncer]:
    with running_pgbouncer(deployment.embedded) as made:
        yield made


def test_a_role_holds_as_many_connections_as_it_needs_however_much_it_does(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One to work with and one that listens, for a worker with twelve tries as for one with one."""
    monkeypatch.setenv("FLOW_DATABASE_URL", url(deployment.embedded.dsn))
    prepare(deployment)
    for arguments in (["parse"], ["schedule"], ["schedule"], ["work", "--slots", "1"]):
        deployment.start(*arguments)
    deployment.start("work", "--slots", str(SLOTS))
    deployment.wait_for_dags("wide")
    run_id = deployment.run("wide")
    most: Counter[str] = Counter()
    with connect(deployment.embedded.dsn, name="case") as conn:

        def look() -> int:
            nonlocal most
            most |= Counter(row[0] for row in conn.execute(CONNECTED))
            row = conn.execute("select count(*) from task_hot where state = 'running'").fetchone()
            return row[0] if row else 0

        wait_until(lambda: look() == SLOTS + 1, "every slot to be taken")
        let_tasks_end(deployment)
        wait_until(lambda: look() == 0, "the end of the tasks")
    assert most == {"flow parse": 1, "flow schedule": 2, "flow work": 2, "flow listen": 5}
    assert deployment.wait_for_run("wide", run_id)["state"] == "success"
    end_roles(deployment)


def test_through_pgbouncer_roles_work_and_listen_past_it(
    deployment: Deployment, pooler: PgBouncer, monkeypatch: pytest.MonkeyPatch
) -> None:
    direct = deployment.embedded.dsn
    monkeypatch.setenv("FLOW_DATABASE_URL", pooler.url(direct))
    monkeypatch.setenv("FLOW_DATABASE_DIRECT_URL", url(direct))
    prepare(deployment)
    let_tasks_end(deployment)
    for role in ROLES:
        deployment.start(role)
    deployment.wait_for_roles(*ROLES)
    assert deployment.run_to_end("wide")["state"] == "success"
    assert listened_for(direct) == {"flow_parse", "flow_wake", "flow_stop"}
    assert {f"flow {role}" for role in ROLES} <= clients_of(pooler, direct)
    assert "flow listen" not in clients_of(pooler, direct)
    cancel_one(deployment)
    end_roles(deployment)
    assert pooler.left_behind(direct) == []


def test_where_only_pgbouncer_is_known_roles_look_instead_of_listening(
    deployment: Deployment, pooler: PgBouncer, monkeypatch: pytest.MonkeyPatch
) -> None:
    direct = deployment.embedded.dsn
    monkeypatch.setenv("FLOW_DATABASE_URL", pooler.url(direct))
    prepare(deployment)
    let_tasks_end(deployment)
    for role in ROLES:
        deployment.start(role)
    deployment.wait_for_roles(*ROLES)
    assert deployment.run_to_end("wide")["state"] == "success"
    assert listened_for(direct) == set()
    cancel_one(deployment)
    end_roles(deployment)
    assert pooler.left_behind(direct) == []
    assert "when not linked" not in pooler.log()  # a notification for nobody


def test_what_somebody_leaves_in_a_connection_is_found(
    deployment: Deployment, pooler: PgBouncer
) -> None:
    direct = deployment.embedded.dsn
    with connect(pooler.before(direct), name="case") as conn:
        conn.execute("set statement_timeout = 1000")
        conn.execute("listen flow_wake")
        conn.execute("prepare one as select 1")
        conn.execute("select pg_advisory_lock(1)")
        conn.execute("create temporary table kept (id int)")
    assert set(pooler.left_behind(direct)) == {
        *("a setting: statement_timeout", "a channel: flow_wake", "an advisory lock"),
        *("a prepared statement: prepare one as select 1", "a temporary table: kept"),
    }


def prepare(deployment: Deployment) -> None:
    assert deployment.flow("db", "migrate").code == 0
    assert deployment.flow("vars", "set", "greeting", "hello").code == 0


def let_tasks_end(deployment: Deployment) -> None:
    (deployment.folder / "m" / "full").touch()


def cancel_one(deployment: Deployment) -> None:
    """A worker learns that a try is to end."""
    run_id = deployment.run("endless")
    wait_until(lambda: deployment.marks("endless"), "the endless task")
    assert deployment.flow("runs", "cancel", "--yes", "endless", run_id).code == 0
    assert deployment.wait_for_run("endless", run_id)["state"] == "failed"


def end_roles(deployment: Deployment) -> None:
    for role in deployment.roles:
        assert role.end() == 0, role.text()
    deployment.roles.clear()


def listened_for(dsn: str) -> set[str]:
    """The last channel that each of the server's sessions has listened for."""
    with connect(dsn, name="case") as conn:
        queries = [row[0].lower() for row in conn.execute(LISTENING)]
    return {query.split('"')[1] for query in queries if query.startswith("listen")}


def clients_of(pooler: PgBouncer, dsn: str) -> set[str]:
    """Names of the pooler's clients."""
    console = psycopg.conninfo.make_conninfo(pooler.before(dsn), dbname="pgbouncer")
    with psycopg.connect(console, autocommit=True, cursor_factory=psycopg.ClientCursor) as conn:
        clients = conn.execute("show clients")
        assert clients.description is not None
        name = [column.name for column in clients.description].index("application_name")
        return {row[name] for row in clients}
