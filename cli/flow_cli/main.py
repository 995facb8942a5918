"""The entry of the `flow` command."""

from __future__ import annotations

import sys

_INTERRUPTED = 130
"""`exits.INTERRUPTED`, which may not be imported yet."""


def run() -> None:
    """Run the command line of this process and exit with the code of the contract."""
    try:
        # Most of a short command's time is imports, and Ctrl-C may come during them.
        code = _main(sys.argv[1:])
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except RuntimeError as error:
        # Python 3.11 makes this of whatever is raised while a class is told its attributes' names.
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        code = _INTERRUPTED
    sys.exit(code)


def _main(words: list[str]) -> int:
    """What shells ask for, or a command."""
    if words[:1] == ["--complete"]:
        from flow_cli.complete import main as answer

        return answer(words[1:])
    if words[:1] == ["--refresh-names"]:
        from flow_cli.name_refresh import main as refresh

        return refresh(words[1:])
    from flow_cli.application import main

    return main(words)
