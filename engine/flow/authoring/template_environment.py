"""The Jinja environment of a task: its names, filters, files, and what its errors say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import jinja2
from jinja2 import nodes
from jinja2.nativetypes import NativeCodeGenerator, native_concat
from jinja2.runtime import Context as TemplateContext
from jinja2.utils import missing

from flow.authoring.connection import ConnectionAccessor
from flow.authoring.context import Context, advice, refused
from flow.authoring.filters import DATE_FILTERS
from flow.authoring.variable import VariableAccessor
from flow.errors import FlowError, NotFound, TemplateError
from flow.exceptions import TaskException

if TYPE_CHECKING:
    from flow.authoring.operator import BaseOperator

_SHOWN: Final = 200
"""Characters of a template that an error quotes."""
_QUOTED: Final = re.compile(r"'([^']+)'")


class Explained(jinja2.StrictUndefined):
    """Something that does not exist: any use of it is an error that says what to do."""

    __slots__ = ()


class _Names(TemplateContext):
    """Looks names up in the task's context one by one, so that only what is used is made."""

    def resolve_or_missing(self, key: str) -> Any:
        found = super().resolve_or_missing(key)
        if found is missing:
            found = self.environment.globals.get(key, missing)
        if found is missing and refused(key):
            # Not left to `template_undefined`: an empty text for `next_ds` would be wrong data.
            return Explained(f"{key!r} is not defined: {advice(key, ())}")
        return found


class _Environment(jinja2.Environment):
    context_class = _Names

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, _ACCESSORS) and attribute != "get":
            return _ask(obj, attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, _ACCESSORS):
            return _ask(obj, argument)
        return super().getitem(obj, argument)


_ACCESSORS: Final = (VariableAccessor, ConnectionAccessor)


def _ask(accessor: VariableAccessor | ConnectionAccessor, key: str) -> Any:
    """What is stored; where nothing is, what `default()` and `is defined` understand."""
    try:
        return accessor[key]
    except NotFound as error:
        return Explained(error.message)


class _ExactCode(NativeCodeGenerator):
    """Leaves constants to be evaluated, so that `{{ 5 }}` is the number and not its text."""

    def _output_child_to_const(self, node: nodes.Expr, frame: Any, finalize: Any) -> Any:
        if not isinstance(node, nodes.TemplateData):
            raise nodes.Impossible
        return super()._output_child_to_const(node, frame, finalize)


def _exact(values: Iterable[Any]) -> Any:
    """One expression gives its value as it is; several parts are text, or the literal in it.

    Jinja's own rule would read a text `"007"` or `"[1]"` that one expression gives as a literal.
    """
    head = list(islice(iterator := iter(values), 2))
    if len(head) == 1:
        return head[0]
    return native_concat([*head, *iterator]) if head else ""


class _NativeEnvironment(_Environment):
    code_generator_class = _ExactCode
    concat = staticmethod(_exact)


