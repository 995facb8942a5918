"""A supervisor that starts jobs and then only keeps its line: `supervisor.py FOLDER LEASE KIND…`.

Each job leaves its mark in FOLDER under its kind. With LEASE other than 0 the jobs' lease is
renewed over and over by that many seconds. Events go to stdout, one a line.
"""

from __future__ import annotations

import select
import sys
from contextlib import closing
from pathlib import Path

from flow.process import alarm
from flow.process.host import Host
from process.watched import COMMAND, Watched

folder = Path(sys.argv[1])
with closing(Host("supervisor-of-tests", command=COMMAND)) as host:
    lease = float(sys.argv[2])
    watched = Watched(host, folder)
    for kind in sys.argv[3:]:
        many = {"count": 2, "stay": True} if kind == "leave_daemons" else {}
        watched.start(kind, mark=str(folder / kind), **many)
    while True:
        if lease:
            host.renew(alarm.now() + lease)
        select.select([host], [], [], lease / 10 or None)
        for event in host.events():
            print(event, flush=True)
