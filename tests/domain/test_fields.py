"""From parsed YAML to a memory: every kind of field, and what is said of values that do not fit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.fields import FIELDS, Flaw, read_memory, suggest
from remvault.domain.frontmatter import read, split
from remvault.domain.memory import Anchor, Entity, Memory, Provenance, Relation, trust_of
from remvault.domain.yaml_values import render_block
from tests.domain.test_edits import VALUE


def memory_of(block: str) -> tuple[Memory, list[Flaw]]:
    return read_memory(read(split(f"---\n{block}\n---\n")))


def value_of(block: str, attribute: str) -> Any:
    memory, flaws = memory_of(block)
    assert flaws == []
    return getattr(memory, attribute)


def flaw_of(block: str) -> Flaw:
    flaws = memory_of(block)[1]
    assert len(flaws) == 1
    return flaws[0]


@pytest.mark.parametrize("row", FIELDS.values(), ids=lambda row: row.key)
def test_every_field_has_a_place_on_the_memory_and_an_unknown_value_stays_unknown(row: Any) -> None:
    memory, flaws = memory_of(f"{row.key}:")

    assert flaws == []
    assert getattr(memory, row.attribute) == getattr(Memory(), row.attribute)
    assert memory.metadata == {}


@pytest.mark.parametrize(
    ("block", "attribute", "value"),
    [
        ("id: 0123", "id", "0123"),
        ("title: 12:30", "title", "12:30"),
        ("title: 'null'", "title", "null"),
        ("scope-id: 08", "scope_id", "08"),
        ("summary: |\n  a\n  b", "summary", "a\nb\n"),
        ("tags: [1_000, 1e3, no, ~, '~']", "tags", ("1_000", "1e3", "no", "~")),
        ("tags: one", "tags", ("one",)),
        ("supersedes: m-1", "supersedes", ("m-1",)),
        ("importance: 0.8", "importance", 0.8),
        ("importance: 1", "importance", 1.0),
        ("importance: .5", "importance", 0.5),
        ("importance: 0.", "importance", 0.0),
        ("pinned: true", "pinned", True),
        ("pinned: false", "pinned", False),
        ("created: 2026-03-01T10:00:00+02:00", "created", "2026-03-01T10:00:00+02:00"),
        ("created: 2026-03-01", "created", "2026-03-01"),
        ("type: decision", "type", "decision"),
        ("provenance: [{source: x}]", "provenance", (Provenance(source="x"),)),
        ("provenance: x", "provenance", (Provenance(source="x"),)),
        (
            "provenance:\n- source: a\n  actor: user:dana\n  trust: user\n  captured: 2026-01-01\n  messages: [1]",
            "provenance",
            (Provenance(source="a", actor="user:dana", trust="user", captured="2026-01-01", messages=("1",)),),
        ),
        ("provenance: [{actor: 'tool:x', source: }]", "provenance", (Provenance(actor="tool:x"),)),
        ("anchors: [src/a.py#f]", "anchors", (Anchor(at="src/a.py#f"),)),
        ("anchors: [{at: a, digest: 't1:0', commit: 4be}]", "anchors", (Anchor(at="a", digest="t1:0", commit="4be"),)),
        (
            "entities: [Acme, {name: Bob, type: person}]",
            "entities",
            (Entity(name="Acme"), Entity(name="Bob", type="person")),
        ),
        (
            "relations: [{type: supports, target: m-1, weight: 0.5}]",
            "relations",
            (Relation(type="supports", target="m-1", weight=0.5),),
        ),
    ],
)
def test_values_are_read_by_the_kind_of_their_field(block: str, attribute: str, value: Any) -> None:
    assert value_of(block, attribute) == value


@pytest.mark.parametrize(
    ("block", "kind", "key", "part"),
    [
        ("type: descision", "value", "type", "did you mean 'decision'?"),
        ("type: qqq", "value", "type", "unknown type 'qqq'"),
        ("type: Decision", "value", "type", "did you mean 'decision'?"),
        ("id: M-1", "value", "id", "is not an id"),
        ("id: [a]", "shape", "id", "is not plain text"),
        ("id: " + "x" * 65, "value", "id", "…'"),
        ('title: "a\\nb"', "value", "title", "more than one line"),
        ("tags: {a: b}", "shape", "tags", "is not a list"),
        ("tags: [[a]]", "shape", "tags", "is not plain text"),
        ("supersedes: [m-1, 'M 2']", "value", "supersedes", "is not an id"),
        ("importance: 1.5", "value", "importance", "number from 0 to 1"),
        ("importance: -0", "value", "importance", "number from 0 to 1"),
        ("importance: 1e-1", "value", "importance", "number from 0 to 1"),
        ("importance: nan", "value", "importance", "number from 0 to 1"),
        ("importance: .", "value", "importance", "number from 0 to 1"),
        ("importance: ٠", "value", "importance", "number from 0 to 1"),
        ("pinned: yes", "value", "pinned", "neither true nor false"),
        ("created: 2026-13-45", "time", "created", "is not a date or time"),
        ("created: last tuesday", "time", "created", "is not a date or time"),
        ("provenance: [[a]]", "shape", "provenance", "is not a mapping"),
        ("provenance: {source: a}", "shape", "provenance", "is not a list"),
        ("provenance: [{source: a, actor: dana}]", "value", "provenance", "has no kind"),
        ("provenance: [{source: a, trust: high}]", "value", "provenance", "unknown provenance trust"),
        ("provenance: [{source: a, captured: soon}]", "time", "provenance", "is not a date or time"),
        ("anchors: [{digest: x}]", "shape", "anchors", "has no 'at'"),
        ("relations: [{type: supports}]", "shape", "relations", "needs 'type' and 'target'"),
        ("relations: [m-1]", "shape", "relations", "is not a mapping"),
        ("entities: [{type: x}]", "shape", "entities", "has no name"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_line(block: str, kind: str, key: str, part: str) -> None:
    flaw = flaw_of("mine: 1\n" + block)

    assert (flaw.kind, flaw.key, flaw.line) == (kind, key, 3)
    assert part in flaw.message
    assert len(flaw.message) < 150


def test_a_flaw_inside_a_list_names_the_line_of_the_item() -> None:
    assert flaw_of("provenance:\n- source: a\n- source: b\n  trust: high").line == 5


@pytest.mark.parametrize(
    ("block", "attribute", "closed"),
    [
        ("sensitivity: local_only", "sensitivity", "local-only"),
        ("sensitivity: normal\nsensitivity: normal", "sensitivity", "local-only"),
        ("status: Active", "status", "archived"),
        ("status: active\nstatus: candidate", "status", "archived"),
        ("tier: Core", "tier", "archival"),
        ("pinned: yes", "pinned", False),
        ("scope: projekt", "scope", None),
    ],
)
def test_where_a_guess_would_open_something_the_closed_value_is_read(block: str, attribute: str, closed: Any) -> None:
    assert getattr(memory_of(block)[0], attribute) == closed


def test_the_persons_own_keys_are_kept_as_nested_text() -> None:
    memory, flaws = memory_of("cssclasses: [wide, 12:30]\nreviewed: {by: no, at: 2026-01-01, why: }\nempty:")

    assert flaws == []
    assert memory.metadata == {
        "cssclasses": ["wide", "12:30"],
        "reviewed": {"by": "no", "at": "2026-01-01", "why": None},
        "empty": None,
    }


@given(st.dictionaries(st.sampled_from([*FIELDS, "mine"]), VALUE, max_size=5))
def test_any_value_in_any_field_is_read_or_a_flaw(fields: dict[str, Any]) -> None:
    block = read(split(f"---\n{render_block(fields)}---\n"))

    memory, flaws = read_memory(block)

    assert {flaw.key for flaw in flaws} <= fields.keys()
    for key in fields.keys() & FIELDS.keys() - {flaw.key for flaw in flaws}:
        assert FIELDS[key].closed is None or getattr(memory, FIELDS[key].attribute) is not None


@pytest.mark.parametrize(
    ("word", "meant"),
    [("Desicion", "decision"), ("procedur", "procedure"), ("zzz", None), ("d" * 100_000, None), ("", None)],
)
def test_a_suggestion_is_near_or_none(word: str, meant: str | None) -> None:
    assert suggest(word, FIELDS["type"].choices) == meant


def test_trust_is_that_of_the_best_source_and_of_the_worst_for_what_was_consolidated() -> None:
    assert trust_of([("low", None), ("operator", "explicit")]) == "operator"
    assert trust_of([("low", "import"), ("operator", "consolidation")]) == "low"
    assert trust_of([(None, "consolidation"), ("tool", None)]) == "tool"
    assert trust_of([("boss", None), (None, None)]) is None
    assert trust_of([]) is None
