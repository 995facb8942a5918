"""Arguments of a task whose values follow a rule: trigger rules, weights, retry backoff."""

from __future__ import annotations

from typing import Final

from flow.authoring.arguments import nearest
from flow.authoring.origin import Origin
from flow.errors import InvalidDag
from flow.graph.spec import TriggerRule

WEIGHT_RULES: Final = ("absolute", "downstream", "upstream")
RENAMED_RULES: Final = {"dummy": "always", "none_failed_or_skipped": "none_failed_min_one_success"}


def trigger_rule(value: str, where: Origin) -> TriggerRule:
    """The rule named `value`. Raises `InvalidDag` naming the nearest rule."""
    if isinstance(value, TriggerRule):
        return value
    try:
        return TriggerRule(value)
    except ValueError:
        meant = RENAMED_RULES.get(value) or nearest(str(value), list(TriggerRule))
        hint = f"did you mean {str(meant)!r}?" if meant else f"rules: {', '.join(TriggerRule)}"
        raise InvalidDag(f"{where}: there is no trigger rule {value!r}", hint) from None


def weight_rule(value: str, where: Origin) -> str:
    """How `priority_weight` becomes the priority of a task."""
    if value not in WEIGHT_RULES:
        raise InvalidDag(
            f"{where}: there is no weight rule {value!r}", f"rules: {', '.join(WEIGHT_RULES)}"
        )
    return str(value)


def whole_number(name: str, value: object, where: Origin, *, least: int | None = None) -> int:
    """`value` as an int; 2.0 and True are not ints. Raises `InvalidDag`, also below `least`."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidDag(f"{where}: {name} must be a whole number, not {value!r}")
    if least is not None and value < least:
        raise InvalidDag(f"{where}: {name} must be at least {least}, but is {value}")
    return value


def optional_whole_number(name: str, value: object, where: Origin, *, least: int) -> int | None:
    """The same, or None."""
    return None if value is None else whole_number(name, value, where, least=least)


def backoff(value: object, where: Origin) -> float:
    """Multiplier of the retry delay; True is 2 (as in Airflow), False and 0 are a fixed delay."""
    if isinstance(value, bool):
        return 2.0 if value else 0.0
    if not isinstance(value, (int, float)) or value < 0:
        raise InvalidDag(
            f"{where}: retry_exponential_backoff must be a multiplier of 0 or more, not {value!r}"
        )
    return float(value)
