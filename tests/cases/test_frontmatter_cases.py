"""Public faults of frontmatter tools, with their byte-exact inputs: the part that is pure text."""

from __future__ import annotations

import json
import time

import pytest

from remvault.domain.compose import new_note
from remvault.domain.edits import EditRefused, add_item, quote_value, set_key, unset_key
from remvault.domain.lineage import build_lineage
from remvault.domain.moments import parse_moment
from remvault.domain.note import Note, parse_note
from remvault.domain.records import to_record
from remvault.domain.rules import linked, links, note_problems
from tests.domain.generated import INPUTS
from tests.vaults import note_text


def load(name: str) -> tuple[str, Note]:
    data = (INPUTS / name).read_bytes()
    return data.decode(), parse_note(name, data)


def changed_lines(before: str, after: str) -> list[int]:
    """1-based numbers of the lines that differ; both texts have as many lines."""
    pairs = zip(before.split("\n"), after.split("\n"), strict=True)
    return [number for number, (old, new) in enumerate(pairs, start=1) if old != new]


def test_r01_a_colon_in_a_typed_title_is_reported_with_a_ready_fix() -> None:
    text = note_text("Deploys: never on Friday", body="Deploys wait.\n")
    note = parse_note("a.md", text.encode())

    (problem,) = note_problems(note)
    assert (problem.code, problem.path, problem.line) == ("RV101", "a.md", 3)
    assert "quote" in (problem.hint or "")
    assert note.body == "Deploys wait.\n"
    mended = quote_value(text, 3)
    assert mended is not None
    assert parse_note("a.md", mended.encode()).memory.title == "Deploys: never on Friday"


def test_r01_a_written_title_reads_back_byte_equal() -> None:
    for title in ("Deploys: never on Friday", "*star*", "{{title}}", "- a", "a #b", "12:30", "'", '"'):
        text = new_note({"title": title}, "")
        assert parse_note("a.md", text.encode()).memory.title == title
        assert parse_note("a.md", set_key(note_text(), "title", title).encode()).memory.title == title


def test_r02_windows_line_ends_are_read_and_kept() -> None:
    text, note = load("R02-crlf.md")

    assert (note.memory.id, note.memory.title) == ("m-crlf-01", "Build needs the old linker")
    assert note.memory.tags == ("build", "linker")
    assert note.body.startswith("\r\nThe build fails")
    edited = set_key(text, "title", "New")
    assert changed_lines(text, edited) == [3]
    assert edited.count("\r\n") == edited.count("\n") == text.count("\n")
    added = set_key(text, "summary", "New line")
    assert added.replace("summary: New line\r\n", "") == text


def test_r02_mixed_line_ends_are_kept_line_by_line() -> None:
    text = "---\r\nid: a\ntitle: b\r\ntags: [x]\n---\r\nOne\nTwo\r\n"

    assert set_key(text, "title", "c") == text.replace("title: b", "title: c")
    assert add_item(text, "tags", "new") == text.replace("[x]", "[x, new]")
    assert unset_key(text, "title") == text.replace("title: b\r\n", "")


def test_r03_a_byte_order_mark_hides_nothing_and_survives() -> None:
    text, note = load("R03-bom.md")

    assert (note.memory.id, note.memory.is_local_only) == ("m-bom-01", True)
    assert note.body.startswith("\nOn the shared drive")
    assert "RV407" in [one.code for one in note_problems(note)]
    edited = set_key(text, "title", "New")
    assert edited.startswith("\ufeff---\n")
    assert changed_lines(text, edited) == [3]


def test_r04_dates_stay_as_typed_and_fit_json() -> None:
    text = note_text(created="2026-03-01", checked="2026-03-01T10:00:00+02:00")

    record = json.loads(json.dumps(to_record(parse_note("a.md", text.encode()).memory)))
    assert record["created"] == "2026-03-01"
    assert record["metadata"] == {"checked": "2026-03-01T10:00:00+02:00"}
    assert set_key(text, "title", "New") == text.replace("title: A memory", "title: New")


def test_r06_numbers_are_text_exactly_as_written() -> None:
    text, note = load("R06-numbers.md")

    assert (note.memory.id, note.memory.title, note.memory.scope_id) == ("0123", "12:30", "08")
    assert note.memory.tags == ("1_000", "1e3", "0x1F", ".5", "+7", "12e03")
    assert changed_lines(text, add_item(text, "tags", "0o17")) == [7]
    assert parse_note("a.md", add_item(text, "tags", "0o17").encode()).memory.tags[-1] == "0o17"


