"""A story of sixty kills and all other faults, told with another seed each time."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

from chaos.soak import tell
from chaos.story import Story
from services import note, postgres_found

SEED = "FLOW_TEST_CHAOS_SEED"
"""Environment variable with the seed of a story that is to be told again."""


@pytest.mark.timeout(1500)
def test_sixty_kills(record_property: Callable[[str, object], None]) -> None:
    seed = int(os.environ.get(SEED) or random.randrange(1 << 30))
    story = Story(seed, kills=60, pace=0.35)
    right = tell(story)
    note(postgres_found())
    record_property("story", f"seed {seed}: {story.summary()}")
    if not right:
        pytest.fail(f"{story.report()}\n\ntell it again with {SEED}={seed}", pytrace=False)
    assert story.counts["kills"] == 60
    assert story.counts["clears"] > 0
