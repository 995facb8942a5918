"""Real servers in short folders of their own, and a newly made user of the host."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from absent import absent
from embedded.servers import DEBIAN_15, clean_up
from flow.embedded import Server


@pytest.fixture(params=["found", "debian-15"])
def programs(request: pytest.FixtureRequest) -> Path | None:
    """The configured directory: none (what is found first), and Debian's oldest supported one."""
    if request.param == "found":
        return None
    if not DEBIAN_15.is_dir():
        absent(f"no PostgreSQL 15 in {DEBIAN_15}")
    return DEBIAN_15


@pytest.fixture
def home() -> Iterator[Path]:
    """A FLOW_HOME that the server's account can enter, emptied of its server at the end."""
    path = Path(tempfile.mkdtemp(prefix="fe-", dir="/tmp")) / "h"
    path.parent.chmod(0o755)
    try:
        yield path
    finally:
        clean_up(path)
        shutil.rmtree(path.parent)


@pytest.fixture
def server(home: Path) -> Server:
    return Server(home)


@pytest.fixture
def ordinary_user() -> Iterator[pwd.struct_passwd]:
    """A newly made user of this host. Needs root."""
    if os.geteuid() != 0:
        pytest.skip("making a user needs root")
    name = f"fe{secrets.token_hex(4)}"
    subprocess.run(["useradd", "--no-create-home", "--user-group", name], check=True)
    try:
        yield pwd.getpwnam(name)
    finally:
        # By force, because a dead process that nobody collected yet counts as use of the name.
        subprocess.run(["userdel", "--force", name], check=True, capture_output=True)
