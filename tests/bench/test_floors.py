"""The floors are the agreed ones, and results are judged as the aims say."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from bench.harness import BENCHES, Aim, Results

HERE = Path(__file__).parent
AGREED = {
    "floor_burst.py": "848b41a68f4076b7338d18ff18285acdf74049b7a0e380542af87fba4584e939",
    "floor_commit.py": "f62f021166186a05aec5e077a1730d71b43668a95f6ce4fad81cb659d581da50",
    "floor_fork.py": "2eae90e2a4d4fd3729a46a9713af6bdc1ac4bda3f91cac15cfa6d3aa2e024543",
    "floor_relay.py": "fbaecff65106a6acb7616bab86cab81b8659a20d62b398c20c1350a006d3b990",
}


def test_floors_are_byte_for_byte_the_agreed_ones() -> None:
    found = {path.name: path.read_bytes() for path in (HERE / "floors").iterdir() if path.is_file()}
    assert {name: sha256(text).hexdigest() for name, text in found.items()} == AGREED


@pytest.mark.parametrize(
    ("aim", "ratio", "met", "tolerated"),
    [
        (Aim(1.6), 1.6, True, True),
        (Aim(1.6), 1.7, False, True),
        (Aim(1.6), 4.9, False, False),
        (Aim(0.4, at_least=True), 0.4, True, True),
        (Aim(0.4, at_least=True), 0.3, False, True),
        (Aim(0.4, at_least=True), 0.13, False, False),
        (Aim(0.4, at_least=True, guard=0.1), 0.11, False, True),
        (Aim(0.4, at_least=True, guard=0.1), 0.09, False, False),
        (Aim(1.6, guard=9.0), 8.0, False, True),
    ],
)
def test_only_three_times_the_aim_fails(
    aim: Aim, ratio: float, met: bool, tolerated: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    results = Results("bench")
    results.line(ratio * 10, "ms", 10, aim)
    line = json.loads(capsys.readouterr().out)
    assert (line["ratio"], line["aim"], line["met"]) == (ratio, aim.ratio, met)
    assert results.failed is not tolerated


def test_every_bench_is_a_script_that_says_what_it_measures() -> None:
    for bench in BENCHES:
        assert (HERE / f"{bench}.py").read_text().startswith(f'"""{bench}: ')
