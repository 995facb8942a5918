"""Logs of tries: one file each, below one root, behind one small interface."""

from flow.logs.backend import Logs
from flow.logs.files import LogFiles, log_path, read_log
from flow.logs.since import LogsSince

__all__ = ["LogFiles", "Logs", "LogsSince", "log_path", "read_log"]
