"""`python -m flow_cli` is `flow`."""

from flow_cli.main import run

run()
