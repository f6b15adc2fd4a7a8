"""Field edits as typed on a command line."""

from __future__ import annotations

import pytest

from remvault.domain.field_edits import FieldEdit, apply_edit, parse_value
from remvault.errors import UsageError
from tests.vaults import note_text


@pytest.mark.parametrize("typed", ["[a]\nvalue: b", "[a]\nother: c", "[a]\n---\nx", "[a]\r\nx: y"])
def test_a_list_is_one_line_and_nothing_hides_behind_it(typed: str) -> None:
    with pytest.raises(UsageError):
        parse_value("tags", typed)


def test_text_of_a_text_field_stays_as_typed() -> None:
    assert parse_value("summary", "[not] a list") == "[not] a list"
    assert parse_value("title", "{x}") == "{x}"


def test_lists_grow_and_shrink_by_item() -> None:
    text = note_text(tags="[a, b]", anchors="[{at: src/x.py}, {at: src/y.py}]")

    text = apply_edit(text, FieldEdit("tags", "+=", "[c, d]"))
    text = apply_edit(text, FieldEdit("tags", "-=", "a"))
    assert apply_edit(text, FieldEdit("anchors", "+=", "src/x.py")) == text
    text = apply_edit(text, FieldEdit("anchors", "-=", "src/x.py"))

    assert "tags: [b, c, d]" in text
    assert "anchors: [{at: src/y.py}]" in text


def test_plus_equals_on_a_single_value_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="holds one value"):
        apply_edit(note_text(), FieldEdit("title", "+=", "x"))


def test_a_value_cannot_smuggle_in_another_key() -> None:
    text = apply_edit(note_text(), FieldEdit("summary", "=", "x\nsensitivity: normal\n---\n"))

    assert text.count("\nsensitivity:") == 0
    assert 'summary: "x\\nsensitivity: normal\\n---\\n"' in text
