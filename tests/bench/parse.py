"""parse: what 500 new files of 10 tasks cost, how soon the first one can run, and the sweeps after.

Usage: parse.py [--reduced]

CPU of a `flow parse` and all its children without PostgreSQL, per file, against a process with the
same modules loaded that forks a child for each file, which compiles and runs it. The seconds from
the moment at which a file is there to the moment at which its DAG is stored with its next run, by
the database's clock. The CPU of a sweep over 5,000 files that were parsed before, and how many of
them were imported again, which is none.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median

import cpu
from harness import Aim, Conn, Deployment, Results, deployment, main, one, run_floor, wait_for

from flow.process.code import content_hash

AIM = Aim(1.4)
LIMIT = Aim(1.0)
"""Of a limit that is not measured but given."""
RUNNABLE = 1.0
"""Seconds that a new file's DAG may need."""
SWEEP = 1.0
"""Seconds of CPU that a sweep over all files may need."""
INTERVAL = 1.0
"""Seconds between two sweeps while their cost is measured."""
FILE = """\
from datetime import datetime

from flow import DAG, chain, task

with DAG("made_{number}", schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False):

    @task
    def step(number):
        return number

    chain(*[step.override(task_id=f"step_{{number}}")(number) for number in range(10)])
"""
NOTED = """\
with open({log!r}, "a") as log:
    log.write("{number}\\n")
"""
_RUNNABLE = """
select extract(epoch from created_at) from dag
where dag_id = %(dag_id)s and present and not paused and next_run_at is not null
"""
_COUNT = "select count(*) from dag where present"
_KNOWN = """
insert into dag_file (path, content_hash) values (%(path)s, %(content_hash)s)
"""


def measure(results: Results, reduced: bool) -> None:
    """Print the sweep, the first DAG, and the cost of a file."""
    files, unchanged, firsts = (60, 500, 3) if reduced else (500, 5_000, 9)
    with deployment(
        FLOW_DAGS_PAUSED_AT_CREATION="false", FLOW_PARSE_INTERVAL=str(INTERVAL)
    ) as flow:
        with flow.connect() as conn:
            again, seconds = _sweeps(flow, conn, unchanged)
        results.line(again, "files", None, figure="imported again while nothing changed")
        results.failed = results.failed or again > 0
        results.line(seconds, "CPU-s", SWEEP, LIMIT, figure=f"sweep over {unchanged} files")
    with deployment(FLOW_DAGS_PAUSED_AT_CREATION="false") as flow, flow.connect() as conn:
        folder = flow.folder("dags")
        root = flow.start("parse", "--dags", str(folder)).pid
        flow.await_roles(conn, "parse")
        times = [_until_runnable(flow, conn, folder, number) for number in range(firsts)]
        results.line(median(times), "s", RUNNABLE, LIMIT, figure="first DAG can run")
        per_file = _many(flow, conn, folder, root, files) * 1000 / files
        floor = _floor(flow, folder)
    results.line(per_file, "ms of CPU", floor, AIM, files=files)


def _sweeps(flow: Deployment, conn: Conn, count: int) -> tuple[int, float]:
    """How many unchanged files were imported, and the CPU-seconds of one sweep over them."""
    folder, log = flow.folder("unchanged"), flow.folder("logs") / "imports"
    log.touch()
    known = []
    for number in range(count):
        file = folder / f"team_{number % 50:02}" / f"noted_{number:04}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(NOTED.format(log=str(log), number=number))
        known.append({"path": str(file), "content_hash": content_hash(str(file))})
    with conn.cursor() as cursor:
        cursor.executemany(_KNOWN, known)
    parser = flow.start("parse", "--dags", str(folder))
    flow.await_roles(conn, "parse")
    time.sleep(5 * INTERVAL)  # reading every file once is not what a sweep costs
    before, began = cpu.of_trees([parser.pid]), time.monotonic()
    time.sleep(10 * INTERVAL)
    used = (cpu.of_trees([parser.pid]) - before) / (time.monotonic() - began) * INTERVAL
    flow.stop(parser)
    return len(log.read_text().splitlines()), used


def _until_runnable(flow: Deployment, conn: Conn, folder: Path, number: int) -> float:
    """Seconds from a file's appearance to the commit of its DAG, which has a next run."""
    name = f"first_{number}"
    made = flow.folder("made") / name
    made.write_text(FILE.format(number=name))
    began = float(one(conn, "select extract(epoch from clock_timestamp())"))
    made.rename(folder / f"{name}.py")
    asked = {"dag_id": f"made_{name}"}
    wait_for(lambda: one(conn, _RUNNABLE, asked) is not None, f"DAG {name}", every=0.005)
    return float(one(conn, "select extract(epoch from clock_timestamp())")) - began


def _many(flow: Deployment, conn: Conn, folder: Path, root: int, count: int) -> float:
    """CPU-seconds of the parser's tree from the arrival of many files to the last one stored."""
    made = flow.folder("many")
    for number in range(count):
        (made / f"file_{number:03}.py").write_text(FILE.format(number=f"of_many_{number}"))
    stored = one(conn, _COUNT)
    before = cpu.of_trees([root])
    made.rename(folder / "many")
    wait_for(lambda: one(conn, _COUNT) == stored + count, f"{count} DAGs", every=0.05)
    return cpu.of_trees([root]) - before


def _floor(flow: Deployment, folder: Path) -> float:
    """Milliseconds of CPU for a file of `folder / many` that is forked and run."""
    script = Path(__file__).with_name("forked_imports.py")
    command = [sys.executable, str(script), str(folder / "many")]
    return float(run_floor(command, flow.environment)["ms_per_file"])


if __name__ == "__main__":
    main("parse", measure)
