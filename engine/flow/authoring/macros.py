"""`macros` in templates: a few functions on dates, and modules that templates often need."""

from __future__ import annotations

import importlib
import json
import time
import uuid
from datetime import datetime, timedelta
from random import random
from typing import Any

from flow.errors import AuthoringError

__all__ = [
    "datetime",
    "datetime_diff_for_humans",
    "ds_add",
    "ds_format",
    "ds_format_locale",
    "json",
    "random",
    "time",
    "timedelta",
    "uuid",
]

_DAY = "%Y-%m-%d"
_LAZY = {"dateutil": "python-dateutil", "yaml": "PyYAML"}
"""Modules imported on first use, and the package that brings each."""


def ds_add(ds: str, days: int) -> str:
    """The day `days` after `ds` (before it, if negative), both as YYYY-MM-DD."""
    return (_parse(ds, _DAY) + timedelta(days=days)).strftime(_DAY)


def _parse(text: str, form: str) -> datetime:
    return datetime.strptime(str(text), form)  # noqa: DTZ007 - a calendar day has no time zone


def ds_format(ds: str, input_format: str, output_format: str) -> str:
    """`ds`, read by one `strftime` format and written by another."""
    return _parse(ds, input_format).strftime(output_format)


def ds_format_locale(
    ds: str, input_format: str, output_format: str, locale: str | None = None
) -> str:
    """`ds`, read by a `strftime` format and written by a CLDR pattern in a language.

    Needs the package Babel. `locale` is a name such as "de_CH"; None: as the environment says.
    """
    dates = _import("babel.dates", "Babel")
    moment = _parse(ds, input_format)
    given = {"locale": locale} if locale else {}
    return str(dates.format_datetime(moment, format=output_format, **given))


def datetime_diff_for_humans(moment: datetime, since: datetime | None = None) -> str:
    """How far `moment` is from `since` (from now, if None), in words: "3 days ago"."""
    import pendulum

    there = pendulum.instance(moment)
    return there.diff_for_humans(pendulum.instance(since) if since else None)


def _import(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise AuthoringError(
            f"macros need the module {module!r} here, which is not installed",
            f"install the package {package} where the workers run",
        ) from None


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"there is no macro {name!r}")
    module = _import(name, _LAZY[name])
    if name == "dateutil":
        for part in ("parser", "relativedelta", "rrule", "tz"):
            importlib.import_module(f"dateutil.{part}")
    return module
