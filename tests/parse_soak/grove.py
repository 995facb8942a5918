"""A folder of generated DAG files in motion, and what must be stored of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

TEAMS: Final = 50
SHARED: Final = 10
"""Modules that every second file imports one of."""
TRACE: Final = """\
import os
_trace = os.open({traces!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
os.write(_trace, {text}.encode())
os.close(_trace)
"""
"""Every import leaves one line behind, written at once."""
GOOD: Final = """\
from datetime import datetime

from flow import DAG
from flow.operators.empty import EmptyOperator
{imports}
with DAG({dag_id!r}, schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False):
    tasks = [EmptyOperator(task_id=f"step_{{number}}") for number in range(9)]
    tasks[0] >> EmptyOperator(task_id=f"token_{token}_{{VALUE}}")
{trace}"""
HOSTILE: Final = (
    "while True:\n    pass\n",
    "import time\ntime.sleep(9999)\n",
    "import ctypes\nctypes.string_at(8)\n",
    "import os\nos._exit(3)\n",
    "import sys\nsys.exit(1)\n",
    "for _ in range(50):\n    print('x' * 1_000_000)\nraise ValueError('flooded')\n",
    "import os, time\nfor _ in range(20):\n    if not os.fork():\n        time.sleep(99)\n1 / 0\n",
    "x = bytearray(64 * 2**30)\n",
    "with DAG(\n",
    "import a_module_that_nobody_has\n",
    "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nwhile True:\n    pass\n",
)


class Place(NamedTuple):
    """Where a DAG is defined, and the task that tells by which version of its file."""

    path: str
    token: str


@dataclass(slots=True)
class Planted:
    """A file as it should be stored: its DAG, or an error."""

    path: Path
    dag_id: str
    token: int = 0
    shared: int | None = None
    hostile: bool = False
    was_good: bool = False
    """Its DAG has been defined at some time: its last good version stays."""


@dataclass(slots=True)
class Grove:
    """The folder, and the model of it. Files appear whole, by renaming.

    An edit returns what must be stored because of it: where each DAG is, None for one that must be
    gone. Of a change of a shared module it is nothing: many files read that, and are compared in
    the end.
    """

    folder: Path
    traces: Path
    random: random.Random
    planted: dict[str, Planted] = field(default_factory=dict)
    values: list[int] = field(default_factory=lambda: [0] * SHARED)
    edits: int = 0
    due: int = 0
    """Imports of good files that what was written so far is worth."""

    def plant(self, files: int, hostile: int) -> None:
        """Make all files."""
        for number in range(SHARED):
            self._write_shared(number)
        for number in range(files):
            name = f"dag_{number:04}"
            shared = number % SHARED if number % 2 else None
            path = self.folder / f"team_{number % TEAMS:02}" / f"file_{number:04}.py"
            self.planted[name] = Planted(path, name, shared=shared)
        for name in self.random.sample(sorted(self.planted), hostile):
            self.planted[name].hostile = True
        for one in self.planted.values():
            self._write(one)

    def edit(self) -> Mapping[str, Place | None]:
        """Change something."""
        self.edits += 1
        kinds: list[tuple[int, Callable[[], Mapping[str, Place | None]]]] = [
            (60, self._change),
            (8, self._move),
            (8, self._remove_and_add),
            (5, self._rename),
            (5, self._trade),
            (8, self._turn),
            (6, self._change_shared),
        ]
        weights = [weight for weight, _ in kinds]
        (kind,) = self.random.choices([kind for _, kind in kinds], weights)
        return kind()

    def places(self) -> dict[str, Place]:
        """Where each DAG is whose file is not hostile."""
        return {name: self._place(one) for name, one in self.planted.items() if not one.hostile}

    def hostile(self) -> set[str]:
        """The paths of files that must have an error."""
        return {str(one.path) for one in self.planted.values() if one.hostile}

    def kept(self) -> set[str]:
        """The DAGs of hostile files that were good ones before."""
        return {name for name, one in self.planted.items() if one.hostile and one.was_good}

    def _any(self, hostile: bool = False) -> Planted:
        fitting = [name for name, one in self.planted.items() if one.hostile is hostile]
        return self.planted[self.random.choice(fitting)]

    def _change(self) -> Mapping[str, Place | None]:
        return self._renewed(self._any())

    def _move(self) -> Mapping[str, Place | None]:
        one = self._any()
        old, one.path = one.path, one.path.with_name(f"moved_{self.edits}.py")
        wanted = self._renewed(one)
        old.unlink()
        return wanted

    def _remove_and_add(self) -> Mapping[str, Place | None]:
        gone = self._any()
        del self.planted[gone.dag_id]
        gone.path.unlink()
        name = f"new_{self.edits}"
        self.planted[name] = new = Planted(gone.path.with_name(f"{name}.py"), name)
        return {gone.dag_id: None, **self._renewed(new)}

    def _rename(self) -> Mapping[str, Place | None]:
        """A file defines its DAG by another id."""
        one = self._any()
        old = one.dag_id
        del self.planted[old]
        one.dag_id = f"renamed_{self.edits}"
        self.planted[one.dag_id] = one
        return {old: None, **self._renewed(one)}

    def _trade(self) -> Mapping[str, Place | None]:
        """Two files each define what the other one did."""
        one, other = self._any(), self._any()
        one.path, other.path = other.path, one.path
        return {**self._renewed(one), **self._renewed(other)}

    def _turn(self) -> Mapping[str, Place | None]:
        """A good file becomes hostile and a hostile one good, so that their number stays."""
        bad, good = self._any(hostile=True), self._any()
        good.hostile, good.token = True, self.edits
        self._write(good)
        bad.hostile = False
        return self._renewed(bad)

    def _change_shared(self) -> Mapping[str, Place | None]:
        number = self.random.randrange(SHARED)
        self.values[number] = self.edits
        self._write_shared(number)
        readers = (one for one in self.planted.values() if one.shared == number)
        self.due += sum(not one.hostile for one in readers)
        return {}

    def _renewed(self, one: Planted) -> dict[str, Place | None]:
        """Write a good file anew: what must be stored of it."""
        one.token = self.edits
        self._write(one)
        return {one.dag_id: self._place(one)}

    def _place(self, one: Planted) -> Place:
        value = 0 if one.shared is None else self.values[one.shared]
        return Place(str(one.path), f"token_{one.token}_{value}")

    def _write(self, one: Planted) -> None:
        if one.hostile:
            trace = self._trace(f"{one.dag_id} {one.token} -", "")
            _put(one.path, trace + self.random.choice(HOSTILE))
            return
        one.was_good = True
        self.due += 1
        source = "VALUE = 0" if one.shared is None else f"from lib.shared_{one.shared} import VALUE"
        trace = self._trace(f"{one.dag_id} {one.token} {{VALUE}}", "f")
        _put(
            one.path,
            GOOD.format(imports=source, dag_id=one.dag_id, token=one.token, trace=trace),
        )

    def _trace(self, text: str, kind: str) -> str:
        return TRACE.format(traces=str(self.traces), text=f'{kind}"{text}\\n"')

    def _write_shared(self, number: int) -> None:
        # Not DAG files, and passed over as such.
        _put(self.folder / ".flowignore", "/lib/\n")
        _put(self.folder / "lib" / "__init__.py", "")
        text = f"VALUE = {self.values[number]}\n"
        _put(self.folder / "lib" / f"shared_{number}.py", text)


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(text)
    new.rename(path)
