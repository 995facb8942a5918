"""What a task declares to write: `outlets=[File(path), Table(conn, name, interval_column)]`.

Outlets are plain data and change nothing about how a task runs. Their texts may be templates; they
are rendered when somebody asks what a run of the task has written. `flow test --idempotent` does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flow.authoring.origin import Origin, caller
from flow.errors import InvalidDag, UnsupportedArgument
from flow.graph.spec import FileOutlet, OutletSpec, TableOutlet

if TYPE_CHECKING:
    from flow.authoring.template import Renderer


@dataclass(frozen=True)
class File:
    """A file, or a folder with all that is in it.

    A relative path starts at the folder in which the process of the task starts.
    """

    path: str

    def __init__(self, path: str | os.PathLike[str]) -> None:
        given = os.fspath(path) if isinstance(path, os.PathLike) else path
        object.__setattr__(self, "path", _text("path of a File", given))

    def rendered(self, renderer: Renderer, place: str) -> File:
        """The outlet of one run. Raises what `Renderer.render` raises, and `InvalidDag`."""
        return File(renderer.render(self.path, f"{place}.path"))

    def to_spec(self) -> OutletSpec:
        """Its form in the spec."""
        return FileOutlet(path=self.path)


@dataclass(frozen=True)
class Table:
    """The rows of a table whose `interval_column` lies in the data interval of the run.

    `conn` is the id of a connection; `name` may hold a schema (`sales.orders`). Without an interval
    column every run stands for the whole table. `ignore` names columns that may differ each time
    the same row is written, such as serial numbers and load times.
    """

    conn: str
    name: str
    interval_column: str | None = None
    ignore: Sequence[str] = ()

    def __post_init__(self) -> None:
        _text("conn of a Table", self.conn)
        _text("name of a Table", self.name)
        if self.interval_column is not None:
            _text("interval_column of a Table", self.interval_column)
        if isinstance(self.ignore, str):
            raise InvalidDag(
                f"{caller()}: ignore of a Table must be a list of columns, not {self.ignore!r}",
                f"write ignore=[{self.ignore!r}]",
            )
        columns = tuple(_text("ignore of a Table", column) for column in self.ignore)
        object.__setattr__(self, "ignore", columns)

    def rendered(self, renderer: Renderer, place: str) -> Table:
        """The outlet of one run. Raises what `Renderer.render` raises, and `InvalidDag`."""
        return Table(
            renderer.render(self.conn, f"{place}.conn"),
            renderer.render(self.name, f"{place}.name"),
            self.interval_column,
            self.ignore,
        )

    def to_spec(self) -> OutletSpec:
        """Its form in the spec."""
        return TableOutlet(
            conn=self.conn,
            name=self.name,
            interval_column=self.interval_column,
            ignore=tuple(self.ignore),
        )


Outlet = File | Table


def outlet_tuple(value: Any, where: Origin) -> tuple[Outlet, ...]:
    """The outlets of a task: none, one, or a list of them. Raises `UnsupportedArgument`."""
    if value is None:
        return ()
    given = tuple(value) if isinstance(value, list | tuple) else (value,)
    for outlet in given:
        if not isinstance(outlet, Outlet):
            raise UnsupportedArgument(
                f"{where}: outlets={value!r} is not supported yet",
                "outlets are File(path) and Table(conn, name, interval_column)",
            )
    return given


def _text(what: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidDag(f"{caller()}: the {what} must be a text, not {value!r}")
    return value
