"""`dag.test()`: the command `flow test`, started for a DAG by its own file.

    if __name__ == "__main__":
        dag.test()

The command is another program: it imports the file under another name, so it does not come here
again, and what runs the tasks is what runs them anywhere else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from flow.authoring.origin import caller
from flow.errors import AuthoringError

if TYPE_CHECKING:
    from flow.authoring.dag import DAG

# -P: a `json.py` in the working folder is not Python's.
_COMMAND: Final = (sys.executable, "-P", "-m", "flow_cli", "test")


class Trial(NamedTuple):
    """What `dag.test()` was given. The files are exports of `flow conns` and `flow vars`."""

    logical_date: datetime | str | None = None
    run_conf: Mapping[str, Any] | None = None
    conn_file_path: str | os.PathLike[str] | None = None
    variable_file_path: str | os.PathLike[str] | None = None


def command(dag: DAG, trial: Trial) -> list[str]:
    """The command line. Raises `AuthoringError` for a conf that JSON cannot say."""
    options: dict[str, Any] = {
        "--date": _date(trial.logical_date),
        "--conf": _conf(trial.run_conf),
        "--conns": trial.conn_file_path,
        "--vars": trial.variable_file_path,
    }
    given = [
        text
        for name, value in options.items()
        if value is not None
        for text in (name, os.fspath(value))
    ]
    return [*_COMMAND, f"{os.path.abspath(dag.fileloc)}:{dag.dag_id}", *given]  # noqa: PTH100


def run(arguments: Sequence[str]) -> None:
    """Run the command to its end. Raises `SystemExit` with its code unless it is 0.

    Ctrl-C reaches the command as well, which ends all processes: its end is waited for.
    """
    sys.stdout.flush()
    with subprocess.Popen(arguments) as process:
        while process.returncode is None:
            try:
                process.wait()
            except KeyboardInterrupt:
                continue
    if process.returncode:
        raise SystemExit(process.returncode)


def _date(date: datetime | str | None) -> str | None:
    return date.isoformat() if isinstance(date, datetime) else date


def _conf(conf: Mapping[str, Any] | None) -> str | None:
    try:
        return None if conf is None else json.dumps(dict(conf), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise AuthoringError(
            f"{caller()}: run_conf cannot be said in JSON: {error}",
            "a conf holds text, numbers, booleans, None, lists and dicts of these",
        ) from None
