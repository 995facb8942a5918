"""Which faults strike, drawn from a seed.

Some of each kind and target come in any case; kills are filled up to the number that was asked for.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

LEAST: Final = 3
"""Faults of each kind and target, at least."""


@dataclass(frozen=True)
class Fault:
    """One fault to come: `seconds` is how long it lasts, 0 for what is over at once."""

    kind: str
    target: str
    seconds: float = 0.0

    def __str__(self) -> str:
        lasting = f" for {self.seconds:.1f} s" if self.seconds else ""
        return f"{self.kind} {self.target}{lasting}"


_PROCESSES: Final = ("supervisor", "zygote", "task", "scheduler", "parser", "backend")
_ROLES: Final = ("supervisor", "scheduler", "parser")
TARGETS: Final = {
    "kill": (*_PROCESSES, "importer"),
    "stop": _PROCESSES,
    "freeze": _PROCESSES,
    "restart": (*_ROLES, "database fast", "database immediate"),
    "cut": _ROLES,
    "stall": _ROLES,
    "slow": _ROLES,
    "rob": _ROLES,
    "fill": ("log disk",),
    "skew": _ROLES,
}
"""What each kind of fault can strike: a stop ends before a worker counts as lost, a freeze after
it; to rob is to lose the answer to a commit."""
_FURTHER: Final = {
    "supervisor": 3, "zygote": 3, "task": 4,
    "scheduler": 3, "parser": 1, "importer": 1,
    "backend": 2,
}  # fmt: skip
"""How often the kills beyond the least number strike what, compared with each other."""
PLURALS: Final = {
    "kill": "kills",
    "stop": "stops",
    "freeze": "freezes",
    "restart": "restarts",
    "cut": "cuts",
    "stall": "stalls",
    "slow": "slow lines",
    "rob": "lost answers",
    "fill": "full disks",
    "skew": "skewed clocks",
}


def draw(chance: random.Random, kills: int, lost_after: float) -> list[Fault]:
    """The faults of a story, in the order in which they are to strike.

    `lost_after` is in seconds. Raises ValueError where the kills are too few for all targets.
    """
    if kills < LEAST * len(TARGETS["kill"]):
        raise ValueError(f"{kills} kills cannot strike every target {LEAST} times")
    times = max(LEAST, kills // 40)
    pairs = [(kind, target) for kind, targets in TARGETS.items() for target in targets] * times
    struck = sum(kind == "kill" for kind, _ in pairs)
    further = chance.choices([*_FURTHER], [*_FURTHER.values()], k=kills - struck)
    pairs += [("kill", target) for target in further]
    chance.shuffle(pairs)
    return [Fault(kind, target, _seconds(chance, kind, lost_after)) for kind, target in pairs]


def _seconds(chance: random.Random, kind: str, lost_after: float) -> float:
    match kind:
        case "stop":
            return chance.uniform(0.2, 0.4 * lost_after)
        case "freeze":
            return lost_after + chance.uniform(1.0, 2.5)
        case "stall":
            return chance.uniform(0.5, 1.4 * lost_after)
        case "rob":
            return lost_after  # at most: until an answer came by
        case "cut" | "slow" | "fill" | "skew":
            return chance.uniform(0.5, 4.0)
        case _:
            return 0.0
