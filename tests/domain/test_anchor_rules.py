"""What the code says of anchors, as problems: which rule, how bad, and what to do."""

from __future__ import annotations

import pytest

from remvault.domain.anchor_rules import form_problems, is_held_to_code, rule_of, state_problems
from remvault.domain.anchors import NOT_TAKEN, Reading
from remvault.domain.note import Note, parse_note
from tests.vaults import note_text


def note(**fields: str) -> Note:
    return parse_note("a.md", note_text(scope="project", scope_id="acme", **fields).encode())


@pytest.mark.parametrize(
    ("reading", "rule", "mended_at"),
    [
        (Reading("a.py#f", "fresh", digest="t1:00"), None, None),
        (Reading("a.py#f", "moved", "now in b.py", "t1:00", now_at="b.py#f"), "RV306", "b.py#f"),
        (Reading("a.py#f", "broken", "no f in the file", "t1:00", now_at="a.py#g"), "RV304", "a.py#g"),
        (Reading("a.py#f", "broken", "no such file", "t1:00"), "RV304", None),
        (Reading("a.py#f", "drifted", "its code changed", "t1:00"), "RV305", None),
        # Renamed and changed: where it is now is known, that it still holds is not.
        (Reading("a.py#f", "drifted", "its code changed", "t1:00", now_at="b.py#f"), "RV305", None),
        (Reading("a.py#f", "unknown", NOT_TAKEN), "RV307", "a.py#f"),
        (Reading("a.py#f", "unknown", "the file is binary"), "RV308", None),
        (Reading("a.py#f", "unknown", "its digest is of another recipe", "t9:00"), "RV308", None),
    ],
)
def test_a_reading_falls_under_one_rule_and_is_mended_only_without_a_guess(
    reading: Reading, rule: str | None, mended_at: str | None
) -> None:
    found = list(state_problems(note(), [reading]))

    assert (rule_of(reading), reading.mended_at) == (rule, mended_at)
    assert [(one.code, one.fixable) for one in found] == ([] if rule is None else [(rule, mended_at is not None)])
    assert all(one.hint for one in found)


def test_a_local_only_note_is_mended_by_confirming_it() -> None:
    [found] = state_problems(note(sensitivity="local-only"), [Reading("a.py", "unknown", NOT_TAKEN)])

    assert (found.fixable, found.hint) == (False, "'remvault confirm m-0000000000 --private' takes it")


def test_a_vault_may_lower_the_number_of_anchors_and_not_raise_it() -> None:
    four, nine = note(anchors="[a, b, c, d]"), note(anchors="[a, b, c, d, e, f, g, h, i]")

    assert [one.code for one in form_problems(four, max_anchors=3)] == ["RV302"]
    assert list(form_problems(four, max_anchors=4)) == []
    assert [one.message for one in form_problems(nine, max_anchors=20)] == ["9 anchors, at most 8 are kept"]


@pytest.mark.parametrize(
    ("status", "freshness", "is_held"),
    [
        ("active", "current", True),
        ("active", "stale", True),
        ("candidate", None, True),
        ("active", "superseded", False),
        ("retracted", "current", False),
        ("archived", "current", False),
    ],
)
def test_what_is_not_in_force_is_not_held_to_the_code(status: str, freshness: str | None, is_held: bool) -> None:
    assert is_held_to_code(status, freshness) == is_held
