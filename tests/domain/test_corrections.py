"""Corrections as text edits: one key, and no other byte."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from remvault.domain.corrections import (
    archived,
    brought,
    confirmed,
    linked,
    resting_on,
    restored,
    retracted,
    superseded,
    unlinked,
    widening,
)
from remvault.domain.edits import EditRefused
from remvault.domain.note import parse_note
from tests.vaults import note_text

NOW = "2026-12-01T09:30:00Z"


def test_confirming_adds_one_line_and_keeps_line_ends_and_comments() -> None:
    text = note_text(tags="[a,  b]  # mine").replace("\n", "\r\n")

    edited = confirmed(text, NOW)

    assert edited.replace(f"confirmed: {NOW}\r\n", "") == text
    assert edited.count(f"\r\nconfirmed: {NOW}\r\n") == 1


def test_confirming_again_replaces_the_time() -> None:
    assert confirmed(confirmed(note_text(), "2026-01-01"), NOW) == confirmed(note_text(), NOW)


def test_a_retraction_keeps_the_text_and_collects_what_must_not_be_inferred() -> None:
    text = note_text(no_infer="[pg12]")

    edited = retracted(text, ["pg13", "pg12", "a: b"])

    assert edited == text.replace("no-infer: [pg12]", 'no-infer: [pg12, pg13, "a: b"]').replace(
        "freshness: current\n", "freshness: current\nstatus: retracted\n"
    )


def test_restoring_gives_back_the_very_bytes() -> None:
    text = note_text(tags="[a]   # mine")

    assert restored(archived(text), was_retracted=False) == text
    assert restored(retracted(text, ["x"]), was_retracted=True) == text


def test_restoring_from_the_archive_keeps_what_must_not_be_inferred() -> None:
    text = note_text(no_infer="[x]")

    assert restored(archived(text), was_retracted=False) == text


def test_the_mark_of_supersession_names_the_newer_one() -> None:
    edited = superseded(note_text(), "m-1111111111", ["pg13"])

    memory = parse_note("a.md", edited.encode()).memory
    assert (memory.freshness, memory.superseded_by, memory.no_infer) == ("superseded", "m-1111111111", ("pg13",))


def test_a_link_is_made_once_weighed_anew_and_taken_away_without_a_trace() -> None:
    text = note_text()

    once = linked(text, "supports", "m-1111111111")
    weighed = linked(once, "supports", "m-1111111111", "0.5")

    assert linked(once, "supports", "m-1111111111") == once
    assert linked(weighed, "supports", "m-1111111111") == weighed
    relations = parse_note("a.md", weighed.encode()).memory.relations
    assert [(one.type, one.target, one.weight) for one in relations] == [("supports", "m-1111111111", 0.5)]
    assert unlinked(weighed, "supports", ["m-1111111111"]) == text


def test_a_link_weighed_anew_keeps_what_else_it_says() -> None:
    text = note_text(relations="[{type: supports, target: m-1, source: me, confidence: 0.4}, {type: own, target: X}]")

    relations = parse_note("a.md", linked(text, "supports", "m-1", "1").encode()).memory.relations

    assert {(one.type, one.target, one.weight, one.confidence, one.source) for one in relations} == {
        ("supports", "m-1", 1.0, 0.4, "me"),
        ("own", "X", None, None, None),
    }


def test_unlinking_what_is_not_there_changes_nothing() -> None:
    text = note_text(relations="[{type: supports, target: m-1}]")

    assert unlinked(text, "supports", ["m-2"]) == text
    assert unlinked(text, "contradicts", ["m-1"]) == text


def test_a_link_in_frontmatter_nobody_can_read_is_refused() -> None:
    with pytest.raises(EditRefused):
        linked("---\na: [b\n---\n", "supports", "m-1")


def test_identical_text_brings_tier_expiry_pin_sensitivity_and_new_anchors() -> None:
    text = note_text(tier="core", anchors="[{at: src/a.py}]")
    memory = parse_note("a.md", text.encode()).memory

    edited = brought(
        text,
        memory,
        {
            "tier": "temporary",
            "expires": "2027-01-01",
            "pinned": "true",
            "anchors": [{"at": "src/a.py"}, {"at": "src/b.py"}],
            "tags": ["not", "this"],
        },
    )

    now = parse_note("a.md", edited.encode()).memory
    assert (now.tier, now.expires, now.pinned, now.tags) == ("temporary", "2027-01-01", True, ())
    assert [anchor.at for anchor in now.anchors] == ["src/a.py", "src/b.py"]
    assert "expires: 2027-01-01\n" in edited
    assert "pinned: true\n" in edited


@dataclass(frozen=True)
class Row:
    id: str | None
    relations: tuple[tuple[str, str], ...] = ()


def test_what_rests_on_a_memory_points_at_it_or_is_supported_by_it() -> None:
    others = [
        Row("m-derived", (("derived-from", "m-it"),)),
        Row("m-supporting", (("supports", "m-it"),)),
        Row("m-related", (("contradicts", "m-it"),)),
        Row("m-supported"),
        Row("m-else", (("derived-from", "m-other"),)),
        Row("m-it", (("supports", "m-it"),)),
        Row(None, (("supports", "m-it"),)),
    ]

    assert resting_on("m-it", [("supports", "m-supported"), ("contradicts", "m-else")], others) == [
        "m-derived",
        "m-supported",
        "m-supporting",
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("project:acme", "global:", "only project:acme until now, everybody, everywhere (global) from now on"),
        ("branch:acme@x", "project:acme", "only branch:acme@x until now, project:acme from now on"),
        ("project:acme", "project:other", "project:acme sees it no longer, project:other does"),
        (None, "project:acme", "nobody's context until now"),
    ],
)
def test_a_wider_or_another_owner_is_said_plainly(old: str | None, new: str, said: str) -> None:
    assert said in (widening(old, new) or "")


@pytest.mark.parametrize(
    ("old", "new"), [("global:", "project:acme"), ("project:acme", "project:acme"), ("project:acme", None)]
)
def test_a_narrower_owner_needs_no_warning(old: str, new: str | None) -> None:
    assert widening(old, new) is None
