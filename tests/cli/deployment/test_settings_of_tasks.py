"""Pools, variables and connections on the command line."""

from __future__ import annotations

import json
import stat

URI = "postgres://etl:p%40ss@db.example:5433/sales?sslmode=require&timeout=5"


def test_a_variable_from_cradle_to_grave(world, flow, project):
    assert flow("vars", "set", "region", "eu-west", "--description", "Where").out == (
        "region is set\n"
    )
    assert flow("vars", "set", "region", "eu-north").out == "region is overwritten\n"
    assert flow("vars", "get", "region").out == "eu-north\n"
    got = json.loads(flow("vars", "get", "region", "-o", "json").out)
    assert got == {
        "key": "region",
        "value": "eu-north",
        "description": "Where",
        "origin": "store",
    }
    overridden = flow("vars", "get", "region", FLOW_VAR_REGION="us")
    assert (overridden.out, overridden.err) == (
        "us\n",
        "from FLOW_VAR_REGION in the environment\n",
    )
    (project / "key.pem").write_text("-----BEGIN\nabc\n-----END\n")
    for form in (("--from-file", "key.pem"), ("@key.pem",)):
        flow("vars", "delete", "pem", "--yes")
        flow("vars", "set", "pem", *form)
        assert flow("vars", "get", "pem").out == "-----BEGIN\nabc\n-----END\n"
    (project / "sign.txt").write_text("@home")
    flow("vars", "set", "sign", "@sign.txt")
    assert flow("vars", "get", "sign").out == "@home\n"
    flow("vars", "delete", "sign", "--yes")
    lost = flow("vars", "set", "sign", "@lost.txt")
    assert (lost.code, "lost.txt cannot be read" in lost.err) == (2, True)
    assert [row["key"] for row in json.loads(flow("vars", "list", "-o", "json").out)] == [
        "pem",
        "region",
    ]
    assert flow("vars", "delete", "pem").code == 2
    assert flow("vars", "delete", "pem", "--dry-run").out == "pem would be deleted\n"
    assert flow("vars", "delete", "pem", "--yes").out == "pem is deleted\n"
    assert world.value("select count(*) from variable") == 1


def test_an_export_is_private_and_comes_back(world, flow, project):
    flow("vars", "set", "region", "eu")
    written = flow("vars", "export", "out.json")
    assert (written.code, written.out) == (0, "")
    assert stat.S_IMODE((project / "out.json").stat().st_mode) == 0o600
    assert flow("vars", "export").out == (project / "out.json").read_text()
    assert flow("vars", "export", "out.json").code == 2
    taken = flow("vars", "import", "out.json")
    assert (taken.code, taken.out) == (4, "")
    skipped = flow("vars", "import", "out.json", "--existing", "skip")
    assert (skipped.code, skipped.err) == (0, "left as they were: region\n")
    assert flow("vars", "import", "out.json", "--existing", "overwrite").out == "region is set\n"


def test_a_connection_hides_its_password_unless_asked(world, flow, project):
    (project / "uri").write_text(URI + "\n")
    assert flow("conns", "add", "warehouse", "--uri", "@uri").out == "warehouse is stored\n"
    assert flow("conns", "add", "warehouse", "--uri", "@uri").code == 4
    masked = flow("conns", "get", "warehouse", "-o", "json")
    assert json.loads(masked.out) == {
        "conn_id": "warehouse",
        "conn_type": "postgres",
        "host": "db.example",
        "port": 5433,
        "schema": "sales",
        "login": "etl",
        "password": "***",
        "extra": {"sslmode": "***", "timeout": 5},
        "description": None,
        "origin": "store",
        "uri": None,
    }
    assert "p@ss" not in flow("conns", "get", "warehouse").out
    revealed = json.loads(flow("conns", "get", "warehouse", "--reveal", "-o", "json").out)
    assert (revealed["password"], revealed["uri"]) == ("p@ss", URI)
    listed = flow("conns", "list", "-o", "json").out
    assert list(json.loads(listed)[0]) == ["conn_id", "conn_type", "description", "updated_at"]
    exported = flow("conns", "export").out
    flow("conns", "delete", "warehouse", "--yes")
    (project / "all.json").write_text(exported)
    assert flow("conns", "import", "all.json").out == "warehouse is stored\n"
    assert flow("conns", "export").out == exported


def test_a_connection_by_its_fields_and_as_json(world, flow):
    by_fields = flow(
        *("conns", "add", "one", "--type", "http", "--host", "::1", "--port", "8080"),
        *("--login", "ann", "--extra", '{"n": 1}', "--description", "One"),
    )
    assert by_fields.code == 0, by_fields.err
    flow("conns", "add", "two", "--json", '{"conn_type": "http", "host": "::1", "port": 8080, '
         '"login": "ann", "extra": {"n": 1}, "description": "One"}')  # fmt: skip
    one, two = (
        json.loads(flow("conns", "get", name, "--reveal", "-o", "json").out)
        for name in ("one", "two")
    )
    assert {**one, "conn_id": ""} == {**two, "conn_id": ""}


def test_a_connection_is_tried(world, flow):
    flow("conns", "add", "closed", "--uri", "http://127.0.0.1:1")
    tried = flow("conns", "test", "closed", "-o", "json")
    assert tried.code == 1
    result = json.loads(tried.out)
    assert (result["ok"], result["how"]) == (False, "tcp")
    fields = dict(pair.split("=") for pair in world.dsn.split())
    given = {
        "conn_type": "postgres",
        "host": fields["host"],
        "port": int(fields["port"]),
        "login": fields["user"],
        "schema": fields["dbname"],
    }
    flow("conns", "add", "own", "--json", json.dumps(given))
    assert flow("conns", "test", "own").out.startswith("logged in to PostgreSQL ")


def test_a_pool_from_cradle_to_grave(world, flow):
    made = flow("pools", "set", "small", "3", "--description", "Few", "-o", "json")
    assert json.loads(made.out) == {
        "name": "small",
        "slots": 3,
        "include_deferred": False,
        "running": 0,
        "queued": 0,
        "scheduled": 0,
        "deferred": 0,
        "open": 3,
        "description": "Few",
    }
    assert flow("pools", "list").out == (
        "NAME          SLOTS  RUNNING  QUEUED  SCHEDULED  DEFERRED  OPEN  DESCRIPTION\n"
        "default_pool     -1        0       0          0         0     -  Unlimited unless set\n"
        "small             3        0       0          0         0     3  Few\n"
    )
    assert flow("pools", "delete", "small", "--dry-run").out == "small would be deleted\n"
    assert flow("pools", "delete", "small", "--yes").out == "small is deleted\n"
