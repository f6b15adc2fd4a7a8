"""Rules: what a note lacks by itself, and what only shows when all notes are seen together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.note import Note, parse_note
from remvault.domain.problems import Problem
from remvault.domain.rules import Linked, linked, links, note_problems, vault_problems
from tests.vaults import note_text


def seen(notes: Sequence[Note]) -> list[Linked]:
    """Notes as the rules over the whole vault see them."""
    return [linked(one) for one in notes]


def note(path: str = "a.md", **fields: str) -> Note:
    return parse_note(path, note_text(**fields).encode())


def without(*keys: str, **fields: str) -> Note:
    return parse_note("a.md", note_text(drop=keys, **fields).encode())


def summary(problems: Sequence[Problem]) -> list[tuple[str, str, int | None]]:
    return [(one.code, one.path, one.line) for one in problems]


def test_a_valid_note_has_no_problems() -> None:
    assert note_problems(note()) == []
    assert note_problems(note(scope="project", scope_id="a", tags="[x]", mine="1", cssclasses="[wide]")) == []


@pytest.mark.parametrize(
    ("found", "code", "line", "severity"),
    [
        (without("id"), "RV104", 1, "error"),
        (note(id=""), "RV104", 2, "error"),
        (note(type="null"), "RV104", 4, "error"),
        (without("freshness"), "RV104", 1, "error"),
        (parse_note("a.md", note_text(title="'  '").encode()), "RV104", 3, "error"),
        (without("scope"), "RV401", 1, "error"),
        (note(scope="project"), "RV402", 5, "error"),
        (without("provenance"), "RV403", 1, "error"),
        (note(provenance="[]"), "RV403", 7, "error"),
        (note(provenance="[{actor: 'user:x'}]"), "RV404", 7, "error"),
        (note(tier="temporary"), "RV107", 8, "warning"),
        (note(supercedes="[m-1]"), "RV108", 8, "warning"),
        (note(Tags="[a]"), "RV108", 8, "warning"),
        (note(scope="project", scope_id="a", anchors="[../a]"), "RV301", 9, "error"),
        (note(scope="project", scope_id="a", anchors="[" + "a, " * 9 + "]"), "RV302", 9, "error"),
        (note(anchors="[a.py]"), "RV303", 8, "error"),
        (note(scope="team", scope_id="a", anchors="[a.py#f]"), "RV303", 9, "error"),
        (note(scope="organization", scope_id="a", anchors="[a.py#L1]"), "RV303", 9, "error"),
        (note(sensitivity="local-only"), "RV407", 8, "error"),
        (note(scope="repo"), "RV102", 5, "error"),
    ],
)
def test_a_problem_is_found_once_with_its_line(found: Note, code: str, line: int, severity: str) -> None:
    problems = note_problems(found)

    assert [(one.code, one.line, one.severity) for one in problems] == [(code, line, severity)]
    assert problems[0].hint


def test_look_alikes_of_our_keys_are_named_and_other_keys_are_the_persons_own() -> None:
    text = "---\nscope_id: a\nprovenence: b\nreviewed: c\ndate: d\ntag: e\nauthor: f\nurl: g\n---\n"
    found = [one.message for one in note_problems(parse_note("a.md", text.encode())) if one.code == "RV108"]

    assert found == [
        "unknown key 'scope_id' (did you mean 'scope-id'?)",
        "unknown key 'provenence' (did you mean 'provenance'?)",
        "unknown key 'tag' (did you mean 'tags'?)",
    ]


def test_a_missing_id_can_be_mended_by_machine() -> None:
    assert [one.fixable for one in note_problems(without("id"))] == [True]
    assert [one.fixable for one in note_problems(without("title"))] == [False]


def test_a_workspace_note_may_lack_its_id_in_an_embedded_vault_only() -> None:
    assert note_problems(note(scope="workspace")) == []
    assert [one.code for one in note_problems(note(scope="workspace"), is_embedded=False)] == ["RV402"]


def test_a_local_only_note_is_at_home_in_private() -> None:
    assert note_problems(note("private/a.md", sensitivity="local-only")) == []


@pytest.mark.parametrize("text", ["Just text", "---\na: b\n", "---\n- a\n---\n", "---\n<<<<<<< a\n=======\n---\n"])
def test_a_block_nobody_can_read_is_one_problem_and_not_ten(text: str) -> None:
    assert len(note_problems(parse_note("a.md", text.encode()))) == 1


def test_two_notes_of_one_id_are_both_named() -> None:
    problems = vault_problems(seen([note("b.md"), note("a.md"), note("c.md", id="m-1")]))

    assert summary(problems) == [("RV105", "a.md", 2), ("RV105", "b.md", 2)]
    assert "b.md" in problems[0].message


def test_ids_that_look_like_one_number_are_two() -> None:
    assert vault_problems(seen([note("a.md", id="0123"), note("b.md", id="83"), note("c.md", id="123")])) == []


OLD = note("old.md", id="m-old", freshness="superseded", superseded_by="m-new")
NEW = note("new.md", id="m-new", supersedes="[m-old]")


def test_a_marked_chain_has_no_problems() -> None:
    assert vault_problems(seen([OLD, NEW])) == []


@pytest.mark.parametrize(
    ("notes", "expected"),
    [
        ([NEW], [("RV201", "new.md", 8)]),
        ([note("old.md", id="m-old"), NEW], [("RV203", "old.md", 6)]),
        ([note("old.md", id="m-old", freshness="superseded"), NEW], [("RV203", "old.md", 6)]),
        ([OLD], [("RV206", "old.md", 8)]),
        ([OLD, note("new.md", id="m-new")], [("RV206", "old.md", 8)]),
        ([note("s.md", id="m-s", supersedes="[m-s]")], [("RV202", "s.md", 8)]),
        (
            [note("a.md", id="m-a", supersedes="[m-b]"), note("b.md", id="m-b", supersedes="[m-a]")],
            [("RV202", "a.md", 8), ("RV202", "b.md", 8)],
        ),
        (
            [
                note("old.md", id="m-old"),
                note("new.md", id="m-new", scope="project", scope_id="a", supersedes="[m-old]"),
            ],
            [("RV204", "new.md", 9)],
        ),
        (
            [note("old.md", id="m-old"), note("new.md", id="m-new", type="x", supersedes="[m-old]")],
            [("RV204", "new.md", 8)],
        ),
        ([note("old.md", id="m-old"), note("new.md", id="m-new", status="retracted", supersedes="[m-old]")], []),
        ([OLD, NEW, note("too.md", id="m-too", supersedes="[m-old]")], [("RV205", "old.md", 9)]),
    ],
)
def test_a_chain_says_where_it_does_not_hold(notes: list[Note], expected: list[tuple[str, str, int]]) -> None:
    for order in (notes, notes[::-1]):
        found = [(code, path) for code, path, _ in summary(vault_problems(seen(order)))]
        assert found == [(code, path) for code, path, _ in expected]


def test_only_a_valid_and_active_note_takes_effect() -> None:
    found = {
        one.id: one.counts
        for one in links(seen([OLD, NEW, note("x.md", id="m-x", status="retracted"), without("title", id="m-y")]))
    }

    assert found == {"m-old": True, "m-new": True, "m-x": False, "m-y": False}


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcd"),
            st.lists(st.sampled_from("abcde"), max_size=3),
            st.sampled_from(["active", "archived", "oops"]),
        ),
        max_size=6,
    )
)
def test_any_vault_has_a_report(rows: list[tuple[str, list[str], str]]) -> None:
    notes = [
        note(f"{at}.md", id=name, supersedes=f"[{', '.join(older)}]", superseded_by="d", status=status)
        for at, (name, older, status) in enumerate(rows)
    ]

    problems = vault_problems(seen(notes))

    assert problems == sorted(problems, key=Problem.sort_key)
    assert {one.path for one in problems} <= {one.path for one in notes}
    assert summary(vault_problems(seen(notes[::-1]))) == summary(problems)
