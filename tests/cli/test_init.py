"""`flow init`: a project that its own tests and settings accept."""

from __future__ import annotations

import ast
import json

FILES = ["flow.toml", "dags/daily_sales.py", "tests/test_daily_sales.py"]


def test_init_makes_a_project(flow, project):
    ended = flow("init", "sales")
    assert (ended.code, ended.out) == (0, "".join(f"sales/{file}\n" for file in FILES))
    assert ended.err == (
        "Next: cd sales && flow test dags/daily_sales.py\nThen: cd sales && flow up\n"
    )
    for file in FILES[1:]:
        ast.parse((project / "sales" / file).read_text())


def test_init_without_a_folder_uses_the_current_one(flow, project):
    ended = flow("init", "-o", "json")
    assert json.loads(ended.out) == {"folder": ".", "files": FILES}
    assert sorted(str(p.relative_to(project)) for p in project.rglob("*.*")) == sorted(FILES)


def test_settings_of_the_project_are_read(flow, project):
    flow("init")
    assert flow("config", "get", "dags.paused_at_creation").out == "false\n"
    assert flow("config", "get", "dags.folders").out == f"{project}/dags\n"


def test_init_leaves_existing_files_alone(flow, project):
    (project / "dags").mkdir()
    (project / "dags" / "daily_sales.py").write_text("mine")
    ended = flow("init")
    assert (ended.code, ended.out) == (4, "")
    assert ended.err == (
        "already there: dags/daily_sales.py\n"
        "Name another folder, or move what is there out of the way. Nothing was written.\n"
    )
    assert (project / "dags" / "daily_sales.py").read_text() == "mine"
    assert not (project / "flow.toml").exists()


def test_init_writes_through_no_link_that_leads_nowhere(flow, project, tmp_path):
    (project / "flow.toml").symlink_to(tmp_path / "elsewhere")
    ended = flow("init")
    assert ended.code == 4
    assert ended.err.startswith("already there: flow.toml\n")
    assert not (tmp_path / "elsewhere").exists()
