"""`flow backfill` and `flow backfills` as operations: what is planned is done, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from flow.decide.backfill import Action
from flow.errors import Conflict, NotFound, UsageError
from flow.graph import TaskSpec
from flow.ops import audit, backfilling, backfills, clearing, events, running, why
from flow.ops.backfilling import Wish
from flow.ops.events import Asked
from flow.ops.run_ranges import Which
from flow.states import TaskState
from flow.store import invariants
from operations_world import World

DAILY = {"schedule": "@daily", "start_date": datetime(2026, 3, 1, tzinfo=UTC), "catchup": "none"}
MARCH = Wish("sales", "2026-03-01", "2026-03-05")


@pytest.fixture
def sales(world: World) -> World:
    """DAG `sales`, daily, without any run."""
    world.define("sales", **DAILY)
    return world


def start(world: World, wish: Wish = MARCH) -> int:
    """Make a backfill as it was shown; its id."""
    made, _ = backfilling.create(
        world.deployment, wish, backfilling.preview(world.deployment, wish)
    )
    assert made is not None
    return made.id


def finish(world: World, bad: Iterable[str] = ()) -> None:
    """Let everything run; runs of these days fail."""
    world.schedule()
    while claimed := world.claim(1):
        for one in claimed.values():
            failed = one.logical_date.date().isoformat() in bad
            world.end(one, TaskState.FAILED if failed else TaskState.SUCCESS)
        world.schedule()
    assert invariants.breaches(world.conn) == []


def actions(wish: Wish, world: World) -> list[str]:
    plan = backfilling.preview(world.deployment, wish)
    return [f"{one.data_interval_start:%d} {one.action}" for one in plan.intervals]


def test_every_interval_gets_its_run(sales: World) -> None:
    plan = backfilling.preview(sales.deployment, MARCH)
    assert plan.notes == []
    assert (plan.runs, plan.estimate_s, plan.max_active_runs) == (5, None, 10)
    made = start(sales)
    found = backfills.find(sales.deployment, None)
    assert (found.id, found.total, found.waiting, found.created_by) == (
        made, 5, 5, sales.value("select os_user from audit"),
    )  # fmt: skip
    finish(sales)
    found = backfills.find(sales.deployment, made)
    assert (found.state, found.done, found.waiting, found.failed) == ("done", 5, 0, 0)
    assert sales.rows("select distinct run_type, state from run") == [("backfill", "success")]
    assert [one.state for one in backfills.show(sales.deployment, made).intervals] == [
        "success"
    ] * 5
    assert backfilling.preview(sales.deployment, MARCH).runs == 0


@pytest.mark.parametrize(
    ("reprocess", "expected"),
    [
        ("none", ["01 skip", "02 skip", "03 create", "04 skip", "05 create"]),
        ("failed", ["01 skip", "02 clear", "03 create", "04 skip", "05 create"]),
        ("all", ["01 clear", "02 clear", "03 create", "04 skip", "05 create"]),
    ],
)
def test_runs_that_are_there(sales: World, reprocess: str, expected: list[str]) -> None:
    for day in ("01", "02"):
        running.run(sales.deployment, running.Wish("sales", date=f"2026-03-{day}"))
    finish(sales, bad=["2026-03-02"])
    running.run(sales.deployment, running.Wish("sales", date="2026-03-04"))
    wish = MARCH._replace(reprocess=reprocess)
    assert actions(wish, sales) == expected
    made = start(sales, wish)
    finish(sales)
    shown = backfills.show(sales.deployment, made)
    assert [f"{one.data_interval_start:%d} {one.action}" for one in shown.intervals] == expected
    assert shown.backfill.skipped == sum("skip" in one for one in expected)
    worked_on = sales.rows(
        "select to_char(logical_date, 'DD'), run_type from run where backfill_id is not null"
        " order by 1"
    )
    assert worked_on == [
        (one[:2], "backfill" if "create" in one else "manual")
        for one in expected
        if "skip" not in one
    ]


def test_the_last_is_the_last_that_has_ended(sales: World) -> None:
    now = datetime.now(UTC)
    plan = backfilling.preview(sales.deployment, Wish("sales", "-3d", "today"))
    assert len(plan.intervals) == 3
    assert plan.notes == [
        f"left out: the interval from {now:%Y-%m-%d}T00:00:00+00:00, and later ones, have not ended"
    ]
    assert len(backfilling.preview(sales.deployment, Wish("sales", "-3d")).intervals) == 3


def test_what_cannot_be_filled(sales: World) -> None:
    sales.define("never", file="/dags/never.py")
    sales.define("loop", schedule="@continuous", max_active_runs=1, file="/dags/loop.py",
                 start_date=DAILY["start_date"])  # fmt: skip
    sales.define("once", schedule="@once", file="/dags/once.py", start_date=DAILY["start_date"])
    for wish, error, text in [
        (Wish("once", "2026-03-01"), UsageError, "has no intervals"),
        (Wish("nope", "2026-03-01"), NotFound, "no DAG 'nope'"),
        (Wish("never", "2026-03-01"), UsageError, "has no intervals"),
        (Wish("loop", "2026-03-01"), UsageError, "has no intervals"),
        (Wish("sales", "2026-02-01", "2026-02-05"), UsageError, "no interval in that range"),
        (Wish("sales", "2026-03-04", "2026-03-03"), UsageError, "is after --to 2026-03-03"),
        (Wish("sales", "2026-03-04T06:00", "2026-03-04T05:00"), UsageError, "is after --to"),
        (MARCH._replace(tasks="nope"), NotFound, "no task 'nope'"),
        (MARCH._replace(tasks="load[3]"), UsageError, "with an index"),
        (MARCH._replace(conf="[]"), UsageError, "not a JSON object"),
        (MARCH._replace(max_active_runs=0), UsageError, "needs a run at a time"),
    ]:
        with pytest.raises(error, match=text):
            backfilling.preview(sales.deployment, wish)
        with pytest.raises(error, match=text):
            backfilling.create(sales.deployment, wish)
    assert sales.value("select count(*) from backfill") == 0


def test_what_is_done_to_a_backfill_is_noted_under_its_dag(sales: World) -> None:
    made = start(sales)
    backfills.pause(sales.deployment, made)
    backfills.cancel(sales.deployment, made)
    noted = audit.page(sales.deployment, audit.Asked("sales")).rows
    own = [(one.verb, one.target) for one in noted if "backfill" in one.target]
    verbs = ("backfills.cancel", "backfills.pause", "backfill")
    assert own == [(verb, f"sales/backfill:{made}") for verb in verbs]
    told = events.recent(sales.deployment, Asked("sales"))
    assert [one.run_id for one in told if one.kind in verbs] == [None] * 3


def test_an_interval_is_in_one_active_backfill(sales: World) -> None:
    first = start(sales)
    second = Wish("sales", "2026-03-04", "2026-03-08")
    with pytest.raises(Conflict, match=rf"backfill {first} of .* 2026-03-04") as refused:
        backfilling.create(sales.deployment, second)
    assert refused.value.hint == f"see how it is doing: flow backfills show {first}"
    sales.schedule()
    with pytest.raises(Conflict, match=f"backfill {first} of"):
        backfilling.preview(sales.deployment, second)
    other = start(sales, second._replace(start="2026-03-06"))
    assert [one.id for one in backfills.page(sales.deployment, "sales", active=True).rows] == [
        other, first,
    ]  # fmt: skip
    with pytest.raises(UsageError, match="2 backfills are active"):
        backfills.find(sales.deployment, None)
    finish(sales)
    with pytest.raises(NotFound, match="no backfill is active"):
        backfills.find(sales.deployment, None)
    assert start(sales, second._replace(reprocess="all")) == other + 2 - 1


def test_what_was_agreed_to_is_done_or_nothing(sales: World) -> None:
    shown = backfilling.preview(sales.deployment, MARCH)
    running.run(sales.deployment, running.Wish("sales", date="2026-03-03"))
    with pytest.raises(Conflict, match="not what was shown"):
        backfilling.create(sales.deployment, MARCH, shown)
    made, plan = backfilling.create(sales.deployment, MARCH)
    assert made is not None
    assert (made.total, plan.count(Action.SKIP)) == (4, 1)


def test_depends_on_past_forces_the_order_and_says_so(world: World) -> None:
    world.define("sales", [TaskSpec(task_id="a", operator="x", depends_on_past=True)], **DAILY)
    running.run(world.deployment, running.Wish("sales", date="2026-03-02"))
    finish(world, bad=["2026-03-02"])
    plan = backfilling.preview(world.deployment, MARCH._replace(order="newest"))
    assert plan.order == "oldest"
    assert plan.notes == [
        "oldest first, not newest: a depend on their past (depends_on_past)",
        "1 failed runs are left alone, and what depends on them (depends_on_past) waits; "
        "--reprocess failed does them again",
    ]
    start(world, MARCH._replace(reprocess="failed"))
    finish(world)
    assert world.value("select count(*) from run where state = 'success'") == 5


def test_the_estimate_goes_by_the_last_runs_and_the_selected_tasks(sales: World) -> None:
    start(sales)
    finish(sales)
    sales.rows("update run set started_at = ended_at - interval '100 s' returning 1")
    for task_id, seconds in (("extract", 60), ("load", 30), ("report", 10)):
        sales.rows(
            "update task_history set started_at = ended_at - make_interval(secs => %s)"
            " where task_id = %s returning 1",
            seconds, task_id,
        )  # fmt: skip
    wish = Wish("sales", "2026-03-06", "2026-03-15", max_active_runs=4)
    assert backfilling.preview(sales.deployment, wish).estimate_s == pytest.approx(300.0)
    some = backfilling.preview(sales.deployment, wish._replace(tasks="load+"))
    assert (some.tasks, some.dag_tasks) == (["load", "report"], 3)
    assert some.estimate_s == pytest.approx(120.0)


def test_a_selection_and_a_later_clear_of_what_it_passed_over(sales: World) -> None:
    start(sales, Wish("sales", "2026-03-01", "2026-03-01", tasks="load", conf='{"a": 1}'))
    finish(sales)
    run_id = sales.value("select run_id from run")
    assert sales.states(run_id) == {"extract": "skipped", "load": "success", "report": "skipped"}
    assert sales.value("select conf from run") == '{"a": 1}'
    (reason,) = why.why(sales.deployment, "sales", run_id, "extract").reasons
    assert reason.text() == "it was skipped: not selected by the backfill that made the run"
    clearing.clear(sales.deployment, clearing.Wish("sales", Which(run_id), tasks="report"))
    finish(sales)
    assert sales.states(run_id) == {"extract": "skipped", "load": "success", "report": "success"}
    assert sales.value("select backfill_id from run") is None


def test_the_statements_of_making_one_do_not_depend_on_its_size(
    world: World, statements: list[Any]
) -> None:
    world.define("sales", **{**DAILY, "start_date": datetime(2024, 1, 1, tzinfo=UTC)})
    costs = []
    for start_, end, expected in (
        ("2024-01-01", "2024-01-02", 2),
        ("2024-01-03", "2025-01-01", 365),
    ):
        statements.clear()
        made, _ = backfilling.create(world.deployment, Wish("sales", start_, end))
        costs.append(len(statements))
        assert made is not None
        assert made.total == expected
    assert costs[0] == costs[1]


def test_pause_resume_and_cancel(sales: World) -> None:
    made = start(sales, MARCH._replace(max_active_runs=2))
    sales.schedule()
    assert backfills.pause(sales.deployment, made).state == "paused"
    finish(sales)
    found = backfills.find(sales.deployment, made)
    assert (found.done, found.waiting, found.state) == (2, 3, "paused")
    assert backfills.resume(sales.deployment, made).state == "running"
    sales.schedule()
    shown = backfills.cancel(sales.deployment, made, dry_run=True)
    assert (len(shown.runs), shown.waiting, shown.backfill.state) == (2, 1, "running")
    done = backfills.cancel(sales.deployment, made)
    assert (done.runs, done.waiting) == (shown.runs, 1)
    assert (done.backfill.state, done.backfill.failed, done.backfill.done) == ("cancelled", 2, 2)
    finish(sales)
    assert sales.value("select count(*) from run") == 4
    for change in (backfills.pause, backfills.resume, backfills.cancel):
        with pytest.raises(Conflict, match="was cancelled"):
            change(sales.deployment, made)
    verbs = [row[0] for row in sales.rows("select verb from audit order by audit_id")]
    assert verbs == [
        "backfill", "backfills.pause", "backfills.resume", *["backfills.cancel"] * 3
    ]  # fmt: skip
    assert start(sales, MARCH._replace(reprocess="all")) > made


def test_cancelling_may_let_runs_go_on(sales: World) -> None:
    made = start(sales, MARCH._replace(max_active_runs=2))
    sales.schedule()
    done = backfills.cancel(sales.deployment, made, keep_running=True)
    assert (done.runs, done.backfill.state, done.backfill.ended_at) == ([], "cancelled", None)
    with pytest.raises(Conflict):
        backfilling.preview(sales.deployment, MARCH)
    finish(sales)
    found = backfills.find(sales.deployment, made)
    assert (found.done, found.waiting, found.state) == (2, 3, "cancelled")
    assert found.ended_at is not None


def test_cancelling_leaves_alone_what_was_still_to_be_done_again(sales: World) -> None:
    start(sales)
    finish(sales)
    made = start(sales, MARCH._replace(reprocess="all", max_active_runs=1))
    sales.schedule()
    backfills.cancel(sales.deployment, made)
    rows = sales.rows("select state, count(*) from run group by 1 order by 1")
    assert rows == [("failed", 1), ("success", 4)]


def test_it_is_followed_to_its_end(sales: World) -> None:
    made = start(sales)
    steps = backfills.follow(sales.deployment, made)
    assert next(steps).backfill.waiting == 5
    finish(sales)
    *_, last = steps
    assert (last.backfill.state, last.backfill.done) == ("done", 5)


def test_why_a_run_or_an_interval_of_a_backfill_waits(sales: World) -> None:
    made = start(sales, MARCH._replace(max_active_runs=1))
    sales.schedule()
    (reason,) = why.why(sales.deployment, "sales", "2026-03-03").reasons[-1:]
    assert (reason.code, reason.facts["backfill"], reason.facts["ahead"]) == (
        "backfill_turn", made, 1,
    )  # fmt: skip
    backfills.pause(sales.deployment, made)
    codes = [reason.code for reason in why.why(sales.deployment, "sales", "2026-03-03").reasons]
    assert "backfill_paused" in codes


@pytest.mark.parametrize("version", ["latest", "run"])
def test_what_schedulers_do_for_one_is_audited_for_who_made_it(sales: World, version: str) -> None:
    run_id = running.run(
        sales.deployment, running.Wish("sales", date="2026-03-02")
    ).found.run.run_id
    finish(sales, bad=["2026-03-02"])
    sales.define("sales", {"extract": (), "load": ("extract",)}, **DAILY)
    made = start(sales, MARCH._replace(reprocess="failed", tasks="load", version=version))
    sales.rows("update backfill set created_by = 'ann' returning 1")
    finish(sales)
    entries = sales.rows(
        "select verb, target, before, after from audit where os_user = 'ann' order by audit_id"
    )
    cleared, ended = entries
    assert cleared == (
        "clear",
        f"sales/{run_id}",
        {"state": "failed", "version": 1, "tasks": {"load": "upstream_failed"}},
        {
            "state": "queued",
            "version": 2 if version == "latest" else 1,
            "tasks": {"load": "none"},
            "backfill": made,
        },
    )
    assert ended == (
        "backfill",
        f"sales/backfill:{made}",
        {"state": "running", "ended": False},
        {"state": "done", "ended": True},
    )


def test_a_cancelled_one_that_lets_runs_go_on_ends_in_the_audit_too(sales: World) -> None:
    made = start(sales, MARCH._replace(max_active_runs=2))
    sales.schedule()
    backfills.cancel(sales.deployment, made, keep_running=True)
    finish(sales)
    page = audit.page(sales.deployment, audit.Asked("sales"))
    told = [(one.verb, one.after) for one in page.rows if one.target == f"sales/backfill:{made}"]
    assert told[:2] == [
        ("backfill", {"state": "cancelled", "ended": True}),
        ("backfills.cancel", {"state": "cancelled", "keep_running": True}),
    ]
    assert told[2][0] == "backfill"
