"""The version is written down twice, and both say the same."""

from __future__ import annotations

import tomllib
from pathlib import Path

PROJECT_FILE = Path(__file__).parents[2] / "pyproject.toml"


def test_version_is_that_of_the_distribution(flow):
    version = tomllib.loads(PROJECT_FILE.read_text())["project"]["version"]
    ended = flow("--version")
    assert (ended.code, ended.out, ended.err) == (0, f"flow {version}\n", "")
