"""Near-duplicates are put together; what says something else never is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.retrieval.diversity import COMPARED_CHARS, Wording, groups, is_near_duplicate

LONG = """
The mail worker retries three times and doubles its pause each time, then it puts the message into the dead-letter queue
where the team on duty looks at it the next morning; a message that stays there longer is dropped.
"""
VOCABULARY = ["deploy", "waits", "for", "the", "queue", "on", "staging", "and", "tests", "with", "an", "old", "linker"]
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=40)


def alike(one: str, other: str, *, titles: tuple[str, str] = ("Mail", "Mail")) -> bool:
    first, second = Wording(titles[0], one), Wording(titles[1], other)
    assert is_near_duplicate(first, second) == is_near_duplicate(second, first)
    return is_near_duplicate(first, second)


@pytest.mark.parametrize(
    "other",
    [
        LONG,
        LONG.upper().replace("DEAD-LETTER", "dead-letter"),
        " ".join(LONG.split()),
        LONG.replace(",", ""),
        LONG + "\nThe team likes it.",
        "**Note:** " + LONG,
    ],
)
def test_the_same_words_in_another_dress_or_with_a_few_more_are_alike(other: str) -> None:
    assert alike(LONG, other)


@pytest.mark.parametrize(
    "change",
    [
        ("retries", "never retries"),
        ("is dropped", "is not dropped"),
        ("three", "four"),
        ("morning", "evening"),
        ("worker retries", "worker in eu-west-1 retries"),
        ("worker retries", "worker 2 retries"),
        ("The mail worker", "The send_mail worker"),
        ("The mail worker", "When asked, the mail worker"),
        ("puts the message into the dead-letter queue", "puts the dead-letter queue into the message"),
        ("doubles", "doubles unless told"),
        ("dead-letter", "dead letter"),
    ],
)
def test_a_word_that_may_turn_the_meaning_keeps_two_notes_apart(change: tuple[str, str]) -> None:
    assert not alike(LONG, LONG.replace(*change))


def test_another_title_is_another_memory() -> None:
    assert not alike(LONG, LONG, titles=("Staging", "Production"))
    assert alike(LONG, LONG, titles=("Mail", "mail"))


def test_short_notes_are_alike_only_when_their_words_are() -> None:
    assert alike("Use tabs.", "use tabs")
    assert not alike("Use tabs.", "Use tabs here.")
    assert not alike("Use tabs.", "Use spaces.")
    assert not alike("", "x")
    assert alike("", "", titles=("C++", "C++"))
    assert not alike("", "", titles=("C", "C++"))
    assert not alike("", "", titles=("-v", "-V"))


def test_long_notes_are_alike_only_when_they_are_equal() -> None:
    long = "word " * COMPARED_CHARS
    assert alike(long, long)
    assert not alike(long, long + "more")


@given(one=WORDS, other=WORDS)
def test_what_is_hidden_is_contained_in_order(one: list[str], other: list[str]) -> None:
    """The law that makes hiding safe: every word of the shorter stands in the longer, in the same order."""
    if alike(" ".join(one), " ".join(other)):
        short, long = sorted((one, other), key=len)
        rest = iter(long)
        assert all(word in rest for word in short)
        assert len(short) >= 0.6 * len(long)


@given(st.lists(st.none() | st.builds(Wording, st.just("t"), WORDS.map(" ".join)), max_size=8))
def test_groups_hold_each_once_and_each_alike_to_all_others(wordings: list[Wording | None]) -> None:
    found = groups(wordings)

    assert sorted(at for group in found for at in group) == list(range(len(wordings)))
    assert found == sorted(found)
    for group in found:
        members = [one for one in (wordings[at] for at in group) if one is not None]
        assert len(group) == 1 or len(members) == len(group)
        assert all(is_near_duplicate(one, other) for one in members for other in members)
