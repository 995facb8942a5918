"""What the words of a filter mean."""

from __future__ import annotations

import pytest

from flow_tui.filters import Filter, Narrowing, Prepared, Texts

FIELDS = ("is", "tag", "owner")
DAGS = [
    ("sales_load", ("shop", "nightly"), "anna", ["failed"]),
    ("basil", ("shop",), "ben", ["paused"]),
    ("stock", (), "anna", ["running", "active"]),
]


def narrowing(*, loose: bool = True) -> Narrowing[str]:
    made: Narrowing[str] = Narrowing(FIELDS, loose=loose)
    made.take(
        [
            Prepared(name, Texts.of(name, tag=tags, owner=owner, **{"is": flags}))
            for name, tags, owner, flags in DAGS
        ]
    )
    return made


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ["sales_load", "basil", "stock"]),
        ("sl", ["sales_load", "basil"]),
        ("SALES", ["sales_load"]),
        ("tag:shop", ["sales_load", "basil"]),
        ("tag:sho !tag:night", ["basil"]),
        ("owner:anna is:failed", ["sales_load"]),
        ("is:run", []),
        ("!s", []),
        ("!basil", ["sales_load", "stock"]),
        ("tag:", ["sales_load", "basil", "stock"]),
        ("stock tag:shop", []),
    ],
)
def test_all_words_have_to_fit(text, found) -> None:
    assert narrowing().fitting(text) == found


def test_without_looseness_letters_have_to_follow_each_other() -> None:
    assert narrowing(loose=False).fitting("sl") == []
    assert narrowing(loose=False).fitting("al") == ["sales_load"]


def test_a_word_with_a_field_that_there_is_not_is_named_and_does_not_count() -> None:
    found = narrowing()
    assert len(found.fitting("colour:red")) == len(DAGS)
    assert found.filter.unknown == ("colour:red",)


@pytest.mark.parametrize(
    "words", ["sales !night", "tag:shop is:failed", "s !b", "ow owner:an", "is:run is:running"]
)
def test_typing_letter_by_letter_finds_what_the_whole_finds(words) -> None:
    typed = narrowing()
    for end in range(1, len(words) + 1):
        assert typed.fitting(words[:end]) == narrowing().fitting(words[:end])
    for end in range(len(words), 0, -1):
        assert typed.fitting(words[:end]) == narrowing().fitting(words[:end])


def test_only_a_filter_that_was_typed_on_narrows() -> None:
    read = [Filter.read(text, FIELDS) for text in ("a", "ab", "ab !c", "ab !cd", "b")]
    assert read[1].narrows(read[0])
    assert read[2].narrows(read[1])
    assert not read[3].narrows(read[2])
    assert not read[4].narrows(read[0])
