"""Why a run or a task is as it is, as lines on its screen."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from flow.ops.why import Answer
from flow.wording.cells import printable
from flow.wording.run_names import brief


def reason_lines(answer: Answer, most: int) -> list[str]:
    """The first reasons, with short names of runs."""
    zone = ZoneInfo(answer.timezone)
    return [printable(brief(reason.text(zone))) for reason in answer.reasons[:most]]