def test_r06_superseding_0123_leaves_83_alone() -> None:
    old = note_text(id="0123")
    notes = [
        parse_note("a.md", old.encode()),
        parse_note("b.md", note_text(id="83").encode()),
        parse_note("c.md", note_text(id="84", supersedes="[0123]").encode()),
    ]
    lineage = build_lineage(links([linked(one) for one in notes]))

    assert lineage.heads("0123") == ["84"]
    assert lineage.heads("83") == ["83"]


def test_r07_repeated_keys_are_ambiguous_and_not_guessed() -> None:
    text, note = load("R07-duplicate-keys.md")

    repeated = [one for one in note_problems(note) if one.code == "RV103"]
    assert [(one.line, one.message) for one in repeated] == [
        (7, "key 'status' stands on lines 4 and 7"),
        (8, "key 'scope' stands on lines 5 and 8"),
    ]
    assert (note.is_sound, note.owner, note.memory.status) == (False, None, "archived")
    assert note.memory.id == "m-dup-01"
    for key in ("status", "scope"):
        with pytest.raises(EditRefused, match="stands on lines"):
            set_key(text, key, "active")
        with pytest.raises(EditRefused, match="stands on lines"):
            unset_key(text, key)
    assert changed_lines(text, set_key(text, "title", "New")) == [3]


def test_r09_a_malformed_block_is_refused_and_never_topped_with_another() -> None:
    text = "---\nid: a\n\ttitle: b\n---\nBody\n"
    for _ in range(2):
        with pytest.raises(EditRefused) as caught:
            add_item(text, "tags", "x")
        assert (caught.value.line, caught.value.hint) == (3, "indent with spaces: YAML does not allow tabs")
        with pytest.raises(EditRefused):
            add_item(text, "supersedes", "m-1")


def test_r09_a_field_added_twice_leaves_one_block_with_everything_in_it() -> None:
    text = "---\n# mine\ncssclasses: [wide]  # Obsidian\ntitle: b\nid: a\n---\nBody\n"
    edited = text
    for _ in range(2):
        edited = add_item(add_item(edited, "tags", "x"), "supersedes", "m-1")

    assert edited == text.replace("id: a\n", "id: a\ntags: [x]\nsupersedes: [m-1]\n")
    assert edited.count("---\n") == 2


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        (note_text("{{title}}"), 3, "RV101"),
        (note_text(created="2026-13-45"), 8, "RV106"),
        (note_text(id=""), 2, "RV104"),
        (note_text(type="null"), 4, "RV104"),
        ("---\n- a\n- b\n---\nBody\n", 2, "RV101"),
        (note_text("*star*"), 3, "RV101"),
    ],
)
def test_r10_a_broken_note_is_named_with_line_and_reason(text: str, line: int, code: str) -> None:
    note = parse_note("a.md", text.encode())

    (problem,) = note_problems(note)
    assert (problem.path, problem.line, problem.code, problem.severity) == ("a.md", line, code, "error")
    assert problem.hint
    assert note.body == "Body.\n" or note.body == "Body\n"


def test_r13_aliases_and_deep_nesting_are_refused_at_once() -> None:
    started = time.process_time()
    text, note = load("R13-alias.md")
    deep = parse_note("a.md", f"---\nid: a\nx: {'[' * 500}{']' * 500}\n---\n".encode())

    assert [(one.code, one.line) for one in note_problems(note)] == [("RV101", 4)]
    assert [(one.code, one.line) for one in note_problems(deep)] == [("RV101", 3)]
    assert "anchors" in note.problems[0].message
    assert time.process_time() - started < 0.1
    with pytest.raises(EditRefused):
        set_key(text, "title", "New")


def test_r55_merge_markers_are_a_conflict_and_both_sides_stay() -> None:
    text, note = load("R55-conflict.md")

    (problem,) = note_problems(note)
    assert (problem.code, problem.line, problem.severity) == ("RV111", 4, "error")
    assert "in conflict" in problem.message
    assert (note.is_sound, note.owner) == (False, None)
    assert note.body == "\nThree tries, then the dead-letter queue.\n"
    with pytest.raises(EditRefused, match=r"line [45]"):
        set_key(text, "tags", ["mail"])


def test_r58_times_with_and_without_offset_are_on_one_scale() -> None:
    written = ["2026-05-20T08:00:00+09:00", "2026-05-20", "2026-05-20T08:00:00", "2026-05-20T08:00:00Z", "1779264001"]
    moments = [parse_moment(text) for text in written]

    assert None not in moments
    assert moments == sorted(one for one in moments if one)
    note = parse_note("a.md", note_text(observed="last tuesday").encode())
    assert [(one.code, one.line) for one in note_problems(note)] == [("RV106", 8)]
    assert note.memory.observed is None
