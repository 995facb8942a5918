"""`flow schedule`: any number side by side, all alike, without a leader."""

from flow.roles.schedule.role import Scheduler, serve

__all__ = ["Scheduler", "serve"]
