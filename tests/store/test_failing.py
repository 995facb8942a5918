"""A DAG whose runs fail in a row is paused, and says so."""

from datetime import timedelta

from hand_driven import TODAY, World, spec, task

from flow.states import TaskState as T
from flow.store import pausing
from flow.store.connect import transaction


def backlog(world: World, *, days: int, limit: int) -> None:
    """A DAG with runs of so many days to come, one after the other."""
    world.add(
        spec("d", task("a"), catchup=True, start_date=TODAY - timedelta(days=days),
             max_active_runs=1, max_consecutive_failed_dag_runs=limit),
        due=False,
    )  # fmt: skip
    world.conn.execute(
        """update dag set cursor_at = %(start)s, next_start = %(start)s, next_end = %(end)s,
             next_run_at = %(end)s""",
        {"start": TODAY - timedelta(days=days), "end": TODAY - timedelta(days=days - 1)},
    )


def pause(world: World) -> tuple[bool, str | None]:
    return world.conn.execute("select paused, pause_reason from dag").fetchone()


def test_it_is_paused_after_so_many_and_counts_anew_when_unpaused(world: World):
    backlog(world, days=9, limit=3)
    ends = iter([T.FAILED, T.FAILED, T.SUCCESS, *[T.FAILED] * 6])
    scheduler = world.scheduler()
    assert world.settle(scheduler, outcome=lambda _: next(ends)) == 6
    reason = "after 3 failed runs in a row (max_consecutive_failed_dag_runs)"
    assert pause(world) == (True, reason)
    audited = world.conn.execute("select verb, target, after from audit").fetchall()
    assert audited == [("dags.pause", "d", {"paused": True, "reason": reason})]
    with transaction(world.conn, "test"):
        pausing.set_paused(world.conn, ["d"], paused=False)
        world.conn.execute("update dag set next_run_at = now(), next_start = cursor_at, "
                           "next_end = cursor_at + interval '1 day'")  # fmt: skip
    assert pause(world) == (False, None)
    assert world.settle(scheduler, outcome=lambda _: next(ends)) == 3
    assert pause(world) == (True, reason)
    assert world.runs("d") == ["failed"] * 2 + ["success"] + ["failed"] * 6
    world.check()


def test_without_a_limit_nothing_is_paused(world: World):
    backlog(world, days=4, limit=0)
    assert world.settle(world.scheduler(), outcome=lambda _: T.FAILED) == 4
    assert pause(world) == (False, None)
