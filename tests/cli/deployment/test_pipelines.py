"""DAGs, runs, tasks, the grid: whole output and exit codes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from flow.states import TaskState
from waiting import wait_until

RUN = "manual__2026-07-08T00:00:00+00:00"

DAGS = """\
DAG    PAUSED  SCHEDULE     NEXT RUN  OWNER    TAGS  BROKEN
sales  no      no schedule  -         airflow  eu    no
"""
RUNS = """\
RUN                                STATE    STARTED                         TOOK
manual__2026-07-09T00:00:00+00:00  success  2026-07-10T00:00:01+00:00  1 min 4 s
manual__2026-07-08T00:00:00+00:00  failed   2026-07-10T00:00:01+00:00  1 min 4 s
"""
TASKS = """\
TASK     STATE            TRY  STARTED                         TOOK  OPERATOR
extract  success            1  2026-07-10T00:00:01+00:00  1 min 4 s  BashOperator
load.ch  failed             1  2026-07-10T00:00:01+00:00  1 min 4 s  PythonOperator
load.de  success            1  2026-07-10T00:00:01+00:00  1 min 4 s  PythonOperator
report   upstream_failed    0  -                                  -  BashOperator
"""
TRIES = """\
TRY  STATE   STARTED                         TOOK  WORKER  EXIT  SIGNAL  REASON
  1  failed  2026-07-10T00:00:01+00:00  1 min 4 s  here:7     1       -  -
"""
GRID = """\
1 min 4 s  █  █  █
           █  █  █
           █  █  █
          07 07 07
          07 08 09
type       m  m  m
run        ✓  ✗  ✓
extract    ✓  ✓  ✓
load/
  load.ch  ✓  ✗  ✓
  load.de  ✓  ✓  ✓
report     ✓  ⊘  ✓

✓ success  ✗ failed  ⊘ upstream_failed
m manual
"""
GRID_IN_LETTERS = GRID.translate(str.maketrans("✓✗⊘█", "+Xu#"))
DAG_PAGE = """\
DAG        sales
STATE      active
SCHEDULE   no schedule
CATCHUP    no
OWNER      airflow
TAGS       eu
FILE       /dags/one.py:3
VERSION    1
LIMITS     16 runs, 16 tasks of a run

TASKS
  extract    BashOperator
  load/
    load.ch  PythonOperator  after extract
    load.de  PythonOperator  after extract
  report     BashOperator    after load.ch, load.de

