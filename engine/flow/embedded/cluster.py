"""Making the data directory: its database, its settings, who may connect.

A cluster is made under another name, with everything in it, brought onto the disk and then
renamed. So a data directory that has its final name is whole, whatever was killed on the way.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
from pathlib import Path
from typing import Final

from flow.embedded import account, files
from flow.embedded.account import Account
from flow.embedded.address import DATABASE, PORT, ROLE
from flow.embedded.binaries import Binaries
from flow.errors import DatabaseError, UsageError

_SETTINGS_FILE: Final = "flow.conf"
_BUILTIN_LOCALE_SINCE: Final = 17
_PEER_LINE: Final = "local all all peer map=flow"

_SETTINGS: Final = """\
# Written by Flow at every start. For settings of your own use ALTER SYSTEM: they win over these.
listen_addresses = ''
port = {port}
unix_socket_directories = '{socket_directory}'
unix_socket_permissions = 0777  # the directory and peer authentication do the guarding
max_connections = 200
shared_buffers = '64MB'
dynamic_shared_memory_type = {shared_memory}
fsync = on
full_page_writes = on
synchronous_commit = on
autovacuum = on
autovacuum_naptime = '15s'  # the tables of unfinished runs change all the time
jit = off  # Flow's statements are short: compiling one takes longer than running it
password_encryption = 'scram-sha-256'
timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
logging_collector = off  # the launcher points standard error to the log file
log_checkpoints = off
log_line_prefix = '%m [%p] %q%u@%d '
cluster_name = 'flow'
"""

_FIRST_STATEMENTS: Final = f"""\
CREATE DATABASE {DATABASE};
REVOKE ALL ON DATABASE {DATABASE} FROM PUBLIC;
REVOKE ALL ON DATABASE postgres FROM PUBLIC;
REVOKE ALL ON DATABASE template1 FROM PUBLIC;
"""
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_OWN_NAMES: Final = {"flow", "postgres", "template0", "template1"}
_WORDS_OF_HBA: Final = {"all", "sameuser", "samerole", "replication"}
_RESERVED: Final = _OWN_NAMES | _WORDS_OF_HBA | {"public"}


def major_version(data: Path) -> int | None:
    """The major version of PostgreSQL that made the data; None when there is no data."""
    try:
        return int((data / "PG_VERSION").read_text(encoding="ascii"))
    except FileNotFoundError:
        return None


def create(binaries: Binaries, owner: Account, data: Path) -> None:
    """Make the cluster with the database `flow`. The caller holds the lock of its directory."""
    partial = data.with_name(f"{data.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    options = ["--username", ROLE, "--auth=peer", "--encoding=UTF8", "--data-checksums"]
    options += [*_locale_options(binaries), "--no-sync", "--no-instructions"]
    _run(owner, [binaries.initdb, *options, "-D", partial])
    settings = (partial / "postgresql.conf").read_text(encoding="utf-8")
    files.write(partial / "postgresql.conf", f"{settings}\ninclude '{_SETTINGS_FILE}'\n", owner)
    files.write(partial / "pg_hba.conf", f"{_PEER_LINE}\n", owner)
    files.write(partial / "pg_ident.conf", _user_map(owner), owner)
    write_settings(partial, partial, owner)
    # A server in single-user mode needs no socket, no client program and no authentication, and
    # it works before the cluster has its name.
    single: list[str | Path] = [
        "--single",
        "-j",
        "-c",
        "exit_on_error=on",
        "-D",
        partial,
        "postgres",
    ]
    statements = _FIRST_STATEMENTS.replace(";\n", ";\n\n")
    _run(owner, [binaries.postgres, *single], statements)
    _run(owner, [binaries.initdb, "--sync-only", "-D", partial])
    partial.rename(data)
    files.synchronise(data.parent)


def write_settings(data: Path, socket_directory: Path, owner: Account) -> None:
    """Write Flow's own settings file; the server reads it at its next start."""
    # When a person's last login ends, logind removes POSIX shared memory of that user. The
    # server outlives logins, so there it keeps such memory in files of its data directory.
    shared_memory = "mmap" if owner.is_for_people else "posix"
    quoted = str(socket_directory).replace("'", "''")
    text = _SETTINGS.format(port=PORT, socket_directory=quoted, shared_memory=shared_memory)
    files.write(data / _SETTINGS_FILE, text, owner)


def admit_with_password(data: Path, database: str, role: str, owner: Account) -> None:
    """Let the role into the database by password; the server must then reload its files.

    The line stands before the one for everybody: the first that matches decides.
    """
    path = data / "pg_hba.conf"
    present = path.read_text(encoding="utf-8").splitlines()
    line = f"local {database} {role} scram-sha-256"
    if line not in present:
        files.write(path, "\n".join([line, *present]) + "\n", owner)


def require_free_name(name: str) -> None:
    """Raise `UsageError` unless `name` may name a further database or role."""
    if not _NAME.fullmatch(name) or name in _RESERVED or name.startswith("pg_"):
        raise UsageError(
            f"{name!r} cannot name a further database or role.",
            "Take small letters, digits and underscores, and no name of PostgreSQL or Flow.",
        )


def _locale_options(binaries: Binaries) -> list[str]:
    """The same sorting and character classes on every host, whatever its own locale says."""
    if binaries.major < _BUILTIN_LOCALE_SINCE:
        return ["--locale=C.UTF-8"]
    return ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]


def _user_map(owner: Account) -> str:
    """Who may be the role `flow`: the user that makes the database, root, and the user `flow`."""
    maker = pwd.getpwuid(os.geteuid()).pw_name
    names = dict.fromkeys([maker, owner.name, "root", account.NAME])
    return "".join(f'flow "{name}" {ROLE}\n' for name in names)


def _run(owner: Account, command: list[str | Path], text: str = "") -> None:
    code, _, complaint = account.run(owner, command, text)
    if code != 0:
        program = Path(command[0]).name
        raise DatabaseError(
            f"{program} could not make the embedded database: {complaint.strip()[-2000:]}",
            "Check the free space and the permissions of FLOW_HOME, then try again.",
        )
