"""What ends a whole run before its tasks have: its time limit, and a failure under `fail_fast`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from flow.decide.reason import Code, Reason
from flow.graph.spec import DagSpec


def deadline(spec: DagSpec, started_at: datetime | None) -> datetime | None:
    """When `dagrun_timeout` ends a run that began at `started_at`; None: it never does."""
    if spec.dagrun_timeout is None or started_at is None:
        return None
    return started_at + timedelta(seconds=spec.dagrun_timeout)


def stop_gate(
    spec: DagSpec, started_at: datetime | None, now: datetime, failed: Iterable[str]
) -> Reason | None:
    """Why nothing more of a run is to run, given its failed tasks; None: it goes on."""
    until = deadline(spec, started_at)
    if until is not None and until <= now:
        return Reason(Code.DAGRUN_TIMEOUT, {"seconds": spec.dagrun_timeout or 0.0})
    if spec.fail_fast and (first := min(failed, default=None)) is not None:
        return Reason(Code.FAIL_FAST, {"task": first})
    return None
