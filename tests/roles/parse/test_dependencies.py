"""What makes a file worth parsing besides itself: modules, variables, and what it lacked."""

from __future__ import annotations

from pathlib import Path

import pytest

from dag_folder import Folder
from flow.process.messages import GetConnection, GetVariable, Refused, ToChild, Value
from flow.store import variables
from flow.store.connect import Conn

READS = "from flow import Variable\nTEXT = Variable.get({key!r}, default='none')\n"


class Reads:
    """Answers like the store, in clear text, and counts."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, conn: Conn, message: GetVariable | GetConnection) -> ToChild:
        assert isinstance(message, GetVariable)
        self.count += 1
        row = variables.one(conn, message.key)
        return Value(value=row.value.decode()) if row else Refused(error="no", missing=True)


def dag_of_variable(folder: Folder, name: str, key: str) -> None:
    lines = [
        "from flow import DAG, Variable",
        "from flow.operators.empty import EmptyOperator",
        f"with DAG({name!r}):",
        f"    EmptyOperator(task_id='t_' + Variable.get({key!r}, default='none'))",
    ]
    folder.write(f"{name}.py", "\n".join(lines) + "\n")


def versions(folder: Folder) -> dict[str, int]:
    return dict(folder.conn.execute("select dag_id, version from dag").fetchall())


def test_a_variable_that_a_file_reads_is_part_of_what_it_is_made_of(folder: Folder) -> None:
    reads = Reads()
    dag_of_variable(folder, "one", "key")
    dag_of_variable(folder, "two", "other")
    with folder.parser(read=reads) as parser:
        parser.run_once()
        parser.run_once()
        assert versions(folder) == {"one": 1, "two": 1}
        variables.set_(folder.conn, "key", b"monday", None)
        variables.set_(folder.conn, "nobody_reads_it", b"x", None)
        parser.run_once()
        assert versions(folder) == {"one": 2, "two": 1}
        variables.set_(folder.conn, "key", b"tuesday", None)
        parser.run_once()
        assert versions(folder) == {"one": 3, "two": 1}
        variables.delete(folder.conn, "key")
        parser.run_once()
        assert versions(folder) == {"one": 4, "two": 1}
    # Another process knows it from the database.
    variables.set_(folder.conn, "other", b"monday", None)
    folder.parse(read=reads)
    folder.parse(read=reads)
    assert versions(folder) == {"one": 4, "two": 2}


def test_a_thousand_files_that_read_a_variable_ask_for_it_once(folder: Folder) -> None:
    reads = Reads()
    variables.set_(folder.conn, "key", b"x", None)
    for number in range(10):
        dag_of_variable(folder, f"dag_{number}", "key")
    folder.parse(read=reads)
    assert len(folder.dags()) == 10
    assert reads.count == 1


def test_a_file_that_lacks_a_variable_is_parsed_when_it_comes(folder: Folder) -> None:
    folder.dag("one.py", "one", extra="from flow import Variable\nVariable.get('to_come')")
    with folder.parser(read=Reads()) as parser:
        parser.run_once()
        assert "to_come" in folder.errors()["one.py"]
        variables.set_(folder.conn, "to_come", b"x", None)
        parser.run_once()
        assert folder.errors() == {}


def test_a_variable_read_by_a_file_that_dies_counts(folder: Folder) -> None:
    folder.dag(
        "one.py",
        "one",
        extra=READS.format(key="deadly") + "import os\nif TEXT == 'none': os._exit(3)",
    )
    with folder.parser(read=Reads()) as parser:
        parser.run_once()
        assert "exit code 3" in folder.errors()["one.py"]
        variables.set_(folder.conn, "deadly", b"no more", None)
        parser.run_once()
        assert folder.errors() == {}


@pytest.mark.parametrize(
    ("imports", "change"),
    [
        ("import pack.inner.deep", "pack/__init__.py"),
        ("import pack.inner.deep", "pack/inner/__init__.py"),
        ("import pack.inner.deep", "pack/inner/deep.py"),
        ("import chain_a", "chain_b.py"),
        ("import importlib\nimportlib.import_module('chain_b')", "chain_b.py"),
        ("def lazily():\n    import chain_b\nlazily()", "chain_b.py"),
        (
            "import importlib.util, pathlib\n"
            "spec = importlib.util.spec_from_file_location("
            "'by_hand', pathlib.Path(__file__).with_name('chain_b.py'))\n"
            "module = importlib.util.module_from_spec(spec)\n"
            "import sys\nsys.modules['by_hand'] = module\nspec.loader.exec_module(module)",
            "chain_b.py",
        ),
    ],
    ids=["package", "inner package", "module", "through another", "by name", "lazily", "by hand"],
)
def test_what_is_imported_on_the_way_counts(folder: Folder, imports: str, change: str) -> None:
    for name in ("pack/__init__.py", "pack/inner/__init__.py", "pack/inner/deep.py", "chain_b.py"):
        folder.write(name, "x = 1\n")
    folder.write("chain_a.py", "import chain_b\n")
    folder.dag("one.py", "one", extra=imports)
    folder.dag("two.py", "two")
    with folder.parser() as parser:
        parser.run_once()
        folder.write(change, "x = 22\n")
        parser.run_once()
    assert versions(folder) == {"one": 2, "two": 1}


def test_a_module_that_fails_is_what_the_file_waits_for(folder: Folder) -> None:
    folder.write("inner.py", "1 / 0\n")
    folder.write("outer.py", "import inner\n")
    folder.dag("one.py", "one", extra="import outer")
    with folder.parser() as parser:
        parser.run_once()
        assert f"({folder.path / 'inner.py'}:1)" in folder.errors()["one.py"]
        folder.write("inner.py", "fine = 1\n")
        parser.run_once()
        assert folder.errors() == {}


@pytest.mark.parametrize("imported", ["import to_come", "from space import to_come"])
@pytest.mark.parametrize("as_package", [False, True])
def test_a_module_that_is_lacking_is_what_the_file_waits_for(
    folder: Folder, imported: str, as_package: bool
) -> None:
    """Nothing else lets a broken file be tried again at once."""
    counter = folder.path.parent / "imports"
    folder.write("space/other.py", "")
    note = f"open({str(counter)!r}, 'a').write('x')"
    folder.dag("one.py", "one", extra=f"{note}\n{imported}")
    place = "space/to_come" if "space" in imported else "to_come"
    with folder.parser() as parser:
        parser.run_once()
        folder.write("unrelated.py", "")
        parser.run_once()
        assert counter.read_text() == "x"
        assert "to_come" in folder.errors()["one.py"]
        folder.write(f"{place}/__init__.py" if as_package else f"{place}.py", "")
        parser.run_once()
        assert folder.dags() == {"one": "one.py"}
        assert not [e for n, e in folder.errors().items() if n == "one.py"]


def test_slow_imports_are_told_with_their_importer(folder: Folder) -> None:
    slow = "import time\nend = time.monotonic() + 0.3\nwhile time.monotonic() < end: pass\n"
    folder.write("slow/__init__.py", "from slow import inner\n")
    folder.write("slow/inner.py", slow)
    folder.write("helper.py", "import slow\n")
    folder.dag("one.py", "one", extra="import helper")
    folder.parse()
    found = folder.value("select imports from dag_file where path like '%%/one.py'")
    assert [(name, importer) for name, _, importer in found] == [("helper", ""), ("slow", "helper")]
    assert all(seconds >= 0.3 for _, seconds, _ in found)


def test_what_an_import_cannot_do_is_said(folder: Folder, tmp_path: Path) -> None:
    folder.write("push.py", "from flow import Variable\nVariable.set('x', '1')\n")
    folder.parse()
    assert "is not possible while a DAG file is imported" in folder.errors()["push.py"]
