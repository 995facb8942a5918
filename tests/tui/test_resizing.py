"""Another size of the terminal reaches the screens."""

from __future__ import annotations

from driving import drive, until


class Skipped:
    """A timer that came too late, as Textual's own does on a busy machine: nothing comes of it."""

    def stop(self) -> None: ...


def test_also_where_textual_has_skipped_its_timer(world, make_app) -> None:
    async def story(pilot) -> None:
        app = pilot.app
        await until(pilot, lambda: app.screen._loaded, "Home")
        app._resize_timer = Skipped()
        await pilot.resize_terminal(200, 60)
        await until(pilot, lambda: app.screen.size == (200, 60), "the screen to be larger")

    drive(make_app(), story)
