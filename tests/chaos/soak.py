"""Tell a long story of chaos: `just soak --seed 7` tells the same plan again.

Usage: soak.py [--kills N] [--seed N] [--pace S]

Prints what strikes as it strikes; the last line names the counts. Exit code 1 when something was
wrong in the end, which is printed before it.
"""

from __future__ import annotations

import argparse
import random
import sys
from functools import partial

from chaos.deployment import deployed
from chaos.story import Story


def tell(story: Story) -> bool:
    """Tell a story on a deployment of its own; whether all was right."""
    with deployed(story.say) as deployment:
        try:
            story.tell(deployment)
        except Exception as error:  # the report says how far it has come
            story.wrong.append(f"the story ended early: {type(error).__name__}: {error}")
            story.wrong += deployment.tails()
    return not story.wrong


def main(arguments: list[str] | None = None) -> int:
    """Tell it, and print what was wrong and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--pace", type=float, default=1.6, help="seconds between faults")
    asked = parser.parse_args(arguments)
    story = Story(asked.seed, asked.kills, asked.pace, partial(print, flush=True))
    print(f"seed {story.seed}", flush=True)
    right = tell(story)
    for text in story.wrong:
        print(f"WRONG: {text}")
    print(story.summary(), flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