VERSIONS
"""


@contextmanager
def running(arguments, environment, project):
    """`flow` while it runs; killed when the test is over with it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "flow_cli", *arguments],
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def without_styles(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def test_lists_and_pages_for_people(sales, flow):
    shown = [
        (DAGS, ("dags", "list")),
        (RUNS, ("runs", "list", "sales", "--from", "2026-07-08")),
        (TASKS, ("tasks", "list", "sales", RUN)),
        (TRIES, ("tasks", "tries", "sales", "2026-07-08", "load.ch")),
        (GRID, ("grid", "sales")),
    ]
    for expected, arguments in shown:
        ended = flow(*arguments)
        assert (ended.code, ended.out, ended.err) == (0, expected, ""), arguments
    page = flow("dags", "show", "sales")
    assert (page.code, page.err) == (0, "")
    assert page.out.startswith(DAG_PAGE)
    letters = flow("grid", "sales", PYTHONIOENCODING="ascii")
    assert letters.out == GRID_IN_LETTERS


def test_a_run_has_the_fields_of_the_contract(sales, flow):
    (run,) = json.loads(flow("runs", "list", "--to", "2026-07-07", "-o", "json").out)
    queued_at = run.pop("queued_at")
    assert queued_at.endswith("Z")
    assert run == {
        "dag_id": "sales",
        "run_id": "manual__2026-07-07T00:00:00+00:00",
        "run_type": "manual",
        "state": "success",
        "logical_date": "2026-07-07T00:00:00Z",
        "data_interval_start": "2026-07-07T00:00:00Z",
        "data_interval_end": "2026-07-07T00:00:00Z",
        "started_at": "2026-07-10T00:00:01Z",
        "ended_at": "2026-07-10T00:01:05Z",
        "version": 1,
        "conf": {},
        "backfill_id": None,
        "note": None,
    }
    details = json.loads(flow("runs", "show", "sales", RUN, "-o", "json").out)
    assert details["tasks"] == {"success": 2, "failed": 1, "upstream_failed": 1}


FIELDS = {
    ("dags", "list"): "dag_id paused schedule timezone next_run_at owner tags file version "
    "has_import_error max_active_runs pause_reason catchup",
    ("tasks", "list", "sales", RUN): "dag_id run_id task_id map_index state try_number max_tries "
    "pool pool_slots queue executor priority scheduled_at queued_at started_at ended_at worker "
    "operator held",
    ("tasks", "tries", "sales", RUN, "extract"): "try_number state started_at ended_at worker pid "
    "exit_code signal reason peak_rss_bytes cpu_s log code_hash",
    ("pools", "list"): "name slots include_deferred running queued scheduled deferred open "
    "description",
}


@pytest.mark.parametrize("arguments", FIELDS, ids=" ".join)
def test_rows_have_the_fields_of_the_contract(sales, flow, arguments):
    rows = json.loads(flow(*arguments, "-o", "json").out)
    assert list(rows[0]) == FIELDS[arguments].split()
    lines = flow(*arguments, "-o", "jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == rows


def test_a_mark_asks_and_refuses_without_a_terminal(sales, flow):
    mark = ("tasks", "mark", "sales", "2026-07-08", "load.ch,report", "success")
    refused = flow(*mark)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        "load.ch: failed -> success\nreport: upstream_failed -> success\n"
        "this needs an answer, and there is no terminal to ask on\n"
        "Add --yes to do it, or --dry-run to see what it would touch.\n"
    )
    planned = flow(*mark, "--dry-run")
    assert (planned.code, planned.err) == (0, "the run would be success; it was failed\n")
    assert sales.states(RUN)["load.ch"] == "failed"
    done = flow(*mark, "--yes", "-o", "json")
    assert done.code == 0
    (run,) = json.loads(done.out)["runs"]
    assert run == {
        "dag_id": "sales",
        "run_id": RUN,
        "before": "failed",
        "after": "success",
        "marked": [
            {"task_id": "load.ch", "map_index": [], "before": "failed", "state": "success"},
            {"task_id": "report", "map_index": [], "before": "upstream_failed", "state": "success"},
        ],
        "unchanged": [],
        "stays": [],
    }
    again = flow(*mark, "--yes")
    assert (again.code, again.out, again.err) == (0, "", "already so: load.ch, report\n")


WITHOUT_SCHEDULER = (
    "Warning: no scheduler is alive: nothing goes on until one is started, with `flow up`"
    " or `flow schedule`\n"
)


def test_a_run_prints_its_id_and_only_that(sales, flow):
    alone = flow("run", "sales", "--run-id", "alone")
    assert (alone.code, alone.out) == (0, "alone\n")
    assert alone.err == f"{WITHOUT_SCHEDULER}see how it is doing: flow runs show sales alone\n"
    sales.start_scheduler()
    started = flow("run", "sales", "--run-id", "mine", "--conf", '{"a": 1}')
    assert (started.code, started.out) == (0, "mine\n")
    assert started.err == "see how it is doing: flow runs show sales mine\n"
    again = flow("run", "sales", "--run-id", "mine", "-o", "json")
    assert (again.code, again.out) == (4, "")
    assert json.loads(again.err) == {
        "error": {
            "code": "conflict",
            "message": "run 'mine' of DAG 'sales' already exists (queued)",
            "hint": "choose another --run-id, or to run it again: flow clear sales mine",
        }
    }
    twice = flow("run", "sales", "--date", "2026-07-08")
    assert twice.code == 4
    assert f"already exists: {RUN} (failed)" in twice.err
    assert "Traceback" not in twice.err


def test_runs_started_at_once_all_get_ids_of_their_own(sales, environment, project):
    command = [sys.executable, "-m", "flow_cli", "run", "sales"]
    started = [
        subprocess.Popen(
            command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(8)
    ]
    outputs = [process.communicate() for process in started]
    assert [process.returncode for process in started] == [0] * 8
    assert len({out for out, _ in outputs}) == 8
    assert sales.value("select count(*) from run") == 3 + 8


def test_waiting_without_a_scheduler_is_warned_of_and_goes_on(sales, environment, project):
    with running(["run", "sales", "--run-id", "it", "--wait"], environment, project) as process:
        warning = process.stderr.readline()
        sales.finish()
        out, err = process.communicate()
    assert warning == WITHOUT_SCHEDULER
    assert (process.returncode, out, err) == (0, "it\n", "sales it: success\n")


def test_waiting_ends_with_the_run_and_its_verdict(sales, environment, project):
    sales.start_scheduler()
    for run_id, states, code in (
        ("good", {}, 0),
        ("bad", {"report": TaskState.FAILED}, 1),
    ):
        with running(
            ["run", "sales", "--run-id", run_id, "--wait"], environment, project
        ) as process:
            made = ("select from run where run_id = %s", run_id)
            wait_until(lambda asked=made: sales.rows(*asked), "the run")
            sales.finish(states)
            out, err = process.communicate()
        verdict = "success" if code == 0 else "failed"
        assert (process.returncode, out, err) == (
            code,
            f"{run_id}\n",
            f"sales {run_id}: {verdict}\n",
        )


def test_a_paused_dag_says_that_its_run_waits(sales, flow):
    assert flow("dags", "pause", "sales").out == "sales is paused\n"
    started = flow("run", "sales", "--run-id", "later")
    assert started.err.startswith(
        "Warning: DAG sales is paused: the run stays queued until `flow dags unpause sales`\n"
    )
    unpaused = flow("dags", "unpause", "sales")
    assert unpaused.out == (
        "sales goes on\n  now: 1 queued run may start\n  the schedule creates no run\n"
    )


def test_files_that_are_missing_from_the_list_of_dags_are_told_of(sales, flow):
    sales.conn.execute(
        "insert into dag_file (path, content_hash, seconds, error, error_since)"
        " values ('/dags/par.py', 'c1', 0.1, 'NameError: name ''x'' is not defined', now())"
    )
    for options in ((), ("-o", "jsonl", "--all"), ("--paused",)):
        listed = flow("dags", "list", *options)
        assert listed.code == 0
        assert listed.err.endswith("1 file cannot be imported: flow dags errors\n")
    for verb in (("run", "par"), ("why", "par"), ("graph", "par")):
        refused = flow(*verb)
        assert (refused.code, "name 'x' is not defined" in refused.err) == (3, True)


@pytest.mark.parametrize("columns", [80, 120])
def test_the_grid_fits_a_terminal_and_shows_states_without_colour(sales, on_terminal, columns):
    sales.conn.execute(
        """insert into run (dag_id, run_id, run_type, state, version, logical_date,
             data_interval_start, data_interval_end, interval_run, started_at, ended_at)
           select 'sales', 'r' || n, 'manual', 'success', 1, at, at, at, false, at, at
           from generate_series(1, 40) as n,
             lateral (select timestamptz '2026-05-01 00:00+00' + n * interval '1 day' as at) as t"""
    )
    shown = on_terminal("grid", "sales", "-n", "50", columns=columns)
    assert shown.code == 0
    lines = without_styles(shown.out).splitlines()
    assert max(map(len, lines)) <= columns
    fitting = (columns - len("  load.ch")) // 3
    assert lines[6].split() == ["run", *"✓" * (fitting - 2), "✗", "✓"]
    assert shown.err == f"showing {fitting} of 43 runs: the terminal is too narrow\n"


def test_at_40_columns_no_id_is_lost(sales, on_terminal):
    for arguments in (("runs", "list"), ("tasks", "list", "sales", RUN), ("dags", "list")):
        shown = without_styles(on_terminal(*arguments, columns=40).out)
        assert max(map(len, shown.splitlines())) <= 40
    shown = without_styles(on_terminal("runs", "list", columns=40).out)
    assert RUN in shown.replace("\n", "")


def test_ctrl_c_leaves_the_run_going_and_says_how_to_look_again(sales, environment, project):
    waits = "select from pg_stat_activity where application_name = 'flow command'"
    waits += " and query = 'select last_value from change_counter'"
    sales.start_scheduler()
    with running(["run", "sales", "--run-id", "it", "--wait"], environment, project) as process:
        wait_until(lambda: sales.rows(waits), "the command to wait")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert err == "the run goes on; see it with: flow runs show sales it\n"
    sales.finish()
    assert sales.rows("select state from run where run_id = 'it'") == [("success",)]


def test_a_verb_that_dies_has_done_all_of_its_work_or_none(sales, flow):
    died = flow("run", "sales", "--run-id", "it", FLOW_FAULTS="ops.run.before_commit=kill")
    assert died.code == -signal.SIGKILL
    assert sales.rows("select from run where run_id = 'it'") == []
    assert sales.rows("select from audit where target = 'sales/it'") == []
    died = flow("run", "sales", "--run-id", "it", FLOW_FAULTS="ops.run.after_commit=kill")
    assert died.code == -signal.SIGKILL
    assert len(sales.rows("select from audit where target = 'sales/it'")) == 1
    sales.finish()  # the wake-up is in the transaction; the notification only makes it sooner
    assert sales.rows("select state from run where run_id = 'it'") == [("success",)]


def test_lists_of_values_and_warnings_are_cut_like_all_others(sales, flow):
    sales.rows(
        "insert into xcom_history (run_key, task_id, try_number, key, value)"
        " select run_key, 'extract', 1, 'key_' || number, '1'"
        " from run, generate_series(1, 3) number where logical_date = '2026-07-09+00' returning 1"
    )
    sales.rows(
        "update dag_file set warnings = array['one', 'two', 'three'] where path = '/dags/one.py'"
        " returning 1"
    )
    for command, noun in (
        (("xcom", "list", "sales", "latest"), "XComs"),
        (("dags", "warnings"), "warnings"),
    ):
        whole = json.loads(flow(*command, "-o", "json").out)
        assert len(whole) == 3
        cut = flow(*command, "--limit", "2", "-o", "json")
        assert (json.loads(cut.out), cut.err) == (
            whole[:2],
            f"showing 2 of 3 {noun}; --all shows every one\n",
        )
        everything = flow(*command, "--limit", "2", "--all", "-o", "jsonl")
        assert ([json.loads(line) for line in everything.out.splitlines()], everything.err) == (
            whole,
            "",
        )
