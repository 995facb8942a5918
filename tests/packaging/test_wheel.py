"""What an installation consists of."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in the wheel."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=REPOSITORY,
        env={**os.environ, "SOURCE_DATE_EPOCH": "0"},
        capture_output=True,
        check=True,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_every_file_of_the_packages_is_in_it(content: set[str]) -> None:
    for root in (REPOSITORY / "engine", REPOSITORY / "cli", REPOSITORY / "tui"):
        for path in root.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert str(path.relative_to(root)) in content


def test_pages_and_completions_are_in_it(content: set[str]) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    pages = [
        path for path in (REPOSITORY / "man").iterdir() if path.is_file() and path.suffix != ".md"
    ]
    scripts = list((REPOSITORY / "completions").iterdir())
    assert {str(path.relative_to(REPOSITORY)) for path in (*pages, *scripts)} == set(shared)
    data = next(name.partition("/")[0] for name in content if ".data/" in name)
    for place in shared.values():
        assert f"{data}/data/{place}" in content
