"""All benches, one after the other, as a table: the median of some runs of each.

Usage: table.py [--runs N] [--reduced] [NAME…]

Every comparison is a row; `>` marks the one that counts. With several runs a row shows the median
ratio, with the value and floor of that run. Exit code 1 when a bench missed an aim by more than
three times.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from harness import BENCHES, environment

_NOT_OF_THE_NAME: Final = {
    *("bench", "value", "unit", "floor", "ratio", "aim", "at_least", "met", "counts", "failed"),
    *("seconds", "tasks", "hops", "programs"),
}
HEADER: Final = ("", "bench", "value", "unit", "floor", "ratio", "aim", "")


def main() -> int:
    """Run what was asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="runs of each bench")
    parser.add_argument("--reduced", action="store_true", help="a small size")
    asked = parser.parse_args()
    found = [
        line for name in asked.names or BENCHES for line in bench(name, asked.runs, asked.reduced)
    ]
    rows = [HEADER, *map(_row, found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    for row in rows:
        print("  ".join(map(str.ljust, row, widths)).rstrip())
    return 1 if any(line["failed"] for line in found) else 0


def bench(name: str, runs: int, reduced: bool) -> list[dict[str, Any]]:
    """The lines of a bench, each with the median ratio of some runs; the last one counts."""
    outputs = [_run(name, reduced) for _ in range(runs)]
    names = [_name(line) for line in outputs[0]]
    lines = [
        _middle([line for output in outputs for line in output if _name(line) == wanted])
        for wanted in names
    ]
    # Which of two comparisons is the worse one, and so the last, may differ from run to run.
    return [line | {"counts": line is lines[-1]} for line in lines]


def _run(name: str, reduced: bool) -> list[dict[str, Any]]:
    script = Path(__file__).with_name(f"{name}.py")
    done = subprocess.run(
        [sys.executable, str(script), *(["--reduced"] if reduced else [])],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    if not done.stdout:
        raise SystemExit(f"{name} printed nothing; its error is above")
    failed = done.returncode != 0
    return [json.loads(line) | {"failed": failed} for line in done.stdout.splitlines()]


def _middle(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ordered = sorted(lines, key=lambda line: line["ratio"] or line["value"])
    return ordered[len(ordered) // 2]


def _name(line: dict[str, Any]) -> str:
    more = [str(value) for key, value in line.items() if key not in _NOT_OF_THE_NAME]
    return ", ".join([line["bench"], *more])


def _row(line: dict[str, Any]) -> tuple[str, ...]:
    sign = "≥" if line.get("at_least") else "≤"
    aim = f"{sign} {line['aim']}" if line["aim"] is not None else ""
    missed = "missed" if line.get("met") is False else ""
    figures = [_figure(line[key]) for key in ("value", "floor", "ratio")]
    return (
        ">" if line["counts"] else "",
        _name(line),
        figures[0],
        line["unit"],
        figures[1],
        figures[2],
        aim,
        missed,
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


if __name__ == "__main__":
    sys.exit(main())
