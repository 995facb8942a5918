"""Where the socket's directory is, and who can reach it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from embedded.servers import clean_up, query
from flow.embedded import Server
from flow.errors import DatabaseError


@pytest.fixture(params=["long", "with,a comma", "with a 'quote'"])
def odd_home(home: Path, request: pytest.FixtureRequest) -> Path:
    name = "n" * 110 if request.param == "long" else request.param
    home.mkdir(mode=0o755)
    return home / name


def test_an_unsuitable_home_gets_a_short_directory_that_is_remembered(
    odd_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(odd_home)
    try:
        dsn = server.start()
        directory = server.socket_directory
        assert odd_home not in directory.parents
        assert len(os.fsencode(directory / ".s.PGSQL.5432")) <= 100
        assert directory.stat().st_mode & 0o777 == 0o700
        assert query(dsn, "SELECT 1") == 1
        server.stop()
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(odd_home.parent))
        assert Server(odd_home).dsn == dsn
        assert Server(odd_home).start() == dsn
    finally:
        clean_up(odd_home)


def test_homes_of_their_own_get_sockets_of_their_own(home: Path) -> None:
    first, second = (Server(home / f"{letter * 110}") for letter in "ab")
    assert first.socket_directory != second.socket_directory
    assert first.socket_directory.parent == second.socket_directory.parent


@pytest.mark.skipif(os.geteuid() == 0, reason="root always takes /run/flow")
def test_the_logins_runtime_directory_is_taken_when_it_is_ours(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = home.parent / "x"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    assert Server(home / ("n" * 110)).socket_directory.parent == runtime / "flow"
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/")
    assert runtime not in Server(home / ("n" * 110)).socket_directory.parents


def test_a_socket_directory_that_somebody_put_there_is_refused(server: Server) -> None:
    server.start()
    server.stop()
    directory = server.socket_directory
    directory.rmdir()
    directory.symlink_to("/tmp")
    with pytest.raises(DatabaseError, match="is not a directory"):
        server.start()
    directory.unlink()
    directory.mkdir()
    directory.chmod(0o777)
    os.chown(directory, server.data.stat().st_uid, -1)
    with pytest.raises(DatabaseError, match="can be written by others"):
        server.start()


def test_a_shared_socket_can_be_reached_and_stays_so(home: Path) -> None:
    Server(home).start()
    closed = Server(home).socket_directory
    if os.geteuid() != 0:
        with pytest.raises(DatabaseError, match="closed to them"):
            Server(home, shared_socket=True).start()
        Server(home).stop()
    shared = Server(home, shared_socket=True)
    shared.start()
    assert shared.socket_directory.stat().st_mode & 0o777 == 0o711
    assert (shared.socket_directory == closed) == (os.geteuid() == 0)
    Server(home).start()
    assert shared.socket_directory.stat().st_mode & 0o777 == 0o711
