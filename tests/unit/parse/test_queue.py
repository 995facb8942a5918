"""Two lanes: what failed before cannot hold up what has changed."""

from __future__ import annotations

from flow.roles.parse.queue import Queue, Waiting


def take_all(queue: Queue) -> list[str]:
    taken = []
    while (one := queue.take()) is not None:
        taken.append(one.path)
    return taken


def test_changed_files_go_first_and_fill_all_processes() -> None:
    queue = Queue(2)
    queue.add([Waiting("bad", again=True), Waiting("one"), Waiting("two"), Waiting("three")])
    assert take_all(queue) == ["one", "two"]
    assert queue.running == {"one", "two"}
    queue.done("one")
    assert take_all(queue) == ["three"]
    assert len(queue) == 1


def test_one_process_stays_free_of_files_that_failed_before() -> None:
    queue = Queue(2)
    queue.add([Waiting("bad", again=True), Waiting("worse", again=True)])
    assert take_all(queue) == ["bad"]
    queue.add([Waiting("good")])
    assert take_all(queue) == ["good"]


def test_a_single_process_takes_them_too() -> None:
    queue = Queue(1)
    queue.add([Waiting("bad", again=True)])
    assert take_all(queue) == ["bad"]


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
