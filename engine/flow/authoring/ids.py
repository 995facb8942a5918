"""Ids as arguments: legal ones, with the line of one that is not."""

from __future__ import annotations

from flow.authoring.origin import Origin
from flow.errors import InvalidDag
from flow.graph.check import check_id


def legal_id(kind: str, value: object, where: Origin) -> str:
    """`value` when it is a legal id. Raises `InvalidDag` naming the rule that it breaks."""
    try:
        return check_id(kind, value)
    except InvalidDag as error:
        raise InvalidDag(f"{where}: {error.message}", error.hint) from None
