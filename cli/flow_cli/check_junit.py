"""Findings as a JUnit report: a test case for each file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from flow_cli.check_page import place, relative

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.ops.checking import Finding, Report

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report, folder: str, *, strict: bool) -> str:
    """XML of one test suite. What ends the check as failed fails the case of its file."""
    files = list(dict.fromkeys([*report.files, *(one.file for one in report.findings)]))
    found = {file: [one for one in report.findings if one.file == file] for file in files}
    failing = {file: [one for one in found[file] if _fails(one, strict)] for file in files}
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(
        suites,
        "testsuite",
        name="flow check",
        tests=str(len(files)),
        failures=str(sum(1 for file in files if failing[file])),
        errors="0",
        skipped="0",
    )
    for file in files:
        case = ElementTree.SubElement(
            suite, "testcase", classname="flow.check", name=_text(relative(file, folder))
        )
        if failing[file]:
            first = failing[file][0]
            failure = ElementTree.SubElement(
                case, "failure", type=first.rule, message=_text(first.message)
            )
            failure.text = _lines(failing[file], folder)
        others = [one for one in found[file] if one not in failing[file]]
        if others:
            ElementTree.SubElement(case, "system-out").text = _lines(others, folder)
    ElementTree.indent(suites)
    written = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{written}\n'


def _fails(one: Finding, strict: bool) -> bool:
    return one.severity == "error" or (strict and one.severity == "warning")


def _lines(findings: Sequence[Finding], folder: str) -> str:
    return _text(
        "\n".join(
            f"{place(one, folder)}: {one.severity} {one.rule}: {one.message}"
            + (f"\n    {one.hint}" if one.hint is not None else "")
            for one in findings
        )
    )


def _text(text: str) -> str:
    """The text without characters that XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
