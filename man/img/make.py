"""Makes the pictures of the README: the terminal UI on a deployment at known times.

    PYTHONPATH=engine:cli:tui:tests:tests/tui python man/img/make.py

The pictures hold nothing that depends on when or where they are made.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

from driving import until_shown
from night import NOW, build
from textual.pilot import Pilot

from flow.config import load
from flow.graph import GroupSpec, TaskSpec
from flow.logs import LogFiles
from flow.ops import running
from flow.ops.running import Wish
from flow.states import TaskState
from flow.store.connect import connect
from flow_tui import targets
from flow_tui.app import FlowApp
from flow_tui.memory import Memory
from flow_tui.session import Session
from flow_tui.targets import Target
from operations_world import World
from postgres import running_server, url_of

FOLDER: Final = Path(__file__).parent
SIZE: Final = (110, 30)
DAYS: Final = 24
WRONG: Final = "2026-07-05"
"""The day whose load has failed."""
REASON: Final = "ValueError: could not convert string to float: 'n/a'"
LOG: Final = (
    "loading the orders of 2026-07-05",
    *(f"{number * 500:,} lines" for number in range(1, 9)),
    "Traceback (most recent call last):",
    '  File "dags/shop/takings.py", line 31, in load',
    "    total += float(line[3])",
    "             ^^^^^^^^^^^^^^",
    REASON,
)
_TASKS: Final = {
    "extract.orders": (),
    "extract.returns": (),
    "extract.stock": (),
    "clean": ("extract.orders", "extract.returns"),
    "load.orders": ("clean",),
    "load.stock": ("extract.stock",),
    "totals": ("load.orders", "load.stock"),
    "report": ("totals",),
}
_FONT: Final = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


def main() -> None:
    """Make all of them."""
    with running_server() as server, tempfile.TemporaryDirectory() as folder:
        database = server.create()
        with connect(server.of(database), name="pictures") as conn:
            _takings(World(server.of(database), conn, Path(folder)))
            world = build(server.of(database), conn, Path(folder))
            _settle(world)
        _draw(world, "home", "could not convert")
        _draw(
            world,
            "grid",
            "24 runs",
            targets.dag("takings"),
            keys=("g", *["down"] * 6, *["left"] * 4),
        )
        failed = targets.task("takings", _run(WRONG), "load.orders")
        _draw(world, "log", "14 lines", failed)
        server.drop(database)


def _takings(world: World) -> None:
    """A DAG with groups, three weeks of runs, and one that has failed."""
    tasks = [
        TaskSpec(
            task_id=name,
            operator="PythonOperator",
            upstream=upstream,
            group=name.partition(".")[0] if "." in name else None,
            pool="default_pool",
        )
        for name, upstream in _TASKS.items()
    ]
    groups = (GroupSpec(group_id="extract"), GroupSpec(group_id="load"))
    world.start_worker()
    world.define("takings", tasks, groups=groups, file="/dags/shop/takings.py", tags=("shop",))
    for day in _days():
        running.run(world.deployment, Wish("takings", date=day))
        world.finish({"load.orders": TaskState.FAILED} if day == WRONG else {})
    world.conn.execute("update process set ended_at = now(), ended_reason = 'stopped'")


def _settle(world: World) -> None:
    """Let everything have happened at known times, for known reasons."""
    for number, day in enumerate(_days()):
        began, took = f"{day} 23:10:00+00", timedelta(seconds=60 + 37 * number % 50)
        for table in ("run", "task_history", "try_history"):
            world.conn.execute(
                f"update {table} set ended_at = %s::timestamptz + %s, started_at = case"
                " when started_at is not null then %s::timestamptz end where run_key ="
                " (select run_key from run where dag_id = 'takings' and run_id = %s)",
                (began, took, began, _run(day)),
            )
    for table in ("task_history", "try_history"):
        world.conn.execute(
            f"update {table} set reason = case task_id when 'load.orders' then %s else %s end"
            " where state = 'failed'",
            (REASON, "TimeoutError: the warehouse does not answer"),
        )
    world.conn.execute("update try_history set host = 'etl-1', log = null")
    world.conn.execute(
        "update dag set schedule = 'every day at 23:00 UTC', next_run_at = '2026-07-10 23:00+00',"
        " next_start = '2026-07-09 23:00+00', next_end = '2026-07-10 23:00+00'"
        " where dag_id = 'takings'"
    )
    address = LogFiles(world.home / "logs").address("takings", _run(WRONG), "load.orders", (), 1)
    Path(address).parent.mkdir(parents=True)
    Path(address).write_text("".join(f"{line}\n" for line in LOG), encoding="utf-8")


def _days() -> list[str]:
    last = date(2026, 7, 9)
    return [f"{last - timedelta(days=DAYS - 1 - number)}" for number in range(DAYS)]


def _run(day: str) -> str:
    return f"manual__{day}T00:00:00+00:00"


def _draw(world: World, name: str, shown: str, *start: Target, keys: tuple[str, ...] = ()) -> None:
    """Write a picture once a text is seen, and what the cursor is on after some keys."""
    environ = {"FLOW_HOME": str(world.home), "FLOW_DATABASE_URL": url_of(world.dsn)}
    settings = load(environ=environ, folder=world.home).settings
    app = FlowApp(Session(settings), Memory(None), start)
    app.clock = lambda: NOW

    async def story(pilot: Pilot[Any]) -> None:
        await until_shown(pilot, shown)
        await pilot.press(*keys)
        if keys:
            await until_shown(pilot, "try 1 took")
        picture = _FONT.sub("", app.export_screenshot(title=f"flow tui: {name}"))
        (FOLDER / f"{name}.svg").write_text(picture, encoding="utf-8")

    async def play() -> None:
        async with app.run_test(size=SIZE) as pilot:
            await story(pilot)
            app.workers.cancel_all()

    asyncio.run(play())


if __name__ == "__main__":
    main()
