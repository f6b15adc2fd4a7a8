"""Drafts: what a new memory is given, and what a successor takes over."""

from __future__ import annotations

import pytest

from remvault.domain.compose import new_note
from remvault.domain.draft import Author, Draft, draft_fields, successor_fields
from remvault.domain.memory import Anchor, Memory
from remvault.domain.note import parse_note
from remvault.domain.rules import note_problems

NOW = "2026-12-01T09:30:00Z"
DANA = Author("user:dana")


def test_a_draft_with_a_scope_becomes_a_valid_note() -> None:
    fields = draft_fields(Draft("A: b", fields={"scope": "global"}), memory_id="m-1", author=DANA, now=NOW)
    note = parse_note("a.md", new_note(fields, "Body").encode())

    assert note_problems(note) == []
    assert (note.memory.title, note.memory.type, note.memory.created) == ("A: b", "semantic", NOW)
    assert note.memory.provenance[0].source == "remvault://explicit-write"
    assert note.memory.provenance[0].captured == NOW


def test_nothing_is_invented() -> None:
    fields = draft_fields(Draft("T"), memory_id="m-1", author=DANA, now=NOW)

    assert fields.keys() == {"id", "title", "type", "freshness", "created", "provenance"}
    assert fields["provenance"] == [
        {"source": "remvault://explicit-write", "actor": "user:dana", "trust": "user", "captured": NOW}
    ]


@pytest.mark.parametrize(
    ("actor", "trust", "given", "written"),
    [("user:dana", None, None, "user"), ("agent:x", None, None, "tool"), ("agent:x", "low", "s-1", "low")],
)
def test_trust_comes_from_who_acts_unless_somebody_says_otherwise(
    actor: str, trust: str | None, given: str | None, written: str
) -> None:
    draft = Draft("T", source="docs/a.md", trust=trust)
    fields = draft_fields(draft, memory_id="m-1", author=Author(actor, session=given), now=NOW)

    entry = {"source": "docs/a.md", "actor": actor, "trust": written, "captured": NOW}
    assert fields["provenance"] == [entry | ({"session": given} if given else {})]


def test_provenance_is_what_happened_not_what_the_draft_says() -> None:
    fields = draft_fields(Draft("T", fields={"provenance": "forged"}), memory_id="m-1", author=DANA, now=NOW)

    assert fields["provenance"] != "forged"


OLD = Memory(
    id="m-1",
    title="Old",
    type="decision",
    scope="project",
    scope_id="a",
    tags=("x",),
    anchors=(Anchor(at="a.py"),),
    importance=0.9,
)


def test_a_successor_takes_over_what_belongs_to_the_subject() -> None:
    assert successor_fields(OLD, {"tags": ["y"]}) == {
        "type": "decision",
        "scope": "project",
        "scope-id": "a",
        "tags": ["y"],
        "anchors": [{"at": "a.py"}],
        "supersedes": ["m-1"],
    }


def test_a_wider_scope_does_not_take_over_the_narrower_owner() -> None:
    fields = successor_fields(OLD, {"scope": "team"})

    assert (fields["scope"], "scope-id" in fields) == ("team", False)
    assert successor_fields(OLD, {"scope": "team", "scope-id": "t"})["scope-id"] == "t"


def test_the_link_cannot_be_talked_away() -> None:
    assert successor_fields(OLD, {"supersedes": []})["supersedes"] == ["m-1"]
    assert successor_fields(Memory(), {})["supersedes"] == []
