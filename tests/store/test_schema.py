"""The committed dump of the schema, and the numbers of the migrations."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory

from flow.store import migrate
from flow.store.connect import Conn
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


def test_hot_and_history_have_the_same_columns_in_the_same_order(connection: Conn) -> None:
    """Rows move between them as they are."""
    columns: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for family, kind, *column in connection.execute(
        """select split_part(table_name, '_', 1), split_part(table_name, '_', 2), column_name,
             data_type from information_schema.columns
           where table_name ~ '^(task|try|xcom|event)_(hot|history)$' order by ordinal_position"""
    ):
        columns.setdefault(family, {}).setdefault(kind, []).append(tuple(column))
    assert columns.keys() == {"task", "try", "xcom", "event"}
    for family, kinds in columns.items():
        assert kinds["hot"] == kinds["history"], family
