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
