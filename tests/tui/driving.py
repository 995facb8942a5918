"""Driving the terminal UI in a test: keys in, and waiting for what should be seen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from snapshots import SIZES, assert_looks_as_before, lines_of, looks_as_before
from textual.app import App
from textual.pilot import Pilot

from waiting import limit

Found = TypeVar("Found")
Story = Callable[[Pilot[Any]], Awaitable[None]]


def drive(app: App[Any], story: Story, size: tuple[int, int] = (120, 40)) -> None:
    """Run an app without a terminal, and a story on it."""

    async def play() -> None:
        async with app.run_test(size=size, notifications=True) as pilot:
            await story(pilot)
            app.workers.cancel_all()  # as it is when somebody leaves

    asyncio.run(play())


async def until(
    pilot: Pilot[Any], condition: Callable[[], Found], what: str, seconds: float = 30.0
) -> Found:
    """Let the app go on until the condition's answer is true, and return the answer."""
    deadline = time.monotonic() + limit(seconds)
    while not (answer := condition()):
        if time.monotonic() > deadline:
            shown = "\n".join(lines_of(pilot.app))
            raise AssertionError(f"waited {limit(seconds):.0f} s for: {what}\n{shown}")
        await pilot.pause(0.02)
    return answer


async def until_shown(pilot: Pilot[Any], text: str) -> None:
    """Wait until a text stands on the screen."""
    await until(pilot, lambda: any(text in line for line in lines_of(pilot.app)), text)


async def assert_looks_as_before_at_each_size(pilot: Pilot[Any], name: str) -> None:
    """Compare a screen with its snapshots at `SIZES`, once it has settled in each."""
    for width, height in SIZES:
        await pilot.resize_terminal(width, height)
        deadline = time.monotonic() + limit(5.0)
        while not looks_as_before(pilot.app, f"{name}_{width}") and time.monotonic() < deadline:
            await pilot.pause(0.05)
        assert_looks_as_before(pilot.app, f"{name}_{width}")
