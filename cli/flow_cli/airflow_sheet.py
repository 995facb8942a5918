"""What of Airflow's way to write DAGs is there, as sections for its manual page."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Final

import flow
from flow.authoring import absent, context, vocabulary
from flow.authoring.arguments import Signature
from flow.authoring.context_keys import CONTEXT_KEYS
from flow.authoring.dag import DAG
from flow.authoring.group import TaskGroup
from flow.authoring.operator import BaseOperator
from flow.authoring.task_decorator import LATER, task
from flow.authoring.vocabulary import Vocabulary
from flow.operators import bash, empty, python

MARK: Final = "<!-- airflow -->"
"""Where the sections stand in the page's source."""
_OPERATORS: Final = (bash, empty, python)
_ARGUMENTS: Final[tuple[tuple[str, frozenset[str], Vocabulary], ...]] = (
    ("Arguments of DAGs", Signature(DAG.__init__).names, vocabulary.DAG),
    ("Arguments of tasks", BaseOperator.argument_names, vocabulary.TASK),
    ("Arguments of task groups", Signature(TaskGroup.__init__).names, vocabulary.GROUP),
)

REFUSED_METHODS: Final = {
    "function.expand": vocabulary.MAPPED_TASK,
    "function.expand_kwargs": vocabulary.MAPPED_TASK,
    "function.partial": vocabulary.MAPPED_TASK,
    "Operator.partial": vocabulary.MAPPED_OPERATOR,
    "group.expand": vocabulary.MAPPED_GROUP,
    "group.expand_kwargs": vocabulary.MAPPED_GROUP,
    "group.partial": vocabulary.MAPPED_GROUP,
    "operator.as_setup": vocabulary.SETUP,
    "operator.as_teardown": vocabulary.TEARDOWN,
    "operator.defer": vocabulary.WAIT,
    "result.concat": vocabulary.WITHIN,
    "result.map": vocabulary.WITHIN,
    "result.zip": vocabulary.WITHIN,
}
"""Methods that are there to be refused, of what `@task` and `@task_group` make, and of tasks."""


def with_airflow(source: str) -> str:
    """The source of a page with the sections in their place."""
    return source.replace(MARK, "\n".join(_sections()).strip()) if MARK in source else source


def _sections() -> Iterator[str]:
    yield "## Names and operators\n"
    yield f"From `flow`: {_names(flow.__all__)}.\n"
    for module in _OPERATORS:
        yield f"From `{module.__name__}`: {_names(_operators_of(module))}.\n"
    kinds = [name for name in (*vars(task), "run_if", "skip_if") if not name.startswith("_")]
    decorators = ["@dag", "@task_group", "@task", *(f"@task.{name}" for name in kinds)]
    yield f"Decorators: {_names(decorators)}.\n"
    yield "What Flow does not have, and what to do instead:\n"
    yield from _instead({f"@task.{name}": said for name, said in LATER.items()})
    yield from _instead(REFUSED_METHODS)
    yield from _instead(absent.NAMES)
    yield ""
    yield "## Modules\n"
    yield "Of these modules of Airflow something else stands in the place:\n"
    yield from _instead({f"airflow.{name}": said for name, said in absent.MODULES.items()})
    yield ""
    for heading, names, words in _ARGUMENTS:
        yield from _arguments(heading, names, words)
    yield "## Params\n"
    yield f"`Param` takes {_names(Signature(flow.Param.__init__).names)}.\n"
    yield from _instead(vocabulary.PARAM.gone)
    yield ""
    yield "## The context, and templates\n"
    yield f"There are {_names(CONTEXT_KEYS)}.\n"
    yield f"Not supported yet: {_names(context.NOT_YET)}.\n"
    yield from _instead(context.GONE)


def _arguments(heading: str, names: Iterable[str], words: Vocabulary) -> Iterator[str]:
    yield f"## {heading}\n"
    yield f"There are {_names(names)}.\n"
    if words.not_yet:
        yield f"Not supported yet, and refused unless they say nothing: {_names(words.not_yet)}.\n"
    yield from _instead(words.gone)
    yield ""


def _instead(said: Mapping[str, str]) -> Iterator[str]:
    """An item for each answer, with all names that have it."""
    names: dict[str, list[str]] = {}
    for name, answer in said.items():
        names.setdefault(answer, []).append(name)
    yield from (f"- {_names(those)}: {answer}." for answer, those in names.items())


def _operators_of(module: ModuleType) -> list[str]:
    return [
        name
        for name, found in vars(module).items()
        if inspect.isclass(found)
        and issubclass(found, BaseOperator)
        and found.__module__ == module.__name__
    ]


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))
