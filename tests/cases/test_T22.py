"""T22: every trigger rule has one answer for every way in which upstream tasks can end.

The table is written out below, for each set of outcomes among the upstream tasks. All multisets of
one to three of them are run, live and by `flow test`. A rule whose answer cannot change any more
answers at once; the others wait for all; no task is left without a state. Branches skip exactly
what is neither chosen nor follows from what is.

Not yet: setup tasks, mapped tasks and with them `removed`; a test below turns red when they come.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Any

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, Ended, deployed
from flow import TriggerRule
from waiting import limit

NEEDS: list[str] = []

BREAKS = [
    # one_success with nothing but failures above ends as skipped.
    Break(
        "engine/flow/decide/rules.py",
        "    if t.success:\n        return Outlook.RUN\n    if not t.all_done:\n"
        "        return Outlook.WAIT\n"
        "    return Outlook.SKIP if t.skipped >= t.total else Outlook.UPSTREAM_FAILED\n\n\n"
        "def _one_failed",
        "    if t.success:\n        return Outlook.RUN\n    if not t.all_done:\n"
        "        return Outlook.WAIT\n"
        "    return Outlook.SKIP\n\n\n"
        "def _one_failed",
        test="test_every_join_ends_as_the_table_says",
    ),
    # all_skipped never ends below what its upstream failed.
    Break(
        "engine/flow/decide/rules.py",
        "    if t.success or t.bad:\n        return Outlook.SKIP\n",
        "    if t.success or t.failed:\n        return Outlook.SKIP\n",
        test="test_every_join_ends_as_the_table_says",
    ),
    # one_failed waits for everybody.
    Break(
        "engine/flow/decide/rules.py",
        "    if t.bad:\n        return Outlook.RUN\n",
        "    if t.bad and t.all_done:\n        return Outlook.RUN\n",
        test="test_rules_that_can_answer_early_do",
    ),
    # all_done does not wait.
    Break(
        "engine/flow/decide/rules.py",
        "def _all_done(t: Tally) -> Outlook:\n    return _run_if(t.all_done)\n",
        "def _all_done(t: Tally) -> Outlook:\n    return _run_if(t.done > 0)\n",
        test="test_rules_that_can_answer_early_do",
    ),
    # What follows from a choice is skipped where it is directly below the branch, too.
    Break(
        "engine/flow/operators/skipping.py",
        "        kept |= self.dag.edges.reach(kept, self.dag.edges.downstream)\n",
        "",
        test="test_a_branch_skips_what_is_not_chosen",
    ),
    # A branch may choose what does not exist.
    Break(
        "engine/flow/operators/skipping.py",
        "            if not members & below:\n",
        "            if not members:\n",
        test="test_a_branch_skips_what_is_not_chosen",
    ),
]

ANSWERS = {"r": "success", "k": "skipped", "u": "upstream_failed"}
"""A join that may run is an EmptyOperator, so it succeeds."""

SETS = ("S", "F", "K", "U", "SF", "SK", "SU", "FK", "FU", "KU", "SFK", "SFU", "SKU", "FKU")
"""Outcomes among the upstream tasks: Success, Failed, sKipped, Upstream_failed."""

TABLE = {
    #                              S F K U SF SK SU FK FU KU SFK SFU SKU FKU
    "all_success": "               r u k u u  k  u  u  u  u  u   u   u   u",
    "all_failed": "                k r k r k  k  k  k  r  k  k   k   k   k",
    "all_done": "                  r r r r r  r  r  r  r  r  r   r   r   r",
    "all_done_min_one_success": "  r u k u r  k  r  k  u  k  k   r   k   k",
    "all_done_setup_success": "    r r r r r  r  r  r  r  r  r   r   r   r",
    "one_success": "               r u k u r  r  r  u  u  u  r   r   r   u",
    "one_failed": "                k r k r r  k  r  r  r  r  r   r   r   r",
    "one_done": "                  r r k k r  r  r  r  r  k  r   r   r   r",
    "none_failed": "               r u r u u  r  u  u  u  u  u   u   u   u",
    "none_failed_min_one_success": "r u k u u  r  u  u  u  u  u   u   u   u",
    "none_skipped": "              r r k r r  k  r  k  r  k  k   r   k   k",
    "all_skipped": "               k k r k k  k  k  k  k  k  k   k   k   k",
    "always": "                    r r r r r  r  r  r  r  r  r   r   r   r",
}
"""Read off the field's rules by hand. A failure above outweighs a skip when it is known first,
which is so here: tasks that skip themselves wait until the others have failed."""

JOINS = {
    f"{rule}.{''.join(outcomes)}": (rule, "".join(outcomes))
    for rule in TABLE
    for size in (1, 2, 3)
    for outcomes in combinations_with_replacement("SFKU", size)
}

UPSTREAM = {
    f"{letter}{number}": state
    for letter, state in (
        ("S", "success"),
        ("F", "failed"),
        ("K", "skipped"),
        ("U", "upstream_failed"),
    )
    for number in range(3)
}

RULES_DAG = """
    from flow import DAG, TaskGroup, task
    from flow.exceptions import SkipException
    from flow.operators.empty import EmptyOperator

    JOINS = {joins!r}

    def succeed():
        pass

    def fail():
        raise RuntimeError("as it should")

    def skip():
        raise SkipException("as it should")

    with DAG("rules", schedule=None, default_args={{"retries": 0}}):
        above = {{}}
        for number in range(3):
            good, bad = f"S{{number}}", f"F{{number}}"
            left, below = f"K{{number}}", f"U{{number}}"
            above[good] = task(task_id=good)(succeed)()
            above[bad] = task(task_id=bad)(fail)()
            above[left] = task(task_id=left, trigger_rule="all_failed")(skip)()
            above[below] = EmptyOperator(task_id=below)
            above[bad] >> above[below]
        for number in range(3):
            [above[f"F{{n}}"] for n in range(3)] >> above[f"K{{number}}"]
        groups = {{}}
        for name, (rule, outcomes) in JOINS.items():
            if rule not in groups:
                groups[rule] = TaskGroup(rule)
            with groups[rule]:
                join = EmptyOperator(task_id=name.partition(".")[2], trigger_rule=rule)
            for place, outcome in enumerate(outcomes):
                above[f"{{outcome}}{{place}}"] >> join

    with DAG("late_failure", schedule=None, default_args={{"retries": 0}}):
        skipped = task(task_id="skipped")(skip)()
        failed = task(task_id="failed", trigger_rule="all_done")(fail)()
        skipped >> failed
        [skipped, failed] >> EmptyOperator(task_id="join")
    """

EARLY = ("one_success", "one_failed", "one_done", "always")
"""Joins that run while an upstream task still does."""
EARLY_UNRUN = {
    "all_success": "upstream_failed",
    "all_failed": "skipped",
    "none_failed": "upstream_failed",
    "none_failed_min_one_success": "upstream_failed",
    "all_skipped": "skipped",
}
"""Joins that are decided, without running, while an upstream task still does."""
LATE = ("all_done", "all_done_min_one_success", "all_done_setup_success", "none_skipped")
TOLD = tuple(f"told_{rule}" for rule in EARLY_UNRUN)

EARLY_DAG = """
    import os
    from pathlib import Path
    from flow import DAG, task
    from flow.operators.empty import EmptyOperator
    from marks import mark, stay

    EXPECTED = {expected!r}

    def everybody_is_there():
        marks = Path(os.environ["CASE_MARKS"], "early").read_text()
        return all(f" {{name}}\\n" in marks for name in EXPECTED)

    with DAG("early", schedule=None, default_args={{"retries": 0}}):

        @task
        def good():
            pass

        @task
        def bad():
            raise RuntimeError("as it should")

        @task
        def slow():
            mark("slow_start", "early")
            stay({seconds}, "slow", until=everybody_is_there)
            mark("slow_end", "early")

        def say(name):
            mark(name, "early")

        parents = [good(), bad(), slow()]
        for rule in {running!r}:
            parents >> task(task_id=rule, trigger_rule=rule)(say)(rule)
        for rule, state in {unrun!r}.items():
            join = EmptyOperator(task_id=rule, trigger_rule=rule)
            told = f"told_{{rule}}"
            after = "all_skipped" if state == "skipped" else "all_failed"
            parents >> join >> task(task_id=told, trigger_rule=after)(say)(told)
    """

CHOICES = {
    # what a branch returns: states of x, y and join, where join takes anything that has not failed
    "g.join": ("skipped", "skipped", "success"),
    "g.ways.x": ("success", "skipped", "success"),
    ("g.ways.x", "g.ways.y"): ("success", "success", "success"),
    ("g.ways.x", "g.join"): ("success", "skipped", "success"),
    "g.ways": ("success", "success", "success"),
    None: ("skipped", "skipped", "skipped"),
    (): ("skipped", "skipped", "skipped"),
    "nowhere": ("upstream_failed",) * 3,
    "g.above": ("upstream_failed",) * 3,
    "g.branch": ("upstream_failed",) * 3,
    ("g.ways.x", "join"): ("upstream_failed",) * 3,
    7: ("upstream_failed",) * 3,
}
"""`g` stands for the group of the branch that is asked; there is one for each choice."""
REFUSED = {
    "nowhere": ("'nowhere'", "does not exist"),
    "g.above": (".above'", "is not downstream"),
    "g.branch": (".branch'", "is not downstream"),
    ("g.ways.x", "join"): ("'join'", "does not exist", "did you mean"),
    7: ("a branch must return", "7"),
}

BRANCHES_DAG = """
    from flow import DAG, TaskGroup, task
    from flow.operators.empty import EmptyOperator

    CHOICES = {choices!r}

    def own(choice, group):
        if isinstance(choice, tuple):
            return [own(one, group) for one in choice]
        return choice.replace("g.", f"{{group}}.") if isinstance(choice, str) else choice

    with DAG("branches", schedule=None, default_args={{"retries": 0}}):
        for number, choice in enumerate(CHOICES):
            with TaskGroup(f"branch_{{number}}") as group:
                answer = own(choice, group.group_id)
                branch = task.branch(task_id="branch")(lambda answer=answer: answer)()
                with TaskGroup("ways"):
                    x, y = EmptyOperator(task_id="x"), EmptyOperator(task_id="y")
                join = EmptyOperator(task_id="join", trigger_rule="none_failed_min_one_success")
                EmptyOperator(task_id="above") >> branch >> [x, y, join]
                [x, y] >> join
    """

TOO_NEW = {
    "mapped": "@task\ndef f(n): return n\nwith DAG('d'):\n    f.expand(n=[1])\n",
    "setup": "from flow import setup\n",
    "as_setup": "with DAG('d'):\n    EmptyOperator(task_id='a').as_setup()\n",
}


def expected(name: str) -> str:
    """The state of a join by the table."""
    rule, outcomes = JOINS[name]
    present = "".join(letter for letter in "SFKU" if letter in outcomes)
    return ANSWERS[TABLE[rule].split()[SETS.index(present)]]


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed({"worker.slots": 4}) as made:
        made.write("rules.py", RULES_DAG.format(joins=JOINS))
        made.write("branches.py", BRANCHES_DAG.format(choices=list(CHOICES)))
        made.write(
            "early.py",
            EARLY_DAG.format(
                expected=[*EARLY, *TOLD],
                running=[*EARLY, *LATE],
                unrun=EARLY_UNRUN,
                seconds=limit(45),
            ),
        )
        for name, body in TOO_NEW.items():
            imports = "from flow import DAG, task\nfrom flow.operators.empty import EmptyOperator\n"
            made.write(f"{name}.py", imports + body)
        assert made.flow("db", "migrate").code == 0
        made.parse()
        made.start("schedule")
        made.start("work", "--slots", "4")
        yield made


@pytest.fixture(scope="module")
def ended(deployment: Deployment) -> dict[str, Ended]:
    """`flow run --wait` of all DAGs at once."""
    dag_ids = ("early", "rules", "late_failure", "branches")
    commands = [("run", dag_id, "--run-id", "it", "--wait") for dag_id in dag_ids]
    done = deployment.together(commands)
    return dict(zip(dag_ids, done, strict=True))


def states(deployment: Deployment, ended: dict[str, Ended], dag_id: str) -> dict[str, str]:
    """The states of the tasks of its run, which is over."""
    assert ended[dag_id].code in (0, 1), ended[dag_id].err
    return deployment.states(dag_id, "it")


def test_the_table_has_all_thirteen_rules() -> None:
    assert set(TABLE) == set(TriggerRule)
    assert all(len(answers.split()) == len(SETS) for answers in TABLE.values())


def test_every_join_ends_as_the_table_says(deployment: Deployment, ended: dict[str, Ended]) -> None:
    found = states(deployment, ended, "rules")
    assert {name: found[name] for name in UPSTREAM} == UPSTREAM
    wrong = {name: found[name] for name in JOINS if found[name] != expected(name)}
    assert wrong == {}
    assert set(found) == {*UPSTREAM, *JOINS}
    assert ended["rules"].code == 1


def test_a_rehearsal_gives_the_same_answers(deployment: Deployment) -> None:
    done = deployment.flow("test", "dags/rules.py:rules", "-o", "json")
    assert done.code == 1
    found = {task["task_id"]: task["state"] for task in json.loads(done.out)["tasks"]}
    assert found == {**UPSTREAM, **{name: expected(name) for name in JOINS}}


def test_a_skip_that_was_decided_stays_when_a_failure_follows(
    deployment: Deployment, ended: dict[str, Ended]
) -> None:
    found = states(deployment, ended, "late_failure")
    assert found == {"skipped": "skipped", "failed": "failed", "join": "skipped"}


def test_rules_that_can_answer_early_do(deployment: Deployment, ended: dict[str, Ended]) -> None:
    found = states(deployment, ended, "early")
    order = [mark.event for mark in deployment.marks("early")]
    while_slow = order[: order.index("slow_end")]
    assert sorted(while_slow) == sorted([*EARLY, *TOLD, "slow_start"])
    assert sorted(order[order.index("slow_end") + 1 :]) == sorted(LATE)
    assert {rule: found[rule] for rule in EARLY_UNRUN} == EARLY_UNRUN


def branches(found: dict[str, str]) -> dict[object, tuple[str, ...]]:
    """The states of branch, x, y and join by choice."""
    parts = ("branch", "ways.x", "ways.y", "join")
    return {
        choice: tuple(found[f"branch_{number}.{part}"] for part in parts)
        for number, choice in enumerate(CHOICES)
    }


EXPECTED_BRANCHES = {
    choice: ("failed" if choice in REFUSED else "success", *below)
    for choice, below in CHOICES.items()
}


def test_a_branch_skips_what_is_not_chosen(deployment: Deployment, ended: dict[str, Ended]) -> None:
    assert branches(states(deployment, ended, "branches")) == EXPECTED_BRANCHES


def test_a_branch_that_chooses_nonsense_says_so(deployment: Deployment) -> None:
    done = deployment.flow("test", "dags/branches.py", "-o", "json")
    tasks = {task["task_id"]: task for task in json.loads(done.out)["tasks"]}
    found = {task_id: task["state"] for task_id, task in tasks.items()}
    assert branches(found) == EXPECTED_BRANCHES
    for number, choice in enumerate(CHOICES):
        for piece in REFUSED.get(choice, ()):
            assert piece in tasks[f"branch_{number}.branch"]["reason"]


def test_what_is_not_there_yet_is_refused(deployment: Deployment) -> None:
    """Mapping and setup tasks: once they exist, the table needs them."""
    errors: list[dict[str, Any]] = deployment.ask("dags", "errors", "--all")
    stems = {one["file"].rpartition("/")[2].removesuffix(".py") for one in errors}
    assert stems == set(TOO_NEW)


def test_no_run_is_left_over(deployment: Deployment, ended: dict[str, Ended]) -> None:
    """Last in this file: it looks at what all runs of it have left."""
    assert {one.code for one in ended.values()} <= {0, 1}
    checked = deployment.flow("db", "check", "--all")
    assert (checked.code, checked.out) == (0, "")
