"""Whether anything has changed since somebody last looked."""

from __future__ import annotations

from flow.ops.deployment import Deployment
from flow.store.read import changes


def counter(deployment: Deployment) -> int:
    """A number that moves with every batch that a role or an operation has committed."""
    return changes.counter(deployment.conn)
