"""How dates are written in templates: `ds`, `ts` and their kin, as names and as filters."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final


def ds(moment: datetime | None) -> str | None:
    """2026-10-09, in the date's own time zone."""
    return moment.strftime("%Y-%m-%d") if moment else None


def ds_nodash(moment: datetime | None) -> str | None:
    """20261009"""
    return moment.strftime("%Y%m%d") if moment else None


def ts(moment: datetime | None) -> str | None:
    """2026-10-09T06:00:00+00:00"""
    return moment.isoformat() if moment else None


def ts_nodash(moment: datetime | None) -> str | None:
    """20261009T060000"""
    return moment.strftime("%Y%m%dT%H%M%S") if moment else None


def ts_nodash_with_tz(moment: datetime | None) -> str | None:
    """20261009T060000+0000"""
    return moment.strftime("%Y%m%dT%H%M%S%z") if moment else None


DATE_FILTERS: Final[dict[str, Callable[[datetime | None], str | None]]] = {
    "ds": ds,
    "ds_nodash": ds_nodash,
    "ts": ts,
    "ts_nodash": ts_nodash,
    "ts_nodash_with_tz": ts_nodash_with_tz,
}
