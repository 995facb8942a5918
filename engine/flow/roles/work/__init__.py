"""`flow work`: claims queued tasks, runs one process per try, reports how each ended."""

from flow.roles.work.role import Settings, serve

__all__ = ["Settings", "serve"]
