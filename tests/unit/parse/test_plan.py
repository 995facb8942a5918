"""What a sweep decides, from what it sees."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from flow.roles.parse.plan import RETRY_AFTER, Attempt, Plan, Sight, State, modules, plan
from flow.store.dag_files import KnownFile

A, B, C = "/dags/a.py", "/dags/b.py", "/dags/c.py"


def known(path: str, code_hash: str = "1", *, failed: bool = False, freed: bool = False) -> Any:
    return KnownFile(path, code_hash, {}, {}, failed, freed)


def sight(hashes: Mapping[str, str], *files: KnownFile, **fields: Any) -> Sight:
    fields.setdefault("attempts", {})
    fields.setdefault("missing", ())
    fields.setdefault("now", 1000.0)
    states = {path: State(code_hash) for path, code_hash in hashes.items()}
    return Sight(states=states, known={file.path: file for file in files}, **fields)


def test_new_and_changed_files_are_parsed_in_order_and_others_are_not() -> None:
    seen = sight({C: "2", B: "1", A: "1"}, known(B), known(C))
    assert plan(seen) == Plan(changed=[A, C])


def test_what_this_process_knows_counts_before_what_another_stored() -> None:
    attempts = {A: Attempt(State("mine"), {}, 900.0)}
    assert plan(sight({A: "mine"}, known(A, "theirs"), attempts=attempts)) == Plan()
    assert plan(sight({A: "new"}, known(A, "theirs"), attempts=attempts)) == Plan(changed=[A])


def test_a_file_that_the_database_forgot_is_parsed_whatever_this_process_knows() -> None:
    attempts = {A: Attempt(State("mine"), {}, 900.0)}
    assert plan(sight({A: "mine"}, attempts=attempts)) == Plan(changed=[A])


def test_a_file_that_is_being_parsed_is_left_alone() -> None:
    seen = sight({A: "2"}, known(A), known(B), missing=[B], busy={A, B})
    assert plan(seen) == Plan()


@pytest.mark.parametrize(
    ("fields", "again"),
    [
        ({"attempts": {}}, True),
        ({"attempts": {A: Attempt(State("1"), {}, 999.0, 1)}}, False),
        ({"attempts": {A: Attempt(State("1"), {}, 1000.0 - RETRY_AFTER, 2)}}, False),
        ({"attempts": {A: Attempt(State("1"), {}, 1000.0 - 2 * RETRY_AFTER, 2)}}, True),
        ({"attempts": {A: Attempt(State("1"), {}, 1000.0 - RETRY_AFTER, 1)}}, True),
    ],
    ids=["at the start", "just failed", "not so soon again", "later again", "long ago"],
)
def test_a_file_that_failed_is_tried_again(fields: dict[str, Any], again: bool) -> None:
    seen = sight({A: "1"}, known(A, failed=True), before=(A,), **fields)
    assert plan(seen) == Plan(again=[A] if again else [])


def test_a_good_file_is_not_parsed_again_at_the_start_or_after_a_while() -> None:
    assert plan(sight({A: "1"}, known(A))) == Plan()
    attempts = {A: Attempt(State("1"), {}, -10 * RETRY_AFTER)}
    assert plan(sight({A: "1"}, known(A), attempts=attempts, before=(A,))) == Plan()


def test_a_variable_that_was_set_anew_is_a_change() -> None:
    read = KnownFile(A, "1", {}, {"key": "monday"}, False, False)
    seen = Sight(
        states={A: State("1", {"key": "tuesday"})},
        known={A: read},
        attempts={},
        missing=(),
        now=1000.0,
    )
    assert plan(seen) == Plan(changed=[A])
    same = {A: State("1", {"key": "monday"})}
    assert plan(dataclasses.replace(seen, states=same)) == Plan()


def test_a_file_whose_refused_id_is_free_is_parsed_again() -> None:
    attempts = {A: Attempt(State("1"), {}, 999.0, 1)}
    seen = sight({A: "1"}, known(A, failed=True, freed=True), attempts=attempts)
    assert plan(seen) == Plan(again=[A])


def test_a_missing_file_is_gone_at_the_start_or_if_this_process_has_seen_it() -> None:
    assert plan(sight({}, known(A), missing=[A])) == Plan(gone=[A])
    assert plan(sight({}, known(A), known(B), missing=[B, A], before={B})) == Plan(gone=[B])


def test_modules_are_those_that_this_process_found_else_the_stored_ones() -> None:
    stored = KnownFile(A, "1", {"x": "/dags/x.py"}, {}, False, False)
    assert modules(A, {}, {A: stored}) == {"x": "/dags/x.py"}
    assert modules(A, {A: Attempt(State("1"), {"y": "/y.py"}, 0.0)}, {A: stored}) == {"y": "/y.py"}
    assert modules(A, {}, {}) == {}
