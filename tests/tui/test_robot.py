"""The repair of a night, wholly in the terminal UI: the real program in tmux, on roles that live.

Thirty days have come out wrong, two of them so wrong that their runs failed. Somebody sees that in
the grid, reads the log, mends the file, and has all days done again, four at a time. One day fails,
since what it reads has become broken; its log and the reasons lead there. It is cleared, and what
was done stands in the audit. Whether it is true is judged from what the tasks have written.
"""

from __future__ import annotations

import getpass
from datetime import date, timedelta

import pytest

from cases.deployment import COMMAND, Deployment, deployed
from in_tmux import terminal
from waiting import limit

FIRST = date(2026, 1, 1)
DAYS = [FIRST + timedelta(days=number) for number in range(30)]
GLARING = [date(2026, 1, 13), date(2026, 1, 27)]
"""Days whose wrong totals are beyond belief."""
BROKEN = date(2026, 1, 20)

DAG = """
    import os
    from flow import DAG, task

    folder = os.environ.get("CASE_MARKS", "/")

    with DAG(
        "sales", schedule="@daily", start_date="2026-01-01", end_date="2026-01-30", catchup=True,
        default_args={{"retries": 0}},
    ):

        @task
        def extract(ds=None):
            with open(os.path.join(folder, "upstream", ds)) as file:
                return [int(line) for line in file]

        @task
        def load(amounts, ds=None):
            total = {total}
            print("what was sold:", amounts)
            if total > 1000:
                raise ValueError(f"{{total}} in one day is beyond belief")
            with open(os.path.join(folder, "table", ds), "w") as file:
                file.write(str(total))

        load(extract())
    """
WRONG, RIGHT = "sum(abs(amount) for amount in amounts)", "sum(amounts)"


def upstream(day: date) -> list[int]:
    """What was sold on a day, and what came back."""
    return [100, day.toordinal() % 50, -2000 if day in GLARING else -10]


def deliver(deployment: Deployment, day: date, *lines: object) -> None:
    """Put what a day has sold where its run reads it."""
    path = deployment.folder / "m" / "upstream" / day.isoformat()
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def table(deployment: Deployment) -> dict[str, str]:
    """What stands in the warehouse, by day."""
    folder = deployment.folder / "m" / "table"
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


@pytest.mark.timeout(limit(240))
def test_a_night_is_repaired_without_leaving_the_terminal_ui() -> None:
    with deployed({"worker.slots": 6}) as deployment:
        for name in ("upstream", "table"):
            (deployment.folder / "m" / name).mkdir()
        for day in DAYS:
            deliver(deployment, day, *upstream(day))
        deployment.write("sales.py", DAG.format(total=WRONG))
        deployment.up()
        _repair(deployment)
        assert table(deployment) == {str(day): str(sum(upstream(day))) for day in DAYS}
        noted = deployment.ask("audit", "--dag", "sales", "--who", getpass.getuser(), "--all")
        days = ["clear"] * len(DAYS)
        assert [one["verb"] for one in noted] == ["clear", "backfill", *days, "backfill"]
        checked = deployment.flow("db", "check", "--all")
        assert (checked.code, checked.out) == (0, "")


def _repair(deployment: Deployment) -> None:
    environment = deployment.environment(XDG_STATE_HOME=str(deployment.folder / "s"))
    program = ["env", "-C", str(deployment.project), *COMMAND, "tui"]
    with terminal(program, deployment.folder, environment) as tui:
        # Home tells of the failures; the grid shows which days they are.
        tui.until("sales", "load", "beyond belief")
        tui.press("2")
        tui.until("sales", "✗", "every day")
        tui.press("Enter")
        tui.until("30 runs")
        tui.until("load", "✗")
        tui.until("✓ success  extract", str(DAYS[-1]))

        # Opened: why, and what its log says.
        tui.press("j", *["Left"] * (DAYS[-1] - GLARING[-1]).days)
        tui.until("✗ failed  load", str(GLARING[-1]))
        tui.until("try 1", "beyond belief")
        tui.press("Enter")
        tui.until("what was sold: [100, ")
        tui.until("ValueError: ", "in one day is beyond belief")

        # Mended in the file, while what the source of one day holds becomes broken.
        deployment.write("sales.py", DAG.format(total=RIGHT))
        deliver(deployment, BROKEN, 100, "n/a")

        # All days are done again, four at a time: shown first, and what the command would be.
        tui.press("Escape")
        tui.until("30 runs")
        tui.press("g", "Home", "v", "G", "End")
        tui.until("60 tasks selected")
        tui.press("B")
        tui.until("run again: 30", "(2 failed, 28 success)")
        tui.until("flow backfill sales --from 2026-01-01")
        tui.type("4")
        tui.until("--max-active-runs 4")
        tui.until("oldest first, 4 at a")
        tui.move_focus("Tab", "Tab", "Tab", of="Cancel")
        tui.move_focus("Right", of="Cancel")
        tui.press("Enter")
        tui.until_gone("Start a backfill")

        # Followed to its end; what failed stands first.
        tui.press("3")
        tui.until("sales", "30/30")
        tui.press("Enter")
        tui.until("29 of 30 succeeded, 1 failed")
        tui.press("Enter")
        tui.until("extract", "failed")
        tui.until("load", "upstream_failed")

        # Explained: the task that waited leads to the one that failed, and its log to the line.
        tui.press("w")
        tui.until("flow why sales ")
        tui.until("extract is failed: ValueError: ", "n/a")
        tui.press("Escape")
        tui.until_gone("flow why")
        tui.press("g", "Enter")
        tui.until(f"{BROKEN}T00:00:00+00:00 › extract")
        tui.until("Traceback (most recent call last)")
        tui.until("invalid literal for int() with base 10: 'n/a")

        # Repaired at its source, and done again with what depends on it.
        deliver(deployment, BROKEN, *upstream(BROKEN))
        tui.press("C")
        tui.until("Clear 2 tasks of 1 run of sales?")
        tui.move_focus("Right", of="Cancel")
        tui.press("Enter")
        tui.until("✓ success", "try 3")
        tui.press("Escape")
        tui.until("✓ 2")

        # Audited.
        tui.press("7")
        tui.until("clear", "sales")
        tui.until("backfill", "sales")
        tui.press("q")
        assert tui.until_left() == 0
