"""`TaskGroup`: tasks that stand together, share defaults and a prefix of their ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from flow.authoring import scope
from flow.authoring.arguments import checked, not_yet
from flow.authoring.ids import legal_id
from flow.authoring.node import Node
from flow.authoring.origin import Origin, caller
from flow.authoring.vocabulary import GROUP, MAPPED_GROUP
from flow.errors import InvalidDag

if TYPE_CHECKING:
    from flow.authoring.dag import DAG
    from flow.authoring.operator import BaseOperator


class TaskGroup(Node):
    """A group of tasks; used as `with TaskGroup("load") as load:`, or through `@task_group`.

    `group_id` is the group's own name. The ids of its tasks and groups get the prefix
    `"<group_id>."` unless `prefix_group_id` is False. `default_args` are those of the group around
    it, updated. With `add_suffix_on_collision` a second group of the same name becomes `name__1`;
    else it is an `InvalidDag`.
    """

    is_group = True

    @checked("TaskGroup", GROUP)
    def __init__(
        self,
        group_id: str,
        prefix_group_id: bool = True,
        parent_group: TaskGroup | None = None,
        dag: DAG | None = None,
        default_args: Mapping[str, Any] | None = None,
        tooltip: str = "",
        doc_md: str | None = None,
        ui_color: str = "CornflowerBlue",
        ui_fgcolor: str = "#000",
        add_suffix_on_collision: bool = False,
        group_display_name: str = "",
    ) -> None:
        self.origin = caller()
        owner = dag or (parent_group.dag if parent_group else scope.current_dag())
        if owner is None:
            raise InvalidDag(
                f"{self.origin}: task group {group_id!r} does not belong to a DAG",
                "make it inside `with DAG(…):` or pass dag=",
            )
        if "." in legal_id("group_id", group_id, self.origin):
            raise InvalidDag(
                f"{self.origin}: group_id {group_id!r} contains a dot",
                "dots separate the ids of nested groups; use '_' or '-'",
            )
        parent = parent_group or scope.current_group(owner)
        self.task_group: TaskGroup | None = parent
        self.prefix_group_id = prefix_group_id
        self.default_args: dict[str, Any] = {**parent.default_args, **(default_args or {})}
        self.tooltip = tooltip
        self.doc_md = doc_md
        self.ui_color = ui_color
        self.ui_fgcolor = ui_fgcolor
        self.group_display_name = group_display_name
        self.children: dict[str, BaseOperator | TaskGroup] = {}
        self._dag = owner
        self.group_id: str | None = parent.child_id(group_id)
        if add_suffix_on_collision:
            self.group_id = owner.unique_id(self.group_id)
        owner.add_group(self)

    @classmethod
    def root(cls, dag: DAG, default_args: dict[str, Any], origin: Origin) -> Self:
        """The group of a whole DAG: no id, no prefix."""
        group = cls.__new__(cls)
        group.origin = origin
        group.task_group = None
        group.prefix_group_id = False
        group.default_args = default_args
        group.tooltip = group.ui_color = group.ui_fgcolor = group.group_display_name = ""
        group.doc_md = None
        group.children = {}
        group.group_id = None
        group._dag = dag
        return group

    @property
    def dag(self) -> DAG:
        """The DAG of the group."""
        return self._dag

    def has_dag(self) -> bool:
        """Always: a group cannot be made without a DAG."""
        return True

    @property
    def parent_group(self) -> TaskGroup | None:
        """The group around this one; None for the group of the whole DAG."""
        return self.task_group

    @property
    def is_root(self) -> bool:
        """Whether this is the group of the whole DAG."""
        return self.group_id is None

    @property
    def node_id(self) -> str:
        """The full id of the group; "" for the group of the whole DAG."""
        return self.group_id or ""

    @property
    def label(self) -> str:
        """The id without the prefix of the group around it."""
        return self.node_id.rpartition(".")[2]

    @property
    def end(self) -> TaskGroup:
        """The group itself: its first and last tasks are found when the file has been read."""
        return self

    def child_id(self, name: str) -> str:
        """The full id of a task or group `name` in this group."""
        if self.group_id is None:
            return name
        return f"{self.group_id}.{name}" if self.prefix_group_id else name

    def iter_tasks(self) -> Iterator[BaseOperator]:
        """All tasks of the group and of the groups in it."""
        for child in self.children.values():
            if isinstance(child, TaskGroup):
                yield from child.iter_tasks()
            else:
                yield child

    def expand(self, **_: Any) -> Any:
        """Mapped groups are not supported yet."""
        raise not_yet("a mapped task group (expand)", MAPPED_GROUP)

    def __enter__(self) -> Self:
        scope.open_groups.append(self)
        scope.open_dags.append(self._dag)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        scope.open_dags.pop()
        scope.open_groups.pop()

    def __repr__(self) -> str:
        return f"<TaskGroup {self.node_id}>"
