"""Run command lines of `flow` in this process, each so many times; how long each took.

Usage: repeated.py ROUNDS, with a JSON list of lists of words on standard input

What stays is loading: every command has run once before it is timed. Prints, in one JSON object,
the seconds of each round of each command line, in their order, and the exit codes.
"""

from __future__ import annotations

import io
import json
import sys
import time
from contextlib import redirect_stderr, redirect_stdout

from flow_cli.application import main


def timed(words: list[str]) -> tuple[float, int]:
    """Seconds that one command line takes, and its exit code."""
    # Streams as files have them: the command sets how they treat what they cannot write.
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        began = time.perf_counter()
        code = main(words)
        return time.perf_counter() - began, code


def run(rounds: int, commands: list[list[str]]) -> dict[str, list[list[float]] | list[int]]:
    """The seconds of all rounds by command line, and the exit codes of the last one."""
    codes = [timed(words)[1] for words in commands]
    seconds: list[list[float]] = [[] for _ in commands]
    for _ in range(rounds):
        for place, words in enumerate(commands):
            seconds[place].append(timed(words)[0])
    return {"seconds": seconds, "codes": codes}


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]), json.load(sys.stdin))))
