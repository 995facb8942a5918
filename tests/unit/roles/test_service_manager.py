"""What a role tells its service manager, and when."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flow.roles.service_manager import EXTENSION, NOBODY, ServiceManager
from flow_cli.roles import service_manager

EXTENDED = f"EXTEND_TIMEOUT_USEC={int(EXTENSION * 1e6)}"


class Listener:
    """The manager's end, and a clock that stands until it is set."""

    def __init__(self, address: str) -> None:
        self.now = 0.0
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._line.setblocking(False)
        self._line.bind("\0" + address[1:] if address.startswith("@") else address)
        self.environ = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "8000000"}

    def manager(self, **environ: str) -> ServiceManager:
        return ServiceManager({**self.environ, **environ}, lambda: self.now)

    def heard(self) -> list[str]:
        """Everything that was said since the last call."""
        said = []
        while True:
            try:
                said.append(self._line.recv(4096).decode())
            except BlockingIOError:
                return said

    def close(self) -> None:
        self._line.close()


@pytest.fixture(params=["path", "abstract"])
def listener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Listener]:
    """A manager that listens on a socket in a folder, or in the abstract namespace."""
    abstract = f"@flow-test-{os.getpid()}-{tmp_path.name}"
    made = Listener(abstract if request.param == "abstract" else str(tmp_path / "notify"))
    yield made
    made.close()


@pytest.fixture
def manager(listener: Listener) -> Iterator[ServiceManager]:
    """A role's side of it."""
    made = listener.manager()
    yield made
    made.close()


def describe(text: str) -> Callable[[], str]:
    return lambda: text


def test_readiness_is_said_once(listener: Listener, manager: ServiceManager) -> None:
    manager.ready()
    manager.ready()
    assert listener.heard() == ["READY=1"]


def test_a_role_that_waits_at_the_start_asks_for_time(
    listener: Listener, manager: ServiceManager
) -> None:
    manager.progress(describe("waiting"))
    assert listener.heard() == ["WATCHDOG=1", EXTENDED, "STATUS=waiting"]
    listener.now = EXTENSION / 2
    manager.progress(describe("waiting"))
    assert listener.heard() == ["WATCHDOG=1", EXTENDED]


def test_a_role_that_works_shows_signs_of_life_at_a_pace(
    listener: Listener, manager: ServiceManager
) -> None:
    manager.ready()
    manager.progress(describe("a"))
    assert listener.heard() == ["READY=1", "WATCHDOG=1", "STATUS=a"]
    assert manager.patience == 2.0
    listener.now = 1.9
    manager.progress(describe("b"))
    assert listener.heard() == []
    listener.now = 2.0
    manager.progress(describe("b"))
    assert listener.heard() == ["WATCHDOG=1", "STATUS=b"]


def test_a_status_that_says_the_same_is_not_repeated(
    listener: Listener, manager: ServiceManager
) -> None:
    manager.ready()
    for moment in (0.0, 10.0, 20.0):
        listener.now = moment
        manager.progress(describe("same"))
    assert listener.heard().count("STATUS=same") == 1


def test_a_drain_asks_for_time_until_it_is_over(
    listener: Listener, manager: ServiceManager
) -> None:
    manager.ready()
    manager.progress(describe("working"))
    listener.heard()
    manager.stopping()
    manager.stopping()
    assert listener.heard() == [f"STOPPING=1\n{EXTENDED}"]
    listener.now = EXTENSION / 2
    manager.progress(describe("draining"))
    assert listener.heard() == ["WATCHDOG=1", EXTENDED, "STATUS=draining"]


def test_a_full_socket_holds_up_nobody_and_loses_no_readiness(
    listener: Listener, manager: ServiceManager
) -> None:
    while manager._send("STATUS=x"):
        pass
    manager.ready()
    assert "READY=1" not in listener.heard()
    manager.ready()
    assert listener.heard() == ["READY=1"]


def test_another_process_has_no_watchdog(listener: Listener) -> None:
    other = listener.manager(WATCHDOG_PID=str(os.getpid() + 1))
    mine = listener.manager(WATCHDOG_PID=str(os.getpid()))
    assert (other.patience, mine.patience) == (float("inf"), 2.0)
    other.close()
    mine.close()


def test_what_runs_below_flow_up_is_no_service(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in listener.environ.items():
        monkeypatch.setenv(name, value)
    own = service_manager()
    own.ready()
    own.close()
    assert listener.heard() == ["READY=1"]
    monkeypatch.setenv("FLOW_FOLLOWS", "1")
    service_manager().ready()
    assert listener.heard() == []


@pytest.mark.parametrize("address", ["", "relative", "/nobody/listens/here"])
def test_without_a_manager_nothing_happens(address: str) -> None:
    alone = ServiceManager({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "1000000"})
    asked: list[str] = []
    for one in (alone, NOBODY):
        one.ready()
        one.progress(lambda: asked.append("status") or "")
        one.stopping()
        assert one.patience == float("inf")
    assert asked == []
