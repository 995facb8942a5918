"""What is said to replace a name of Airflow is there, and what is said to be absent is not."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec

import pytest

import flow
from flow.authoring import absent

ANSWERS = {**absent.NAMES, **absent.MODULES}


def is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False  # what it would be in is not there


def test_what_is_absent_is_absent() -> None:
    assert not absent.NAMES.keys() & set(flow.__all__)
    # What Flow's own module of the name has are settings of its own.
    assert [name for name in absent.MODULES if is_there(f"flow.{name}")] == ["settings"]


@pytest.mark.parametrize("name", ANSWERS)
def test_what_replaces_it_can_be_imported(name: str) -> None:
    for module, names in re.findall(r"from (flow[\w.]*) import ([\w, ]+)", ANSWERS[name]):
        for one in names.split(", "):
            assert hasattr(import_module(module), one)
    for module in re.findall(r"flow\.operators\.\w+", ANSWERS[name]):
        assert is_there(module)


@pytest.mark.parametrize(
    ("module", "answer"),
    [
        ("airflow.sensors.filesystem", "sensors"),
        ("flow.providers.http.hooks.http", "providers"),
        ("airflow.providers.standard.operators.bash", "providers.standard.operators"),
        ("airflow.models.baseoperator", "models.baseoperator"),
        ("airflow.models.dag", "models"),
    ],
)
def test_the_nearest_package_answers_for_what_is_in_it(module: str, answer: str) -> None:
    assert absent.instead_of_module(module) == absent.MODULES[answer]


@pytest.mark.parametrize("module", ["airflow", "flow", "airflow.nothing_like_it"])
def test_of_others_nobody_knows(module: str) -> None:
    assert absent.instead_of_module(module) is None
