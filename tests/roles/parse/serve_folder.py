"""A DAG processor as a process of its own.

Arguments: the DSN, the DAG folder, more settings as a JSON object, and perhaps "once".
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

from flow.process.messages import Refused
from flow.roles.loop import Stop
from flow.roles.parse import Settings, serve

logging.basicConfig(level=logging.INFO)
dsn, folder, fields, *once = sys.argv[1:]
serve(
    Settings(
        dsn=dsn,
        listen_dsn=dsn,
        version="test",
        folders=(Path(folder),),
        read=lambda conn, message: Refused(error="there is none", missing=True),
        **json.loads(fields),
    ),
    Stop().install(),
    once=bool(once),
)
