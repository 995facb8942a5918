"""The name that an import error is nearest to: what somebody probably meant to write."""

from __future__ import annotations

import pkgutil
import re
import sys
import traceback
from collections.abc import Iterable
from importlib import import_module
from typing import Final

from flow.authoring import absent
from flow.authoring.arguments import nearest
from flow.process.trace import lacked_name

_IMPORT: Final = re.compile(r"(?:from|import) +([\w.]+)")
_LIKENESS: Final = 0.75
_TOPS: Final = ("airflow", "flow")
_HOMES: Final = (
    "flow",
    "flow.operators.bash",
    "flow.operators.empty",
    "flow.operators.python",
    "flow.exceptions",
)
"""Where names are that DAG files are written with."""
_EXAMPLES: Final = (
    "from flow import DAG, task, Variable; from flow.operators.bash import BashOperator; "
    "from flow.exceptions import AirflowSkipException"
)


def meant(error: BaseException) -> str | None:
    """The nearest name that is there, for a module, attribute or variable that is not."""
    if isinstance(error, ModuleNotFoundError):
        return _module(error.name) if error.name else None
    if isinstance(error, ImportError):
        name = lacked_name(error)
        return _nearest(name, vars(sys.modules[error.name])) if name and error.name else None
    if isinstance(error, AttributeError):
        return _attribute(error)
    return _variable(error) if isinstance(error, NameError) else None


def written(error: BaseException) -> str | None:
    """Where a name of Flow's or of Airflow's is to be found here; None for any other."""
    if not isinstance(error, ImportError) or not error.name:
        return None
    if error.name.partition(".")[0] not in _TOPS:
        return None
    if isinstance(error, ModuleNotFoundError):
        return _instead_of_module(_written_module(error, error.name))
    name = lacked_name(error)
    return _instead_of_name(name) if name is not None else None


def _instead_of_module(name: str) -> str:
    instead = absent.instead_of_module(name)
    if instead is not None:
        return instead
    here = _in_flow(name)
    return f"write: {here}" if here else f"Flow's names are imported like this: {_EXAMPLES}"


def _instead_of_name(name: str) -> str | None:
    homes = [home for home in _HOMES if hasattr(import_module(home), name)]
    if homes:
        return f"write: from {homes[0]} import {name}"
    return f"Flow has none: {absent.NAMES[name]}" if name in absent.NAMES else None


def _written_module(error: ModuleNotFoundError, lacked: str) -> str:
    """The module that the failing line asks for, of which only the first part may be lacked."""
    lines = traceback.extract_tb(error.__traceback__)[-1:]
    asked = _IMPORT.match(lines[0].line or "") if lines else None
    return asked[1] if asked and asked[1].startswith(f"{lacked}.") else lacked


def _in_flow(name: str) -> str | None:
    """Flow's module of the same name as one of Airflow's."""
    top, _, inner = name.partition(".")
    return f"flow.{inner}" if top == "airflow" and f"flow.{inner}" in _HOMES else None


def _module(name: str) -> str | None:
    package, dot, last = name.rpartition(".")
    if not dot:
        top = (module.name for module in pkgutil.iter_modules())
        return _nearest(last, {*sys.stdlib_module_names, *top})
    places = getattr(sys.modules.get(package), "__path__", None)
    if places is None:
        return None
    found = _nearest(last, (module.name for module in pkgutil.iter_modules(places)))
    return f"{package}.{found}" if found else None


def _attribute(error: AttributeError) -> str | None:
    try:
        names = dir(error.obj)
    except Exception:
        return None  # an object of the user's own, which may do anything
    return _nearest(error.name, names) if error.name else None


def _variable(error: NameError) -> str | None:
    """The nearest name where the error was raised."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None or not error.name:
        return None
    frame = place.tb_frame
    return _nearest(error.name, {*frame.f_locals, *frame.f_globals, *frame.f_builtins})


def _nearest(name: str, names: Iterable[str]) -> str | None:
    return nearest(name, (one for one in names if not one.startswith("_")), _LIKENESS)
