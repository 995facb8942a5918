"""Which Flow this is. `pyproject.toml` says the same; a test keeps the two equal.

A constant and not package metadata, because reading metadata costs as long as a whole `--help`.
"""

from __future__ import annotations

VERSION = "0.1.0"
