"""`flow demo`: a deployment in a scratch folder lives through three nights and a killed worker.

    story      what happens, in order, and that everything ends again
    project    the folder: settings, DAG files, which nights they begin with
    warehouse  the second database, and a colleague who holds up one load in it
    team       `flow up` as a child, and the death of one of its workers
    watch      what the runs look like by now
    verdict    whether it all came out right: pure

The deployment is an ordinary one, driven through the same operations as every verb; nothing in it
knows that it is the demo's.
"""

from __future__ import annotations

from flow.ops.demo.story import Audience, Stopped, play
from flow.ops.demo.verdict import Night, Outcome
from flow.ops.demo.watch import Scene

__all__ = ["Audience", "Night", "Outcome", "Scene", "Stopped", "play"]
