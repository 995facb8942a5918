"""Store and decision against a simple reference, whatever comes between whose statements.

    FLOW_MODEL_EXAMPLES=500 pytest tests/store/model     (or: just model 500)

looks for what the examples of CI have not found: other ones each time, and longer ones.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from model.machine import Machine
from model.stage import Stage
from model.workers import in_place_of_hosts

from waiting import limit

EXAMPLES = int(os.environ.get("FLOW_MODEL_EXAMPLES", "0"))
"""0: the few of CI, the same each time."""

OF_CI = settings(max_examples=25, stateful_step_count=30, derandomize=True, phases=[Phase.generate])
"""What fails is shown as it was found: making it smaller takes minutes."""
LONG = settings(max_examples=EXAMPLES or 1, stateful_step_count=60, print_blob=True)


@pytest.mark.timeout(limit(300) + 20 * EXAMPLES)
def test_store_and_decision_do_as_the_reference_says(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(database, tmp_path)
    monkeypatch.setattr(*in_place_of_hosts(stage.processes))
    try:
        run_state_machine_as_test(
            lambda: Machine(stage),
            settings=settings(
                LONG if EXAMPLES else OF_CI,
                database=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        stage.close()
