"""What a child needs is loaded before it is forked."""

from __future__ import annotations

import subprocess
import sys


def test_what_dag_files_import_is_loaded_with_the_module() -> None:
    script = (
        "import sys, flow, flow.process.task\n"
        "print(*sorted(set(flow._HOME.values()) - sys.modules.keys()))\n"
        "print(*sorted({'sqlalchemy', 'psycopg', 'typer', 'rich'} & sys.modules.keys()))\n"
        "print('flow.authoring.template_environment' in sys.modules)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert ran.stdout == "\n\nTrue\n"
