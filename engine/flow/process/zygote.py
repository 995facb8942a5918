"""The process that forks one child per job, from its start: what has to be done in this order.

Run as `python -P -m flow.process.zygote CONTROL SPARE LIMIT [GROUP]`: the number of the descriptor
of its end of the control line, how many children to keep forked ahead, the size of the largest
message on a job line, in bytes, and the control group below which each child gets one. It is exec'd
by `flow.process.host` with a scrubbed environment, has one thread, and never holds the database
login.
"""

from __future__ import annotations

import sys

from flow.process import heap, preload


def start(arguments: list[str]) -> None:
    """Load what children use, and serve; returns when the work is over.

    What is Flow's own comes last, and into memory without holes: most of what children write to is
    there then, close together.
    """
    preload.load(preload.FOREIGN)
    heap.fill()
    from flow.process import warm, zygote_loop

    zygote_loop.main(arguments, rehearse=warm.up)


if __name__ == "__main__":
    start(sys.argv[1:])
