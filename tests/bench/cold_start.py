"""cold_start: how long short commands take, from nothing to their end.

Usage: cold_start.py [--reduced]

`flow --help` against a bare Typer app with rich help; `flow dags list` against importing typer,
rich and psycopg plus one query; `import flow` against a Python that does nothing. Each pair takes
turns; medians count. Of the two commands the worse comes last.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from statistics import median

from harness import FLOW, Aim, Results, deployment, main

COMMAND = Aim(1.3)
IMPORT = Aim(4.0)
TYPER = """
import typer

app = typer.Typer(rich_markup_mode="rich")


@app.command()
def hello(name: str, shout: bool = typer.Option(False, help="Loudly.")) -> None:
    \"\"\"Say hello.\"\"\"


@app.command()
def goodbye(name: str) -> None:
    \"\"\"Say goodbye.\"\"\"


app(["--help"])
"""
QUERY = """
import sys
import psycopg
import rich
import typer

with psycopg.connect(sys.argv[1]) as connection:
    connection.execute("select 1").fetchall()
"""


def measure(results: Results, reduced: bool) -> None:
    """Print the three pairs."""
    turns = 5 if reduced else 21
    python = (sys.executable, "-c")
    with deployment() as flow:
        imported, bare = _in_turns(
            turns, flow.environment, [*python, "import flow"], [*python, "pass"]
        )
        results.line(imported, "ms", bare, IMPORT, command="import flow")
        pairs: dict[str, tuple[Sequence[str], Sequence[str]]] = {
            "flow --help": ([*FLOW, "--help"], [*python, TYPER]),
            "flow dags list": ([*FLOW, "dags", "list"], [*python, QUERY, flow.dsn]),
        }
        found = {name: _in_turns(turns, flow.environment, *pair) for name, pair in pairs.items()}
    for name, (value, floor) in sorted(found.items(), key=lambda item: item[1][0] / item[1][1]):
        results.line(value, "ms", floor, COMMAND, command=name)


def _in_turns(
    turns: int, environment: Mapping[str, str], *commands: Sequence[str]
) -> tuple[float, ...]:
    """Median milliseconds of each command; a first turn, which fills caches, does not count."""
    times: list[list[float]] = [[] for _ in commands]
    for turn in range(turns + 1):
        for command, taken in zip(commands, times, strict=True):
            began = time.perf_counter()
            subprocess.run(command, env=environment, check=True, capture_output=True)
            if turn:
                taken.append((time.perf_counter() - began) * 1000)
    return tuple(median(taken) for taken in times)


if __name__ == "__main__":
    main("cold_start", measure)
