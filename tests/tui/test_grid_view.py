"""The grid as a widget: what it says to those around it, and then what is seen of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.strip import Strip

from flow.ops.grid_window import GridRow, code_of
from flow.states import TaskState
from flow.store.read.grid import InstanceStates
from flow_tui.grid.model import Cell
from flow_tui.grid.rows import Kind, RowKey
from flow_tui.looks import use_palette
from flow_tui.themes import PALETTES
from flow_tui.widgets.grid_view import GridView
from made_grids import ROWS, Ledger, day, year

F, S, N = TaskState.FAILED, TaskState.SUCCESS, TaskState.NONE
WINDOW = 40


class Stage(App[None]):
    """A grid alone, fed from a ledger."""

    def __init__(self, ledger: Ledger, **how: Any) -> None:
        super().__init__()
        self.ledger = ledger
        self.how = how
        self.heard: list[Message] = []

    def compose(self) -> ComposeResult:
        yield GridView("sales", **self.how)

    @property
    def grid(self) -> GridView:
        return self.query_one(GridView)

    def on_mount(self) -> None:
        self.grid.focus()
        self.grid.show(self.ledger.newest(WINDOW, {}))

    def on_grid_view_more_wanted(self, message: GridView.MoreWanted) -> None:
        self.heard.append(message)
        columns = self.grid.model.columns
        if message.wanted.value == "older":
            place = columns.columns[0].run.place
            self.grid.prepend(self.ledger.older(place, WINDOW, columns.rows))
        else:
            place = columns.columns[-1].run.place
            self.grid.append(self.ledger.newer(place, WINDOW, columns.rows))

    def on_grid_view_opened(self, message: GridView.Opened) -> None:
        self.heard.append(message)

    def on_grid_view_instances_wanted(self, message: GridView.InstancesWanted) -> None:
        self.heard.append(message)

    def look_again(self) -> None:
        columns = self.grid.model.columns
        seen = columns.seen()
        assert seen is not None
        self.grid.take(self.ledger.refresh(seen, columns.rows))

    def seen(self) -> list[str]:
        """The lines of the terminal."""
        return [
            strip.text.rstrip(" ▁▂▃▄▅▆▇█┃") for strip in self.screen._compositor.render_strips()
        ]


Story = Callable[[Stage, Pilot[None]], Awaitable[None]]


def play(ledger: Ledger, story: Story, size: tuple[int, int] = (80, 24), **how: Any) -> Stage:
    stage = Stage(ledger, **how)

    async def run() -> None:
        async with stage.run_test(size=size) as pilot:
            await pilot.pause()
            await story(stage, pilot)

    asyncio.run(run())
    return stage


def task(task_id: str) -> RowKey:
    return RowKey(Kind.TASK, task_id)


# ── what it says ─────────────────────────────────────────────────────────────────────────────────


def test_arrows_and_letters_move_and_opening_a_group_folds_it():
    async def story(stage: Stage, pilot: Pilot[None]) -> None:
        await pilot.press("left", "h", "j", "down", "l")
        stage.grid.open()
        await pilot.pause()
        (opened,) = [one for one in stage.heard if isinstance(one, GridView.Opened)]
        assert opened.cell == Cell(task("load.raw"), 38)
        await pilot.press("k")
        stage.grid.open()
        assert len(stage.grid.model.rows) == 3
        stage.grid.fold_all()
        assert len(stage.grid.model.rows) == 8
        await pilot.press("G", "home")
        stage.grid.open()
        await pilot.pause()
        assert stage.heard[-1].cell.key == task("report")  # type: ignore[attr-defined]
        await pilot.press("g", "end")
        assert stage.grid.model.cell == Cell(task("extract"), 39)

    play(year(40), story)


def test_older_runs_are_asked_for_once_before_the_cursor_gets_there_and_nothing_jumps():
    async def story(stage: Stage, pilot: Pilot[None]) -> None:
        assert stage.heard == []
        await pilot.press(*["left"] * 32)
        (asked,) = stage.heard
        assert isinstance(asked, GridView.MoreWanted)
        await pilot.pause()
        assert stage.grid.model.width == 80
        assert stage.grid.model.cell == Cell(task("extract"), 67)
        before = stage.seen()
        assert "[✓]" in next(line for line in before if "extract" in line)
        await pilot.press("right", "left")
        await pilot.pause()
        assert stage.seen() == before
        assert len(stage.heard) == 1

    play(year(100), story)


def test_with_bounded_memory_both_ends_are_loaded_again():
    async def story(stage: Stage, pilot: Pilot[None]) -> None:
        stage.grid.model.columns.most = 110
        for _ in range(4):
            await pilot.press("home")
            await pilot.pause()
        model = stage.grid.model
        assert model.cell == Cell(task("extract"), 0)
        assert (model.width, model.columns.has_newer) == (110, True)
        for _ in range(4):
            await pilot.press("end")
            await pilot.pause()
        assert model.cell == Cell(task("extract"), 159)
        assert (model.width, model.columns.has_older, model.columns.has_newer) == (110, True, False)
        assert {one.wanted.value for one in stage.heard} == {"older", "newer"}

    play(year(160), story)


def test_a_mapped_task_asks_for_its_instances():
    ledger = year(3)
    ledger.add(day(3), {"load.raw": F}, mapped={"load.raw": {"failed": 1, "success": 1}})

    async def story(stage: Stage, pilot: Pilot[None]) -> None:
        await pilot.press("j", "j")
        stage.grid.fold()
        await pilot.pause()
        assert [one.task_id for one in stage.heard] == ["load.raw"]  # type: ignore[attr-defined]
        found = InstanceStates(3, 2, {(0,): code_of(S), (1,): code_of(F)})
        stage.grid.take_instances("load.raw", [found])
        await pilot.pause()
        assert [line.split() for line in stage.seen() if "[0]" in line or "[1]" in line] == [
            ["[0]", "✓"],
            ["[1]", "✗"],
        ]

    play(ledger, story)


def test_ranges_and_marks_are_seen_and_given_up_one_after_the_other():
    async def story(stage: Stage, pilot: Pilot[None]) -> None:
        await pilot.press("shift+left", "shift+down", "shift+down")
        assert len(stage.grid.model.range()) == 6
        await pilot.pause()
        assert "+✓ +✓" in next(line for line in stage.seen() if "extract" in line)
        assert "[✓]+✓" in next(line for line in stage.seen() if "raw" in line)
        stage.grid.toggle()
        await pilot.press("up")
        await pilot.pause()
        assert "*✓ *✓" in next(line for line in stage.seen() if "raw" in line)
        assert len(stage.grid.model.targets()) == 2 * 5
        stage.grid.begin_range()
        assert stage.grid.select_none()
        assert stage.grid.select_none()
        assert not stage.grid.select_none()

    play(year(60), story)


def test_a_click_moves_a_second_one_opens_and_one_on_a_sign_folds():
    async def story(stage: Stage, pilot: Pilot[None]) -> None:
        line = next(y for y, text in enumerate(stage.seen()) if "load" in text)
        await pilot.click(GridView, offset=(0, line))
        assert len(stage.grid.model.rows) == 3
        await pilot.click(GridView, offset=(22, line + 1), times=2)
        (opened,) = stage.heard
        assert isinstance(opened, GridView.Opened)
        assert opened.cell.key == task("report")
        marked = stage.seen()[line + 1]
        assert marked.index("[") <= 22 <= marked.index("]")
        await pilot.click(GridView, offset=(22, line + 9))
        assert len(stage.heard) == 1

    play(year(60), story)


# ── what is drawn ────────────────────────────────────────────────────────────────────────────────


def mixed() -> Ledger:
    ledger = Ledger()
    for number in range(1, 5):
        ledger.add(day(number))
    ledger.add(day(2, state="failed", run_type="manual"), {"load.ch.join": F, "report": F})
    ledger.graphs["v2"] = (*ROWS[:4], ROWS[5])
    ledger.latest = "v2"
    ledger.add(day(5, state="running", ended_at=None, version=2), {"report": N})
    return ledger


@pytest.mark.parametrize("symbols", [True, False])
def test_the_whole_grid(symbols: bool):
    stage = play(mixed(), look, symbols=symbols)
    assert "\n".join(stage.drawn) == (SYMBOLS if symbols else LETTERS).strip("\n")  # type: ignore[attr-defined]


async def look(stage: Stage, pilot: Pilot[None]) -> None:
    stage.drawn = [line for line in stage.seen()[3:] if line.strip()]  # type: ignore[attr-defined]


SYMBOLS = """
2026            01          01
                02 03 04 05 06
