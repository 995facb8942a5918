"""A try whose code is pinned imports that code or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flow.process.code import code_hash, content_hash
from flow.process.jobs import TaskJob
from flow.process.messages import CodeFound
from flow.process.pin import Pin, inside, on_this_host
from flow.process.task import run_task
from support.jobs import Child, Ended, dag_file, run, run_info, task_job
from waiting import wait_until

BODY = """
import helper
open(os.path.join(os.path.dirname(__file__), "imported"), "a").write("x")
{ending}
@task
def t():
    return helper.value
t()
"""
LONG = 600.0
"""Seconds that no test lets pass."""


class Code:
    """A DAG file with a local module, and the version that was made of them."""

    def __init__(self, folder: Path, ending: str = "") -> None:
        self.folder = folder
        self.helper = folder / "helper.py"
        self.helper.write_text("value = 1\n")
        self.file = dag_file(folder, BODY.format(ending=ending))
        self.hash = self.hash_now()

    def hash_now(self) -> str:
        return code_hash(content_hash(str(self.file)), {"helper": content_hash(str(self.helper))})

    def job(self, wait: float = 0.0, **given: Any) -> TaskJob:
        pin = Pin(code_hash=self.hash, modules={"helper": str(self.helper)}, wait=wait)
        return task_job(self.file, pin=pin, run=run_info(version=3), **given)

    def run(self, wait: float = 0.0) -> Ended:
        job = self.job(wait)
        return run(run_task, job, Path(job.log))

    @property
    def imported(self) -> bool:
        return (self.folder / "imported").exists()


@pytest.fixture
def code(tmp_path: Path) -> Code:
    return Code(tmp_path)


def mismatched(ended: Ended, code: Code) -> str:
    """The reason of a try that ended as a mismatch with the code that is there now."""
    outcome = ended.outcome
    assert (outcome.state, outcome.mismatch) == ("failed", True), ended.log
    assert outcome.code_hash == code.hash_now()
    reason = outcome.reason or ""
    assert reason.startswith(f"code_mismatch: {code.file} (with helper) has code ")
    assert code.hash_now()[:12] in reason
    assert reason.endswith(f"pinned to version 3 with code {code.hash[:12]}")
    assert "flow clear --version latest" in ended.log
    return reason


def test_the_pinned_code_is_used(code: Code) -> None:
    ended = code.run()
    assert (ended.outcome.state, ended.outcome.value) == ("success", "1"), ended.log
    assert (ended.outcome.code_hash, ended.outcome.mismatch) == (code.hash, False)
    assert isinstance(ended.requests[0], CodeFound)


@pytest.mark.parametrize("changed", ["file", "helper"])
def test_nothing_of_other_code_is_imported(code: Code, changed: str) -> None:
    with getattr(code, changed).open("a") as file:
        file.write("# changed\n")
    ended = code.run()
    mismatched(ended, code)
    assert ended.requests == []
    assert not code.imported


def test_a_module_that_is_gone_is_a_mismatch(code: Code) -> None:
    code.helper.unlink()
    outcome = code.run().outcome
    assert outcome.mismatch
    assert (outcome.reason or "").startswith(f"code_mismatch: {code.file} has code ")


def test_a_file_that_is_gone_is_no_mismatch(code: Code) -> None:
    code.file.unlink()
    outcome = code.run().outcome
    assert (outcome.state, outcome.mismatch) == ("failed", False)
    assert (outcome.reason or "").startswith("code_missing: file ")


def test_it_goes_on_when_the_code_comes_back(code: Code) -> None:
    code.helper.write_text("value = 2\n")
    job = code.job(LONG)
    log = Path(job.log)
    child = Child(run_task, job, log)
    wait_until(lambda: log.exists() and "waiting for it" in log.read_text(), "a try that waits")
    assert not code.imported
    code.helper.write_text("value = 1\n")
    ended = child.wait()
    assert (ended.outcome.state, ended.outcome.value) == ("success", "1"), ended.log


@pytest.mark.parametrize("then", ["pass", "raise ValueError"])
def test_code_that_changes_while_it_is_imported_is_a_mismatch(tmp_path: Path, then: str) -> None:
    code = Code(tmp_path, f"open(helper.__file__, 'a').write('# changed'); {then}")
    mismatched(code.run(), code)


def test_code_that_cannot_be_imported_is_no_mismatch(tmp_path: Path) -> None:
    outcome = Code(tmp_path, "raise ValueError('no')").run().outcome
    assert (outcome.state, outcome.mismatch) == ("failed", False)
    assert (outcome.reason or "").startswith("cannot import ")


def test_modules_are_kept_by_their_place_in_the_folder(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    places = inside({"a": f"{real}/a.py", "b": f"{link}/b/c.py", "d": "/else/d.py"}, str(link))
    assert places == {"a": "a.py", "b": "b/c.py", "d": "/else/d.py"}
    there = on_this_host(places, "/there")
    assert there == {"a": "/there/a.py", "b": "/there/b/c.py", "d": "/else/d.py"}
