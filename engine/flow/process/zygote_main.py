"""The zygote as a process of its own: `python -P -m flow.process.zygote_main` and its arguments.

A module apart, for memory is reserved before the zygote's own modules are loaded.
"""

from __future__ import annotations

import sys

from flow.process import heap


def main() -> None:
    """Reserve memory, load what the zygote and its children need, and be the zygote."""
    heap.reserve()
    from flow.process import warm, zygote

    zygote.main(sys.argv[1:], rehearse=warm.up)


if __name__ == "__main__":
    main()
