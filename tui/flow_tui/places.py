"""Places to open at the start, as the words of a command line name them."""

from __future__ import annotations

from collections.abc import Sequence

from flow.ops.deployment import Deployment
from flow.ops.references import find_dag, find_run
from flow.ops.tasks import tries
from flow_tui import targets
from flow_tui.targets import Target


def find(deployment: Deployment, words: Sequence[str]) -> list[Target]:
    """What to open, each from within the one before; with the ids that the words stand for.

    `words`: a DAG, a run of it, a task of that. Raises `NotFound`.
    """
    with deployment.snapshot():
        dag_id = find_dag(deployment.conn, words[0]).dag_id
    places = [targets.dag(dag_id)]
    if len(words) > 1:
        with deployment.snapshot():
            run = find_run(deployment.conn, dag_id, words[1]).run
        places.append(targets.run(dag_id, run.run_id, run.state))
        if len(words) > 2:
            found = tries(deployment, dag_id, run.run_id, words[2])
            places.append(targets.task(dag_id, run.run_id, str(found.reference)))
    return places
