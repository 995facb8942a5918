"""Flow as services of systemd: which unit files, and putting them in place and away.

unit_files    what stands in them on this machine
written       which files on the disk are ours
systemctl     what systemd is asked to do
installation  install and uninstall
"""

from __future__ import annotations

from flow.ops.systemd.installation import (
    Installed,
    Plan,
    Uninstalled,
    install,
    plan,
    require_right,
    uninstall,
)
from flow.ops.systemd.unit_files import Scope, UnitFile
from flow.ops.systemd.written import NOT_OURS, OURS

__all__ = [
    "NOT_OURS",
    "OURS",
    "Installed",
    "Plan",
    "Scope",
    "Uninstalled",
    "UnitFile",
    "install",
    "plan",
    "require_right",
    "uninstall",
]
