"""Names in a sentence."""

from __future__ import annotations

import pytest

from flow.enumeration import few


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b", "c"], "a, b, c"),
        (["a", "b", "c", "d"], "a, b, c and 1 more"),
        (dict.fromkeys("abcdef"), "a, b, c and 3 more"),
    ],
)
def test_the_first_names_and_how_many_more_there_are(names, text):
    assert few(names, 3) == text


def test_names_that_have_commas_are_kept_apart_otherwise():
    assert few(["a, b", "c"], 1, "; ") == "a, b and 1 more"
