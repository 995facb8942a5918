"""specs: reading stored DAGs into `DagSpec`s, against reading the same texts as plain JSON.

Usage: specs.py [--reduced]

20,000 DAGs of 25 tasks, decoded by Flow and by the standard library's `json.loads` in turn. Beside
it, for information: the resident size of a scheduler's cache of graphs when it is full.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Final

import psutil
from harness import Aim, Results, deployment, main
from stored import rooted_spec, store_specs

from flow.graph import DagSpec, decode, encode
from flow.roles.schedule.graphs import CAPACITY, Graphs

AIM = Aim(1.0)
ROUNDS: Final = 5
AT_ONCE: Final = 500
"""Graphs that a scheduler asks for in one batch, about."""


def measure(results: Results, reduced: bool) -> None:
    """Print the time per DAG against the standard library's."""
    specs = [rooted_spec(number) for number in range(2_000 if reduced else 20_000)]
    _print_cache(results, specs[:CAPACITY])
    texts = [encode(spec).decode() for spec in specs]
    del specs
    ours, plain = [], []
    for _ in range(ROUNDS):
        ours.append(_microseconds(decode, texts))
        plain.append(_microseconds(json.loads, texts))
    results.line(median(ours), "us/DAG", median(plain), AIM, dags=len(texts), rounds=ROUNDS)


def _print_cache(results: Results, specs: Sequence[DagSpec]) -> None:
    with deployment() as flow, flow.connect() as conn:
        hashes = list(store_specs(conn, specs).values())
        graphs = Graphs()
        before = _resident()
        for first in range(0, len(hashes), AT_ONCE):
            graphs.get(conn, hashes[first : first + AT_ONCE])
        size = (_resident() - before) / 1e6
    results.line(size, "MB", None, figure="resident size of the cache", graphs=len(hashes))


def _resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def _microseconds(read: Callable[[str], object], texts: Iterable[str]) -> float:
    """What one text takes when all are read and kept, as a cache keeps them."""
    gc.collect()
    began = time.perf_counter()
    kept = [read(text) for text in texts]
    return (time.perf_counter() - began) * 1e6 / len(kept)


if __name__ == "__main__":
    main("specs", measure)
