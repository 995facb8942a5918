"""What failed before or takes long cannot hold up what has changed."""

from __future__ import annotations

from flow.roles.parse.queue import Queue, Waiting


def take_all(queue: Queue) -> list[str]:
    taken = []
    while (one := queue.take()) is not None:
        taken.append(one.path)
    return taken


def test_changed_files_fill_all_processes_and_bad_ones_have_their_own() -> None:
    queue = Queue(2)
    queue.add(Waiting(bad, again=True) for bad in ("bad", "worse", "worst"))
    queue.add([Waiting("one"), Waiting("two"), Waiting("three")])
    assert queue.next(4) == ["one", "two", "three", "bad"]
    assert take_all(queue) == ["one", "two", "bad", "worse"]
    assert queue.running == {"one", "two", "bad", "worse"}
    queue.done("bad")
    assert take_all(queue) == ["worst"]
    queue.done("one")
    assert take_all(queue) == ["three"]
    assert len(queue) == 0


def test_what_has_changed_itself_goes_before_what_reads_it() -> None:
    queue = Queue(1)
    queue.add(Waiting(f"reads_{number}") for number in range(3))
    queue.add([Waiting("changed", own=True), Waiting("reads_1", own=True), Waiting("reads_1")])
    assert queue.next(9) == ["changed", "reads_1", "reads_0", "reads_2"]
    assert len(queue) == 4
    assert take_all(queue) == ["changed"]
    queue.add([Waiting("changed", own=True)])
    assert len(queue) == 3


def test_a_slow_one_leaves_its_place_to_others_and_goes_on() -> None:
    queue = Queue(1)
    queue.add([Waiting("slow"), Waiting("two"), Waiting("three")])
    assert take_all(queue) == ["slow"]
    assert not queue.yields("slow")
    assert take_all(queue) == ["two"]
    assert queue.running == {"slow", "two"}


def test_where_too_many_are_slow_already_it_gives_way_to_those_that_wait() -> None:
    queue = Queue(1)
    queue.add([Waiting("slow"), Waiting("slower")])
    assert take_all(queue) == ["slow"]
    assert not queue.yields("slow")
    assert take_all(queue) == ["slower"]
    assert not queue.yields("slower"), "nobody waits for its place"
    queue.add([Waiting("good")])
    assert queue.yields("slower")
    assert not queue.yields("slow"), "it has its place until its time is up"
    queue.add([queue.done("slower")._replace(again=True)])
    assert take_all(queue) == ["good"]
    queue.done("slow")
    assert take_all(queue) == ["slower"]


def test_a_file_waits_once_and_a_change_takes_it_out_of_the_slow_lane() -> None:
    queue = Queue(2)
    queue.add([Waiting("bad", again=True), Waiting("worse", again=True)])
    queue.add([Waiting("worse"), Waiting("worse", again=True), Waiting("worse")])
    assert len(queue) == 2
    assert take_all(queue) == ["worse", "bad"]
    queue.add([Waiting("worse")])
    assert len(queue) == 0


def test_a_file_that_ended_all_processes_runs_alone() -> None:
    queue = Queue(3)
    queue.add([Waiting("killer", alone=True), Waiting("one")])
    assert take_all(queue) == ["one"]
    queue.done("one")
    assert take_all(queue) == ["killer"]
    queue.add([Waiting("two")])
    assert take_all(queue) == []
    assert queue.done("killer").alone
    assert take_all(queue) == ["two"]


def test_one_that_hangs_alone_holds_up_nobody_unless_all_have_died_beside_it_again() -> None:
    queue = Queue(2)
    queue.add([Waiting("hangs").suspected(), Waiting("sleeps").suspected()])
    assert take_all(queue) == ["hangs"]
    queue.add([Waiting("good")])
    assert take_all(queue) == []
    assert not queue.yields("hangs")
    assert take_all(queue) == ["good"]
    queue.done("good")
    again = queue.done("hangs").suspected()
    assert again == Waiting("hangs", alone=True, deaths=2)
    queue.add([again])
    assert take_all(queue) == ["sleeps"]
    queue.done("sleeps")
    assert take_all(queue) == ["hangs"]
    queue.add([Waiting("good")])
    assert not queue.yields("hangs")
    assert take_all(queue) == []
    assert queue.done("hangs").alone


def test_what_waits_to_be_alone_comes_back_among_the_others_only_when_it_has_changed() -> None:
    """A sweep finds it unparsed, again and again."""
    queue = Queue(2)
    queue.add([Waiting("deadly", alone=True), Waiting("hangs", again=True)])
    queue.add([Waiting("deadly"), Waiting("deadly", again=True)])
    assert take_all(queue) == ["hangs"]
    queue.done("hangs")
    assert queue.take() == Waiting("deadly", alone=True)
    queue.done("deadly")
    queue.add([Waiting("deadly", alone=True), Waiting("hangs", again=True)])
    queue.add([Waiting("deadly", own=True)])
    assert take_all(queue) == ["deadly", "hangs"]


def test_what_has_been_imported_and_changed_meanwhile_has_ended_nobody_in_a_row() -> None:
    queue = Queue(1)
    queue.add([Waiting("one").suspected().suspected()])
    assert take_all(queue) == ["one"]
    queue.add([queue.done("one").renewed()])
    assert take_all(queue) == ["one"]
    queue.add([Waiting("good")])
    assert not queue.yields("one")
    assert take_all(queue) == ["good"], "it is not alone to its end any more"
    assert queue.done("one").suspected().deaths == 1
