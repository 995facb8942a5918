"""The keys that encrypt stored variables and connections. They are never in the database.

They are read from the systemd credential `flow_key` (`$CREDENTIALS_DIRECTORY/flow_key`) when there
is one, else from the file `secrets.key_file`, which is made with mode 0600 when something is stored
for the first time. One key a line; blank lines and lines that begin with `#` do not count. The
first key encrypts, all of them decrypt: to rotate, put a new key in front.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from flow.errors import ConfigError

CREDENTIAL: Final = "flow_key"
_HEADER: Final = "# Keys of stored variables and connections. The first one encrypts.\n"


class Keys:
    """Keys of one deployment; `source` says where they were read."""

    def __init__(self, keys: list[Fernet], source: str) -> None:
        self._fernet = MultiFernet(keys)
        self._source = source

    def encrypt(self, text: str) -> bytes:
        """Encrypt with the first key."""
        return self._fernet.encrypt(text.encode())

    def decrypt(self, token: bytes, what: str) -> str:
        """The text that some key of this deployment encrypted; `what` names it for the error.

        Raises `ConfigError` when no key fits.
        """
        try:
            return self._fernet.decrypt(token).decode()
        except InvalidToken:
            raise ConfigError(
                f"{what} cannot be decrypted with the keys in {self._source}",
                "add the key it was stored with as another line there, or store it anew",
            ) from None


def load(file: Path, environ: Mapping[str, str] = os.environ) -> Keys:
    """The keys of this process. Raises `ConfigError`, which never quotes a key."""
    credential = _credential(environ)
    if credential is not None:
        return _keys(credential.read_text(encoding="utf-8"), credential)
    try:
        return _keys(_read_private(file), file)
    except FileNotFoundError:
        raise ConfigError(
            f"there is no key file {file}, so nothing stored can be read",
            "copy it from the host where variables and connections were stored "
            "(secrets.key_file), with mode 0600",
        ) from None


def load_or_make(file: Path, environ: Mapping[str, str] = os.environ) -> Keys:
    """The keys of this process; a missing file is made with a new key."""
    if _credential(environ) is None and not file.exists():
        _make(file)
    return load(file, environ)


def exist(file: Path, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether there is a credential or a key file, legal or not."""
    return _credential(environ) is not None or file.exists()


def _credential(environ: Mapping[str, str]) -> Path | None:
    folder = environ.get("CREDENTIALS_DIRECTORY")
    path = Path(folder, CREDENTIAL) if folder else None
    return path if path is not None and path.exists() else None


def _read_private(file: Path) -> str:
    with file.open(encoding="utf-8") as opened:
        # Of the open file, not of its name: the name may be pointed elsewhere in between.
        status = os.fstat(opened.fileno())
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise ConfigError(
                f"{file} can be read by others (mode {stat.S_IMODE(status.st_mode):04o})",
                f"chmod 600 {file}; if others may have read it, put a new key in front",
            )
        if os.geteuid() not in (0, status.st_uid):
            raise ConfigError(
                f"{file} belongs to another user", "run as its owner, or name a key file of yours"
            )
        return opened.read()


def _keys(text: str, source: Path) -> Keys:
    keys = []
    for number, line in enumerate(text.splitlines(), start=1):
        key = line.strip()
        if not key or key.startswith("#"):
            continue
        try:
            keys.append(Fernet(key))
        except ValueError:
            raise ConfigError(
                f"{source}, line {number}, is not a key",
                "a key is 32 random bytes in URL-safe base64: openssl rand -base64 32 | tr +/ -_",
            ) from None
    if not keys:
        raise ConfigError(f"{source} holds no key", "write one key a line, the newest first")
    return Keys(keys, str(source))


def _make(file: Path) -> None:
    """Make the file whole or not at all, and never over one that another process just made."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(f"{_HEADER}{Fernet.generate_key().decode()}\n")
            opened.flush()
            os.fsync(opened.fileno())
        try:
            os.link(draft, file)
        except FileExistsError:
            pass  # another process was first; its key is the one
    finally:
        draft.unlink()
