"""The terminal UI: views, what lies over them, and the eye on the database."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import App
from textual.await_complete import AwaitComplete
from textual.filter import NoColor

from flow.errors import FlowError
from flow.wording.cells import printable, text_of
from flow_tui import resizing, screens
from flow_tui.action import Action
from flow_tui.actions import BY_ID
from flow_tui.background import start
from flow_tui.eye import Eye
from flow_tui.feed import Pace
from flow_tui.keymap import Keymap
from flow_tui.looks import use_palette
from flow_tui.memory import Memory
from flow_tui.sentences import first_of
from flow_tui.session import Session
from flow_tui.targets import Kind, Target, dag
from flow_tui.themes import ON_DARK, ON_LIGHT, THEMES
from flow_tui.view import View
from flow_tui.widgets.frame import VIEWS

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.notifications import SeverityLevel
    from textual.widget import AwaitMount

    from flow.settings import TuiSettings
    from flow_tui.beginning import Begun
    from flow_tui.dialogs.palette import Act
    from flow_tui.widgets.grid_view import GridView


class FlowApp(App[None]):
    """`flow tui`."""

    TITLE = "flow"
    CSS_PATH = "flow.tcss"
    MODES: ClassVar[dict[str, Any]] = {name: screens.view(name) for name in VIEWS}
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        session: Session,
        memory: Memory,
        start: Sequence[Target] = (),
        begun: Begun | None = None,
        *,
        few_colours: bool = False,
    ) -> None:
        """`start`: things to open at once, each from within the one before.

        `few_colours`: the terminal has sixteen at most.
        """
        view = "dags" if start else memory.get("view", "home")
        self.DEFAULT_MODE = view if view in VIEWS else "home"  # type: ignore[misc]
        super().__init__()
        self._take_looks(memory.get, session.settings.tui, few_colours=few_colours)
        self.session = session
        self.memory = memory
        self.keymap = Keymap.read(session.settings.tui.keys)
        self.clock: Callable[[], datetime] = utc_now
        """What time it is, for ages."""
        self.to_filter = False
        """The list that is shown next is to be filtered at once."""
        self.begun = {self.DEFAULT_MODE: begun.answer} if begun and not start else {}
        """What has been read already for a view."""
        self.leave: Callable[[int], None] = lambda code: None
        """Is told that this ends, and with which code, before anything is taken down."""
        self._start = start
        pace = Pace(begun.counter, read_at=time.monotonic()) if begun else Pace()
        self.eye = Eye(self, pace)
        """Sees to it that what is shown is read again when something has changed."""

    # ── life ─────────────────────────────────────────────────────────────────────────────────────

    def on_mount(self) -> None:
        if not self.is_headless:
            self._heed_signals()
        self.set_keymap(self.keymap.keys)
        start(self, self.eye.watch, group="feed")
        for target in self._start:
            self.open(target)

    def _take_looks(
        self, remembered: Callable[[str, str], str], settings: TuiSettings, *, few_colours: bool
    ) -> None:
        """Before anything is drawn: a theme that changes later has everything drawn again."""
        for theme in THEMES:
            self.register_theme(theme)
        self.set_reactive(App.ansi_theme_dark, ON_DARK)
        self.set_reactive(App.ansi_theme_light, ON_LIGHT)
        wanted = remembered("theme", settings.theme)
        if wanted not in self.available_themes:
            wanted = THEMES[0].name
        # What is made for many colours cannot be read in a few, and its greys not without any.
        self.theme = THEMES[-1].name if few_colours or self.no_color else wanted
        if self.no_color:
            self._filters = [NoColor()]  # Textual's own are for the theme that it began with
        use_palette(remembered("palette", settings.palette))

    def action_help_quit(self) -> None:
        """Somebody has pressed what ends other programs."""
        self.notify(f"{self.key_of(BY_ID['app.quit'])} leaves", timeout=4)

    async def on_unmount(self) -> None:
        self.memory.save()
        self.session.close()

    def _heed_signals(self) -> None:
        """Leave the terminal as it was, and remember, also when somebody else ends this."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._signalled)

    def _signalled(self, number: int, _: object) -> None:
        # Not as a callback of the loop: a terminal that reads nothing holds that up.
        self.leave(128 + number)
        self._exit_soon(128 + number)

    def hang_up(self) -> None:
        """The terminal is gone. For any thread."""
        self._exit_soon(128 + signal.SIGHUP)

    def _exit_soon(self, code: int) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(partial(self.exit, return_code=code))

    def exit(
        self, result: None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Leave, for sure."""
        self.leave(return_code)
        super().exit(result, return_code, message)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Say something for a while. It is never markup: names of things are in it."""
        said = "\n".join(map(printable, message.splitlines()))
        super().notify(said, title=title, severity=severity, timeout=timeout, markup=False)

    @property
    def note(self) -> str:
        """What kind of session this is."""
        return "read-only" if self.session.read_only else ""

    def now(self) -> datetime:
        """The moment against which ages are told."""
        return self.clock()

    # ── what the terminal tells ──────────────────────────────────────────────────────────────────

    def on_resize(self) -> None:
        """Let no screen miss it."""
        resizing.make_sure(self)

    def watch_app_focus(self, focus: bool) -> None:
        """Somebody looks again."""
        if focus:
            self.eye.look_again()

    # ── going places ─────────────────────────────────────────────────────────────────────────────

    def open(self, target: Target) -> None:
        """Show a thing on its own screen."""
        self.push_screen(screens.of(target))

    def switch_mode(self, mode: str) -> AwaitMount:
        """Show a view, also the next time."""
        self.memory.set("view", mode)
        return super().switch_mode(mode)

    def pop_screen(self) -> AwaitComplete:
        """Leave the screen in front. What it does ends first: its widgets go one by one."""
        self.workers.cancel_node(self.screen)
        return super().pop_screen()

    def perform(self, action: Action, targets: Sequence[Target]) -> None:
        """Do what no screen does in its own way."""
        if action.make is not None:
            self._ask(action, targets)
            return
        area, _, name = action.id.partition(".")
        if area == "view":
            self._show_view(name)
        else:
            getattr(self, f"do_{area}_{name}")(targets)

    def _show_view(self, name: str) -> None:
        """Show a view as it was left; its beginning if it is in front already."""
        if name != self.current_mode:
            self.switch_mode(name)
            return
        while len(self.screen_stack) > 1:
            self.pop_screen()

    def _ask(self, action: Action, targets: Sequence[Target]) -> None:
        from flow_tui.dialogs.clear import ClearDialog
        from flow_tui.dialogs.plan import PlanDialog

        dialog = ClearDialog if action.id == "item.clear" else PlanDialog
        self.push_screen(dialog(action, targets), self._asked)

    def _asked(self, told: list[str] | None) -> None:
        if told:
            self.notify("\n".join(told[:6]), timeout=6)
            self.eye.look_now()

    def do_app_back(self, targets: Sequence[Target]) -> None:
        """Back to the screen below."""
        if len(self.screen_stack) > 1:
            self.pop_screen()

    def do_app_quit(self, targets: Sequence[Target]) -> None:
        """Leave."""
        self.exit()

    def do_app_suspend(self, targets: Sequence[Target]) -> None:
        """Stop until the shell has it go on."""
        self.action_suspend_process()

    def do_app_refresh(self, targets: Sequence[Target]) -> None:
        """Look now."""
        self.eye.look_now()

    def do_app_copy(self, targets: Sequence[Target]) -> None:
        """Copy the command that shows the same."""
        if isinstance(self.screen, View):
            self.copy([self.screen.command])

    def copy(self, commands: Sequence[str]) -> None:
        """Put commands into the clipboard of the terminal, and say so."""
        self.copy_to_clipboard("\n".join(commands))
        self.notify(f"copied: {first_of(commands)}", timeout=4)

    def do_app_help(self, targets: Sequence[Target]) -> None:
        """What can be done here."""
        from flow_tui.dialogs.keys import KeysDialog

        if isinstance(self.screen, View):
            self.push_screen(KeysDialog(self.screen), self._chosen)

    def do_app_palette(self, targets: Sequence[Target]) -> None:
        """Anything by its name."""
        from flow_tui.dialogs.palette import PaletteDialog

        if isinstance(self.screen, View):
            self.push_screen(PaletteDialog(self.screen), _do)

    def use_theme(self, name: str) -> None:
        """Take a theme, also the next time."""
        self.theme = name
        self.memory.set("theme", name)

    def use_palette(self, name: str) -> None:
        """Take the colours of states, also the next time."""
        use_palette(name)
        self.memory.set("palette", name)
        for screen in self.screen_stack:
            for grid in screen.query("GridView"):
                cast("GridView", grid).restyle()
            if isinstance(screen, View):
                screen.refresh_data()

    def do_app_filter(self, targets: Sequence[Target]) -> None:
        """What has no list has nothing to filter."""
        self.notify("there is nothing to filter here", timeout=3)

    def do_dag_runs(self, targets: Sequence[Target]) -> None:
        """The grid of the DAG."""
        self.open(dag(targets[0].words[0]))

    def do_run_details(self, targets: Sequence[Target]) -> None:
        """The run, or that of the task."""
        self.open(Target(Kind.RUN, targets[0].words[:2]))

    def do_task_log(self, targets: Sequence[Target]) -> None:
        """The task, which opens on its log."""
        self.open(targets[0])

    def do_dag_details(self, targets: Sequence[Target]) -> None:
        """Everything about a DAG."""
        from flow_tui.dialogs.details import DetailsDialog

        self.push_screen(DetailsDialog(targets[0].words[0]))

    async def _chosen(self, action: Action | None) -> None:
        if action is not None and isinstance(self.screen, View):
            await self.screen.perform(action)

    def do_dag_backfill(self, targets: Sequence[Target]) -> None:
        """Runs for past intervals, at first those that are selected."""
        start(self, partial(self._ask_for_backfill, targets), group="ask", exclusive=True)

    async def _ask_for_backfill(self, targets: Sequence[Target]) -> None:
        from flow.ops import runs
        from flow_tui.dialogs.backfill import BackfillDialog

        dag_id = targets[0].words[0]
        run_ids = list(dict.fromkeys(one.words[1] for one in targets if len(one.words) > 1))
        first = last = ""
        if run_ids:
            try:
                found = await self.session.read(lambda at: runs.reach(at, dag_id, run_ids))
            except FlowError as error:
                self.notify(error.message, severity="warning")
                return
            first, last = map(text_of, found)
        dialog = BackfillDialog(BY_ID["dag.backfill"], targets, first, last)
        self.push_screen(dialog, self._asked)

    def do_item_why(self, targets: Sequence[Target]) -> None:
        """Why something does not move, or ended so."""
        from flow_tui.dialogs.why import WhyDialog

        self.push_screen(WhyDialog(targets[0]))

    def key_of(self, action: Action) -> str:
        """The first key of an action, as people read it."""
        key = self.keymap.keys.get(action.id, action.key).partition(",")[0]
        return self.get_key_display(next(iter(_binding(key))))


def utc_now() -> datetime:
    """The time of this host."""
    return datetime.now(UTC)


async def _do(act: Act | None) -> None:
    done = act() if act is not None else None
    if isawaitable(done):
        await done


def _binding(key: str) -> list[Any]:
    from textual.binding import Binding

    return list(Binding.make_bindings([Binding(key, "none")]))
