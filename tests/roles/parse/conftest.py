"""A DAG folder for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from dag_folder import Folder
from flow.store.connect import Conn


@pytest.fixture
def folder(tmp_path: Path, database: str, connection: Conn) -> Folder:
    path = tmp_path / "dags"
    path.mkdir()
    return Folder(path, database, connection)
