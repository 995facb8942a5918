"""`flow --complete`: what completion scripts ask for names; not a command, so no parser is loaded.

flow --complete [--config FILE] [--deployment NAME] KINDS CURRENT [DAG]

KINDS are kinds of names, separated by commas; CURRENT is what has been typed of the name; DAG the
id before it on the line. Answers one name a line, from the cache; where there is none, or anything
is wrong, nothing. What is old is refreshed in the background for the next time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flow.config import load
from flow.errors import FlowError
from flow_cli.arguments import split_deployment
from flow_cli.name_cache import Kind, cache_of
from flow_cli.name_refresh import refresh_soon

_FEW: Final = 8
"""DAGs whose runs and tasks are fetched already when their ids are offered."""
_LATEST: Final = "latest"


def main(words: Sequence[str]) -> int:
    """Answer the words behind `--complete`: prints names, and never an error."""
    try:
        for name in names(words):
            print(name)  # noqa: T201
    except (FlowError, OSError, ValueError):
        return 1  # a line that somebody types is no place to tell of it
    return 0


def names(words: Sequence[str]) -> list[str]:
    """The names that are asked for. Raises `FlowError`, `OSError`, `ValueError`."""
    deployment, (kinds, current, *dags) = split_deployment(words)
    wanted = [Kind(kind) for kind in kinds.split(",")]
    dag_id = dags[0] if dags else None
    cache = cache_of(load(deployment.config_file, deployment.name).settings)
    found = [name for kind in wanted for name in cache.names(kind, current, dag_id)]
    named = found[:_FEW] if wanted == [Kind.DAG] and len(found) <= _FEW else dags
    refresh_soon(cache, deployment, named)
    if found and Kind.RUN in wanted and _LATEST.startswith(current):
        found.append(_LATEST)
    return found
