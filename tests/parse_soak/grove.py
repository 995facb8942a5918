"""A folder of generated DAG files in motion, and what must be stored of it in the end."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

TEAMS: Final = 50
SHARED: Final = 10
"""Modules that every second file imports one of."""
GOOD: Final = """\
from datetime import datetime

from flow import DAG
from flow.operators.empty import EmptyOperator
{imports}
with DAG({dag_id!r}, schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False):
    tasks = [EmptyOperator(task_id=f"step_{{number}}") for number in range(9)]
    tasks[0] >> EmptyOperator(task_id=f"token_{token}_{{VALUE}}")
"""
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
)


@dataclass(slots=True)
class Planted:
    """A file as it should be stored: its DAG, or an error."""

    path: Path
    dag_id: str
    token: int = 0
    shared: int | None = None
    hostile: bool = False


@dataclass(slots=True)
class Grove:
    """The folder, and the model of it. Files appear whole, by renaming."""

    folder: Path
    random: random.Random
    planted: dict[str, Planted] = field(default_factory=dict)
    values: list[int] = field(default_factory=lambda: [0] * SHARED)
    edits: int = 0

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

    def edit(self) -> str | None:
        """Change something; the DAG that must be stored anew because of it, if it is just one."""
        self.edits += 1
        kinds: list[tuple[int, Callable[[], str | None]]] = [
            (70, self._change),
            (8, self._move),
            (8, self._remove_and_add),
            (8, self._turn),
            (6, self._change_shared),
        ]
        weights = [weight for weight, _ in kinds]
        (kind,) = self.random.choices([kind for _, kind in kinds], weights)
        return kind()

    def tokens(self) -> dict[str, str]:
        """The id of the telling task by DAG that is not hostile."""
        return {one.dag_id: self._token(one) for one in self.planted.values() if not one.hostile}

    def hostile(self) -> set[str]:
        """The paths of files that must have an error."""
        return {str(one.path) for one in self.planted.values() if one.hostile}

    def _any(self, hostile: bool = False) -> Planted:
        fitting = [name for name, one in self.planted.items() if one.hostile is hostile]
        return self.planted[self.random.choice(fitting)]

    def _change(self) -> str:
        one = self._any()
        one.token = self.edits
        self._write(one)
        return one.dag_id

    def _move(self) -> str:
        one = self._any()
        old, one.path = one.path, one.path.with_name(f"moved_{self.edits}.py")
        one.token = self.edits
        self._write(one)
        old.unlink()
        return one.dag_id

    def _remove_and_add(self) -> str:
        gone = self._any()
        del self.planted[gone.dag_id]
        gone.path.unlink()
        name = f"new_{self.edits}"
        self.planted[name] = new = Planted(gone.path.with_name(f"{name}.py"), name, self.edits)
        self._write(new)
        return name

    def _turn(self) -> str | None:
        """A good file becomes hostile and a hostile one good, so that their number stays."""
        bad, good = self._any(hostile=True), self._any()
        bad.hostile, bad.token, good.hostile = False, self.edits, True
        self._write(bad)
        self._write(good)
        return bad.dag_id

    def _change_shared(self) -> None:
        number = self.random.randrange(SHARED)
        self.values[number] = self.edits
        self._write_shared(number)

    def _token(self, one: Planted) -> str:
        value = 0 if one.shared is None else self.values[one.shared]
        return f"token_{one.token}_{value}"

    def _write(self, one: Planted) -> None:
        if one.hostile:
            _put(one.path, f"# {one.token}\n{self.random.choice(HOSTILE)}")
            return
        source = "VALUE = 0" if one.shared is None else f"from lib.shared_{one.shared} import VALUE"
        _put(one.path, GOOD.format(imports=source, dag_id=one.dag_id, token=one.token))

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
