"""`flow audit` and `flow events`: what they print."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

from waiting import limit

RUN = "manual__2026-07-08T00:00:00+00:00"


def test_who_changed_what(sales, flow):
    assert flow("dags", "pause", "sales").code == 0
    assert flow("pools", "set", "sales", "3").code == 0
    listed = flow("audit", "--dag", "sales")
    (heading, entry, *_) = listed.out.splitlines()
    assert heading.split() == ["AT", "WHO", "VERB", "TARGET", "CHANGE"]
    assert entry.rstrip().endswith("paused: no -> yes")
    assert " dags pause " in entry
    rows = json.loads(flow("audit", "-o", "json").out)
    assert list(rows[0]) == (
        ["audit_id", "at", "os_user", "db_role", "host", "verb", "target", "before", "after"]
    )
    assert (rows[0]["verb"], rows[0]["target"], rows[0]["after"]["slots"]) == (
        "pools.set", "sales", 3
    )  # fmt: skip
    assert flow("audit", "--dag", "nope").code == 3
    assert "showing 1 of 5 entries" in flow("audit", "--limit", "1").err


def test_what_happened_to_a_run(sales, flow):
    told = flow("events", "sales", RUN, "--since", "2026-07-01").out.splitlines()
    assert any("try ended  sales/" + RUN + "/load.ch  try 1  failed" in line for line in told)
    rows = [
        json.loads(line)
        for line in flow(
            "events", "sales", RUN, "--since", "2026-07-01", "-o", "jsonl"
        ).out.splitlines()
    ]
    assert list(rows[0]) == (
        [
            "at",
            "kind",
            "dag_id",
            "run_id",
            "task_id",
            "map_index",
            "try_number",
            "state",
            "who",
            "detail",
        ]
    )
    assert {row["run_id"] for row in rows} == {RUN}
    refused = flow("events", "-f", "-o", "json")
    assert (refused.code, refused.out) == (2, "")


def test_it_follows_until_it_is_interrupted(sales, flow, environment, project):
    process = subprocess.Popen(
        [sys.executable, "-m", "flow_cli", "events", "sales", "-f", "-o", "jsonl"],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    try:
        assert json.loads(process.stdout.readline())["dag_id"] == "sales"
        assert flow("run", "sales", "--run-id", "mine").code == 0
        while json.loads(process.stdout.readline())["run_id"] != "mine":
            pass  # what happened before
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=limit(60))
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in err


def test_all_rows_as_lines_are_those_of_the_document(sales, flow):
    for words in (("dags", "list"), ("runs", "list", "sales"), ("events", "--since", "2026-07-01")):
        lines = flow(*words, "--all", "-o", "jsonl")
        assert (lines.code, lines.err) == (0, "")
        listed = json.loads(flow(*words, "--all", "-o", "json").out)
        assert [json.loads(line) for line in lines.out.splitlines()] == listed
        assert listed
    assert flow("runs", "list", "nope", "--all", "-o", "jsonl").code == 3
