"""Every trigger rule over every multiset of up to three upstream outcomes."""

from itertools import combinations_with_replacement

import pytest

from flow.decide.rules import RULES, Outlook, Tally, outlook, tally
from flow.graph import TriggerRule
from flow.states import TaskState as T

OUTCOMES = [T.SUCCESS, T.FAILED, T.SKIPPED, T.UPSTREAM_FAILED, T.REMOVED]

# One line per rule and set of outcomes present among finished upstream tasks, read off the table in
# airflow.md 1.8 by hand: S success, F failed, U upstream_failed, K skipped; R removed.
EXPECTED = {
    "all_success": {
        "S": "run",
        "F": "uf",
        "K": "skip",
        "U": "uf",
        "SF": "uf",
        "SK": "skip",
        "FK": "uf",
        "SR": "run",
        "R": "run",
    },
    "all_failed": {
        "S": "skip",
        "F": "run",
        "K": "skip",
        "U": "run",
        "SF": "skip",
        "FU": "run",
        "FK": "skip",
        "FR": "run",
    },
    "all_done": {"S": "run", "F": "run", "K": "run", "U": "run", "SFK": "run", "R": "run"},
    "all_done_min_one_success": {
        "S": "run",
        "F": "uf",
        "K": "skip",
        "U": "uf",
        "SF": "run",
        "SK": "skip",
        "R": "uf",
    },
    "all_done_setup_success": {"S": "run", "F": "run", "K": "run"},
    "one_success": {
        "S": "run",
        "F": "uf",
        "K": "skip",
        "U": "uf",
        "SF": "run",
        "FK": "uf",
        "KU": "uf",
    },
    "one_failed": {"S": "skip", "F": "run", "K": "skip", "U": "run", "SF": "run", "SK": "skip"},
    "one_done": {"S": "run", "F": "run", "K": "skip", "U": "skip", "KU": "skip", "SK": "run"},
    "none_failed": {"S": "run", "F": "uf", "K": "run", "U": "uf", "SK": "run", "SF": "uf"},
    "none_failed_min_one_success": {
        "S": "run",
        "F": "uf",
        "K": "skip",
        "U": "uf",
        "SK": "run",
        "R": "uf",
    },
    "none_skipped": {"S": "run", "F": "run", "K": "skip", "U": "run", "SK": "skip"},
    "all_skipped": {"S": "skip", "F": "skip", "K": "run", "U": "skip", "SK": "skip", "KR": "run"},
    "always": {"S": "run", "F": "run", "K": "run"},
}
SHORT = {"S": T.SUCCESS, "F": T.FAILED, "K": T.SKIPPED, "U": T.UPSTREAM_FAILED, "R": T.REMOVED}
WORDS = {"run": Outlook.RUN, "skip": Outlook.SKIP, "uf": Outlook.UPSTREAM_FAILED}


def test_every_rule_is_in_the_table():
    assert set(RULES) == set(TriggerRule) == {TriggerRule(name) for name in EXPECTED}


@pytest.mark.parametrize(
    ("rule", "letters", "expected"),
    [(rule, k, v) for rule, table in EXPECTED.items() for k, v in table.items()],
)
def test_a_finished_upstream_is_judged_as_the_table_says(rule, letters, expected):
    states = [SHORT[letter] for letter in letters]
    assert outlook(TriggerRule(rule), tally(states)) is WORDS[expected]


@pytest.mark.parametrize("rule", list(TriggerRule))
def test_no_rule_waits_once_every_upstream_has_finished(rule):
    for size in range(4):
        for states in combinations_with_replacement(OUTCOMES, size):
            assert outlook(rule, tally(list(states))) is not Outlook.WAIT, states


@pytest.mark.parametrize("rule", list(TriggerRule))
def test_a_verdict_given_early_never_changes(rule):
    """What a rule says while some upstream still runs stands whatever the others end as."""
    for size in range(1, 4):
        for known in combinations_with_replacement(OUTCOMES, size - 1):
            early = outlook(rule, tally([*known, T.RUNNING]))
            if early is Outlook.WAIT:
                continue
            for last in OUTCOMES:
                late = outlook(rule, tally([*known, last]))
                # Among rules that end a task unrun, a failure outweighs a skip; neither ever runs.
                assert (late is Outlook.RUN) == (early is Outlook.RUN), (known, last)


@pytest.mark.parametrize(
    ("rule", "known", "expected"),
    [
        ("one_success", [T.SUCCESS, T.RUNNING], Outlook.RUN),
        ("one_failed", [T.FAILED, T.RUNNING], Outlook.RUN),
        ("one_failed", [T.UPSTREAM_FAILED, T.NONE], Outlook.RUN),
        ("one_done", [T.FAILED, T.QUEUED], Outlook.RUN),
        ("one_done", [T.SKIPPED, T.QUEUED], Outlook.WAIT),
        ("all_success", [T.FAILED, T.RUNNING], Outlook.UPSTREAM_FAILED),
        ("all_done", [T.FAILED, T.RUNNING], Outlook.WAIT),
        ("always", [T.NONE], Outlook.RUN),
    ],
)
def test_rules_that_can_decide_early_do(rule, known, expected):
    assert outlook(TriggerRule(rule), tally(known)) is expected


def test_setup_rule_counts_setups():
    done = Tally(total=2, success=1, failed=1, setups=1, setups_success=0)
    rule = TriggerRule.ALL_DONE_SETUP_SUCCESS
    assert outlook(rule, done) is Outlook.UPSTREAM_FAILED
    assert outlook(rule, done._replace(setups_success=1)) is Outlook.RUN
    assert outlook(rule, done._replace(setups_skipped=1)) is Outlook.SKIP
