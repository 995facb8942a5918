"""The rules of `flow check`: pure functions of what imports have told."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from flow.graph import DagSpec, decode, encode, spec_hash
from flow.graph.imported import ImportedDag, ImportFailure
from flow.graph.spec import TaskSpec
from flow.ops.checking import RULES, Finding, across, faults, habits, stability, top_level
from flow.ops.checking.evidence import Evidence, Import, Known
from flow.ops.checking.ignores import ignores, unknown
from flow.ops.checking.rules import finding
from flow.process.messages import Deed, ImportTime, Parsed
from flow.timetables import CronInterval, CronTrigger

FILE = "/dags/sales.py"
Told = list[tuple[str, int | None]]


def dag(spec: DagSpec, line: int = 1) -> ImportedDag:
    body = encode(spec)
    return ImportedDag(spec, body, spec_hash(body), line, spec.timetable.words())


def evidence(
    *dags: ImportedDag, again: Iterable[ImportedDag] | None = None, source: str = ""
) -> Evidence:
    second = None if again is None else Import(tuple(again))
    return Evidence(FILE, "/dags", source, Import(dags), second)


def told(findings: Iterable[Finding]) -> Told:
    return [(one.rule, one.line) for one in findings]


def spec(**fields: object) -> DagSpec:
    return DagSpec(**{"dag_id": "sales", **fields})  # type: ignore[arg-type]


def task(task_id: str = "load", **fields: object) -> TaskSpec:
    return TaskSpec(**{"task_id": task_id, "operator": "EmptyOperator", **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("cycle", "cycle"),
        ("duplicate_id", "duplicate-id"),
        ("invalid_dag", "invalid-dag"),
        ("unsupported_argument", "unsupported-argument"),
        ("", "import-error"),
        ("not_found", "import-error"),
    ],
)
def test_the_code_of_an_error_is_its_rule(code: str, rule: str) -> None:
    failed = Import(failure=ImportFailure("broken", 7), parsed=Parsed(error_code=code))
    (found,) = faults.import_errors(Evidence(FILE, "/dags", "", failed))
    assert (found.rule, found.severity, found.line, found.message) == (rule, "error", 7, "broken")


def test_what_is_lacking_only_here_is_given_for_the_check() -> None:
    asked = (Deed(kind="variable", target="land", file=FILE, line=2),)
    failed = Import(
        failure=ImportFailure("NotFound: variable 'land' does not exist", 2),
        parsed=Parsed(error_code="not_found", deeds=asked),
    )
    (found,) = faults.import_errors(Evidence(FILE, "/dags", "", failed))
    assert found.hint is not None
    assert "FLOW_VAR_LAND" in found.hint


def test_a_second_import_that_fails_is_an_error() -> None:
    both = Evidence(FILE, "/dags", "", Import(), Import(failure=ImportFailure("gone", 3)))
    assert told(faults.import_errors(both)) == [("import-error", 3)]


def test_an_import_is_as_slow_as_the_quicker_one() -> None:
    first = Import(seconds=5.0, parsed=Parsed(imports=(ImportTime(name="pandas", seconds=4.0),)))
    slow = Evidence(FILE, "/dags", "", first, Import(seconds=1.5))
    (found,) = faults.slowness(slow, None)
    assert (found.severity, found.line) == ("warning", None)
    assert "pandas" in found.message
    assert list(faults.slowness(slow, 2.0)) == []
    assert [one.severity for one in faults.slowness(slow, 1.5)] == ["error"]
    assert list(faults.slowness(slow._replace(again=Import(seconds=0.9)), None)) == []


def test_warnings_are_told_where_they_were_made() -> None:
    texts = ("/dags/a:b.py:12: DeprecationWarning: old:\n3: way", f"{FILE}:1: UserWarning: look")
    found = faults.warnings(Evidence(FILE, "/dags", "", Import(parsed=Parsed(warnings=texts))))
    assert [(one.rule, one.file, one.line, one.message) for one in found] == [
        ("deprecated", "/dags/a:b.py", 12, "DeprecationWarning: old: 3: way"),
        ("import-warning", FILE, 1, "UserWarning: look"),
    ]


@pytest.mark.parametrize("kind", ["network", "process", "read", "write", "connection", "variable"])
def test_every_deed_has_its_rule(kind: str) -> None:
    deed = Deed(kind=kind, target="x", file="/dags/lib.py", line=4, through="")
    done = Import(parsed=Parsed(deeds=(deed,)))
    (found,) = top_level.deeds(Evidence(FILE, "/dags", "", done))
    assert found.rule.startswith("top-level-")
    assert (found.file, found.line) == ("/dags/lib.py", 4)


def test_two_imports_that_agree_are_no_finding() -> None:
    one = dag(spec(tasks=(task(),)))
    assert list(stability.movements(evidence(one, again=[one]))) == []


def test_dates_that_differ_have_a_rule_of_their_own() -> None:
    first, second = (
        dag(decode(f'{{"dag_id":"sales","start_date":"2026-01-0{day}T00:00:00Z"}}'), 3)
        for day in (1, 2)
    )
    (found,) = stability.movements(evidence(first, again=[second]))
    assert (found.rule, found.line, found.dag_id) == ("moving-start-date", 3, "sales")
    assert "start_date 2026-01-01T00:00:00Z -> 2026-01-02T00:00:00Z" in found.message


def test_whatever_else_differs_is_named() -> None:
    first = dag(spec(tasks=(task("a"), task("b", upstream=("a",)), task("old"))), 2)
    second = dag(spec(tasks=(task("a", retries=2), task("b"), task("new"))), 2)
    (found,) = stability.movements(evidence(first, again=[second]))
    assert (found.rule, found.line) == ("unstable-dag", 2)
    for text in ("retries 0 -> 2 of task a", "task new", "task old", "a >> b"):
        assert text in found.message


def test_a_dag_that_comes_and_goes_is_unstable() -> None:
    found = list(stability.movements(evidence(dag(spec(), 5), again=[])))
    assert told(found) == [("unstable-dag", 5)]


CLOCKS = """
from datetime import datetime, timedelta
import pendulum
args = {"start_date": days_ago(2), "end_date": datetime(2026, 1, 1)}
DAG("a", start_date=datetime.now() - timedelta(days=1))
DAG("b", start_date=pendulum.today("UTC").subtract(days=1), tags=[today()])
DAG("c", start_date=datetime(2026, 1, 1))
"""


def test_a_date_that_is_computed_from_the_clock_is_seen_in_the_source() -> None:
    found = stability.clock_dates(evidence(source=CLOCKS))
    assert sorted(told(found)) == [("moving-start-date", line) for line in (4, 5, 6)]


def test_a_date_is_told_of_once() -> None:
    first, second = (
        dag(decode(f'{{"dag_id":"{name}","start_date":"2026-01-01T00:00:0{second}Z"}}'), line)
        for name, line, second in (("sales", 4, 1), ("sales", 4, 2))
    )
    others = [
        dag(decode(f'{{"dag_id":"later","start_date":"2026-01-01T00:00:0{second}Z"}}'), 9)
        for second in (1, 2)
    ]
    source = "\n\n\n\nDAG('sales',\n    start_date=datetime.now(),\n)\n"
    found = stability.movements(
        evidence(first, others[0], again=[second, others[1]], source=source)
    )
    assert sorted(told(found)) == [("moving-start-date", 6), ("moving-start-date", 9)]


def test_one_id_in_two_files_is_told_at_both() -> None:
    here, there = evidence(dag(spec(), 3)), evidence(dag(spec(), 8))._replace(file="/dags/copy.py")
    alone = evidence(dag(spec(dag_id="alone")))._replace(file="/dags/alone.py")
    found = list(across.duplicates([here, there, alone]))
    assert [(one.file, one.line) for one in found] == [(FILE, 3), ("/dags/copy.py", 8)]
    assert "/dags/copy.py:8" in found[0].message


def test_pools_and_queues_are_known_only_where_they_are_named() -> None:
    one = evidence(dag(spec(tasks=(task(pool="warehose", queue="big"),))))
    assert list(across.places(one, Known())) == []
    found = list(across.places(one, Known(frozenset({"warehouse"}), frozenset({"big"}))))
    assert told(found) == [("unknown-pool", 1)]
    assert found[0].hint == "did you mean warehouse?"
    assert told(across.places(one, Known(None, frozenset({"small"})))) == [("unknown-queue", 1)]
    plain = evidence(dag(spec(tasks=(task(),))))
    assert list(across.places(plain, Known(frozenset(), frozenset()))) == []


@pytest.mark.parametrize(
    ("statement", "doubles"),
    [
        ("insert into sales select * from raw", True),
        ("INSERT\n INTO sales values (1)", True),
        ("delete from sales where day = x; insert into sales select 1", False),
        ("insert into sales values (1) on conflict do nothing", False),
        ("insert overwrite sales", False),
        ("select 1", False),
    ],
)
def test_appends(statement: str, doubles: bool) -> None:
    source = f"run(\n    sql={statement!r},\n)\n"
    expected: Told = [("append-on-rerun", 2)] if doubles else []
    assert told(habits.appends(evidence(source=source))) == expected


def test_a_docstring_appends_nothing() -> None:
    assert list(habits.appends(evidence(source='"""insert into sales"""\n'))) == []


def test_the_logical_date_of_an_interval_is_not_airflows() -> None:
    interval = dag(spec(timetable=CronInterval(expression="0 6 * * *", timezone="UTC")), 2)
    assert told(habits.logical_dates(evidence(interval))) == [("airflow-logical-date", 2)]
    trigger = dag(spec(timetable=CronTrigger(expressions=("0 6 * * *",), timezone="UTC")), 2)
    assert list(habits.logical_dates(evidence(trigger))) == []


COMMENTS = '''#!/usr/bin/env python
# flow: ignore[slow-import]
"""What it is for."""
# flow: ignore[ unstable-dag , nonsense]
import os
# flow: ignore[top-level-file]
with DAG(
    "sales",  # flow: ignore[moving-start-date]
    start_date=now(),
) as dag:  #flow:ignore[unknown-pool]
    text = "# flow: ignore[cycle]"
'''


def test_a_comment_counts_for_its_statement_or_in_the_head_for_the_file() -> None:
    read = ignores(COMMENTS)
    assert read.head == {"slow-import", "unstable-dag", "nonsense"}
    statement = {"moving-start-date", "unknown-pool"}
    assert {line: names for line, names in read.lines.items() if names} == dict.fromkeys(
        range(7, 11), statement
    )
    assert told(unknown(FILE, read.written)) == [("unknown-rule", 4)]
    assert read.silence(finding("slow-import", FILE, "slow"))
    assert not read.silence(finding("slow-import", FILE, "slow", line=7))
    assert read.silence(finding("unknown-pool", FILE, "pool", line=9))
    assert not read.silence(finding("unknown-pool", FILE, "pool"))


def test_what_keeps_a_file_from_being_imported_cannot_be_silenced() -> None:
    read = ignores("x = (  # flow: ignore[import-error]\n)\n")
    assert read.lines[1] == {"import-error"}
    assert not read.silence(finding("import-error", FILE, "broken", line=1))


def test_comments_of_what_is_no_python_are_read_as_far_as_it_goes() -> None:
    assert ignores("# flow: ignore[slow-import]\nx = (\n").head == {"slow-import"}


def test_every_rule_is_on_the_manual_page() -> None:
    page = Path(__file__).parents[3] / "man" / "flow-check.7.md"
    text = page.read_text(encoding="utf-8")
    assert [rule for rule in RULES if f"**{rule}**" not in text] == []
