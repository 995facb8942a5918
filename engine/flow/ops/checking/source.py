"""Looking at the source of a DAG file, without running it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import lru_cache


def named_values(text: str, names: Collection[str]) -> Iterator[tuple[str, ast.expr]]:
    """The values that are written for some names: as keyword arguments, or as items of a dict."""
    for node in ast.walk(_tree(text)):
        if isinstance(node, ast.keyword) and node.arg in names:
            yield str(node.arg), node.value
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in names:
                    yield str(key.value), value


def texts(text: str) -> Iterator[tuple[int, str]]:
    """The texts that are arguments of calls or get a name, with their lines."""
    for node in ast.walk(_tree(text)):
        if isinstance(node, ast.Call):
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.Assign):
            values = [node.value]
        else:
            continue
        for value in values:
            written = _written(value)
            if written is not None:
                yield value.lineno, written


def _written(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return " ".join(filter(None, map(_written, node.values)))
    return None


@lru_cache(maxsize=1)
def _tree(text: str) -> ast.AST:
    """The tree of a source; an empty one for what is no Python, of which its import tells."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])
