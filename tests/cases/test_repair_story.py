"""A night is repaired from the terminal: seen, mended, done again, followed, explained, audited.

Ninety days have come out wrong, three of them so wrong that their runs failed. The file is mended,
and a backfill does all days again, four at a time. Meanwhile the night comes, and its run goes
first. One day fails, since what it reads has become broken; `flow why` leads there, and a clear
brings it home. Everything is done as somebody does it who has read the help pages; whether it is
true is judged from what the tasks have marked and written.
"""

from __future__ import annotations

import getpass
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from itertools import accumulate

import pytest

from cases.breaks import Break
from cases.deployment import COMMAND, OVER, Deployment, deployed
from waiting import limit, wait_until

BREAKS = [
    # The run of the night takes its turn behind the days that are done again.
    Break(
        "engine/flow/decide/turns.py",
        "            share *= self.backfills\n",
        "            share /= self.backfills\n",
    ),
    # A backfill has one run too many.
    Break(
        "engine/flow/roles/schedule/backfilling.py",
        "    return one.max_active_runs - counts",
        "    return 1 + one.max_active_runs - counts",
    ),
    # What has succeeded is not done again.
    Break(
        "engine/flow/decide/backfill.py",
        '(reprocess == "failed" and existing.state is RunState.SUCCESS)',
        "existing.state is RunState.SUCCESS",
    ),
    # Where a failure came from is not followed.
    Break(
        "engine/flow/decide/explain.py",
        "    yield from (id for id in graph.upstream(task_id) if states.get(id) in wanted)\n",
        "    yield from ()\n",
    ),
]

FIRST, LAST, TONIGHT = date(2026, 1, 1), date(2026, 3, 31), date(2026, 4, 1)
DAYS = [FIRST + timedelta(days=number) for number in range(90)]
AT_A_TIME = 4
GLARING = [day for day in DAYS if day.day == 13]
"""Days whose wrong totals are beyond belief."""
BROKEN = date(2026, 2, 14)
RANGE = ("--from", FIRST.isoformat(), "--to", LAST.isoformat())

DAG = """
    import os
    import time
    from flow import DAG, get_current_context, task
    from marks import mark

    folder = os.environ.get("CASE_MARKS", "/")

    def amounts(day):
        with open(os.path.join(folder, "upstream", day)) as file:
            return [int(line) for line in file]

    with DAG(
        "sales", schedule="@daily", start_date="2026-01-01", end_date={end!r}, catchup=True,
        max_active_runs=8, default_args={{"retries": 0}},
    ):

        @task
        def extract(ds=None):
            mark(ds + " begin", "runs")
            try:
                return amounts(ds)
            except ValueError:
                mark(ds + " end", "runs")
                raise

        @task(pool="warehouse")
        def load(amounts, ds=None):
            mark(ds, "loads")
            while not os.path.exists(os.path.join(folder, "open")):
                time.sleep(0.02)
            try:
                total = {total}
                if total > 1000:
                    raise ValueError(f"{{total}} in one day is beyond belief")
                half = os.path.join(folder, "half", ds)
                with open(half, "w") as file:
                    file.write(str(total))
                os.replace(half, os.path.join(folder, "table", ds))
            finally:
                mark(ds + " end", "runs")

        load(extract())
    """
WRONG, RIGHT = "sum(abs(amount) for amount in amounts)", "sum(amounts)"


def upstream(day: date) -> list[int]:
    """What was sold on a day, and what came back."""
    return [100, day.toordinal() % 50, -2000 if day in GLARING else -10]


def write_dag(deployment: Deployment, total: str, end: date) -> None:
    deployment.write("sales.py", DAG.format(total=total, end=end.isoformat()))


def deliver(deployment: Deployment, day: date, *lines: object) -> None:
    """Put what a day has sold where its run reads it."""
    path = deployment.folder / "m" / "upstream" / day.isoformat()
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def table(deployment: Deployment) -> dict[str, str]:
    """What stands in the warehouse, by day."""
    folder = deployment.folder / "m" / "table"
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def done(deployment: Deployment, line: str, code: int = 0) -> str:
    """What a command prints, whose line somebody has typed."""
    ended = deployment.flow(*shlex.split(line)[1:])
    assert ended.code == code, f"{line}: exit {ended.code}\n{ended.out}{ended.err}"
    return ended.out


def row_of_grid(deployment: Deployment, task_id: str) -> list[str]:
    """The signs of a task in the grid, by run."""
    shown = done(deployment, f"flow grid sales -n {len(DAYS) + 1}")
    [row] = [line for line in shown.splitlines() if line.startswith(task_id + " ")]
    return row.split()[1:]


def wait_for_days(deployment: Deployment, days: int) -> None:
    """Wait until the runs of so many days have ended."""

    def over() -> bool:
        shown = deployment.ask("runs", "list", "sales", "--all")
        return len([run for run in shown if run["state"] in OVER]) == days

    wait_until(over, f"the end of {days} runs", seconds=120, pause=2)


