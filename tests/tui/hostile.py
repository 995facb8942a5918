"""Texts that people, programs and accidents leave in a database, in every place that takes any."""

from __future__ import annotations

from typing import Final

from operations_world import World

EVIL: Final = "[red]x[/] [/] [link='a'] [@click=app.quit] \x1b[31m\x07\x9b2J\u202e数据\t{0} %s"
"""What a terminal, a shell or markup could take for something else than letters."""
LONG: Final = "very-" * 49 + "long"
PATH: Final = "/dags/[/]/[red]prices.py"
"""The file that is broken has this name then."""

_STATEMENTS: Final = (
    "update dag set owner = {evil}, description = {evil}, tags = array[{evil}, '[/]']",
    "update dag set paused = true, pause_reason = {evil} where dag_id = 'archive'",
    'update run set reason = {evil}, note = {evil}, conf = \'{{"[/]": "[red]"}}\'',
    "update task_history set reason = {evil}",
    "update task_hot set reason = {evil}",
    "update try_history set reason = {evil}, host = {evil}",
    "update try_hot set host = {evil}",
    "update pool set description = {evil}",
    "update process set host = {evil}, version = {evil}",
    "update audit set os_user = {evil}, db_role = {evil}, host = {evil}, target = {evil},"
    ' before = \'{{"[/]": "[red]"}}\', after = \'{{"[/]": "[/red]"}}\'',
    'update backfill set created_by = {evil}, conf = \'{{"[/]": "[red]"}}\'',
    "update dag_file set path = {path}, error = {evil}, traceback = {evil} || E'\\n' || {evil},"
    " warnings = array[{evil}] where error is not null",
    "insert into event_history (run_key, event_id, at, task_id, map_path, kind, detail)"
    " select run_key, 1, queued_at, 'load', '{{}}', {evil}, {evil} from run",
    "insert into xcom_history (run_key, task_id, map_path, try_number, key, value, created_at)"
    " select run_key, 'load', '{{}}', 1, {evil}, '\"[red]\"', queued_at from run",
)


def spoil(world: World) -> None:
    """Put such texts wherever there is a text, and a DAG with the longest id."""
    values = {"evil": _literal(EVIL), "path": _literal(PATH)}
    world.define(LONG, schedule="@daily", paused=True, file="/dags/long.py")
    for statement in _STATEMENTS:
        world.conn.execute(statement.format(**values))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
