"""What a DAG file does beside defining DAGs while it is imported, as Python's audit hook sees it.

Nothing is guessed from the source: each deed has happened. It is laid at the door of the innermost
line of the user's own code that led to it. What an installed package does while it is imported is
its own affair as far as it only reads files; that it talks to somebody or starts a program is told.

What C code does without telling Python (a database driver's own connection, say) is not seen, nor
what other programs do that were started.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import zoneinfo
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, NamedTuple

from flow.process.import_record import INSTALLED
from flow.process.jobs import ParseJob
from flow.process.line_runtime import CONNECTION_READ, VARIABLE_READ
from flow.process.messages import Deed
from flow.process.trace import OWN

_MOST: Final = 50
_LONGEST: Final = 200
"""Characters of a target."""
_IMPORT_SYSTEM: Final = "<frozen importlib"
_SYSTEM: Final = ("/proc/", "/sys/", "/dev/")
"""Places that tell of this machine and process, and change nothing when they are read."""

Arguments = tuple[Any, ...]


class _Seen(NamedTuple):
    kind: str
    target: str


class _Place(NamedTuple):
    file: str
    line: int
    importing: bool
    through: str
    """The module that was being imported, if it had begun."""


class Observer:
    """An audit hook, which stays in its process for good and hears nothing once it is `done`."""

    def __init__(self, file: str, root: str) -> None:
        self.deeds: list[Deed] = []
        self.done = False
        self._owner = os.getpid()
        self._file = file
        self._roots = tuple({root + os.sep, os.path.realpath(root) + os.sep})
        self._known = (*_SYSTEM, *_libraries(self._roots))
        self._told: set[tuple[str, str, int, str]] = set()

    def hear(self, event: str, arguments: Arguments) -> None:
        """Take note of one event; never a reason for the observed code to fail."""
        read = _EVENTS.get(event)
        if read is None or self.done or os.getpid() != self._owner:
            return
        try:
            seen = read(arguments)
            if seen is not None:
                self._note(seen, self._place())
        except Exception:
            return  # arguments of a shape that no event of Python's own has

    def _note(self, seen: _Seen, place: _Place | None) -> None:
        if place is None or len(self.deeds) >= _MOST:
            return
        if place.importing and not place.through:
            return  # Python keeps the bytecode of a module
        if seen.kind == "read" and (place.importing or self._is_known(seen.target)):
            return
        told = (seen.kind, place.file, place.line, place.through)
        if told not in self._told:
            self._told.add(told)
            target = seen.target if len(seen.target) <= _LONGEST else f"{seen.target[:_LONGEST]}…"
            self.deeds.append(
                Deed(
                    kind=seen.kind,
                    target=target.encode("utf-8", "backslashreplace").decode(),
                    file=place.file,
                    line=place.line,
                    through=place.through,
                )
            )

    def _place(self) -> _Place | None:
        """The innermost line of the user's, and the module that was being imported below it."""
        frame: FrameType | None = sys._getframe(2)
        importing, module = False, ""
        while frame is not None:
            name = frame.f_code.co_filename
            if self._is_own(name):
                return _Place(name, frame.f_lineno, importing, module if importing else "")
            if name.startswith(_IMPORT_SYSTEM):
                importing = True
            elif frame.f_code.co_name == "<module>":
                module = str(frame.f_globals.get("__name__", ""))
            frame = frame.f_back
        return None

    def _is_own(self, name: str) -> bool:
        if name == self._file:
            return True
        inside = name.startswith(self._roots) and not name.startswith(OWN)
        return inside and not any(part in name for part in INSTALLED)

    def _is_known(self, path: str) -> bool:
        """Whether a file is the user's own code or data, or part of what is installed."""
        return path.startswith((*self._roots, *self._known))


@contextmanager
def observing(job: ParseJob) -> Iterator[list[Deed]]:
    """What the block does, if the job wants it observed; in a process that serves nothing else."""
    if not job.observe:
        yield []
        return
    observer = Observer(job.file, job.root)
    sys.addaudithook(observer.hear)
    try:
        yield observer.deeds
    finally:
        observer.done = True


