"""What a DAG file imports: from where, for how long, and on whose account.

Python is asked through a finder of the first place in `sys.meta_path`, which lets the others find a
module and measures its execution. So only modules count that are new to the process, each once, and
also one whose execution fails: what a broken file needs mended is often in it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.machinery import ModuleSpec
from itertools import islice
from types import ModuleType
from typing import Final, Self

from flow.process.messages import ImportTime
from flow.process.plain_file import Signature, signature

INSTALLED: Final = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_MOST: Final = 10
"""Modules whose times are told, the slowest ones."""
_MOST_OF_ALL: Final = 200
_LEAST: Final = 0.01
"""Seconds below which nobody is to blame."""


class ImportRecord:
    """A finder that finds nothing by itself, and records what is imported in a `with` block."""

    def __init__(self) -> None:
        self.origins: dict[str, str] = {}
        """File by name of each module whose execution has begun."""
        self.signatures: dict[str, Signature] = {}
        """Of those files, as they were then."""
        self._times: list[ImportTime] = []
        self._importers = threading.local()
        self._known = len(sys.modules)

    def __enter__(self) -> Self:
        sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *raised: object) -> None:
        if self in sys.meta_path:  # what was imported may have put others in its place
            sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What another finder finds, to be executed under this one's eyes."""
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find else None
            if spec is not None:
                self._watch(spec)
                return spec
        return None

    def times(self, *, every: bool = False) -> tuple[ImportTime, ...]:
        """The slowest imports that lead from one package into another, slowest first.

        With `every` also those within a package, and more of them.
        """
        slow = [one for one in self._times if one.seconds >= _LEAST and (every or is_border(one))]
        return tuple(sorted(slow, key=lambda one: -one.seconds)[: _MOST_OF_ALL if every else _MOST])

    def local_modules(self, root: str, but: str) -> dict[str, str]:
        """Modules of the user's own: those whose file is in the DAG folder and is not installed.

        Name → absolute path, without links. `but` is the DAG file itself.
        """
        files = {**dict(self._appeared()), **self.origins}
        others = sorted((name, file) for name, file in files.items() if file != but)
        if not others:
            return {}  # most files, and to look a path's links up costs more than the rest of this
        start = os.path.realpath(root) + os.sep
        found = {}
        for name, file in others:
            path = os.path.realpath(file)
            if path.startswith(start) and not any(part in path for part in INSTALLED):
                found[name] = path
        return found

    def _appeared(self) -> Iterator[tuple[str, str]]:
        """Modules that are there since the record began, also those that no finder was asked for.

        The last ones of the dictionary: to touch all modules would copy their memory, which is
        shared with the process that has loaded them.
        """
        for name in islice(reversed(sys.modules), max(0, len(sys.modules) - self._known)):
            file = getattr(sys.modules[name], "__file__", None)
            if isinstance(file, str):
                yield name, file

    def _watch(self, spec: ModuleSpec) -> None:
        loader = spec.loader
        if loader is None or isinstance(loader, type) or not hasattr(loader, "exec_module"):
            return  # built into Python: fast, and nobody's file
        # The class's own: an archive has one loader for all its modules.
        execute = partial(type(loader).exec_module, loader)
        try:
            loader.exec_module = partial(self._execute, spec, execute)  # type: ignore[method-assign]
        except AttributeError:
            pass  # a loader with slots: executed without being measured

    def _execute(
        self, spec: ModuleSpec, execute: Callable[[ModuleType], None], module: ModuleType
    ) -> None:
        if spec.origin is not None:
            self.origins[spec.name] = spec.origin
            try:
                self.signatures[spec.name] = signature(spec.origin)
            except OSError:
                pass  # in an archive
        importer = getattr(self._importers, "name", "")
        self._importers.name = spec.name
        began = time.monotonic()
        try:
            execute(module)
        finally:
            self._importers.name = importer
            seconds = time.monotonic() - began
            self._times.append(ImportTime(name=spec.name, seconds=seconds, importer=importer))


def is_border(one: ImportTime) -> bool:
    """Whether an import leads into another package: pandas is to blame, not all that is in it."""
    return one.name.partition(".")[0] != one.importer.partition(".")[0]