class Templates:
    """Renders texts and files with the settings of the task's DAG."""

    def __init__(self, task: BaseOperator, context: Context) -> None:
        dag = task.dag
        native = task.render_template_as_native_obj
        if native is None:
            native = dag.render_template_as_native_obj
        self._folders = [Path(dag.folder, path) for path in ("", *dag.template_searchpath)]
        settings: dict[str, Any] = {
            "loader": jinja2.FileSystemLoader(self._folders),
            "undefined": dag.template_undefined or jinja2.StrictUndefined,
            "extensions": ["jinja2.ext.do"],
            "cache_size": 0,
            "auto_reload": False,
            # A trailing line break is part of a text, whether it holds a template or not.
            "keep_trailing_newline": not native,
        }
        settings.update(dag.jinja_environment_kwargs)
        kind = _NativeEnvironment if native else _Environment
        self._environment = kind(**settings)
        self._environment.filters.update(DATE_FILTERS)
        self._environment.filters.update(dag.user_defined_filters)
        self._environment.globals.update(dag.user_defined_macros)
        self._context = context

    def render(self, text: str) -> Any:
        """A text, rendered. Raises `TemplateError` without the field, which the caller knows."""
        try:
            template = self._environment.from_string(text)
        except jinja2.TemplateSyntaxError as error:
            raise _syntax_error(error, text) from error
        return self._run(template, text)

    def render_file(self, name: str) -> Any:
        """The text of a file, rendered; errors as in `render`."""
        try:
            template = self._environment.get_template(name)
        except jinja2.TemplateNotFound as error:
            raise self._missing_file(error, name) from error
        except jinja2.TemplateSyntaxError as error:
            raise _syntax_error(error, error.source or name) from error
        except (OSError, UnicodeDecodeError) as error:
            raise TemplateError(f"template file {name!r} cannot be read: {error}") from error
        return self._run(template)

    def _run(self, template: jinja2.Template, text: str = "") -> Any:
        names = template.new_context(self._context, shared=True)
        try:
            result: Any = self._environment.concat(template.root_render_func(names))
            if isinstance(result, jinja2.Undefined):
                str(result)  # native mode would hand it on; a strict one raises here
                return None
            return result
        except TaskException:
            raise  # a macro may decide how the task ends
        except jinja2.UndefinedError as error:
            hint = self._advice(error.message or "")
            raise TemplateError(f"{self._place(error, text)}: {error.message}", hint) from None
        except jinja2.TemplateNotFound as error:
            raise self._missing_file(error, template.name) from error
        except FlowError as error:
            what = f"{self._place(error, text)}: {error.message}"
            raise TemplateError(what, error.hint) from error
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise TemplateError(f"{self._place(error, text)}: {what}") from error

    def _advice(self, message: str) -> str:
        name = _QUOTED.search(message)
        if name and message == f"{name[0]} is undefined":
            return advice(name[1], self._context.names)
        return "define it, or write {{ … | default('…') }}"

    def _place(self, error: Exception, text: str) -> str:
        """The expression that failed, as it is written."""
        template, line = _failed_at(error)
        if template is None:
            return _shortened(text)
        source = text
        where = ""
        if template.name is not None and self._environment.loader is not None:
            source = self._environment.loader.get_source(self._environment, template.name)[0]
            where = f"{template.name}, line {line}, "
        pieces = [piece for first, last, piece in self._pieces(source) if first <= line <= last]
        quoted = _QUOTED.findall(str(error))
        named = [piece for piece in pieces if quoted and _has_word(piece, quoted[-1])]
        return where + _shortened((named or pieces or [source])[0])

    def _pieces(self, source: str) -> Iterator[tuple[int, int, str]]:
        """First line, last line and text of every expression and statement."""
        piece = ""
        first = 0
        for line, token, value in self._environment.lex(source):
            if token in ("variable_begin", "block_begin"):
                piece, first = "", line
            piece += value
            if token in ("variable_end", "block_end"):
                yield first, line, piece.strip()

    def _missing_file(self, error: jinja2.TemplateNotFound, name: str | None) -> TemplateError:
        folders = ", ".join(map(str, self._folders))
        needed = f" (needed by {name!r})" if name and error.name != name else ""
        return TemplateError(
            f"template file {str(error.name)!r}{needed} does not exist in {folders}",
            "put it there or add its folder to template_searchpath of the DAG; if the text is "
            "no file name, end it with a blank",
        )


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", text) is not None


def _failed_at(error: Exception) -> tuple[jinja2.Template | None, int]:
    """The innermost template that an error came through, and the line in it."""
    found: tuple[jinja2.Template | None, int] = (None, 0)
    traceback = error.__traceback__
    while traceback is not None:
        template = traceback.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(template, jinja2.Template):
            found = template, template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def _syntax_error(error: jinja2.TemplateSyntaxError, source: str) -> TemplateError:
    lines = source.splitlines()
    line = lines[error.lineno - 1].strip() if 0 < error.lineno <= len(lines) else source
    where = f"{error.name}, line {error.lineno}, " if error.name else ""
    return TemplateError(
        f"{where}{_shortened(line)}: {error.message}",
        "correct the template; text that is none can stand in {% raw %} … {% endraw %}",
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
