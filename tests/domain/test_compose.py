"""New notes: written once, read back as they were meant."""

from __future__ import annotations

import frontmatter
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.compose import FailsafeHandler, new_note
from remvault.domain.fields import FIELDS
from remvault.domain.frontmatter import MAX_DEPTH, Unreadable, read, split
from remvault.domain.yaml_values import Value
from tests.domain.test_edits import KEY, VALUE, depth


def values(text: str) -> dict[str, object]:
    return {key: entry.node.plain_value() for key, entry in read(split(text)).entries.items()}


def test_a_new_note_reads_well() -> None:
    fields: dict[str, Value] = {
        "mine": "x",
        "title": "Deploys: never on Friday",
        "id": "m-0000000000",
        "importance": "0.8",
        "created": "2026-12-01T09:30:00Z",
        "pinned": "true",
        "scope-id": "08",
        "provenance": [{"source": "remvault://explicit-write", "captured": "2026-12-01T09:30:00Z"}],
    }

    assert new_note(fields, "  Indented body \n\n") == (
        "---\n"
        "id: m-0000000000\n"
        'title: "Deploys: never on Friday"\n'
        'scope-id: "08"\n'
        "provenance:\n"
        "  - source: remvault://explicit-write\n"
        "    captured: 2026-12-01T09:30:00Z\n"
        "pinned: true\n"
        "importance: 0.8\n"
        "created: 2026-12-01T09:30:00Z\n"
        "mine: x\n"
        "---\n"
        "  Indented body\n"
    )


@pytest.mark.parametrize("body", ["", " \n", "x", "x\n", "x\n\n\n", "---\nx: y\n---\n", "\r\nx\r\n", "\ufeffx"])
def test_a_body_is_kept_and_ends_in_one_newline(body: str) -> None:
    assert split(new_note({"id": "a"}, body)).body == (body.rstrip() + "\n" if body.strip() else "")


@given(
    st.dictionaries(st.one_of(KEY, st.sampled_from([*FIELDS, "content", "handler", "self"])), VALUE, max_size=5),
    st.text(),
)
def test_any_fields_and_body_are_read_back(fields: dict[str, Value], body: str) -> None:
    text = new_note(fields, body)
    if depth(fields) > MAX_DEPTH:
        with pytest.raises(Unreadable, match="deep"):
            values(text)
    else:
        assert values(text) == fields
    assert split(text).body.rstrip() == body.rstrip()


@given(st.text())
def test_a_typed_field_cannot_bring_a_second_key(value: str) -> None:
    text = new_note({"expires": value, "importance": value, "provenance": [{"captured": value}]}, "")

    assert values(text) == {"expires": value, "importance": value, "provenance": [{"captured": value}]}
    assert set(yaml.safe_load(split(text).block)) == {"expires", "importance", "provenance"}


def test_the_handler_speaks_the_librarys_protocol() -> None:
    text = new_note({"id": "0123", "tags": ["no", "12:30"]}, "Body\n")

    post = frontmatter.loads(text, handler=FailsafeHandler())

    assert post.metadata == {"id": "0123", "tags": ["no", "12:30"]}
    assert frontmatter.dumps(post, handler=FailsafeHandler()) == text.rstrip("\n")


def test_the_handler_refuses_what_notes_may_not_hold() -> None:
    with pytest.raises(Unreadable):
        frontmatter.loads("---\na: &x 1\n---\n", handler=FailsafeHandler())
