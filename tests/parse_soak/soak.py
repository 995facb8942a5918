"""Two DAG processors over thousands of files, hostile ones among them, under random edits.

Usage: soak.py [--files N] [--hostile N] [--seconds S] [--pause S] [--seed N] [--timeout S]

All is stored at first; then files are changed, moved, removed, added, turned hostile and mended,
and modules that many of them import are changed. In the end everything that is stored must be what
the last edits left, nothing must be parsed any more, and the processors must be as alive and as
small as before. The last line is JSON; exit code 1 when something was wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

import psutil

sys.path.append(str(Path(__file__).parents[1] / "bench"))

from grove import Grove
from harness import Conn, Deployment, deployment, one

_PROCESSORS: Final = 2
_GROWTH: Final = 64 << 20
"""Bytes by which a processor may grow."""
_TOKENS: Final = """
select d.dag_id, (regexp_match(s.body, '"task_id":"(token_[0-9_]+)"'))[1] from dag d
join dag_version v on v.dag_id = d.dag_id and v.number = d.version
join spec s on s.hash = v.spec_hash
where d.present and (%(dag_id)s::text is null or d.dag_id = %(dag_id)s)
"""
_BROKEN: Final = "select path from dag_file where error is not null"
_PARSED: Final = "select max(parsed_at)::text from dag_file where error is null"


@dataclass(slots=True)
class Verdict:
    """What a soak has found."""

    figures: dict[str, Any] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


def soak(asked: argparse.Namespace) -> Verdict:
    """Plant, edit, look."""
    verdict = Verdict()
    with (
        deployment(FLOW_PARSE_TIMEOUT=str(asked.timeout), FLOW_PARSE_MEMORY=str(1 << 30)) as flow,
        flow.connect() as conn,
    ):
        grove = Grove(flow.folder("dags"), random.Random(asked.seed))
        grove.plant(asked.files, asked.hostile)
        began = time.monotonic()
        processors = [
            flow.start("parse", "--dags", str(grove.folder), "--processes", "2")
            for _ in range(_PROCESSORS)
        ]
        patience = 600 + asked.files + asked.hostile * asked.timeout
        _settled(conn, grove, patience, verdict, "at first")
        verdict.figures["first_s"] = round(time.monotonic() - began, 1)
        before = [_size(one.pid) for one in processors]
        waits = _edit(conn, grove, asked, verdict)
        _settled(conn, grove, patience, verdict, "in the end")
        _quiet(conn, verdict)
        sizes = [_size(one.pid) for one in processors]
        if any(now > then + _GROWTH for then, now in zip(before, sizes, strict=True)):
            verdict.wrong.append(f"processors grew from {before} to {sizes} bytes")
        if any(one.poll() is not None for one in processors):
            verdict.wrong.append("a processor has ended")
        _ended(flow, verdict)
        verdict.figures |= {
            "edits": grove.edits,
            "p50_s": round(median(waits), 3) if waits else None,
            "p99_s": round(sorted(waits)[int(len(waits) * 0.99)], 3) if waits else None,
            "max_mb": max(sizes) >> 20,
        }
    return verdict


def _edit(conn: Conn, grove: Grove, asked: argparse.Namespace, verdict: Verdict) -> list[float]:
    """Edit for so many seconds; how long each change of one DAG took to be stored."""
    waits = []
    end = time.monotonic() + asked.seconds
    while time.monotonic() < end:
        began = time.monotonic()
        dag_id = grove.edit()
        if dag_id is not None:
            wanted = (dag_id, grove.tokens()[dag_id])
            if not _until(partial(_is_stored, conn, *wanted), asked.timeout * 30):
                verdict.wrong.append(f"{dag_id} was not stored with {wanted[1]} in time")
                return waits
            waits.append(time.monotonic() - began)
        time.sleep(asked.pause * grove.random.random())
    return waits


def _settled(conn: Conn, grove: Grove, seconds: float, verdict: Verdict, when: str) -> None:
    """Wait until what is stored is what is in the folder."""
    tokens, hostile = grove.tokens(), grove.hostile()

    def differences() -> list[str]:
        stored, broken = _tokens(conn), {row[0] for row in conn.execute(_BROKEN)}
        # The last good version of a file that has turned hostile stays.
        kept = {one.dag_id for one in grove.planted.values() if one.hostile}
        found = [f"{d}: {stored.get(d)}, not {t}" for d, t in tokens.items() if stored.get(d) != t]
        found += [f"{path} has no error" for path in sorted(hostile - broken)]
        found += [f"{path} has an error" for path in sorted(broken - hostile)]
        return found + [f"{dag_id} is still there" for dag_id in stored.keys() - tokens - kept]

    if not _until(lambda: not differences(), seconds, pause=0.5):
        verdict.wrong += [f"{when}: {text}" for text in differences()[:20]]


def _quiet(conn: Conn, verdict: Verdict) -> None:
    """Nothing good is parsed while nothing changes."""
    before = one(conn, _PARSED)
    time.sleep(12.0)
    if one(conn, _PARSED) != before:
        verdict.wrong.append("files were parsed although nothing had changed")


def _ended(flow: Deployment, verdict: Verdict) -> None:
    """Processors end when they are told to, and leave nothing."""
    roots = [psutil.Process(role.pid) for role in flow.roles]
    below = [child for root in roots for child in root.children(recursive=True)]
    flow.stop(*flow.roles)
    _, alive = psutil.wait_procs(below, timeout=60)
    verdict.wrong += [f"process {process.pid} is left" for process in alive]


def _tokens(conn: Conn, dag_id: str | None = None) -> dict[str, str]:
    return dict(conn.execute(_TOKENS, {"dag_id": dag_id}).fetchall())


def _is_stored(conn: Conn, dag_id: str, token: str) -> bool:
    return _tokens(conn, dag_id).get(dag_id) == token


def _until(condition: Callable[[], bool], seconds: float, pause: float = 0.02) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def _size(pid: int) -> int:
    return int(psutil.Process(pid).memory_info().rss)


def main(arguments: list[str] | None = None) -> int:
    """Run it and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--hostile", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=600.0, help="of random edits")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between edits, at most")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds of an import")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    asked = parser.parse_args(arguments)
    verdict = soak(asked)
    for text in verdict.wrong:
        print(text, file=sys.stderr)
    print(json.dumps({**vars(asked), **verdict.figures, "wrong": len(verdict.wrong)}))
    return 1 if verdict.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
