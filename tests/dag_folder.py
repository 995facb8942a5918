"""A DAG folder, and DAG processors that look at it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flow.process.messages import Refused
from flow.roles.parse import Memory, Parser, Settings
from flow.roles.parse.imports import Imports
from flow.roles.registration import Registration
from flow.store.connect import Conn, connect
from waiting import limit


@dataclass
class Folder:
    """A DAG folder and the database that learns of it."""

    path: Path
    dsn: str
    conn: Conn

    def write(self, name: str, text: str) -> str:
        """Put a file into the folder; its path."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
        return str(file)

    def dag(self, name: str, *dag_ids: str, task: str = "load", extra: str = "") -> str:
        """Put a file with simple DAGs into the folder; its path."""
        lines = ["from flow import DAG", "from flow.operators.empty import EmptyOperator", extra]
        for dag_id in dag_ids:
            lines += [f"with DAG({dag_id!r}):", f"    EmptyOperator(task_id={task!r})"]
        return self.write(name, "\n".join(lines) + "\n")

    def settings(self, **fields: Any) -> Settings:
        fields.setdefault("timeout", limit(30))
        fields.setdefault("read", lambda conn, message: Refused(error="no", missing=True))
        return Settings(
            dsn=self.dsn,
            listen_dsn=self.dsn,
            version="test",
            folders=(self.path,),
            **fields,
        )

    @contextmanager
    def parser(self, knowledge: Memory | None = None, **fields: Any) -> Iterator[Parser]:
        """A DAG processor of the folder."""
        settings = self.settings(**fields)
        with (
            connect(self.dsn, name="parse") as conn,
            closing(Imports("test-parse", settings.limits)) as imports,
        ):
            registration = Registration("parse", "test", heartbeat=1.0, lost_after=300.0)
            registration.keep(conn)
            yield Parser(settings, conn, imports, knowledge or Memory(), registration)
            registration.end(conn)

    def parse(self, **fields: Any) -> None:
        """Start a DAG processor, let it parse everything, end it."""
        with self.parser(**fields) as parser:
            parser.run_once()

    def errors(self) -> dict[str, str]:
        """Import errors by file name."""
        rows = self.conn.execute("select path, error from dag_file where error is not null")
        return {Path(path).name: error for path, error in rows}

    def dags(self) -> dict[str, str]:
        """Name of the owning file by DAG that is present."""
        rows = self.conn.execute("select dag_id, file from dag where present order by dag_id")
        return {dag_id: Path(file).name for dag_id, file in rows}

    def value(self, statement: str, *values: object) -> Any:
        """The first column of the first row."""
        row = self.conn.execute(statement, values).fetchone()
        return row[0] if row else None