type               m
version         1           2
run             ✓  ✗  ✓  ✓  ▶
  extract       ✓  ✓  ✓  ✓ [✓]
▾ load          ✓  ✗  ✓  ✓  ✓
    raw         ✓  ✓  ✓  ✓  ✓
  ▾ ch          ✓  ✗  ✓  ✓  ✓
      clean     ✓  ✓  ✓  ✓  ✓
      join      ✓  ✗  ✓  ✓  ✓
    done (old)  ✓  ✓  ✓  ✓
  report        ✓  ✗  ✓  ✓  ·
"""
LETTERS = SYMBOLS.translate(str.maketrans("✓✗▶·▾", "+X>.v"))


def test_hours_are_told_apart_where_a_day_has_several_runs():
    ledger = Ledger()
    for number in range(4):
        run = day(1)
        at = run.logical_date.replace(hour=6 * number)
        ledger.add(run._replace(run_key=number, logical_date=at))
    stage = play(ledger, look)
    assert [line.split() for line in stage.drawn[:3]] == [  # type: ignore[attr-defined]
        ["2026", "01", "01"],
        ["02", "02"],
        ["00", "06", "12", "18"],
    ]


def test_where_there_is_little_room_the_tasks_have_it():
    async def story(stage: Stage, pilot: Pilot[None]) -> None:
        assert stage.seen()[0].startswith("2026")
        assert sum("✓" in line or "✗" in line for line in stage.seen()) == 9

    play(year(60), story, size=(40, 12))


def test_long_names_lose_their_middle_and_leave_room_for_runs():
    ledger = year(60)
    long = "publish_the_figures_of_the_night_to_everybody_who_has_asked_for_them"
    ledger.graphs["v1"] = (*ROWS[:5], GridRow(long, ()))

    async def story(stage: Stage, pilot: Pilot[None]) -> None:
        last = next(line for line in stage.seen() if "publish" in line)
        assert last.split()[0].endswith("asked_for_them"[-10:])
        assert "…" in last
        assert last.count("✓") + last.count("✗") >= 17

    play(ledger, story)


def test_another_look_draws_only_what_has_changed_anew(monkeypatch: pytest.MonkeyPatch):
    ledger = year(60)
    ledger.add(day(60, state="running", ended_at=None), {"report": N})
    drawn: list[int] = []
    render_line = GridView.render_line

    def counted(grid: GridView, y: int) -> Strip:
        drawn.append(y)
        return render_line(grid, y)

    async def story(stage: Stage, pilot: Pilot[None]) -> None:
        monkeypatch.setattr(GridView, "render_line", counted)
        report = next(y for y, line in enumerate(stage.seen()) if "report" in line)
        drawn.clear()
        ledger.add(day(60, state="running", ended_at=None), {"report": TaskState.RUNNING})
        stage.look_again()
        assert stage.seen()[report].endswith("▶")
        assert set(drawn) == {report}
        drawn.clear()
        stage.look_again()
        stage.seen()
        assert drawn == []
        await pilot.press("down")
        stage.seen()
        assert len(set(drawn)) == 2

    play(ledger, story)


def test_who_looks_at_the_newest_run_sees_the_next_one_come():
    ledger = year(60)

    async def story(stage: Stage, pilot: Pilot[None]) -> None:
        ledger.add(day(60), {"extract": F})
        stage.look_again()
        await pilot.pause()
        assert stage.grid.model.cell == Cell(task("extract"), 60)
        assert next(line for line in stage.seen() if "extract" in line).endswith("[✗]")
        await pilot.press("left")
        ledger.add(day(61))
        stage.look_again()
        await pilot.pause()
        assert stage.grid.model.cell == Cell(task("extract"), 59)

    play(ledger, story)


@pytest.fixture
def palette() -> Iterator[None]:
    """Whatever palette a test takes, the next one begins with the default."""
    yield
    use_palette("default")


def test_another_palette_and_another_theme_are_taken_while_it_is_shown(palette: None):
    async def story(stage: Stage, pilot: Pilot[None]) -> None:
        seen = set()
        for name in PALETTES:
            use_palette(name)
            stage.grid.restyle()
            await pilot.pause()
            seen.add(stage.export_screenshot(title="", simplify=True))
        assert len(seen) == len(PALETTES)
        stage.theme = "textual-light"
        await pilot.pause()
        assert stage.export_screenshot(title="", simplify=True) not in seen

    play(year(60), story)


def test_a_filter_narrows_the_rows_and_a_dag_without_runs_shows_its_tasks():
    async def story(stage: Stage, pilot: Pilot[None]) -> None:
        await pilot.press("left", "down", "G", "home")
        stage.grid.open()
        stage.grid.toggle()
        stage.grid.begin_range()
        await pilot.pause()
        assert stage.heard == []
        stage.grid.filter("join")
        await pilot.pause()
        names = [line.strip() for line in stage.seen() if line.strip() and "run" not in line]
        assert names == ["▾ load", "▾ ch", "join"]

    play(Ledger(), story)
