"""Rendering the template fields of a task: every template exactly once, and nothing else.

- Strings are rendered in lists, tuples, sets and the values of dicts, which come out as plain
  lists, tuples (named ones as they are), sets and dicts; keys of dicts are not rendered.
- Objects with `template_fields` of their own are rendered field by field, in place.
- What a template gives is never rendered again, and neither is the value of an XComArg: text from
  a run's conf or from an XCom cannot bring a template with it.
- A string without template syntax is left alone, as it is.
- A string that ends in one of the operator's `template_ext` is the name of a file, looked up beside
  the DAG file and in `template_searchpath`, whose text is rendered. A blank at the end of the
  string keeps it text.
- A name that is not defined is an error, unless the DAG says otherwise (`template_undefined`).

`flow tasks render` and the task itself use the same function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from flow.authoring.context import Context
from flow.authoring.xcom_arg import Reference
from flow.errors import TemplateError

if TYPE_CHECKING:
    from flow.authoring.operator import BaseOperator
    from flow.authoring.template_environment import Templates

_DEFAULT_MARKS: Final = ("{{", "{%", "{#")
_MARK_SETTINGS: Final = ("variable_start_string", "block_start_string", "comment_start_string")
_LINE_SETTINGS: Final = ("line_statement_prefix", "line_comment_prefix")


def render_fields(task: BaseOperator, context: Context) -> dict[str, Any]:
    """Render the template fields of `task` in place; the values by field.

    Raises `TemplateError`, which names field and expression, and `FlowError` for what a template
    asks for and the supervisor refuses.
    """
    renderer = Renderer(task, context)
    rendered = {}
    for field in task.template_fields:
        value = getattr(task, field)
        rendered[field] = renderer.render(value, field, task.template_ext)
        if rendered[field] is not value:
            # Past the operator's own __setattr__, which looks for XComArgs to wait for.
            object.__setattr__(task, field, rendered[field])
    return rendered


def _marks(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """What begins something in a template, in a Jinja environment with these settings."""
    begins = zip(_MARK_SETTINGS, _DEFAULT_MARKS, strict=True)
    lines = [settings[name] for name in _LINE_SETTINGS if settings.get(name)]
    return (*(settings.get(name, mark) for name, mark in begins), *lines)


class Renderer:
    """Renders values for one task. The Jinja environment is made when a template needs it."""

    def __init__(self, task: BaseOperator, context: Context) -> None:
        self._task = task
        self._context = context
        self._templates: Templates | None = None
        settings = task.dag.jinja_environment_kwargs
        self._marks = _marks(settings) if settings else _DEFAULT_MARKS
        # Values by the identity of what they were made from, so that what is shared stays shared
        # and is rendered once. The originals are kept: an identity is good only as long.
        self._done: dict[int, tuple[Any, Any]] = {}

    def render(self, value: Any, place: str, extensions: Iterable[str] = ()) -> Any:
        """`value` with everything in it rendered. `place` is its name in messages."""
        if isinstance(value, str):
            return self._render_text(value, place, tuple(extensions))
        if value is None or isinstance(value, (bool, int, float, bytes)):
            return value
        if id(value) in self._done:
            return self._done[id(value)][1]
        if isinstance(value, Reference):
            return self._remember(value, value.resolve(self._context))
        if isinstance(value, (list, dict)):
            return self._render_growing(value, place, extensions)
        if isinstance(value, tuple):
            items = [
                self.render(item, f"{place}[{number}]", extensions)
                for number, item in enumerate(value)
            ]
            kind = type(value)
            made = kind(*items) if hasattr(value, "_fields") else tuple(items)
            return self._remember(value, made)
        if isinstance(value, (set, frozenset)):
            members = [self.render(item, f"{place}{{…}}", extensions) for item in value]
            plain = set if isinstance(value, set) else frozenset
            return self._remember(value, plain(members))
        if hasattr(type(value), "template_fields"):
            self._remember(value, value)
            self._render_object(value, place)
        return value

    def _remember(self, value: Any, rendered: Any) -> Any:
        self._done[id(value)] = (value, rendered)
        return rendered

    def _render_growing(self, value: Any, place: str, extensions: Iterable[str]) -> Any:
        """A list or dict: remembered before it is filled, because it may contain itself."""
        if isinstance(value, list):
            items: list[Any] = self._remember(value, [])
            for number, item in enumerate(value):
                items.append(self.render(item, f"{place}[{number}]", extensions))
            return items
        pairs: dict[Any, Any] = self._remember(value, {})
        for key, item in value.items():
            pairs[key] = self.render(item, f"{place}[{key!r}]", extensions)
        return pairs

    def _render_object(self, value: Any, place: str) -> None:
        for field in value.template_fields:
            where = f"{place}.{field}"
            if not hasattr(value, field):
                raise self._error(
                    where, f"{type(value).__name__} has no such attribute", "check template_fields"
                )
            rendered = self.render(getattr(value, field), where, getattr(value, "template_ext", ()))
            setattr(value, field, rendered)

    def _render_text(self, text: str, place: str, extensions: tuple[str, ...]) -> Any:
        is_file = bool(extensions) and text.endswith(extensions) and "\n" not in text
        if not is_file and not any(mark in text for mark in self._marks):
            return text
        if self._templates is None:
            from flow.authoring.template_environment import Templates

            self._templates = Templates(self._task, self._context)
        try:
            return self._templates.render_file(text) if is_file else self._templates.render(text)
        except TemplateError as error:
            raise self._error(place, error.message, error.hint) from error.__cause__

    def _error(self, place: str, what: str, hint: str) -> TemplateError:
        return TemplateError(f"task {self._task.task_id!r}, field {place}: {what}", hint)
