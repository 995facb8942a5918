"""What an import that has ended says about its file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from flow.graph.imported import ImportedDag, ImportFailure
from flow.process import verdict
from flow.process.messages import Parsed
from flow.process.pin import inside
from flow.process.plain_file import Signature
from flow.process.verdict import Limits
from flow.roles.parse.imports import Imported
from flow.store.dag_files import ParsedFile

_MOST_IMPORTS: Final = 10
_MOST_MODULES: Final = 10_000
"""Local modules that are watched for a file."""
_LONGEST_NAME: Final = 250


def judge(imported: Imported, limits: Limits) -> ImportFailure | list[ImportedDag]:
    """The DAGs that the file defines, or why it cannot be imported."""
    return verdict.judge(
        imported.ended, overdue=imported.overdue, limits=limits, last=imported.last
    )


def file(imported: Imported, root: str, modules: Mapping[str, str], code_hash: str) -> ParsedFile:
    """What is known of the file itself, in the DAG folder `root`."""
    parsed = said(imported)
    return ParsedFile(
        path=imported.path,
        code_hash=code_hash,
        modules=modules,
        places=inside(modules, root),
        variables=imported.variables,
        seconds=_seconds(imported),
        imports=_imports(parsed),
        output=imported.last.output or None,
        warnings=parsed.warnings,
    )


def modules(parsed: Parsed, root: str) -> dict[str, str]:
    """The files whose change makes another import worth while: name → absolute path.

    Modules that the file has imported, and the places in the DAG folder where one that it lacked
    would be.
    """
    found: dict[str, str] = {}
    if parsed.modules:
        folder = os.path.realpath(root) + os.sep
        found = {n: path for n, path in parsed.modules.items() if _is_below(folder, path)}
    for name in parsed.lacked:
        place = root + os.sep + name.replace(".", os.sep)
        if root and os.sep not in name and _is_below(root, place):
            found.setdefault(name, f"{place}.py")
            found.setdefault(f"{name}.__init__", f"{place}{os.sep}__init__.py")
    return dict(islice(found.items(), _MOST_MODULES))


def signatures(imported: Imported, modules: Mapping[str, str]) -> dict[str, Signature]:
    """What files were when they were executed, by path, as far as they are among `modules`."""
    told = said(imported).signatures
    return {modules[name]: one for name, one in told.items() if name in modules}


def said(imported: Imported) -> Parsed:
    """What the import has said; nothing, if it could not."""
    result = imported.ended.result if imported.ended else None
    return result if isinstance(result, Parsed) else Parsed()


def _is_below(folder: str, path: str) -> bool:
    """Whether a path that a child has sent is one within a folder."""
    if not path.startswith(folder) or os.path.normpath(path) != path or "\0" in path:
        return False
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def _seconds(imported: Imported) -> float:
    """How long the import took, by what its process says if that can be."""
    told = said(imported).seconds
    return told if 0.0 < told <= imported.seconds else imported.seconds


def _imports(parsed: Parsed) -> Sequence[tuple[str, float, str]]:
    """The slowest imports: module, seconds, importer."""
    return [
        (one.name[:_LONGEST_NAME], one.seconds, one.importer[:_LONGEST_NAME])
        for one in parsed.imports[:_MOST_IMPORTS]
    ]
