"""The text of a catalog: bounded, useful when cut, and never more than names and hints."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.retrieval.catalog import ABOUT, Holdings, TopicNotFound, make_catalog
from remvault.retrieval.topics import Known
from tests.retrieval.test_topics import known

# The signs that could end a line, open or close a tag, or hide.
HOSTILE = st.text(
    st.sampled_from("ab <>&\"'\n\r\t·-/…\u202e\u200b\u2028\x00\x1b]") | st.characters(codec="utf-8"), max_size=120
)


def held(*memories: Known, provider: str = "vault", **said: object) -> Holdings:
    return Holdings(provider, tuple(said.get("holds", ())), memories)  # type: ignore[arg-type]


def lines(*holdings: Holdings, **options: object) -> list[str]:
    """The lines of the block behind what it says of itself."""
    block = make_catalog(holdings, **options).block  # type: ignore[arg-type]
    assert block.startswith(ABOUT + "\n")
    return block.splitlines()[1:]


def test_providers_come_first_with_what_they_may_hold_then_the_largest_topics() -> None:
    own = held(
        known("Locks", parent="storage", type="decision", newest_s=10, newest="2026-11-03T10:00:00Z"),
        known("Pages", parent="storage"),
        known("Tea", parent="kitchen"),
        holds=("decisions", "preferences"),
    )
    team = held(known("Cups", parent="Kitchen", provider="team"), provider="team")
    dead = Holdings("gone", (), (), "no such folder")

    assert lines(own, team, dead) == [
        "Providers: vault 3 memories (semantic 2, decision 1, holds decisions, preferences) · team 1 memory"
        " (semantic 1) · gone did not answer",
        "- kitchen (2): Cups; Tea",
        "- storage (2, newest 2026-11-03): Locks; Pages",
    ]


def test_the_hint_of_a_topic_that_is_a_memory_is_its_summary() -> None:
    note = known("Storage", summary="How bytes are kept", parent="backend")

    assert lines(held(note, known("Locks", parent=note.id)))[2:] == [
        "- backend / Storage (2): How bytes are kept",
    ]


def test_a_topic_ends_in_its_memories_with_their_summaries_or_nothing() -> None:
    memories = [
        known("Locks", parent="storage", summary="One lock a file", importance=0.9, newest="2026-11-03"),
        known("Pages", parent="storage"),
        known("Deep", folders=("storage", "pages")),
    ]

    assert lines(held(*memories), topic="Storage") == [
        "storage (3, 1 below): Locks; Deep; Pages",
        "- storage / pages (1): Deep",
        "- m-locks Locks (semantic, 2026-11-03): One lock a file",
        "- m-pages Pages (semantic)",
    ]


def test_an_unknown_topic_and_an_ambiguous_one_are_told_apart() -> None:
    holdings = [held(known("x", folders=("a", "locks")), known("y", folders=("b", "locks")))]

    with pytest.raises(TopicNotFound) as unknown:
        make_catalog(holdings, topic="lock")
    with pytest.raises(TopicNotFound) as several:
        make_catalog(holdings, topic="locks")

    assert unknown.value.message == "no topic called 'lock' here"
    assert several.value.others == ["a / locks", "b / locks"]


def test_the_names_of_more_topics_come_before_the_hints_of_all() -> None:
    memories = [known(f"Title {number}", parent=f"topic {number:03d}") for number in range(200)]
    catalog = make_catalog([held(*memories)])

    assert len(catalog.block) <= 2000
    assert len(catalog.topics) > 30
    assert catalog.block.splitlines()[2] == "- topic 000 (1): Title 0"
    assert catalog.topics_left == 200 - len(catalog.topics)
    assert catalog.block.splitlines()[-1] == (
        f"{catalog.topics_left} more topics are not shown: remvault catalog --budget-chars 4000, "
        "or remvault catalog TOPIC"
    )
    assert len(make_catalog([held(*memories)], budget_chars=20_000).topics) == 200


def test_every_provider_is_named_however_many_there_are() -> None:
    names = [f"provider-number-{number:02d}" for number in range(40)]
    memories = [known(f"Title {number}", parent=f"topic {number:03d}", type="t" * 30) for number in range(200)]
    block = make_catalog([held(*memories, provider=name, holds=("x" * 50,)) for name in names]).block

    assert len(block) <= 2000
    assert all(name in block for name in names)
    assert "topic 000" in block


def test_ten_thousand_memories_in_as_many_topics() -> None:
    memories = [known(f"Title {at}", parent=f"topic {at}") for at in range(9_000)]
    memories += [known(f"Other {at}", parent="large") for at in range(1_000)]

    first = lines(held(*memories))[1]

    assert first.startswith("- large (1,000)")


@given(
    st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE, st.none() | HOSTILE), max_size=8),
    HOSTILE,
    st.integers(1, 3000),
    st.integers(1, 4),
)
def test_the_budget_holds_and_nothing_of_others_starts_a_line_or_a_tag(
    said: list[tuple[str, str, str, str | None]], provider: str, budget: int, depth: int
) -> None:
    memories = [
        known(title, number=at, provider=provider, parent=parent, tags=(tag,), summary=summary, id=tag or None)
        for at, (title, parent, tag, summary) in enumerate(said)
    ]
    catalog = make_catalog([held(*memories, provider=provider)], budget_chars=budget, depth=depth)

    assert len(catalog.block) <= budget
    assert not re.search(r"[<>\x00\x1b\u202e\u200b\u2028]", catalog.block)
    for line in catalog.block.split("\n"):
        assert line == "" or line == ABOUT or line.startswith(("Providers: ", "- ")) or "not shown: remvault" in line
    assert catalog.answer()["chars"] == len(catalog.block)
    for topic in catalog.topics:
        inside = make_catalog([held(*memories, provider=provider)], topic=topic.id, budget_chars=budget)
        assert len(inside.block) <= budget
