"""Asking before something is destroyed."""

from __future__ import annotations

import sys

import typer

from flow.errors import UsageError


def confirm(question: str, *, yes: bool) -> None:
    """Return when the person agrees; raise when they do not, or when nobody is there to ask.

    `yes` is the answer of `--yes`. Raises `UsageError` without a terminal, `typer.Abort` on "no".
    """
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(
            "this needs an answer, and there is no terminal to ask on",
            "Add --yes to do it, or --dry-run to see what it would touch.",
        )
    # Typer's own question writes to stdout, where only the result of a command belongs.
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise typer.Abort
