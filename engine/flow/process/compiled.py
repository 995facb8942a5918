"""Compiled DAG files, which one try hands on to those that come after it.

Many tries import the same file, each in a process of its own. The zygote may run nothing of it, but
it can keep what one of them has compiled: in a memory file, which that one seals before any line of
the user's runs. So nobody's code can change what others will run. It counts for the very same
source only; where that differs, a try compiles for itself.
"""

from __future__ import annotations

import fcntl
import hashlib
import marshal
import os
from collections import OrderedDict
from dataclasses import dataclass
from types import CodeType
from typing import Final, NamedTuple

from flow.errors import NotFound

_MOST: Final = 64
"""Files of which something is kept."""
_LARGEST: Final = 256 * 1024
"""Bytes that are kept of one file at most."""
_LIFETIME: Final = 60.0
"""Seconds after which a file is compiled anew: it may have changed, and that is not looked for."""
_offered: list[int] = []
"""What was offered to this process, which serves one job: for one file, once."""
_SEALED: Final = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class CodeMissing(NotFound):
    """The file, DAG or task of a job is not there any more."""

    code = "code_missing"


class Compiled(NamedTuple):
    """A DAG file as Python runs it."""

    module: str
    """The name of its module, which tells files of equal names apart and collides with none that
    can be imported."""
    content_hash: str
    code: CodeType


def compiled(file: str, source: bytes) -> Compiled:
    """A file with this source, as another try has compiled it, else compiled here and handed on.

    Raises `CodeMissing` for a file whose name does not end in .py, and what `compile` raises.
    """
    if not _offered:
        return _compile(file, source)
    memory = _offered.pop()
    try:
        kept = _read(memory)
        if kept is not None and (kept[0], kept[1]) == (file, source):
            return Compiled(*kept[2:])
        made = _compile(file, source)
        if kept is None:
            _keep(memory, (file, source, *made))
        return made
    finally:
        os.close(memory)


def module_name(file: str) -> str:
    """The name of the module that a file is run as."""
    if not file.endswith(".py"):
        raise CodeMissing(f"file {file} is not a Python file", "DAG files end in .py or .zip")
    stem = os.path.basename(file).removesuffix(".py")  # noqa: PTH119 - in each child
    return f"dag_file_{hashlib.sha256(file.encode()).hexdigest()[:12]}_{stem}"


def offer(memory: int) -> None:
    """Let the file that this process imports be read from, or kept in, a memory file."""
    _offered.append(memory)


class CompiledFiles:
    """The memory files, in the zygote."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, _File] = OrderedDict()

    def memory_for(self, file: str, now: float) -> int | None:
        """The descriptor for a try of `file`, which stays open here; None: it gets none.

        `now` is in seconds of CLOCK_MONOTONIC.
        """
        known = self._files.get(file)
        if known is not None and now - known.since > _LIFETIME:
            self._forget(file)
            known = None
        if known is None:
            # Nothing is kept for a first try: it may be the only one.
            self._files[file] = _File(now)
            if len(self._files) > _MOST:
                self._forget(next(iter(self._files)))
            return None
        self._files.move_to_end(file)
        if known.memory is None:
            known.memory = _new_memory()
            return known.memory
        # To one try it is given to write on; if that has left nothing, the file's time runs out.
        return known.memory if _is_sealed(known.memory) else None

    def close(self) -> None:
        """Forget all."""
        for file in list(self._files):
            self._forget(file)

    def _forget(self, file: str) -> None:
        memory = self._files.pop(file).memory
        if memory is not None:
            os.close(memory)


@dataclass(slots=True)
class _File:
    since: float
    memory: int | None = None


def _compile(file: str, source: bytes) -> Compiled:
    module = module_name(file)
    code: CodeType = compile(source, file, "exec", dont_inherit=True)
    return Compiled(module, hashlib.sha256(source).hexdigest(), code)


def _new_memory() -> int | None:
    try:
        return os.memfd_create("flow-code", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError:
        return None  # too many open files: tries compile for themselves


def _is_sealed(memory: int) -> bool:
    return fcntl.fcntl(memory, fcntl.F_GET_SEALS) == _SEALED


def _read(memory: int) -> tuple[str, bytes, str, str, CodeType] | None:
    """File, source, and what was made of it; None while nothing is kept there for good."""
    if not _is_sealed(memory):
        return None
    data = os.pread(memory, os.fstat(memory).st_size, 0)
    kept: tuple[str, bytes, str, str, CodeType] = marshal.loads(data)
    return kept


def _keep(memory: int, content: tuple[str, bytes, str, str, CodeType]) -> None:
    try:
        data = marshal.dumps(content)
        if len(data) <= _LARGEST and os.pwrite(memory, data, 0) == len(data):
            fcntl.fcntl(memory, fcntl.F_ADD_SEALS, _SEALED)
    except (OSError, ValueError):
        pass  # no memory is left for it, or it is nested too deeply to be written down
