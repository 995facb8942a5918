"""Which files on the disk are ours: a first line says so, with a checksum of all that follows.

A file without it is somebody else's; one whose checksum does not fit was changed by hand. Neither
is ever overwritten or removed.
"""

from __future__ import annotations

import hashlib
import secrets
from enum import StrEnum
from typing import Final

from flow.ops.systemd.unit_files import UnitFile

_MARK: Final = "# Written by flow systemd install; put changes into a drop-in. Checksum "


class Standing(StrEnum):
    """What is at a path."""

    NEW = "new"
    """Nothing is there."""
    SAME = "same"
    """As it would be written."""
    OLDER = "older"
    """Written by Flow, and it would be written differently now."""
    CHANGED = "changed"
    """Written by Flow, and changed by hand since."""
    FOREIGN = "foreign"


OURS: Final = (Standing.SAME, Standing.OLDER)
"""What may be overwritten and removed."""
NOT_OURS: Final = (Standing.CHANGED, Standing.FOREIGN)


def standing(file: UnitFile) -> Standing:
    """What is at a file's path."""
    try:
        found = file.path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return Standing.NEW
    first, _, rest = found.partition("\n")
    if not first.startswith(_MARK):
        return Standing.FOREIGN
    if first != _mark(rest):
        return Standing.CHANGED
    return Standing.SAME if rest == file.text else Standing.OLDER


def write(file: UnitFile) -> None:
    """Write a file whole or not at all, readable by everybody."""
    file.path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    draft = file.path.with_name(f".{file.path.name}.{secrets.token_hex(8)}")
    try:
        draft.write_text(f"{_mark(file.text)}\n{file.text}", encoding="utf-8")
        draft.chmod(0o644)
        draft.replace(file.path)
    finally:
        draft.unlink(missing_ok=True)


def _mark(text: str) -> str:
    return f"{_MARK}{hashlib.sha256(text.encode()).hexdigest()[:16]}"
