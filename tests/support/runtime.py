"""A `Runtime` that answers from dicts."""

from __future__ import annotations

from dataclasses import dataclass, field

from flow.authoring.runtime import FoundXCom, PreviousSuccess
from flow.errors import NotFound


@dataclass
class MemoryRuntime:
    """Answers like a supervisor; `asked` lists the names of the requests."""

    variables: dict[str, str] = field(default_factory=dict)
    connections: dict[str, str] = field(default_factory=dict)
    xcoms: list[tuple[str, FoundXCom]] = field(default_factory=list)
    """Key and XCom of upstream tasks."""
    pushed: dict[str, str] = field(default_factory=dict)
    previous: PreviousSuccess = PreviousSuccess()  # noqa: RUF009 - a frozen tuple
    still_counts: bool = True
    asked: list[str] = field(default_factory=list)

    def push_xcom(self, key: str, value: str) -> None:
        self.asked.append("push_xcom")
        self.pushed[key] = value

    def pull_xcoms(
        self,
        *,
        task_ids: tuple[str, ...],
        key: str,
        dag_id: str | None,
        run_id: str | None,
        map_path: tuple[int, ...] | None,
        include_prior_dates: bool,
    ) -> list[FoundXCom]:
        self.asked.append("pull_xcoms")
        return sorted(
            found
            for name, found in self.xcoms
            if name == key
            and found.task_id in task_ids
            and (map_path is None or found.map_path == map_path)
        )

    def get_variable(self, key: str) -> str:
        self.asked.append("get_variable")
        if key not in self.variables:
            raise NotFound(f"variable {key!r} does not exist")
        return self.variables[key]

    def set_variable(self, key: str, value: str, description: str | None) -> None:
        self.variables[key] = value

    def delete_variable(self, key: str) -> None:
        if self.variables.pop(key, None) is None:
            raise NotFound(f"variable {key!r} does not exist")

    def get_connection(self, conn_id: str) -> str:
        self.asked.append("get_connection")
        if conn_id not in self.connections:
            raise NotFound(f"connection {conn_id!r} does not exist")
        return self.connections[conn_id]

    def counts(self, *, failed: bool) -> bool:
        return self.still_counts

    def previous_success(self) -> PreviousSuccess:
        self.asked.append("previous_success")
        return self.previous
