"""A machine with systemd as its first process, in a container over this machine's files.

Whatever is written inside is gone afterwards: the files are an overlay in memory, and everything
is mounted in a namespace of its own, which ends with the container.
"""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, Final

from waiting import PATIENCE, limit

PYTHON: Final = Path("/usr/bin/python3")
"""Debian's: any other may lie where other users cannot go."""
REPOSITORY: Final = Path(__file__).parents[2]
_INSIDE: Final = Path(__file__).with_name("inside")
_LIMIT: Final = 90.0

_BOOT: Final = """
set -eu
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cp "$2"/units/* "$1/root/etc/systemd/system/"
exec systemd-nspawn --quiet --directory "$1/root" --private-network --boot --register=no \
  --keep-unit --machine "$3" --console=pipe --bind-ro "$2:/srv/inside" --bind-ro "$4:/srv/flow" \
  --bind-ro "$5:/srv/packages" --bind "$6:/srv/out" --setenv "FLOW_TEST_PATIENCE=$7" \
  systemd.unit=driver.target
"""


def lacking() -> str | None:
    """What this machine lacks to boot a container; None: nothing."""
    if shutil.which("systemd-nspawn") is None:
        return "systemd-nspawn is not installed (Debian: systemd-container)"
    if not PYTHON.exists() or _version(PYTHON) != _version(Path(sys.executable)):
        return f"{PYTHON} is not the Python of these tests, whose packages it would have to load"
    return None


class Findings(dict[str, dict[str, Any]]):
    """What the driver has found, by name. `service` is what it ran on, for `services`."""

    service = "systemd"


def boot(folder: Path) -> Findings:
    """Boot, let the driver do its work and power off."""
    root, out = folder / "root", folder / "out"
    root.mkdir()
    out.mkdir(mode=0o777)
    out.chmod(0o777)  # tasks write into it as well
    packages = sysconfig.get_path("purelib")
    name = f"flow-{secrets.token_hex(4)}"
    arguments = [root, _INSIDE, name, REPOSITORY, packages, out, str(PATIENCE)]
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "bash", "-c", _BOOT, "boot", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=limit(_LIMIT),
        check=False,
    )
    found = out / "findings"
    if not found.exists():
        raise AssertionError(f"exit {done.returncode}\n{done.stdout!r}\n{done.stderr!r}")
    lines = map(json.loads, found.read_text(encoding="utf-8").splitlines())
    return Findings((one["what"], one) for one in lines)


def _version(python: Path) -> str:
    asked = [python, "-c", "import sys; print(sys.version_info[:2])"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout
