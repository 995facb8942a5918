"""The committed dump of the schema, and the numbers of the migrations."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory

from flow.store import migrate
from postgres import PostgresServer
from store import dump


def test_dump_is_fresh(server: PostgresServer) -> None:
    assert dump.dump(server) == dump.FILE.read_text(encoding="utf-8"), "run: just schema"


def test_migrations_and_the_numbers_in_the_code_agree() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [migrate.HEAD]
    revisions = [script.revision for script in scripts.walk_revisions()]
    assert migrate.NEEDED in revisions
    # They are compared as text, so age and order of the text have to be the same.
    assert revisions == sorted(revisions, reverse=True)
