"""What a dead zygote left to its host.

Its children die with it (PR_SET_PDEATHSIG); their descendants move up to the host, the nearest
subreaper, as children that the host did not start.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from flow.process import tree


def end(keep: Collection[int]) -> bool:
    """Kill adopted children with their trees, and bury those that are dead. Whether none was found.

    Those found may leave orphans in turn, so only a look that finds nobody is the last one.
    Children that the caller started are spared: those in its own session, which nobody else can
    enter (a zygote begins a session of its own), and those in `keep`.
    """
    session = os.getsid(0)
    found = [
        pid for pid in tree.children(os.getpid()) if pid not in keep and os.getsid(pid) != session
    ]
    for pid in found:
        tree.kill(pid)
        os.waitpid(pid, os.WNOHANG)
    return not found
