"""What a difference between two states of a vault is called."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.differences import differences, same_lines
from remvault.domain.note import Note, parse_note
from remvault.domain.operation_rules import broken_promises
from tests.vaults import note_text


def note(path: str = "global/a.md", **fields: Any) -> Note:
    return parse_note(path, note_text(**fields).encode())


def changes(before: list[Note], after: list[Note]) -> dict[str, list[dict[str, Any]]]:
    return {one.path: [change.answer() for change in one.changes] for one in differences(before, after)}


def only(before: Note, after: Note) -> list[dict[str, Any]]:
    found = changes([before], [after])
    assert list(found) == [after.path]
    return found[after.path]


def test_equal_notes_do_not_differ() -> None:
    assert changes([note()], [note()]) == {}


def test_a_new_note_is_added_and_a_missing_one_removed() -> None:
    assert changes([], [note()]) == {"global/a.md": [{"kind": "added"}]}
    assert changes([note()], []) == {"global/a.md": [{"kind": "removed"}]}


def test_a_field_is_told_with_both_values_and_its_key_as_typed() -> None:
    found = only(note(importance="0.5", tags="[a]"), note(tags="[a, b]", valid_from="2026-01-01"))

    assert found == [
        {"kind": "field", "field": "tags", "old": ["a"], "new": ["a", "b"]},
        {"kind": "field", "field": "importance", "old": 0.5, "new": None},
        {"kind": "field", "field": "valid-from", "old": None, "new": "2026-01-01"},
    ]


def test_the_persons_own_keys_are_fields_too() -> None:
    found = only(note(mood="calm"), note(weather="wet"))

    assert [(one["field"], one["old"], one["new"]) for one in found] == [
        ("mood", "calm", None),
        ("weather", None, "wet"),
    ]


def test_a_body_is_counted_in_lines() -> None:
    found = only(note(body="one\ntwo\nthree\n"), note(body="one\n2\n3\nthree\n"))

    assert found == [{"kind": "body", "lines_added": 2, "lines_removed": 1}]


def test_each_turn_of_life_has_its_name() -> None:
    assert only(note(), note(confirmed="2026-01-02")) == [{"kind": "confirmed", "old": None, "new": "2026-01-02"}]
    assert only(note(), note(status="retracted", no_infer="[pg13]"))[0] == {"kind": "retracted"}
    assert only(note(), note(status="archived")) == [{"kind": "archived"}]
    assert only(note(status="archived"), note()) == [{"kind": "restored"}]
    assert only(note(status="retracted"), note(status="active")) == [{"kind": "restored"}]
    assert only(note(status="candidate"), note()) == [
        {"kind": "field", "field": "status", "old": "candidate", "new": "active"}
    ]


def test_a_supersession_is_told_from_both_ends_and_its_mark_is_no_further_change() -> None:
    old, new = "m-0000000001", "m-0000000002"
    before = [note("global/old.md", id=old)]
    after = [
        note("global/old.md", id=old, freshness="superseded", superseded_by=new),
        note("global/new.md", id=new, supersedes=f"[{old}]"),
    ]

    assert changes(before, after) == {
        "global/old.md": [{"kind": "superseded", "by": new}],
        "global/new.md": [{"kind": "added"}, {"kind": "supersedes", "ids": [old]}],
    }


def test_a_move_between_scopes_and_a_move_of_the_file_are_told_apart() -> None:
    moved = note("project/acme/a.md", scope="project", scope_id="acme")

    assert only(note(), moved) == [
        {"kind": "scope", "old": "global", "new": "project:acme"},
        {"kind": "path", "old": "global/a.md", "new": "project/acme/a.md"},
    ]
    assert only(note(), note("global/b.md")) == [{"kind": "path", "old": "global/a.md", "new": "global/b.md"}]


def test_links_of_frontmatter_and_body_come_and_go() -> None:
    before = note(relations="[{type: supports, target: m-1}, {type: contradicts, target: m-3, weight: 0.1}]")
    after = note(relations="[{type: contradicts, target: m-3, weight: 0.9}]", body="Body.\nSee [[Deploys]].\n")

    found = only(before, after)

    assert {"kind": "link-removed", "type": "supports", "target": "m-1"} in found
    assert {"kind": "link-added", "type": "related-to", "target": "Deploys"} in found
    assert [one["field"] for one in found if one["kind"] == "field"] == ["relation contradicts m-3"]


def test_the_same_memory_written_differently_is_only_layout() -> None:
    assert only(note(title="A"), note(title='"A"')) == [{"kind": "layout"}]


def test_a_note_without_an_id_is_the_same_as_the_one_that_got_an_id_there() -> None:
    found = only(note(drop=("id",)), note())

    assert found == [{"kind": "field", "field": "id", "old": None, "new": "m-0000000000"}]


def test_of_two_notes_with_one_id_the_one_in_its_place_is_compared() -> None:
    copy = note("global/copy.md", body="Copy.\n")

    assert changes([note()], [note(), copy]) == {"global/copy.md": [{"kind": "added"}]}
    assert changes([note(), copy], [note(body="New.\n"), copy]) == {
        "global/a.md": [{"kind": "body", "lines_added": 1, "lines_removed": 1}]
    }


def test_another_memory_at_the_same_path_is_one_removed_and_one_added() -> None:
    found = differences([note(id="m-0000000001")], [note(id="m-0000000002")])

    assert sorted((one.id, one.changes[0].kind) for one in found) == [
        ("m-0000000001", "removed"),
        ("m-0000000002", "added"),
    ]


LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12)


@given(LINES, LINES)
def test_kept_lines_are_equal_and_in_order_on_both_sides(before: list[str], after: list[str]) -> None:
    runs = same_lines(before, after)
    pairs = [(one + at, two + at) for one, two, length in runs for at in range(length)]

    assert all(before[one] == after[two] for one, two in pairs)
    assert all(one < other for (one, _), (other, _) in pairwise(pairs))
    assert all(two < other for (_, two), (_, other) in pairwise(pairs))


@given(LINES)
def test_an_unchanged_text_is_kept_whole(lines: list[str]) -> None:
    assert sum(length for *_, length in same_lines(lines, lines)) == len(lines)


def test_an_operation_is_held_to_its_name() -> None:
    confirmed = differences([note()], [note(confirmed="2026-01-01")])
    rewritten = differences([note()], [note(confirmed="2026-01-01", body="Other.\n", type="decision")])

    assert broken_promises("confirm", confirmed) == []
    assert [what for _, what in broken_promises("confirm", rewritten)] == ["type, body"]
    assert broken_promises("update", rewritten) == []
    assert [what for _, what in broken_promises("retract", confirmed)] == ["confirmed"]
