"""What a test needs and this machine does not have."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def absent(what: str) -> NoReturn:
    """Skip the test, and fail it in CI, which has to install everything itself."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI has to provide it: {what}")
    pytest.skip(what)
