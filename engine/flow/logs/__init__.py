"""Logs of tries: one file each, below one root."""

from flow.logs.files import log_path, read_log

__all__ = ["log_path", "read_log"]
