"""JUnit reports: suites of test cases, as continuous integration reads them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple
from xml.etree import ElementTree

_NOT_XML: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Outcome(StrEnum):
    """How a case ended; all but `PASSED` are names of elements."""

    PASSED = "passed"
    FAILURE = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


class Case(NamedTuple):
    """One test case. `message` says why it did not pass, `kind` is a word for that.

    `text` is all that is to be said of it, `output` what it has printed.
    """

    classname: str
    name: str
    seconds: float = 0.0
    outcome: Outcome = Outcome.PASSED
    message: str = ""
    kind: str = ""
    text: str = ""
    output: str = ""


def document(suite: str, cases: Sequence[Case]) -> str:
    """The XML of one suite."""
    counts = Counter(case.outcome for case in cases)
    suites = ElementTree.Element("testsuites")
    element = ElementTree.SubElement(
        suites,
        "testsuite",
        name=_text(suite),
        tests=str(len(cases)),
        failures=str(counts[Outcome.FAILURE]),
        errors=str(counts[Outcome.ERROR]),
        skipped=str(counts[Outcome.SKIPPED]),
        time=f"{sum(case.seconds for case in cases):.3f}",
    )
    for case in cases:
        _add(element, case)
    ElementTree.indent(suites)
    written = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{written}\n'


def _add(suite: ElementTree.Element, case: Case) -> None:
    element = ElementTree.SubElement(
        suite,
        "testcase",
        classname=_text(case.classname),
        name=_text(case.name),
        time=f"{case.seconds:.3f}",
    )
    if case.outcome is not Outcome.PASSED:
        ended = ElementTree.SubElement(element, case.outcome, message=_text(case.message))
        if case.kind:
            ended.set("type", case.kind)
        ended.text = _text(case.text) or None
    if case.output:
        ElementTree.SubElement(element, "system-out").text = _text(case.output)


def _text(text: str) -> str:
    """The text without characters that XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