def _libraries(roots: tuple[str, ...]) -> Iterator[str]:
    """Folders of Python, of what is installed, and of the time zones."""
    installed = (
        sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")
    )
    for folder in (*installed, *sys.path, *zoneinfo.TZPATH, *OWN[:1]):
        if folder and not (folder.rstrip(os.sep) + os.sep).startswith(roots):
            yield folder.rstrip(os.sep) + os.sep
            yield os.path.realpath(folder) + os.sep


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return os.fsdecode(value)
    if isinstance(value, list | tuple):
        return " ".join(map(_text, value))
    return str(value)


def _connected(arguments: Arguments) -> _Seen | None:
    address = arguments[1]
    if isinstance(address, tuple):
        host = _text(address[0])
        return _Seen("network", f"[{host}]:{address[1]}" if ":" in host else f"{host}:{address[1]}")
    return _Seen("network", _text(address))


def _looked_up(arguments: Arguments) -> _Seen | None:
    host, port = arguments[0], arguments[1] if len(arguments) > 1 else None
    if host is None:
        return None  # an address to listen at
    return _Seen("network", _text(host) if port is None else f"{_text(host)}:{_text(port)}")


def _started(arguments: Arguments) -> _Seen | None:
    """The program alone: its arguments may hold a password, and a report is for everybody."""
    command = arguments[1] if len(arguments) > 1 else arguments[0]
    if isinstance(command, list | tuple) and _text(command[1:2]) != "-c":
        return _Seen("process", _text(command[0]))
    line = command[2] if isinstance(command, list | tuple) else command
    return _Seen("process", _text(line).split(maxsplit=1)[0])


def _forked(arguments: Arguments) -> _Seen | None:
    return _Seen("process", "a fork of this process")


def _opened(arguments: Arguments) -> _Seen | None:
    path, _, flags = arguments
    if isinstance(path, int):
        return None  # a descriptor that is open already
    if flags & os.O_ACCMODE == os.O_RDONLY:
        return _Seen("read", os.path.abspath(_text(path)))  # noqa: PTH100 - inside an audit hook
    target = os.path.abspath(_text(path))  # noqa: PTH100
    return None if target.startswith(_SYSTEM) else _Seen("write", target)


def _listed(arguments: Arguments) -> _Seen | None:
    path = arguments[0] if arguments and arguments[0] is not None else "."
    if isinstance(path, int):
        return None
    return _Seen("read", os.path.abspath(_text(path)) + os.sep)  # noqa: PTH100


def _changed(arguments: Arguments) -> _Seen | None:
    return _Seen("write", os.path.abspath(_text(arguments[0])))  # noqa: PTH100


def _database(arguments: Arguments) -> _Seen | None:
    name = _text(arguments[0])
    return None if name in ("", ":memory:") else _changed((name,))


def _named(kind: str) -> Callable[[Arguments], _Seen | None]:
    return lambda arguments: _Seen(kind, _text(arguments[0]))


_EVENTS: Final[Mapping[str, Callable[[Arguments], _Seen | None]]] = {
    "socket.connect": _connected,
    "socket.getaddrinfo": _looked_up,
    "socket.gethostbyname": _looked_up,
    "socket.sendto": _connected,
    "subprocess.Popen": _started,
    "os.posix_spawn": _started,
    "os.exec": _started,
    "os.system": _started,
    "os.fork": _forked,
    "os.forkpty": _forked,
    "open": _opened,
    "os.listdir": _listed,
    "os.scandir": _listed,
    "os.mkdir": _changed,
    "os.remove": _changed,
    "os.rename": _changed,
    "os.rmdir": _changed,
    "shutil.rmtree": _changed,
    "sqlite3.connect": _database,
    VARIABLE_READ: _named("variable"),
    CONNECTION_READ: _named("connection"),
}
"""Audit events (docs.python.org/3/library/audit_events.html) by name, and what each one means."""
