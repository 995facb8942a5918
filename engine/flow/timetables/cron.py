"""A cron expression as a set of wall-clock slots. Time zones are not known here.

Fields are read by cronsim, which walks naive datetimes; what it would read in a surprising way is
refused. The rule for the two day fields (package docstring) is the one of Debian's cron.
"""

from __future__ import annotations

import copy
import re
from datetime import datetime, timedelta
from functools import lru_cache

from cronsim import CronSim, CronSimError

from flow.errors import InvalidDag

_SECOND = timedelta(seconds=1)
_ANY_DAY = datetime(2000, 1, 1)  # noqa: DTZ001 - slots are wall times, naive on purpose

LAST_DAY = CronSim.LAST
LAST_WORKDAY = CronSim.LAST_WEEKDAY
LAST_OF_MONTH = CronSim.LAST

Weekday = int | tuple[int, int]
"""A day of the week, 0 is Sunday; with a second number the nth of the month or `LAST_OF_MONTH`."""

_FIELDS = {
    # name as in cronsim's errors: number of values, what is accepted
    "minute": (60, "0-59"),
    "hour": (24, "0-23"),
    "day-of-month": (31, "1-31, L (last day), LW (last workday)"),
    "month": (12, "1-12, JAN-DEC"),
    "day-of-week": (7, "0-7, SUN-SAT, MON#1 (first Monday), 5L (last Friday)"),
}

_NARROW_STEP = re.compile(r"(\w+)-\1/\d+\Z", re.IGNORECASE)

CRON_HINT = (
    "A cron expression has five fields: minute hour day-of-month month day-of-week; each is *, a "
    "value, a list, a rising range or a step."
)


class Cron:
    """The slots of one valid cron expression: naive wall times at whole minutes."""

    def __init__(self, expression: str) -> None:
        """Read an expression; `InvalidDag` names the field that is not understood."""
        fields = _split(expression)
        try:
            self._slots = CronSim(" ".join(map(_without_narrow_steps, fields.values())), _ANY_DAY)
        except (CronSimError, ValueError) as error:  # ValueError: thousands of digits
            raise _refusal(expression, _explain(fields, str(error))) from error
        self.minutes: frozenset[int] = frozenset(self._slots.minutes)
        self.hours: frozenset[int] = frozenset(self._slots.hours)
        self.days: frozenset[int] = frozenset(self._slots.days)
        self.months: frozenset[int] = frozenset(self._slots.months)
        self.weekdays: frozenset[Weekday] = frozenset(map(_sunday_is_0, self._slots.weekdays))
        self.both_day_fields_must_match = self._slots.day_and
        self.has_rhythm = len(self.hours) == 24 or fields["minute"].startswith("*")
        """Whether the slots of a fold fire in both passes."""
        if self.first_from(_ANY_DAY) is None:
            raise _refusal(expression, "no day ever matches it")

    def first_from(self, wall: datetime) -> datetime | None:
        """The first slot at or after a wall time; None if the calendar (or 50 years) end first."""
        return self._step(wall, direction=1)

    def last_before(self, wall: datetime) -> datetime | None:
        """The last slot strictly before a wall time; None if there is none within 50 years."""
        return self._step(wall, direction=-1)

    def _step(self, wall: datetime, direction: int) -> datetime | None:
        slots = copy.copy(self._slots)  # parsed fields are shared; only the position is its own
        slots.tick_direction = direction
        try:
            slots.dt = wall.replace(microsecond=0)
            if wall.microsecond:
                slots.dt += _SECOND
            if direction > 0:
                slots.dt -= _SECOND  # cronsim looks strictly past its position
            return next(slots)
        except (StopIteration, OverflowError):
            return None


@lru_cache(maxsize=2048)
def load_cron(expression: str) -> Cron:
    """The cron of an expression; `InvalidDag` if it cannot be read."""
    return Cron(expression)


def _split(expression: str) -> dict[str, str]:
    """The fields by name, once nothing is left in them that would quietly mean something else."""
    fields = expression.split()
    if len(fields) in (6, 7):
        raise InvalidDag(
            f"schedule {expression!r} has {len(fields)} fields: seconds and years in a cron "
            "expression are not supported yet; accepted are five fields",
            CRON_HINT,
        )
    if len(fields) != len(_FIELDS):
        raise _refusal(expression, f"fields found: {len(fields)}; accepted are five")
    named = dict(zip(_FIELDS, fields, strict=True))
    for name, text in named.items():
        for term in text.split(","):
            _check_term(expression, name, term)
    return named


def _check_term(expression: str, name: str, term: str) -> None:
    if term.upper().startswith("R"):
        raise InvalidDag(
            f"schedule {expression!r}: {term!r} in the {name} field (a random value) means "
            "nothing here; accepted are fixed values",
            "write H for a value that the DAG's id chooses and that stays",
        )
    base, slash, step = term.partition("/")
    if slash and base.upper().startswith("L"):
        raise _refusal(
            expression, f"{term!r} in the {name} field has L with a step; accepted is L alone"
        )
    size, _ = _FIELDS[name]
    if step.isdecimal() and (len(step) > 2 or int(step) > size):
        # `*/90` minutes would quietly mean "at minute 0 of every hour".
        raise InvalidDag(
            f"schedule {expression!r}: the step in {term!r} does not fit into the {name} field; "
            f"accepted are steps up to {size}",
            "For a fixed distance use a timedelta, such as timedelta(minutes=90).",
        )


def _without_narrow_steps(field: str) -> str:
    """The field with `5-5/10` as 5: cronsim would go on from there, as for `5/10`."""
    return ",".join(_NARROW_STEP.sub(r"\1", term) for term in field.split(","))


def _explain(fields: dict[str, str], problem: str) -> str:
    name = problem.removeprefix("Bad ")
    if name not in fields:
        return problem
    if name == "day-of-month" and _has_day(fields[name]):
        return "no day ever matches it"  # as of 30 February
    _, accepted = _FIELDS[name]
    return f"its {name} field {fields[name]!r} names nothing that exists (accepted: {accepted})"


def _has_day(days: str) -> bool:
    """Whether some month has one of these days."""
    try:
        CronSim(f"0 0 {days} * *", _ANY_DAY)
    except (CronSimError, ValueError):
        return False
    return True


def _sunday_is_0(item: Weekday) -> Weekday:
    if isinstance(item, tuple):
        return item[0] % 7, item[1]
    return item % 7


def _refusal(expression: str, reason: str) -> InvalidDag:
    return InvalidDag(f"schedule {expression!r} is not a cron expression: {reason}", CRON_HINT)
