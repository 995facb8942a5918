"""What is shown of a grid, whatever is loaded, folded, filtered and changed under it."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from flow.ops.grid_window import ABSENT, GridRow, code_of
from flow.states import TaskState, loudest
from flow.store.read.grid import InstanceStates
from flow_tui.grid.model import Cell, GridModel, Target, Wanted
from flow_tui.grid.rows import Kind, RowKey, Tree, View
from made_grids import ROWS, Ledger, day, year

WINDOW = 6
F, S, N = TaskState.FAILED, TaskState.SUCCESS, TaskState.NONE


def opened(ledger: Ledger, most: int = 1_000) -> GridModel:
    model = GridModel("sales")
    model.columns.most = most
    model.replace(ledger.newest(WINDOW, {}))
    return model


def names(model: GridModel) -> list[str]:
    """The rows as people see them."""
    return [
        "  " * row.depth + row.key.id + "".join(f"[{index}]" for index in row.key.map_path)
        for row in model.rows
    ]


def task(task_id: str) -> RowKey:
    return RowKey(Kind.TASK, task_id)


def group(group_id: str) -> RowKey:
    return RowKey(Kind.GROUP, group_id)


def point(model: GridModel, key: RowKey, column: int | None = None) -> None:
    row = model.row_of(key)
    assert row is not None
    model.go(row, model.column if column is None else column)


# ── rows ─────────────────────────────────────────────────────────────────────────────────────────


def test_tasks_stand_under_their_groups_and_the_cursor_begins_at_the_newest_run():
    model = opened(year(30))
    assert names(model) == [
        "extract",
        "load",
        "  load.raw",
        "  load.ch",
        "    load.ch.clean",
        "    load.ch.join",
        "  load.done",
        "report",
    ]
    assert model.cell == Cell(task("extract"), 29)
    assert model.at_newest


def test_a_folded_group_shows_the_loudest_of_its_tasks_and_keeps_the_cursor():
    ledger = year(3)
    ledger.add(day(2), {"load.ch.join": F})
    model = opened(ledger)
    point(model, group("load.ch"), 2)
    model.toggle()
    assert names(model)[3:5] == ["  load.ch", "  load.done"]
    assert model.code == code_of(F)
    point(model, group("load"))
    model.toggle()
    assert names(model) == ["extract", "load", "report"]
    model.toggle_all()
    assert len(names(model)) == 8
    point(model, task("load.ch.clean"))
    model.toggle_all()
    assert model.cell == Cell(group("load"), 2)


def test_a_filter_finds_tasks_in_folded_groups_and_whole_groups():
    model = opened(year(3))
    model.toggle_all()
    model.filter("JOIN")
    assert names(model) == ["load", "  load.ch", "    load.ch.join"]
    model.filter("load.ch")
    assert names(model)[2:] == ["    load.ch.clean", "    load.ch.join"]
    model.filter("nothing of that name")
    assert (names(model), model.cell, model.targets()) == ([], None, [])
    model.move(rows=1)
    model.filter("")
    assert names(model) == ["extract", "load", "report"]


def test_what_only_older_runs_have_is_marked_and_where_it_is_not_it_is_absent():
    ledger = year(4)
    ledger.graphs["v2"] = (*ROWS[:2], ROWS[5], GridRow("new", ()))
    ledger.latest = "v2"
    ledger.add(day(4, version=2))
    model = opened(ledger)
    gone = {row.key.id for row in model.rows if row.gone}
    assert gone == {"load.ch", "load.ch.clean", "load.ch.join", "load.done"}
    row = task("load.done")
    assert model.columns.codes(row, 3, 2) == bytes([code_of(S), ABSENT])
    assert model.columns.codes(task("new"), 3, 2) == bytes([ABSENT, code_of(S)])


def test_a_mapped_task_expands_into_what_was_read_and_closes_again():
    ledger = year(2)
    ledger.add(day(2), {"load.raw": F}, mapped={"load.raw": {"failed": 1, "success": 1}})
    model = opened(ledger)
    point(model, task("load.raw"), 2)
    assert model.toggle() == "load.raw"
    model.take_instances("load.raw", [InstanceStates(2, 2, {(0,): code_of(S), (1,): code_of(F)})])
    assert names(model)[2:5] == ["  load.raw", "    load.raw[0]", "    load.raw[1]"]
    point(model, RowKey(Kind.INSTANCE, "load.raw", (1,)))
    assert model.code == code_of(F)
    assert model.targets() == [Target(day(2), "load.raw", (1,), F)]
    assert model.columns.codes(RowKey(Kind.INSTANCE, "load.raw", (1,)), 0, 2) == bytes([ABSENT] * 2)
    assert model.toggle() is None
    assert model.cell == Cell(task("load.raw"), 2)
    assert len(names(model)) == 8


# ── what is pointed at ───────────────────────────────────────────────────────────────────────────


def test_a_range_is_marked_as_a_whole_and_groups_stand_for_their_tasks():
    model = opened(year(30))
    point(model, group("load.ch"), 1)
    model.begin_range()
    model.move(rows=1, columns=1)
    assert len(model.range()) == 4
    model.mark()
    assert (model.anchor, len(model.marks)) == (None, 4)
    assert [(one.run.run_key, one.task_id) for one in model.targets()] == [
        (25, "load.ch.clean"),
        (25, "load.ch.join"),
        (26, "load.ch.clean"),
        (26, "load.ch.join"),
    ]
    model.mark()
    assert len(model.marks) == 3
    assert (model.unmark(), model.unmark(), model.marks) == (True, False, set())
    assert [one.task_id for one in model.targets()] == ["load.ch.clean"]


def test_older_runs_come_on_the_left_and_the_cursor_stays_at_its_run():
    ledger = year(30)
    model = opened(ledger)
    before = model.cell
    assert model.wanted(0, 6) is Wanted.OLDER
    first = model.columns.columns[0].run.place
    assert model.prepend(ledger.older(first, 20, model.columns.rows)) == 20
    assert model.cell == before
    assert (model.column, model.wanted(12, 6), model.wanted(0, 6)) == (25, None, Wanted.OLDER)


def test_a_wished_run_gets_the_cursor_when_it_is_loaded():
    ledger = year(30)
    model = GridModel("sales")
    model.go_to(Cell(task("report"), 26))
    model.replace(ledger.newest(WINDOW, {}))
    assert model.cell == Cell(task("report"), 26)


def test_another_look_tells_which_cells_to_draw_anew_and_follows_new_runs():
    ledger = year(5)
    ledger.add(day(5, state="running", ended_at=None), {"report": N})
    model = opened(ledger)
    seen = model.columns.seen()
    assert seen is not None
    ledger.add(day(5, state="running", ended_at=None), {"report": TaskState.RUNNING})
    difference = model.update(ledger.refresh(seen, model.columns.rows))
    assert difference == (False, set(), {5: {"report"}})
    ledger.add(day(5))
    difference = model.update(ledger.refresh(seen, model.columns.rows))
    assert difference == (False, {5}, {5: {"report"}})
    ledger.add(day(6))
    assert model.update(ledger.refresh(seen, model.columns.rows)).moved
    assert model.cell == Cell(task("extract"), 6)


# ── whatever happens ─────────────────────────────────────────────────────────────────────────────


class Sequence(RuleBasedStateMachine):
    """Any order of loads, changes, folds, filters and moves, against the ledger itself."""

    @initialize(days=st.integers(0, 40), most=st.integers(7, 30))
    def begin(self, days: int, most: int) -> None:
        self.ledger = year(days)
        self.model = opened(self.ledger, most)

    @rule(limit=st.integers(1, 12))
    def older(self, limit: int) -> None:
        self._load(limit, older=True)

    @rule(limit=st.integers(1, 12))
    def newer(self, limit: int) -> None:
        self._load(limit, older=False)

    def _load(self, limit: int, *, older: bool) -> None:
        columns = self.model.columns
        if not columns.columns:
            return
        before = self.model.cell
        if older:
            place = columns.columns[0].run.place
            self.model.prepend(self.ledger.older(place, limit, columns.rows))
        else:
            place = columns.columns[-1].run.place
            self.model.append(self.ledger.newer(place, limit, columns.rows))
        if before is not None and columns.index(before.run_key) is not None:
            assert self.model.cell == before

    @rule(number=st.integers(0, 60), state=st.sampled_from(list(TaskState)), new=st.booleans())
    def change(self, number: int, state: TaskState, new: bool) -> None:
        if new and "v2" not in self.ledger.graphs:
            self.ledger.graphs["v2"] = (*ROWS[1:3], GridRow("late", ("load", "load.ch")), ROWS[5])
            self.ledger.latest = "v2"
        self.ledger.add(day(number, state="running", ended_at=None), {"report": state})

    @rule(number=st.integers(0, 60))
    def delete(self, number: int) -> None:
        self.ledger.columns = [one for one in self.ledger.columns if one.run.run_key != number]

    @rule()
    def look_again(self) -> None:
        columns = self.model.columns
        seen = columns.seen()
        if seen is None:
            self.model.replace(self.ledger.newest(WINDOW, columns.rows))
            return
        before = {row.key: columns.codes(row.key, 0, self.model.width) for row in self.model.rows}
        keys = [one.run.run_key for one in columns.columns]
        difference = self.model.update(self.ledger.refresh(seen, columns.rows))
        if difference.moved:
            return
        for key, codes in before.items():
            tasks = set(self.model.tree.tasks_of(key))
            after = columns.codes(key, 0, self.model.width)
            for run_key, old, new in zip(keys, codes, after, strict=True):
                assert old == new or tasks & difference.tasks[run_key]

    @rule(rows=st.integers(-9, 9), columns=st.integers(-50, 50))
    def move(self, rows: int, columns: int) -> None:
        self.model.move(rows, columns)

    @rule()
    def toggle(self) -> None:
        assert self.model.toggle() is None

    @rule()
    def toggle_all(self) -> None:
        self.model.toggle_all()

    @rule(text=st.sampled_from(["", "load", "JOIN", "report", "zzz"]))
    def filter(self, text: str) -> None:
        self.model.filter(text)

    @rule()
    def mark(self) -> None:
        self.model.mark()

    @rule()
    def begin_range(self) -> None:
        self.model.begin_range()

    @invariant()
    def the_cursor_is_somewhere(self) -> None:
        if not hasattr(self, "model"):
            return
        model = self.model
        assert 0 <= model.row < max(1, len(model.rows))
        assert 0 <= model.column < max(1, model.width)
        assert (model.cell is None) == (not model.rows or not model.width)
        assert model.width <= model.columns.most
        places = [one.run.place for one in model.columns.columns]
        assert places == sorted(set(places))
        assert {row.key for row in model.rows}.isdisjoint({None})
        assert len({row.key for row in model.rows}) == len(model.rows)
        assert all(model.columns.index(cell.run_key) is not None for cell in model.marks)
        for target in model.targets():
            assert target.task_id in model.tree.tasks_of(task(target.task_id))

    @invariant()
    def a_group_is_as_loud_as_what_is_in_it(self) -> None:
        if not hasattr(self, "model"):
            return
        columns = self.model.columns
        for key in self.model.tree.above:
            tasks = [
                columns.codes(task(one), 0, self.model.width)
                for one in self.model.tree.tasks_of(key)
            ]
            assert columns.codes(key, 0, self.model.width) == bytes(
                map(min, zip(*tasks, strict=True))
            )


TestSequence = Sequence.TestCase
TestSequence.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_the_least_byte_is_the_loudest_state():
    states = list(TaskState)
    assert min(map(code_of, states)) == code_of(loudest(states))
    assert code_of(S) < ABSENT


def test_every_task_stands_in_a_tree_once():
    tree = Tree(ROWS, [(GridRow("old", ("load",)), ROWS[0])])
    shown = [row.key.id for row in tree.rows(View()) if row.key.kind is Kind.TASK]
    assert sorted(shown) == sorted([*(row.task_id for row in ROWS), "old"])
    assert tree.tasks_of(group("load"))[-1] == "old"
