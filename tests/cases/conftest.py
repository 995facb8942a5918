"""Cases run on a deployment of their own; one test's, or by `deployed` several tests'."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cases.deployment import Deployment, deployed


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    """A fresh deployment with default settings, in which nothing runs."""
    with deployed() as fresh:
        yield fresh
