"""Real files, real children: what a DAG processor makes of good and bad files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from dag_folder import Folder
from flow.roles.parse import Memory, parser
from flow.roles.parse.queue import Waiting
from waiting import PATIENCE


def test_a_good_file_is_stored(folder: Folder) -> None:
    path = folder.dag("good.py", "good", "better")
    folder.parse()
    assert folder.errors() == {}
    assert folder.dags() == {"good": "good.py", "better": "good.py"}
    assert folder.value("select line from dag where dag_id = 'better'") == 6
    assert folder.value("select file from dag where dag_id = 'good'") == path


def test_one_bad_file_hides_no_other(folder: Folder) -> None:
    folder.dag("good.py", "good")
    folder.write("syntax.py", "x = 1\nwith DAG(\n")
    folder.write("raises.py", "print('so far')\nimport no_such_module_anywhere\n")
    folder.write("exit.py", "import sys\nsys.exit('no')\n")
    folder.write("interrupt.py", "raise KeyboardInterrupt\n")
    folder.write("exit_at_once.py", "import os\nprint('last words', flush=True)\nos._exit(7)\n")
    folder.write("stdin.py", "import sys\nassert sys.stdin.read() == ''\n")
    folder.write("closed.py", "import os\nos.close(1)\nos.close(2)\n")
    folder.write("crash.py", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    folder.write("deep_crash.py", "import crasher\n")
    folder.write("crasher.py", "import ctypes\n\nctypes.string_at(8)\n")
    folder.parse()
    errors = folder.errors()
    assert folder.dags() == {"good": "good.py"}
    assert set(errors) == {
        *("syntax.py", "raises.py", "exit.py", "interrupt.py", "exit_at_once.py", "crash.py"),
        *("deep_crash.py", "crasher.py"),
    }
    assert "SyntaxError" in errors["syntax.py"]
    assert "no_such_module_anywhere" in errors["raises.py"]
    assert "SystemExit: no" in errors["exit.py"]
    assert "KeyboardInterrupt" in errors["interrupt.py"]
    assert "exit code 7" in errors["exit_at_once.py"]
    assert "signal 11 (SIGSEGV)" in errors["crash.py"]
    at = "select {} from dag_file where path like %s"
    assert folder.value(at.format("error_line"), "%/syntax.py") == 2
    assert folder.value(at.format("error_line"), "%/raises.py") == 2
    assert folder.value(at.format("error_line"), "%/crash.py") == 2
    assert folder.value(at.format("error_line"), "%/deep_crash.py") == 1
    assert 'crasher.py", line 3 in' in folder.value(at.format("traceback"), "%/deep_crash.py")
    assert folder.value(at.format("output"), "%/deep_crash.py") is None
    assert "import no_such_module_anywhere" in folder.value(at.format("traceback"), "%/raises.py")
    assert folder.value(at.format("output"), "%/raises.py") == "so far"
    assert folder.value(at.format("output"), "%/exit_at_once.py") == "last words"


def test_faults_of_the_graph_are_found_before_anything_is_stored(folder: Folder) -> None:
    folder.write(
        "cycle.py",
        """
        from flow import DAG
        from flow.operators.empty import EmptyOperator
        with DAG("cycle"):
            a, b = EmptyOperator(task_id="a"), EmptyOperator(task_id="b")
            a >> b >> a
        """,
    )
    folder.dag("twice.py", "twice", "twice")
    folder.dag("long.py", "x" * 251)
    folder.write("a.py", "import b\n")
    folder.write("b.py", "import a\nthere = a.missing\n")
    folder.parse()
    errors = folder.errors()
    assert folder.dags() == {}
    assert folder.value("select count(*) from spec") == 0
    assert "a >> b >> a" in errors["cycle.py"] or "b >> a >> b" in errors["cycle.py"]
    assert "'twice'" in errors["twice.py"]
    assert "at most 250" in errors["long.py"]
    assert "missing" in errors["b.py"]


def test_mending_a_file_clears_its_error_and_the_last_good_version_stays(folder: Folder) -> None:
    folder.dag("one.py", "one")
    folder.parse()
    folder.write("one.py", "oops(\n")
    folder.parse()
    assert "SyntaxError" in folder.errors()["one.py"]
    assert folder.dags() == {"one": "one.py"}
    assert folder.value("select max(number) from dag_version") == 1
    folder.dag("one.py", "one", task="mended")
    folder.parse()
    assert folder.errors() == {}
    assert folder.value("select version from dag") == 2


def test_an_endless_import_is_stopped_with_all_it_started(folder: Folder) -> None:
    folder.dag("good.py", "good")
    marker = f"endless-{os.getpid()}-{time.monotonic_ns()}"
    folder.write(
        "endless.py",
        f"""
        import subprocess, sys
        print("started", flush=True)
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(9999)", "{marker}"],
                         start_new_session=True)
        while True:
            pass
        """,
    )
    folder.parse(timeout=2.0 * PATIENCE)
    assert folder.dags() == {"good": "good.py"}
    assert f"longer than {2 * PATIENCE:g} s" in folder.errors()["endless.py"]
    output = "select output from dag_file where path like '%%/endless.py'"
    assert folder.value(output) == "started"
    place = "select error_line from dag_file where path like '%%/endless.py'"
    assert folder.value(place) in (6, 7)
    assert not [
        p.pid for p in psutil.process_iter(["cmdline"]) if marker in (p.info["cmdline"] or ())
    ]


def test_a_flood_of_output_is_cut_to_its_end(folder: Folder) -> None:
    folder.dag(
        "flood.py",
        "flood",
        extra="for _ in range(50):\n    print('x' * 1_000_000)\nprint('the end')",
    )
    folder.parse()
    assert folder.dags() == {"flood": "flood.py"}
    output = folder.value("select output from dag_file")
    assert output.endswith("xxx\nthe end")
    assert len(output) < 10_000
    assert "bytes left out" in output


def test_an_import_cannot_take_all_memory(folder: Folder) -> None:
    folder.write("greedy.py", "x = bytearray(3 * 2**30)\n")
    folder.dag("good.py", "good")
    folder.parse(memory=2**30)
    assert folder.dags() == {"good": "good.py"}
    assert "1 GiB" in folder.errors()["greedy.py"]


def test_what_an_import_leaves_running_is_ended(folder: Folder) -> None:
    marker = f"leftover-{os.getpid()}-{time.monotonic_ns()}"
    folder.dag(
        "forks.py",
        "forks",
        extra=(
            "import subprocess, sys\n"
            "for _ in range(10):\n"
            "    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(9999)',"
            f" '{marker}'])"
        ),
    )
    with folder.parser() as parser:
        parser.run_once()
        assert folder.dags() == {"forks": "forks.py"}
        living = [
            p.pid for p in psutil.process_iter(["cmdline"]) if marker in (p.info["cmdline"] or ())
        ]
    assert living == []


def test_an_import_that_kills_its_parent_is_told_from_the_innocent(folder: Folder) -> None:
    for name in ("a", "b", "c", "d"):
        folder.dag(f"{name}.py", name)
    folder.write(
        "killer.py", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nwhile 1: pass\n"
    )
    folder.parse()
    assert set(folder.dags()) == {"a", "b", "c", "d"}
    assert set(folder.errors()) == {"killer.py"}


def test_nothing_is_imported_again_without_a_change(folder: Folder) -> None:
    counter = folder.path.parent / "imports"
    note = f"open({str(counter)!r}, 'a').write('x')"
    folder.dag("one.py", "one", extra=note)
    with folder.parser() as parser:
        parser.run_once()
        parser.run_once()
    folder.parse()  # another process, that knows only what is stored
    (folder.path / "one.py").touch()
    folder.parse()
    assert counter.read_text() == "x"


def test_a_changed_local_module_is_a_change_of_the_files_that_import_it(folder: Folder) -> None:
    folder.write("helpers/__init__.py", "")
    folder.write("helpers/names.py", "TASK = 'first'\n")
    folder.dag("one.py", "one", extra="from helpers.names import TASK")
    folder.dag("two.py", "two")
    with folder.parser() as parser:
        parser.run_once()
        folder.write("helpers/names.py", "TASK = 'the second'\n")
        parser.run_once()
    versions = dict(folder.conn.execute("select dag_id, version from dag").fetchall())
    assert versions == {"one": 2, "two": 1}


def test_an_error_ends_when_the_missing_module_comes(folder: Folder) -> None:
    folder.dag("one.py", "one", extra="import helper_to_come")
    with folder.parser() as parser:
        parser.run_once()
        assert "helper_to_come" in folder.errors()["one.py"]
        folder.write("helper_to_come.py", "")
        parser.run_once()
        assert folder.errors() == {}
        assert folder.dags() == {"one": "one.py"}


def test_a_dag_goes_with_its_file_and_comes_back_with_it(folder: Folder) -> None:
    path = Path(folder.dag("one.py", "one"))
    folder.dag("two.py", "two")
    with folder.parser() as parser:
        parser.run_once()
        text = path.read_text()
        path.unlink()
        parser.run_once()
        assert folder.dags() == {"two": "two.py"}
        assert folder.value("select count(*) from dag_version where dag_id = 'one'") == 1
        path.write_text(text)
        parser.run_once()
        assert folder.dags() == {"one": "one.py", "two": "two.py"}
        assert folder.value("select version from dag where dag_id = 'one'") == 1


def test_a_folder_that_is_not_there_hides_nothing(folder: Folder) -> None:
    folder.dag("one.py", "one")
    folder.parse()
    folder.path.rename(folder.path.with_name("unmounted"))
    folder.parse()
    assert folder.dags() == {"one": "one.py"}


def test_the_first_owner_of_an_id_keeps_it_for_ever(folder: Folder) -> None:
    one = Path(folder.dag("one.py", "shared", task="of_one"))
    folder.parse()
    two = folder.dag("two.py", "shared", "own", task="of_two")
    for _ in range(3):
        folder.parse()
        assert folder.dags() == {"shared": "one.py", "own": "two.py"}
        error = folder.errors()["two.py"]
        assert str(one) in error
        assert two in error
    assert folder.value("select version from dag where dag_id = 'shared'") == 1
    with folder.parser() as parser:
        parser.run_once()
        one.unlink()
        parser.run_once()
    assert folder.dags() == {"shared": "two.py", "own": "two.py"}
    assert folder.errors() == {}


@pytest.mark.parametrize("order", [list.sort, list.reverse], ids=["old first", "new first"])
def test_an_id_that_moves_between_files_is_taken_over_in_the_same_sweep(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, order: Callable[[list[Waiting]], None]
) -> None:
    monkeypatch.setattr(parser.random, "shuffle", order)
    folder.dag("one.py", "moves", "stays")
    folder.parse()
    folder.dag("two.py", "moves")
    folder.dag("one.py", "stays")
    folder.parse(processes=1)
    assert folder.dags() == {"moves": "two.py", "stays": "one.py"}
    assert folder.errors() == {}


def test_two_processors_side_by_side_agree(folder: Folder) -> None:
    for number in range(6):
        folder.dag(f"f{number}.py", f"own_{number}", "shared")
    with folder.parser(processes=1) as first, folder.parser(processes=1) as second:
        first.sweep()
        second.sweep()
        first.run_once()
        second.run_once()
        owner = folder.dags()["shared"]
        for _ in range(3):
            second.run_once()
            first.run_once()
            assert folder.dags()["shared"] == owner
    assert len(folder.errors()) == 5
    assert folder.value("select max(version) from dag") == 1


def test_hidden_folders_and_caches_are_not_looked_at(folder: Folder) -> None:
    folder.dag("deep/er/one.py", "one")
    for name in (".git/two.py", "__pycache__/three.py", ".four.py", "five.txt"):
        folder.dag(name, "never")
    (folder.path / "loop").symlink_to(folder.path)
    (folder.path / "nowhere.py").symlink_to(folder.path / "no_such_file")
    folder.parse()
    assert folder.dags() == {"one": "one.py"}
    assert folder.errors() == {}


def test_a_name_that_is_not_utf8_is_an_error_of_that_file_alone(folder: Folder) -> None:
    folder.dag("good.py", "good")
    bad = os.fsencode(folder.path) + b"/b\xff.py"
    with open(bad, "w") as file:
        file.write("x = 1\n")
    with folder.parser() as parser:
        parser.run_once()
        parser.run_once()
        assert folder.dags() == {"good": "good.py"}
        assert list(folder.errors()) == [r"b\xff.py"]
        os.unlink(bad)
        parser.run_once()
        assert folder.errors() == {}


@pytest.mark.parametrize("request_line", ["Variable.get('x')", "Variable.set('x', '1')"])
def test_what_is_asked_for_at_import_is_answered(folder: Folder, request_line: str) -> None:
    folder.write("asks.py", f"from flow import Variable\n{request_line}\n")
    folder.parse()
    assert "x" in folder.errors()["asks.py"]


def test_a_file_that_changes_while_it_is_imported_is_imported_again(folder: Folder) -> None:
    other = folder.path / "one.py"
    folder.dag(
        "one.py",
        "one",
        task="before",
        extra=f"""
with open({str(other)!r}) as file:
    text = file.read()
if "bef" "ore" in text:
    with open({str(other)!r}, "w") as file:
        file.write(text.replace("bef" "ore", "after"))
""",
    )
    folder.parse()
    assert folder.value("select body from spec").count("after") == 1
    assert folder.value("select version from dag") == 1


def test_a_processor_that_saw_the_file_itself_does_not_undo_another_ones_work(
    folder: Folder,
) -> None:
    """Two hosts with different copies for a while: simulated by the memory of what each saw."""
    folder.dag("one.py", "one", task="old_copy")
    knowledge = Memory()
    folder.parse(knowledge=knowledge)
    folder.conn.execute("update dag_file set content_hash = 'of the newer copy'")
    folder.parse(knowledge=knowledge)
    assert folder.value("select content_hash from dag_file") == "of the newer copy"
