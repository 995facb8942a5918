"""T58: a connection is the same in every written form, and its secrets stand nowhere in the open.

500 random connections and the literal strings of old faults go in as JSON and as URIs, and come out
of `flow conns` and of a task as they went in; the URIs that Flow itself writes go in again. The
environment comes before the store, by one rule for names. What cannot be read is refused with an
error that names the connection and holds nothing of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cases.breaks import Break
from cases.connections import AWKWARD, FIELDS, SECRET, Fields, random_connections, spelt, whole
from cases.deployment import Deployment, deployed

NEEDS: list[str] = []

BREAKS = [
    # A plus is a space everywhere.
    Break(
        "engine/flow/authoring/connection_uri.py",
        '        return unquote(text, errors="strict") or None\n',
        '        return unquote(text.replace("+", " "), errors="strict") or None\n',
        test="test_uris_as_people_write_them",
    ),
    # An IPv6 address keeps its brackets.
    Break(
        "engine/flow/authoring/connection_uri.py",
        "        return address, _port(rest[1:])\n",
        '        return f"[{address}]", _port(rest[1:])\n',
        test="test_500_random_connections_come_back_in_every_form",
    ),
    # Extras become texts.
    Break(
        "engine/flow/authoring/connection_uri.py",
        '        if _parse_query(flat) == extra and "%7B" not in flat and "%5B" not in flat:\n',
        '        if "%7B" not in flat and "%5B" not in flat:\n',
        test="test_500_random_connections_come_back_in_every_form",
    ),
    # The store comes first.
    Break(
        "engine/flow/secrets/lookup.py",
        "    if text:\n        return FoundConnection(",
        "    if text and connections.one(conn, conn_id) is None:\n        return FoundConnection(",
        test="test_the_environment_comes_before_the_store",
    ),
    # A dot stays a dot in the name of a variable, where no shell can set it.
    Break(
        "engine/flow/secrets/names.py",
        '"[^A-Z0-9]"',
        '"[^A-Z0-9.]"',
        test="test_the_environment_holds_both_forms",
    ),
    # The environment takes URIs only.
    Break(
        "engine/flow/authoring/connection.py",
        '    if text.startswith("{"):\n',
        '    if text.startswith("{{"):\n',
        test="test_the_environment_holds_both_forms",
    ),
    # Errors quote what they could not read.
    Break(
        "engine/flow/authoring/connection.py",
        'raise _invalid(conn_id, "its JSON cannot be parsed", _JSON_HINT)',
        'raise _invalid(conn_id, f"its JSON cannot be parsed: {text}", _JSON_HINT)',
        test="test_what_cannot_be_read_is_refused_without_quoting_it",
    ),
    # The database holds passwords.
    Break(
        "engine/flow/secrets/stored.py",
        '    return connection.conn_type, secret, connection.description or ""\n',
        '    return connection.conn_type, secret, connection.password or ""\n',
        test="test_no_secret_stands_anywhere_in_the_open",
    ),
]

LITERAL = {
    "postgresql://me:p%2Fw@db.example:5432/sales?sslmode=require&timeout=5": {
        "conn_type": "postgres",
        "login": "me",
        "password": "p/w",
        "host": "db.example",
        "port": 5432,
        "schema": "sales",
        "extra": {"sslmode": "require", "timeout": 5},
    },
    "google-cloud-platform://?a=b+c&d=e%2Bf": {
        "conn_type": "google_cloud_platform",
        "extra": {"a": "b c", "d": "e+f"},
    },
    "google_cloud_platform://": {"conn_type": "google_cloud_platform"},
    "  pg://u:p@h": {"conn_type": "pg", "login": "u", "password": "p", "host": "h"},
    "pg://me:a:b@c@h": {"conn_type": "pg", "login": "me", "password": "a:b@c", "host": "h"},
    "pg://u:a+b@h": {"conn_type": "pg", "login": "u", "password": "a+b", "host": "h"},
    "mail://me%40corp.example:p@smtp": {
        "conn_type": "mail",
        "login": "me@corp.example",
        "password": "p",
        "host": "smtp",
    },
    "http://https://api.example:8443/v1": {
        "conn_type": "http",
        "host": "https://api.example",
        "port": 8443,
        "schema": "v1",
    },
}
"""URIs as people write them, and what they mean by the rules of flow-arguments(7)."""

BAD = {
    "slash": f"s3://key:{SECRET}/with/slash@b",
    "number_and_slash": f"s3://key:12/{SECRET}@b",
    "hash": f"pg://me:{SECRET}#x@h",
    "percent": f"pg://me:{SECRET}%x@h",
    "no_utf8": f"pg://me:{SECRET}%ff@h",
    "port": f"pg://me:x@h:{SECRET}",
    "ipv6": f"pg://me:{SECRET}@::1/db",
    "no_scheme": f"me:{SECRET}@h",
    "broken_json": f'{{"password": "{SECRET}"',
    "unknown_key": f'{{"conn_type": "pg", "login": "{SECRET}", "passwort": "x"}}',
    "text_as_extra": f'{{"conn_type": "pg", "extra": "{SECRET}"}}',
}

DAG = """
    import json, os
    from pathlib import Path
    from flow import DAG, Connection, task

    FOLDER = Path(os.environ["CASE_MARKS"])

    with DAG("look", schedule=None, default_args={"retries": 0}):

        @task
        def look():
            found = {}
            for conn_id in json.loads((FOLDER / "ids.json").read_text()):
                one = Connection.get(conn_id)
                found[conn_id] = {
                    "conn_type": one.conn_type, "host": one.host, "login": one.login,
                    "password": one.password, "schema": one.schema, "port": one.port,
                    "extra": one.extra_dejson, "uri": one.get_uri(), "repr": repr(one),
                }
                print("found", repr(one))
            (FOLDER / "found.json").write_text(json.dumps(found))

        look()

    with DAG("stumble", schedule=None, default_args={"retries": 0}):

        @task
        def stumble():
            Connection.get("broken")

        stumble()
    """


STORED = {**random_connections(), **AWKWARD}
FROM_ENVIRONMENT = {
    f"{form}-of.{name}": fields for name, fields in AWKWARD.items() for form in ("uri", "json")
}
"""Ids whose names in the environment differ from themselves."""


def variables() -> dict[str, str]:
    """The environment of the worker."""
    found = {
        "FLOW_CONN_TWICE": "pg://of-environment",
        "FLOW_CONN_EMPTY": "",
        "FLOW_CONN_lower_case": "pg://of-environment",
        "FLOW_CONN_BROKEN": BAD["broken_json"],
    }
    for conn_id, fields in FROM_ENVIRONMENT.items():
        text = json.dumps(whole(fields)) if conn_id.startswith("json") else spelt(fields)
        name = conn_id.upper().replace("-", "_").replace(".", "_")
        found[f"FLOW_CONN_{name}"] = f" {text}\n"
    return found


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed({"worker.slots": 2}) as made:
        made.write("look.py", DAG)
        assert made.flow("db", "migrate").code == 0
        made.parse()
        made.start("schedule")
        made.start("work", **variables())
        given = {
            conn_id: whole(fields) if number % 2 else spelt(fields)
            for number, (conn_id, fields) in enumerate(STORED.items())
        }
        import_(made, given)
        yield made


def import_(deployment: Deployment, connections: dict[str, Any]) -> None:
    """Store connections through a file that is gone afterwards."""
    file = deployment.folder / "given.json"
    file.write_text(json.dumps(connections), encoding="utf-8")
    done = deployment.flow("conns", "import", str(file))
    file.unlink()
    assert done.code == 0, done.err


def exported(deployment: Deployment) -> dict[str, Fields]:
    """All connections of the store."""
    done = deployment.flow("conns", "export")
    assert done.code == 0, done.err
    return {conn_id: whole(fields) for conn_id, fields in json.loads(done.out).items()}


def seen_by_task(deployment: Deployment, *conn_ids: str) -> dict[str, Fields]:
    """What a task on the worker reads, with `uri` and `repr`."""
    folder = deployment.folder / "m"
    (folder / "ids.json").write_text(json.dumps(conn_ids), encoding="utf-8")
    assert deployment.run_to_end("look")["state"] == "success"
    found: dict[str, Fields] = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    return found


def fields_of(found: Fields) -> Fields:
    """The fields that a connection consists of."""
    return {name: found[name] for name in FIELDS}


def test_500_random_connections_come_back_in_every_form(deployment: Deployment) -> None:
    expected = {conn_id: whole(fields) for conn_id, fields in STORED.items()}
    assert exported(deployment) == expected
    seen = seen_by_task(deployment, *STORED)
    assert {conn_id: fields_of(one) for conn_id, one in seen.items()} == expected
    assert [one["repr"] for one in seen.values() if SECRET in one["repr"]] == []
    import_(deployment, {f"again_{conn_id}": one["uri"] for conn_id, one in seen.items()})
    again = exported(deployment)
    assert {conn_id: again[f"again_{conn_id}"] for conn_id in STORED} == expected


def test_uris_as_people_write_them(deployment: Deployment) -> None:
    ids = {f"literal_{number}": uri for number, uri in enumerate(LITERAL)}
    added = [("conns", "add", conn_id, "--uri", uri) for conn_id, uri in ids.items()]
    assert [done.code for done in deployment.together(added, width=3)] == [0] * len(ids)
    found = exported(deployment)
    for conn_id, uri in ids.items():
        assert found[conn_id] == whole(LITERAL[uri]), uri


def test_one_connection_through_each_option(deployment: Deployment) -> None:
    fields = {**whole(AWKWARD["nested"]), **AWKWARD["every_sign"]}
    options = ["--host", fields["host"], "--login", fields["login"], "--type", "generic"]
    options += ["--password", fields["password"], "--extra", json.dumps(fields["extra"])]
    assert deployment.flow("conns", "add", "by_options", *options).code == 0
    assert deployment.flow("conns", "add", "by_json", "--json", json.dumps(fields)).code == 0
    for conn_id in ("by_options", "by_json"):
        shown = deployment.ask("conns", "get", conn_id, "--reveal")
        assert fields_of(shown) == fields
    hidden = deployment.flow("conns", "get", "by_json", "-o", "json")
    assert SECRET not in hidden.out + hidden.err
    assert json.loads(hidden.out)["password"] == "***"


def test_the_environment_holds_both_forms(deployment: Deployment) -> None:
    seen = seen_by_task(deployment, *FROM_ENVIRONMENT)
    for conn_id, fields in FROM_ENVIRONMENT.items():
        assert fields_of(seen[conn_id]) == whole(fields), conn_id


def test_a_rehearsal_reads_the_same_environment(deployment: Deployment) -> None:
    ids = [*FROM_ENVIRONMENT, "twice"]
    (deployment.folder / "m" / "ids.json").write_text(json.dumps(ids), encoding="utf-8")
    given = ["--conn", f"twice={spelt(AWKWARD['every_sign'])}"]
    done = deployment.flow("test", "dags/look.py:look", *given, **variables())
    assert done.code == 0, done.err
    assert SECRET not in done.out + done.err
    found = json.loads((deployment.folder / "m" / "found.json").read_text(encoding="utf-8"))
    expected = {**FROM_ENVIRONMENT, "twice": AWKWARD["every_sign"]}
    for conn_id, fields in expected.items():
        assert fields_of(found[conn_id]) == whole(fields), conn_id


def test_the_environment_comes_before_the_store(deployment: Deployment) -> None:
    stored = "pg://of-store"
    import_(deployment, dict.fromkeys(["twice", "empty", "lower_case"], stored))
    seen = seen_by_task(deployment, "twice", "empty", "lower_case")
    assert {conn_id: one["host"] for conn_id, one in seen.items()} == {
        "twice": "of-environment",
        "empty": "of-store",
        "lower_case": "of-store",
    }
    shown = deployment.flow("conns", "get", "twice", "-o", "json", FLOW_CONN_TWICE="pg://here")
    assert json.loads(shown.out)["host"] == "here"
    assert json.loads(shown.out)["origin"] == "FLOW_CONN_TWICE"
    assert deployment.ask("conns", "get", "twice")["origin"] == "store"


@pytest.mark.parametrize("conn_id", ["a/b", "../a", "a b", "é", "x" * 251], ids=lambda one: one[:5])
def test_an_id_outside_of_the_alphabet_is_refused(deployment: Deployment, conn_id: str) -> None:
    done = deployment.flow("conns", "add", conn_id, "--uri", f"pg://me:{SECRET}@h")
    assert (done.code, done.out) == (2, "")
    assert "conn_id" in done.err
    assert SECRET not in done.err


def test_what_cannot_be_read_is_refused_without_quoting_it(deployment: Deployment) -> None:
    bad = {f"bad_{name}": text for name, text in BAD.items()}
    commands = [
        ("conns", "add", name, "--json" if text.startswith("{") else "--uri", text, "-o", "json")
        for name, text in bad.items()
    ]
    refused = list(zip(bad, deployment.together(commands, width=3), strict=True))
    for name in ("bad_slash", "bad_unknown_key"):
        variable = {f"FLOW_CONN_{name.upper()}": bad[name]}
        refused.append((name, deployment.flow("conns", "get", name, "-o", "json", **variable)))
    for name, done in refused:
        error = json.loads(done.err)["error"]
        assert (done.code, done.out, error["code"]) == (2, "", "invalid_connection"), name
        assert repr(name) in error["message"]
        assert error["hint"]
        assert SECRET not in done.err
    assert bad.keys() & exported(deployment).keys() == set()


def test_nothing_is_imported_when_one_cannot_be_read(deployment: Deployment) -> None:
    file = deployment.folder / "bad.json"
    file.write_text(json.dumps({"fine": "pg://h", "wrong": BAD["slash"]}), encoding="utf-8")
    done = deployment.flow("conns", "import", str(file))
    file.unlink()
    assert (done.code, done.out) == (2, "")
    assert "'wrong'" in done.err
    assert SECRET not in done.err
    assert "fine" not in exported(deployment)


def test_a_task_that_meets_a_bad_one_fails_with_its_name(deployment: Deployment) -> None:
    run = deployment.run_to_end("stumble")
    assert run["state"] == "failed"
    (only,) = deployment.tries("stumble", run["run_id"], "stumble")
    assert "'broken'" in only["reason"]
    assert SECRET not in only["reason"]


def test_no_secret_stands_anywhere_in_the_open(deployment: Deployment) -> None:
    """Last in this file: it searches all that was stored and logged, the database's files too."""
    seen_by_task(deployment, *AWKWARD)
    for role in deployment.roles:
        assert role.end() == 0, role.text()
    deployment.embedded.stop()  # while it works, files come and go
    roles = [role.log for role in deployment.roles]
    stored = [path for path in deployment.home.rglob("*") if path.is_file()]
    assert any(path.name.startswith("attempt=") for path in stored)
    assert any("pg_wal" in path.parts for path in stored)
    assert [path for path in [*roles, *stored] if SECRET.encode() in path.read_bytes()] == []
