"""What happens in the demo, in order. Whatever way it ends, nothing is left running."""

from __future__ import annotations

import selectors
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, Protocol, TypeVar

from flow.embedded import Server
from flow.errors import FlowError
from flow.ops import connections, variables
from flow.ops.demo import project, team, verdict, warehouse, watch
from flow.ops.demo.project import HOUSEKEEPING, NIGHTLY, Project
from flow.ops.demo.team import Team
from flow.ops.demo.verdict import Night, Outcome
from flow.ops.demo.warehouse import Hold, Warehouse
from flow.ops.demo.watch import Scene
from flow.ops.deployment import Deployment, open_deployment
from flow.roles.loop import Stop, wait
from flow.settings import Settings
from flow.store import locate, migrate

_LOOK_AGAIN: Final = 0.1
"""Seconds between two looks at the runs."""
_PATIENCE: Final = 300.0
"""Seconds in which something must change, or the demo gives up."""

Found = TypeVar("Found")


class Stopped(Exception):
    """Somebody asked the demo to stop, and it has stopped."""


class Audience(Protocol):
    """Whoever watches."""

    def say(self, text: str) -> None:
        """Something has happened."""

    def show(self, scene: Scene) -> None:
        """What the runs look like now."""


def play(
    files: Path, audience: Audience, stop: Stop, *, binaries: Path | None = None, keep: bool = False
) -> Outcome:
    """Play the demo with the project `files`; it ends by itself.

    Raises `Stopped` after `stop` was asked for, and `FlowError` when a step failed; either way
    everything it started has ended. `keep` leaves the folder with all that is in it.
    """
    began = time.monotonic()
    with project.scratch_folder(keep=keep) as folder:
        made = project.make(folder, files, binaries)
        with _database(made.config.settings, stop) as server:
            audience.say(f"A PostgreSQL of its own runs in {folder}")
            store = warehouse.make(server, made.warehouse_schema)
            with open_deployment(made.config.settings) as deployment:
                connections.add(deployment, store.connection())
                variables.set_(deployment, "landing", str(made.landing))
                audience.say("The connection `warehouse` leads to a second database beside Flow's")
                _heed(stop)
                nights, others = _Play(made, deployment, store, audience, stop).nights()
    return Outcome(
        nights,
        others,
        verdict.problems(nights, others),
        time.monotonic() - began,
        folder if keep else None,
    )


def _heed(stop: Stop) -> None:
    if stop:
        raise Stopped


@contextmanager
def _database(settings: Settings, stop: Stop) -> Iterator[Server]:
    """The embedded server with Flow's schema; ended when this ends."""
    server = locate.embedded(settings)
    with ExitStack() as ending:
        ending.callback(_end_database, server, settings.home)
        dsn = server.start()
        _heed(stop)
        migrate.migrate(dsn)
        _heed(stop)
        yield server


def _end_database(server: Server, home: Path) -> None:
    directory = server.socket_directory
    server.stop()
    if home not in directory.parents:
        # The path of the folder is too long for a socket, so it stands elsewhere.
        shutil.rmtree(directory, ignore_errors=True)


class _Play:
    """The part of the story in which the roles run."""

    def __init__(
        self,
        made: Project,
        deployment: Deployment,
        store: Warehouse,
        audience: Audience,
        stop: Stop,
    ) -> None:
        self._made = made
        self._deployment = deployment
        self._store = store
        self._audience = audience
        self._stop = stop

    def nights(self) -> tuple[list[Night], dict[str, str]]:
        """Let all nights happen, one of them with a killed worker; how each of them ended."""
        victim = self._made.nights[len(self._made.nights) // 2]
        middle = self._made.expected[victim].orders // 2
        # The hold stands before anything runs, so the load cannot have passed it.
        with self._store.hold_up(victim, middle) as hold, team.started(self._made) as running:
            self._audience.say(f"`flow up` runs the parser, the scheduler, {team.WORKERS} workers")
            self._kill_in_mid_load(running, hold, victim, middle)
            scene = self._until(running, lambda scene: scene if scene.over else None)
            running.drained = True
            return self._judge(scene, victim)

    def _kill_in_mid_load(self, running: Team, hold: Hold, night: str, middle: int) -> None:
        def worker(_: Scene) -> int | None:
            waits = hold.somebody_waits()
            return watch.loading_worker(self._deployment, night) if waits else None

        pid = self._until(running, worker)
        running.kill_worker(pid)
        self._audience.say(
            f"Killed the worker with pid {pid} (SIGKILL) while it loaded {night}, at order "
            f"{middle} of {self._made.expected[night].orders}"
        )
        self._until(running, lambda _: watch.first_try_lost(self._deployment, night) or None)
        hold.release()
        self._audience.say("Its successor ended what it had left and reported the try as lost")

    def _judge(self, scene: Scene, victim: str) -> tuple[list[Night], dict[str, str]]:
        loaded, reported = self._store.loaded(), self._store.reported()
        grids = {grid.dag_id: grid for grid in scene.grids}
        states = {run.logical_date.date().isoformat(): run.state for run in grids[NIGHTLY].runs}
        nights = [
            Night(
                day=night,
                run_state=states.get(night, "missing"),
                load_tries=watch.load_tries(self._deployment, night),
                loaded=loaded.get(night),
                reported=reported.get(night),
                expected=self._made.expected[night],
                killed=night == victim,
            )
            for night in self._made.nights
        ]
        return nights, {HOUSEKEEPING: grids[HOUSEKEEPING].runs[0].state}

    def _until(self, running: Team, met: Callable[[Scene], Found | None]) -> Found:
        """Look until `met` finds something; meanwhile show the runs."""
        before: Scene | None = None
        changed = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(self._stop, selectors.EVENT_READ)
            while True:
                _heed(self._stop)
                running.require_alive()
                scene = watch.look(self._deployment)
                self._audience.show(scene)
                found = met(scene)
                if found is not None:
                    return found
                if scene != before:
                    before, changed = scene, time.monotonic()
                elif time.monotonic() - changed > _PATIENCE:
                    raise FlowError(
                        f"nothing has changed for {_PATIENCE:.0f} s; the roles said last:\n"
                        f"{running.last_lines()}",
                        "run `flow demo --keep` and look into its folder",
                    )
                wait(selector, _LOOK_AGAIN)
