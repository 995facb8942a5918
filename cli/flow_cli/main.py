"""The entry of the `flow` command."""

from __future__ import annotations

import sys


def run() -> None:
    """Run the command line of this process and exit with the code of the contract."""
    try:
        # Most of a short command's time is imports, and Ctrl-C may come during them.
        from flow_cli.application import main

        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130  # exits.INTERRUPTED, which may not be imported yet
    sys.exit(code)
