"""A memory as JSON and back."""

from __future__ import annotations

import json
from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.fields import FIELDS
from remvault.domain.memory import Anchor, Entity, Memory, Provenance, Relation
from remvault.domain.note import parse_note
from remvault.domain.records import from_record, to_record
from tests.vaults import note_text

TEXT = st.text(max_size=8)
MAYBE = st.none() | TEXT
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
NUMBER = st.none() | st.floats(0, 1)
NESTED = st.recursive(
    MAYBE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6
)
PROVENANCE = st.builds(
    Provenance, source=MAYBE, actor=MAYBE, trust=MAYBE, captured=MAYBE, messages=TEXTS, confidence=NUMBER
)
MEMORIES = st.builds(
    Memory,
    id=MAYBE,
    title=MAYBE,
    scope=MAYBE,
    status=TEXT,
    provenance=st.lists(PROVENANCE, max_size=2).map(tuple),
    anchors=st.lists(st.builds(Anchor, at=TEXT, digest=MAYBE, commit=MAYBE), max_size=2).map(tuple),
    relations=st.lists(st.builds(Relation, type=TEXT, target=TEXT, weight=NUMBER), max_size=2).map(tuple),
    entities=st.lists(st.builds(Entity, name=TEXT, type=MAYBE), max_size=2).map(tuple),
    supersedes=TEXTS,
    tags=TEXTS,
    pinned=st.booleans(),
    importance=NUMBER,
    metadata=st.dictionaries(TEXT, NESTED, max_size=3),
)


@given(MEMORIES)
def test_a_memory_survives_its_record_and_json(memory: Memory) -> None:
    record = to_record(memory)

    assert from_record(record) == memory
    assert from_record(json.loads(json.dumps(record))) == memory


def test_a_record_has_every_field_and_no_dates_but_text() -> None:
    text = note_text(created="2026-03-01", checked="2026-03-01T10:00:00+02:00")
    record = to_record(parse_note("a.md", text.encode()).memory)

    assert record.keys() == {row.attribute for row in FIELDS.values()} | {"metadata"}
    assert record.keys() == {one.name for one in fields(Memory)}
    assert (record["created"], record["metadata"]) == ("2026-03-01", {"checked": "2026-03-01T10:00:00+02:00"})
    assert record["importance"] is None


def test_a_record_of_another_version_is_read_as_far_as_it_goes() -> None:
    assert from_record({"id": "m-1", "later": 1}) == Memory(id="m-1")
    assert from_record({}) == Memory()
