"""Reading a file never fails; what is wrong with it is said with path, line and reason."""

from __future__ import annotations

import hashlib
import random
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remvault.domain.blobs import blob_id
from remvault.domain.note import MAX_NOTE_BYTES, Note, parse_note
from remvault.domain.rules import note_problems
from tests.domain.generated import generated_note, real_bytes
from tests.vaults import note_text


def parse(text: str) -> Note:
    return parse_note("a.md", text.encode())


def codes(note: Note) -> list[str]:
    return [problem.code for problem in note.problems]


def test_a_valid_note_is_sound_and_knows_its_lines() -> None:
    note = parse(note_text(tags="[a, b]"))

    assert note.is_sound
    assert note.problems == ()
    assert (note.memory.id, note.memory.tags, note.owner) == ("m-0000000000", ("a", "b"), "global:")
    assert (note.line_of("title"), note.line_of("missing"), note.body_line, note.body) == (3, 1, 10, "Body.\n")


def test_a_blob_id_is_what_git_says() -> None:
    assert blob_id(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"", "RV100", 1),
        (b"Just text\n", "RV100", 1),
        (b"---\nid: a\n", "RV101", 1),
        (b"----\nid: a\n---\n", "RV101", 1),
        (b"---\n- a\n---\n", "RV101", 2),
        (b"---\nid: a\n\ttitle: b\n---\n", "RV101", 3),
        (b"---\nid: a\nid: b\n---\n", "RV103", 3),
        (b"---\nid: a\n<<<<<<< HEAD\ntags: a\n=======\ntags: b\n>>>>>>> x\n---\n", "RV111", 3),
        (b"---\nid: a\n<<<<<<< HEAD\ntags: a\n---\nOne\n=======\ntags: b\n---\nTwo\n>>>>>>> x\n", "RV111", 3),
        (b"<<<<<<< HEAD\n---\nid: a\n---\n=======\n---\r\nid: a\n---\n>>>>>>> x\n", "RV111", 1),
        (b"---\ntitle: \xff\n---\n", "RV109", None),
        ("---\ntitle: a\n---\n".encode("utf-16"), "RV109", None),
        (b"---\ncreated: 2026-13-45\n---\n", "RV106", 2),
        (b"---\nid: a\ntype: descision\n---\n", "RV102", 3),
    ],
)
def test_a_broken_note_says_what_and_where(data: bytes, code: str, line: int | None) -> None:
    note = parse_note("x/a.md", data)

    found = next(problem for problem in note.problems if problem.code == code)
    assert (found.path, found.line, found.severity) == ("x/a.md", line, "error")
    assert found.hint
    assert not note.is_sound


def test_a_broken_note_keeps_its_body_to_search_in() -> None:
    assert parse("---\na: b: c\n---\nThe body\n").body == "The body\n"
    assert parse("---\nThe text\n").body == "---\nThe text\n"
    assert parse_note("a.md", b"---\na: b\n---\nThe \xff body\n").body == "The \ufffd body\n"


@pytest.mark.parametrize(
    "text",
    [
        "---\nsensitivity: local-only\na: b: c\n---\n",
        "---\nsensitivity: local-only\n",
        "----\nsensitivity: local-only\n---\n",
        "---\nsensitivity: local-only\nsensitivity: normal\n---\n",
        "---\nsensitivity: normal\nsensitivity: normal\n---\n",
        "---\nsensitivity: localonly\n---\n",
        "---\nsensitivity: [normal]\n---\n",
        "<<<<<<< HEAD\n---\nsensitivity: local-only\n---\n=======\n",
    ],
)
def test_what_may_be_local_only_is_taken_as_local_only(text: str) -> None:
    assert parse(text).memory.is_local_only


@pytest.mark.parametrize("status", ["archive", "[active]", "active\nstatus: active"])
def test_an_unreadable_status_is_not_active(status: str) -> None:
    assert parse(note_text(status=status)).memory.status == "archived"


def test_of_a_long_note_the_first_mebibyte_is_read_with_a_warning() -> None:
    data = note_text(body="é" * MAX_NOTE_BYTES).encode()

    for shift in (b"", b" "):
        note = parse_note("a.md", data + shift)
        assert codes(note) == ["RV110"]
        assert note.is_sound
        assert note.is_text
        assert set(note.body) == {"é"}
        assert note.blob == blob_id(data + shift)


def test_a_long_note_that_is_no_text_behind_the_first_mebibyte_is_no_text() -> None:
    """It is never rewritten, so the part that is not read counts too."""
    note = parse_note("a.md", note_text(body="x" * MAX_NOTE_BYTES).encode() + b"\xff")

    assert not note.is_text
    assert codes(note) == ["RV110", "RV109"]


def hostile() -> list[bytes]:
    """Notes made to be slow."""
    return [
        f"---\n{block}\n---\nBody\n".encode()
        for block in (
            "importance: " + "1" * 60_000 + "x",
            "importance: " + "1" * 60_000,
            "type: " + "x" * 60_000,
            "created: 2026-01-01T00:00:00." + "1" * 60_000 + "x",
            "created: " + "1" * 60_000,
            "provenance: [{actor: 'user:a" + " " * 60_000 + "\n'}]",
            "anchors: [" + "/" * 60_000 + "]",
            "anchors: [" + "a.py, " * 900 + "]",
            "".join(f"tagz{n}: a\n" for n in range(200)),
            "".join("x" * 300 + f"{n}: a\n" for n in range(199)),
            "k: [" + "[], " * 15_000 + "]",
            "k: " + "[" * 500 + "]" * 500,
        )
    ] + [b"---\n" * 250_000, b"<" * 1_000_000, b"---\n" + b"a: b\n" * 200_000, b"\xff" * 1_000_000]


@pytest.mark.parametrize("data", [*hostile(), *real_bytes()], ids=lambda data: repr(data[4:30]))
def test_a_hostile_note_costs_under_a_tenth_of_a_second_and_a_short_report(data: bytes) -> None:
    started = time.process_time()
    problems = note_problems(parse_note("a.md", data))

    assert time.process_time() - started < 0.1
    assert all(len(problem.message) < 250 for problem in problems)


@given(st.binary())
@example(b"---\n\xff\n---\n")
@example(b"\xef\xbb\xbf---\n---")
def test_any_bytes_are_a_note(data: bytes) -> None:
    note = parse_note("a.md", data)

    assert note.blob == hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    note_problems(note)


@given(st.randoms(use_true_random=False), st.lists(st.tuples(st.integers(0), st.binary(max_size=4)), max_size=4))
def test_damaged_notes_are_notes(rng: random.Random, damage: list[tuple[int, bytes]]) -> None:
    data = rng.choice([generated_note(rng).text.encode(), *real_bytes()])
    for place, junk in damage:
        at = place % (len(data) + 1)
        data = data[:at] + junk + data[at + len(junk) // 2 :]

    note = parse_note("a.md", data)

    assert note.is_text or "RV109" in codes(note)
    assert note.is_sound or note.problems
    for problem in note_problems(note):
        assert problem.path == "a.md"
        assert problem.line is None or 1 <= problem.line <= data.count(b"\n") + 1
        assert "\n" not in problem.message
