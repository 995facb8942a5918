"""A task function may name as a parameter exactly what the context has."""

from __future__ import annotations

from flow.authoring import runtime
from flow.authoring.context_keys import CONTEXT_KEYS
from support.runtime import MemoryRuntime
from support.tries import echo


def test_the_names_are_those_of_the_context() -> None:
    _, context = echo("x")
    runtime.use(MemoryRuntime())
    try:
        assert context.keys() == CONTEXT_KEYS
    finally:
        runtime.use(None)
