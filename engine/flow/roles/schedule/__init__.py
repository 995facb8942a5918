"""`flow schedule`: any number side by side, all alike, without a leader."""

from flow.decide import Shares
from flow.roles.schedule.role import Scheduler, Settings, serve

__all__ = ["Scheduler", "Settings", "Shares", "serve"]
