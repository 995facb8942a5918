"""A DAG processor as a process of its own.

Arguments: the DSN, the DAG folder, more settings as a JSON object, and perhaps "once". Among the
settings may be `most_folders`, in the place of how many are watched.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

from flow.process.messages import Refused
from flow.roles.loop import Stop
from flow.roles.parse import Settings, extent, serve

logging.basicConfig(level=logging.INFO)
dsn, folder, text, *once = sys.argv[1:]
fields = json.loads(text)
extent.MOST = fields.pop("most_folders", extent.MOST)  # type: ignore[misc]
serve(
    Settings(
        dsn=dsn,
        listen_dsn=dsn,
        version="test",
        folders=(Path(folder),),
        read=lambda conn, message: Refused(error="there is none", missing=True),
        **fields,
    ),
    Stop().install(),
    once=bool(once),
)
