"""A bounded cache of graphs, so that a scheduler of 20,000 DAGs keeps only the busy ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from flow.graph import Graph, decode
from flow.store import specs
from flow.store.connect import Conn

CAPACITY: Final = 4_000
"""Graphs kept; one of 25 tasks takes about 15 kB."""


class Graphs:
    """Graphs by spec hash, least recently used first out. A hash names one graph for ever.

    With `heads` the graphs are those of the specs' heads, all that a fresh run needs.
    """

    def __init__(self, capacity: int = CAPACITY, *, heads: bool = False) -> None:
        self._capacity = capacity
        self._heads = heads
        self._cache: OrderedDict[str, Graph] = OrderedDict()

    def get(self, conn: Conn, hashes: Iterable[str]) -> dict[str, Graph]:
        """The graphs of `hashes`, read from the store in one statement where not cached."""
        wanted = set(hashes)
        found = {}
        for known in wanted & self._cache.keys():
            self._cache.move_to_end(known)
            found[known] = self._cache[known]
        missing = wanted - found.keys()
        if missing:
            for spec_hash, body in specs.load(conn, missing, heads=self._heads).items():
                found[spec_hash] = self._cache[spec_hash] = Graph(decode(body))
            while len(self._cache) > self._capacity:
                self._cache.popitem(last=False)
        return found