@contextmanager
def in_another_terminal(deployment: Deployment, line: str) -> Iterator[subprocess.Popen[str]]:
    """A command that goes on beside others; it is ended at the latest when the block is left."""
    with subprocess.Popen(
        [*COMMAND, *shlex.split(line)[1:]],
        cwd=deployment.project,
        env=deployment.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def most_at_once(deployment: Deployment, before: int) -> int:
    """How many days were under way at once, by their marks behind so many."""
    steps = [
        {"begin": 1, "end": -1}[mark.event.split()[1]]
        for mark in deployment.marks("runs")[before:]
        if not mark.event.startswith(TONIGHT.isoformat())
    ]
    return max(accumulate(steps))


@pytest.mark.timeout(limit(300))
def test_ninety_days_are_repaired_from_the_terminal() -> None:
    with deployed({"worker.slots": 6}) as deployment:
        marks = deployment.folder / "m"
        for name in ("upstream", "table", "half"):
            (marks / name).mkdir()
        for day in [*DAYS, TONIGHT]:
            deliver(deployment, day, *upstream(day))
        (marks / "open").touch()
        write_dag(deployment, WRONG, LAST)
        deployment.up()
        done(deployment, "flow pools set warehouse 1")
        wait_for_days(deployment, len(DAYS))

        # Seen: three days are red, and why; all others are wrong as well.
        signs = row_of_grid(deployment, "load")
        assert [day for day, sign in zip(DAYS, signs, strict=True) if sign != "✓"] == GLARING
        told = done(deployment, f"flow why sales {GLARING[0]} load")
        wrong = sum(abs(amount) for amount in upstream(GLARING[0]))
        assert f"failed: ValueError: {wrong} in one day is beyond belief" in told
        assert set(table(deployment)) == {str(day) for day in DAYS if day not in GLARING}

        # Mended in the file.
        write_dag(deployment, RIGHT, LAST)
        deliver(deployment, BROKEN, 100, "n/a")
        done(deployment, "flow check dags/sales.py")

        # Done again, four at a time: first only shown, then started, and looked at.
        (marks / "open").unlink()
        runs_before, loads_before = len(deployment.marks("runs")), len(deployment.marks("loads"))
        again = f"flow backfill sales {' '.join(RANGE)} --reprocess all --max-active-runs 4"
        plan = done(deployment, f"{again} --dry-run")
        assert "90 intervals" in plan
        assert f"run again: 90 ({len(GLARING)} failed, {90 - len(GLARING)} success)" in plan
        with in_another_terminal(deployment, f"{again} --yes --wait") as following:
            wait_until(lambda: ready(deployment) == AT_A_TIME - 1, "four days under way", pause=1)
            # The night comes: what would be due at midnight is due now.
            write_dag(deployment, RIGHT, TONIGHT)
            wait_until(lambda: ready(deployment) == AT_A_TIME, "tonight's run", pause=1)
            told = done(deployment, f"flow why sales {TONIGHT} load")
            assert "pool warehouse: 1 of 1 slots used" in told
            (marks / "open").touch()
            shown, _ = following.communicate(timeout=limit(240))
        assert following.returncode == 1, shown
        wait_for_days(deployment, len(DAYS) + 1)
        loads = [mark.event for mark in deployment.marks("loads")[loads_before:]]
        assert loads[1] == str(TONIGHT)
        assert sorted(loads) == [str(day) for day in [*DAYS, TONIGHT] if day != BROKEN]
        assert most_at_once(deployment, runs_before) == AT_A_TIME

        # One day has failed; the line that tells it has the command that explains it.
        assert "89 of 90 runs have succeeded, 1 failed" in shown
        [failed] = [line for line in shown.splitlines() if " failed: flow why " in line]
        assert failed.startswith(str(BROKEN))
        told = done(deployment, failed.partition(" failed: ")[2])
        assert "load <- extract: extract is failed: ValueError: " in told
        assert "'n/a" in told

        # Repaired, where it came from and then here.
        deliver(deployment, BROKEN, *upstream(BROKEN))
        done(deployment, f"flow clear sales {BROKEN} --only-failed --yes --wait")
        assert set(row_of_grid(deployment, "load")) == {"✓"}
        right = {str(day): str(sum(upstream(day))) for day in [*DAYS, TONIGHT]}
        assert table(deployment) == right

        # Audited, newest first: the backfill when it was made, each day again, and its end.
        who = getpass.getuser()
        noted = deployment.ask("audit", "--dag", "sales", "--who", who, "--all")
        days = ["clear"] * len(DAYS)
        assert [one["verb"] for one in noted] == ["clear", "backfill", *days, "backfill"]
        checked = deployment.flow("db", "check", "--all")
        assert (checked.code, checked.out) == (0, "")


def ready(deployment: Deployment) -> int:
    """How many loads wait for their slot, while one has it."""
    pool = deployment.ask("pools", "show", "warehouse")
    return int(pool["scheduled"]) if pool["running"] == 1 else 0
