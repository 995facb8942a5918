"""The frame of every screen: reading again when something changed, targets, actions, keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widget import Widget

from flow.errors import DatabaseError, FlowError
from flow_tui.action import Action
from flow_tui.actions import ACTIONS, BY_ID, for_kinds
from flow_tui.background import start
from flow_tui.sentences import of_error
from flow_tui.session import Operation
from flow_tui.targets import Kind, Target, placeholder
from flow_tui.widgets.frame import Banner, Crumbs, Hints, TopBar
from flow_tui.widgets.table import Table

if TYPE_CHECKING:
    from flow_tui.app import FlowApp

T = TypeVar("T")
AGES: Final = 5.0
"""Seconds between two times that ages on the screen are drawn anew."""


class View(Screen[None]):
    """A screen that shows something of the deployment.

    A subclass makes its widgets in `content`, reads and shows in `load`, and says in `targets` what
    actions act on. `load` is called when the screen is shown, and again whenever the database has
    changed; never twice at once, and not while another screen is in front.
    """

    AUTO_FOCUS = ""
    """Nothing, until it says itself what: keys that come before are no letters of a filter."""
    KINDS: ClassVar[frozenset[Kind]] = frozenset()
    """What it shows; its keys are the actions for these."""
    TAKEN: ClassVar[frozenset[str]] = frozenset()
    """Actions that it does not have, because something in it has their keys."""
    IN_VIEW: ClassVar[str] = "dags"
    """The view of the top bar that it belongs to."""

    def __init_subclass__(cls, **options: Any) -> None:
        cls.BINDINGS = [*cls.__dict__.get("BINDINGS", []), *bindings(cls.actions())]
        super().__init_subclass__(**options)

    def __init__(self) -> None:
        super().__init__()
        self._loading = False
        self._stale = False
        self._loaded = False
        self._read_already = False

    @classmethod
    def actions(cls) -> list[Action]:
        """Its actions, and those of every screen."""
        return [action for action in for_kinds(cls.KINDS) if action.id not in cls.TAKEN]

    # ── for subclasses ───────────────────────────────────────────────────────────────────────────

    def content(self) -> ComposeResult:
        """The widgets between the frame's."""
        raise NotImplementedError

    async def load(self) -> None:
        """Read and show. Raises what `read` raises."""
        raise NotImplementedError

    def targets(self) -> Sequence[Target]:
        """What actions act on now."""
        return ()

    def targets_of(self, action: Action) -> Sequence[Target]:
        """What an action acts on: a part of this screen, if it is for such."""
        parts = action.kinds & self.KINDS & {Kind.LOG, Kind.PANES, Kind.GRID}
        return [Target(part, ()) for part in sorted(parts)] if parts else self.targets()

    @property
    def path(self) -> tuple[str, ...]:
        """Where this is, from the view inwards."""
        raise NotImplementedError

    @property
    def command(self) -> str:
        """The `flow` command that shows the same: that of its view, if nothing is opened in it."""
        return BY_ID[f"view.{self.IN_VIEW}"].commands(())[0]

    def commands_of(self, action: Action) -> list[str]:
        """The `flow` commands that do or show the same as an action here.

        Where nothing is selected it acts on a placeholder.
        """
        if action.id == "app.copy":
            return [self.command]
        targets = self.targets_of(action)
        if action.kinds and not targets:
            targets = [
                placeholder(next(kind for kind in Kind if kind in action.kinds & self.KINDS))
            ]
        return [] if action.unfit(targets) else action.commands(targets)

    async def read(self, operation: Operation[T]) -> T:
        """What an operation reads, without blocking the interface."""
        return await self.flow.session.read(operation)

    def read_already(self) -> None:
        """It has what it shows from before its first paint: there is nothing to read yet."""
        self._read_already = self._loaded = True

    def tell(self, text: str) -> None:
        """Say something about what is shown, beside where it is."""
        self.query_one(Crumbs).told = text

    # ── frame ────────────────────────────────────────────────────────────────────────────────────

    @property
    def flow(self) -> FlowApp:
        """The app, by its type."""
        return cast("FlowApp", self.app)

    def compose(self) -> ComposeResult:
        yield TopBar()
        yield Crumbs()
        yield Banner()
        yield from self.content()
        yield Hints()

    def on_mount(self) -> None:
        bar = self.query_one(TopBar)
        bar.view = self.IN_VIEW
        bar.note = self.flow.note
        self.query_one(Crumbs).path = self.path
        self.update_hints()

    def on_screen_resume(self) -> None:
        self.query_one(Banner).text = self.flow.eye.trouble
        if not self._read_already:
            self.refresh_data()
        self._read_already = False

    def refresh_data(self) -> None:
        """Read again; if that is going on already, once more afterwards."""
        self._stale = True
        if not self._loading and self.is_attached:
            self._loading = True
            start(self, self._load, group="load")

    async def _load(self) -> None:
        try:
            while self._stale and self.is_attached:
                self._stale = False
                try:
                    await self.load()
                    self._loaded = True
                except FlowError as error:
                    self.failed(error)
                    return
        finally:
            self._loading = False
        self.update_hints()

    def failed(self, error: FlowError) -> None:
        """Say why nothing could be read; of a database that is away the banner tells."""
        if isinstance(error, DatabaseError):
            self.flow.eye.lost(error)
        else:
            self.missing(error)

    def missing(self, error: FlowError) -> None:
        """What the screen shows is not there, or not any more."""
        self.tell("; ".join(of_error(error)))

    # ── actions ──────────────────────────────────────────────────────────────────────────────────

    def update_hints(self) -> None:
        """Show which keys work for what is under the cursor."""
        if not self.is_attached:
            return
        read_only = self.flow.session.read_only
        hints = []
        for action in sorted(self.actions(), key=lambda one: not one.kinds):
            if action.in_footer and self.has(action):
                targets = self.targets_of(action)
                forbidden = action.changes and read_only
                if forbidden or action.disabled(targets, read_only=False) is None:
                    hints.append((self.flow.key_of(action), action, not forbidden))
        self.query_one(Hints).show(hints)

    def has(self, action: Action) -> bool:
        """Whether there is something here that an action of every screen could be about."""
        if action.id == "app.back":
            return self in self.app.screen_stack[1:]
        return action.id != "app.filter" or hasattr(self, "do_app_filter")

    @on(Hints.Pressed)
    async def press(self, message: Hints.Pressed) -> None:
        """A key of the footer was clicked."""
        await self.perform(message.action)

    @on(Table.Moved)
    def moved(self) -> None:
        """Something else is under the cursor."""
        self.update_hints()

    @on(Table.Chosen)
    async def chosen(self) -> None:
        """Somebody wants to see what is under the cursor."""
        await self.perform(BY_ID["app.open"])

    async def action_act(self, id: str) -> None:
        """A key of the table was pressed."""
        action = BY_ID[id]
        alternatives = [
            other
            for other in ACTIONS
            if other.kinds & self.KINDS and self.flow.key_of(other) == self.flow.key_of(action)
        ]
        read_only = self.flow.session.read_only
        usable = (
            one
            for one in alternatives
            if not one.disabled(self.targets_of(one), read_only=read_only)
        )
        await self.perform(next(usable, action))

    async def perform(self, action: Action) -> None:
        """Do an action to what is under the cursor or selected, or say why not.

        It is over when the next key is for what it has shown.
        """
        targets = self.targets_of(action)
        reason = action.disabled(targets, read_only=self.flow.session.read_only)
        if reason is not None:
            self.notify(f"{action.verb}: {reason}", severity="warning", timeout=4)
            return
        own = getattr(self, "do_" + action.id.replace(".", "_"), None)
        if own is not None:
            done = own()
            if isawaitable(done):
                await done
        else:
            self.flow.perform(action, targets)

    def do_app_open(self) -> None:
        """Open what is under the cursor."""
        targets = self.targets()
        if targets:
            self.flow.open(targets[0])

    def do_mark_toggle(self) -> None:
        """Select what is under the cursor, or no more."""
        with self._table() as table:
            table.toggle()

    def do_mark_range(self) -> None:
        """Select from here on."""
        with self._table() as table:
            table.begin_range()

    def do_mark_none(self) -> None:
        """Select nothing."""
        with self._table() as table:
            table.select_none()

    @contextmanager
    def _table(self) -> Iterator[Any]:
        """The widget with a cursor that has the focus; without one nothing happens."""
        focused: Widget | None = self.focused
        if focused is not None and hasattr(focused, "begin_range"):
            yield focused
            self.update_hints()
        else:
            yield _Nothing()


class _Nothing:
    def toggle(self) -> None: ...
    def begin_range(self) -> None: ...
    def select_none(self) -> None: ...


def bindings(actions: Sequence[Action]) -> list[BindingType]:
    """The keys of actions."""
    return [
        Binding(
            action.key,
            f"act({action.id!r})",
            action.verb,
            show=False,
            id=action.id,
            tooltip=action.help,
        )
        for action in actions
    ]
