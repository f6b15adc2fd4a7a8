"""Edits: the lines of the asked-for key change, and nothing else, or the edit is refused."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from remvault.domain.edits import (
    EditRefused,
    add_item,
    quote_value,
    remove_item,
    set_key,
    unset_key,
)
from remvault.domain.fields import FIELDS
from remvault.domain.frontmatter import MAX_DEPTH, Unreadable, read, split
from remvault.domain.yaml_values import Plain, Value, render_block
from tests.domain.generated import GeneratedNote, generated_note, real_bytes

LOOK_ALIKES = r"""
yes No on OFF y N true False null Null NULL ~ 0 08 0123 0o17 0x1F 0b1 1_000 1e3 1E-3 12e03 .5 5. +7 -5 .inf
-.Inf .NaN 12:30 1:2:3 190:20:30.15 2026-03-01 2026-3-1 2026-03-01T10:00:00+02:00 = << - -- --- ... ? : :: , [ ]
{ } # & * ! | > ' " % @ ` a: a:b a #b #b *star* &amp !t -x ?x :x [x {x x] |x >x %x @x `x` 'x' "x" x'x null, 0?
""".split()  # noqa: SIM905
LOOK_ALIKES += [
    "",
    " ",
    " a",
    "a ",
    "a: b",
    "a #b",
    "a\nb",
    "\n",
    "\r",
    "a\r\nb",
    "\t",
    "a\tb",
    "\\",
    "\\n",
    '"\\"',
    "\x00",
    "\x07",
    "\x1b[0m",
    "\x7f",
    "\x85",
    "\xa0",
    "\u2028",
    "\u2029",
    "\u3000",
    "﻿",
    "👩‍🚀",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
]

TEXT = st.one_of(st.text(max_size=30), st.sampled_from(LOOK_ALIKES))
KEY = st.one_of(st.sampled_from(LOOK_ALIKES), st.text(max_size=12))
VALUE: st.SearchStrategy[Value] = st.recursive(
    TEXT,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEY, inner, max_size=4)),
    max_leaves=12,
)
RANDOM = st.randoms(use_true_random=False)


def depth(value: object) -> int:
    """How many collections stand inside each other, the outermost counted."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


def read_back(block: str) -> object:
    return {key: entry.node.plain_value() for key, entry in read(split(f"---\n{block}---\n")).entries.items()}


@given(st.dictionaries(KEY, VALUE, max_size=4), st.sampled_from(["\n", "\r\n"]))
@example({"a": [[["x"]], {"b": {"c": [{"d": "e"}]}}]}, "\n")
def test_what_is_rendered_is_read_back(fields: dict[str, Value], newline: str) -> None:
    if depth(fields) > MAX_DEPTH:
        with pytest.raises(Unreadable, match="deep"):
            read_back(render_block(fields, newline))
    else:
        assert read_back(render_block(fields, newline)) == fields


@given(TEXT)
def test_a_rendered_text_is_the_same_text_to_readers_with_types(text: str) -> None:
    """Whoever opens the vault with another tool sees text where we see text (YAML 1.1 types included)."""
    loaded = yaml.safe_load(render_block({"a": text, "b": [text], "c": [{"d": text}], "e": {"f": text}}))

    assert loaded == {"a": text, "b": [text], "c": [{"d": text}], "e": {"f": text}}


@pytest.mark.parametrize("text", ["1e3", "0o17", "08", ".5", "5.", "12e03", "+7", "0123", "-5", "1.5E+3"])
def test_numbers_of_yaml_1_2_are_quoted_too(text: str) -> None:
    """PyYAML reads 1e3 and 0o17 as text, newer YAML readers as numbers."""
    assert render_block({"a": text}) == f'a: "{text}"\n'


@pytest.mark.parametrize(
    "text", ["plain words", "it's", "a:b", "C#", "x - y", "東京", "v1.2.3", "a, b", "[[link", "12.30.1"]
)
def test_ordinary_text_stands_without_quotes(text: str) -> None:
    expected = f'"{text}"' if text[0] == "[" else text
    assert render_block({"a": text}) == f"a: {expected}\n"


def test_long_lists_and_lists_of_mappings_take_a_line_an_item() -> None:
    rendered = render_block(
        {"tags": ["word" * 10] * 3, "anchors": [{"at": "a.py#b", "digest": "t1:0"}], "short": ["a"]}
    )

    assert rendered == (
        "tags:\n" + f"  - {'word' * 10}\n" * 3 + "anchors:\n  - at: a.py#b\n    digest: t1:0\nshort: [a]\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("title: a", "title: new"),
        ("title: a  # why", "title: new  # why"),
        ("title:   'a'", "title:   new"),
        ('title: "a"', 'title: "new"'),
        ("title:", "title: new"),
        ("title: # why", "title: new # why"),
        ("title: ~ # why", "title: new # why"),
        ("'title': a", "'title': new"),
        ("? title\n: a", "? title\n: new"),
        ("title: a\n  b", "title: new"),
        ("title: |\n  a\n\n  b", "title: new"),
        ("title: [a,\n  b]", "title: new"),
        ("title:\n- a\n- b", "title: new"),
        ("title:\n  a: b", "title: new"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_setting_a_key_replaces_its_value_in_place(before: str, after: str, end: str) -> None:
    text = f"---\n# one\nid: x\n{before}\n\n# two\nz: 1 # three\n---\nBody".replace("\n", end)

    assert set_key(text, "title", "new") == text.replace(before.replace("\n", end), after.replace("\n", end))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tags: [a,  b]  # mine", "tags: [a,  b, new]  # mine"),
        ("tags: []", "tags: [new]"),
        ("tags: a", "tags: [a, new]"),
        ("tags:", "tags: [new]"),
        ("tags: [ a ]", "tags: [ a, new ]"),
        ("tags: [\n  a,\n  b,\n]", "tags: [\n  a,\n  b, new,\n]"),
        ("tags:\n- a\n- b # x", "tags:\n- a\n- b # x\n- new"),
        ("tags:\n    - a", "tags:\n    - a\n    - new"),
        ("tags: # x\n  -   a", "tags: # x\n  -   a\n  - new"),
        ("tags: [a, new]", "tags: [a, new]"),
        ("x: y", "x: y\ntags: [new]"),
    ],
)
def test_an_item_is_added_in_the_style_of_its_list(before: str, after: str) -> None:
    text = f"---\nid: x\n{before}\n---\nBody"
    expected = text.replace(before, after)
    if before == "x: y":  # a new key goes where the field table puts it
        expected = text.replace("id: x\n", "id: x\ntags: [new]\n")

    assert add_item(text, "tags", "new") == expected
    assert add_item(expected, "tags", "new") == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tags: [a, b, b, c]  # mine", "tags: [a, c]  # mine"),
        ("tags: [b, b, a]", "tags: [a]"),
        ("tags: [a, b, b]", "tags: [a]"),
        ("tags: [b, a, b]", "tags: [a]"),
        ("tags: [a, b, c, b, d]", "tags: [a, c, d]"),
        ("tags: [b, a, 'b', c, \"b\", b]", "tags: [a, c]"),
        ("tags:\n- b\n- a # x\n- b\n- b", "tags:\n- a # x"),
        ("tags: [\n  a, # 1\n  b, # 2\n  c, # 3\n]", "tags: [\n  a, # 1\n  c, # 3\n]"),
        ("tags: [\n  a, # 1\n  b, # 2\n]", "tags: [\n  a, # 1\n   # 2\n]"),
        ("tags: [\n  a, # 1\n  b\n]", "tags: [\n  a, # 1\n  \n]"),
        ("tags: [a]", "tags: [a]"),
    ],
)
def test_items_that_match_are_removed_and_no_others(before: str, after: str) -> None:
    text = f"---\nid: x\n{before}\nz: 1\n---\nBody"

    assert remove_item(text, "tags", lambda item: item == "b") == text.replace(before, after)


@pytest.mark.parametrize("value", ["tags: [b, b]\n", "tags: b # x\n", "tags:\n- b\n"])
def test_an_emptied_list_goes_with_its_key(value: str) -> None:
    assert remove_item(f"---\nid: x\n{value}---\nBody", "tags", lambda item: item == "b") == "---\nid: x\n---\nBody"


def test_the_last_key_can_go_and_a_comment_stays() -> None:
    text = "---\n# mine\ntitle: a\n---\nBody"

    assert unset_key(text, "title") == "---\n# mine\n---\nBody"
    assert set_key(unset_key(text, "title"), "title", "a") == text
    assert unset_key(text, "nothing") == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("---\ntags: [a]\n---\n", "---\ntitle: x\ntags: [a]\n---\n"),
        ("---\n  tags: [a]\n---\n", "---\n  title: x\n  tags: [a]\n---\n"),
        ("---\nid: a\ntags: [a]\n---\n", "---\nid: a\ntitle: x\ntags: [a]\n---\n"),
        ("---\nid: |+\n  a\n\ntags: [a]\n---\n", "---\nid: |+\n  a\n\ntitle: x\ntags: [a]\n---\n"),
        ("---\r\nid: a\nmine: b\r\n---\r\n", "---\r\nid: a\ntitle: x\nmine: b\r\n---\r\n"),
        ("---\r\n---\r\nBody", "---\r\ntitle: x\r\n---\r\nBody"),
        ("\ufeff---\n---", "\ufeff---\ntitle: x\n---"),
        ("Body", "---\ntitle: x\n---\nBody"),
        ("\ufeffBody\r\n", "\ufeff---\r\ntitle: x\r\n---\r\nBody\r\n"),
        ("", "---\ntitle: x\n---\n"),
    ],
)
def test_a_new_key_goes_where_the_field_table_puts_it(before: str, after: str) -> None:
    assert set_key(before, "title", "x") == after


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: a\nBody",
        "-----\ntitle: a\n---\n",
        "---\n\ttitle: a\n---\n",
        "---\ntitle: a\ntitle: b\n---\n",
        "---\na: *x\n---\n",
        "---\n- a\n---\n",
        "---\n<<<<<<< HEAD\na: b\n=======\na: c\n>>>>>>> x\n---\n",
        "---\na: b\n--- c\n---\n",
        "---\n\ufefftitle: a\n---\n",
    ],
)
def test_a_block_nobody_can_read_is_never_edited(text: str) -> None:
    for edit in EDITS:
        with pytest.raises(EditRefused) as caught:
            edit(text, "title", "x: y")
        assert caught.value.hint


@pytest.mark.parametrize("value", ["2026\nsensitivity: normal", "a: b", "a #b", "[a]", "x\n---\n", "", "null", "\x00"])
def test_a_typed_value_cannot_smuggle_in_structure(value: str) -> None:
    """Only what is one plain scalar stands without quotes, so an expiry date cannot bring a second key."""
    text = set_key("---\nid: x\n---\nBody", "expires", Plain(value))

    assert read(split(text)).entries["expires"].node.value == value
    assert list(read(split(text)).entries) == ["id", "expires"]


def test_half_a_surrogate_pair_is_refused() -> None:
    """The shell hands over bytes that are not UTF-8 in this form."""
    with pytest.raises(EditRefused):
        set_key("---\nid: x\n---\n", "title", "a\udcff")


def _set(text: str, key: str, value: str) -> str:
    return set_key(text, key, value)


def _set_list(text: str, key: str, value: str) -> str:
    return set_key(text, key, [value, "no"])


def _set_mappings(text: str, key: str, value: str) -> str:
    return set_key(text, key, [{"source": value}])


def _add(text: str, key: str, value: str) -> str:
    return add_item(text, key, value)


def _add_mapping(text: str, key: str, value: str) -> str:
    return add_item(text, key, {"at": value})


EDITS: tuple[Callable[[str, str, str], str], ...] = (_set, _set_list, _set_mappings, _add, _add_mapping)


def assert_only_lines_of(note: GeneratedNote, key: str, edited: str) -> None:
    """The text before and after the key's own lines is the same, and so is what every other key says."""
    before, after = note.around(key)
    if key in note.keys:
        assert edited.startswith(before)
        assert edited.endswith(after)
        assert len(edited) >= len(before) + len(after)
    else:
        added = len(edited) - len(note.text)
        assert added > 0
        at = next(n for n in range(len(edited)) if edited[: len(edited) - n - added] == note.text[: len(note.text) - n])
        assert edited.endswith(note.text[len(note.text) - at :])
    old, new = read(split(note.text)).entries, read(split(edited)).entries
    for other in note.keys:
        if other != key:
            assert new[other].node.plain_value() == old[other].node.plain_value()


@given(RANDOM, st.sampled_from(EDITS), TEXT)
def test_an_edit_changes_the_lines_of_its_key_only(
    rng: random.Random, edit: Callable[[str, str, str], str], value: str
) -> None:
    note = generated_note(rng)
    key = rng.choice([*note.keys, "status", "mine"])

    edited = edit(note.text, key, value)

    if edited != note.text:
        assert_only_lines_of(note, key, edited)


@given(RANDOM)
def test_removing_a_key_removes_its_lines_only_or_is_refused(rng: random.Random) -> None:
    note = generated_note(rng)
    key = rng.choice(note.keys)
    try:
        edited = unset_key(note.text, key)
    except EditRefused:  # a comment behind it would become part of the block text before it
        assert any(sign in note.text for sign in ("|", ">"))
        return

    assert edited == "".join(note.around(key))


@given(RANDOM, st.integers(0, 15))
def test_removing_items_changes_the_lines_of_their_list_only(rng: random.Random, pattern: int) -> None:
    note = generated_note(rng)
    key = rng.choice([piece.key for piece in note.pieces if piece.is_list and piece.key] or note.keys)
    value = read(split(note.text)).entries[key].node.plain_value()
    items = value if isinstance(value, list) else [value]
    gone = [item for at, item in enumerate(items) if pattern >> (at % 4) & 1]
    try:
        edited = remove_item(note.text, key, lambda item: item in gone)
    except EditRefused:
        assert all(item in gone for item in items)
        return

    kept = [item for item in items if item not in gone]
    entry = read(split(edited)).entries.get(key)
    if kept == items:
        assert edited == note.text
    else:
        assert (entry.node.plain_value() if entry else []) == kept
        before, after = note.around(key)
        assert edited.startswith(before)
        assert edited.endswith(after)


@given(st.text(), st.sampled_from([*FIELDS, "", "x", "a: b"]), VALUE)
@example("---\n", "x", "y")
@example("---\n---", "x", [])
def test_an_edit_of_any_text_succeeds_or_is_refused(text: str, key: str, value: Value) -> None:
    for edit in (lambda: set_key(text, key, value), lambda: add_item(text, key, value), lambda: unset_key(text, key)):
        try:
            edited = edit()
        except EditRefused:
            continue
        assert edited.endswith(split(text).body)


@given(RANDOM, st.text(string.printable + "\ufeff\u2028\x85", max_size=4), VALUE)
def test_an_edit_of_a_damaged_note_succeeds_or_is_refused(rng: random.Random, damage: str, value: Value) -> None:
    note = generated_note(rng)
    at = rng.randrange(len(note.text))
    text = note.text[:at] + damage + note.text[at + rng.choice((0, 2)) :]
    key = rng.choice([*note.keys, "status"])
    for edit in (lambda: set_key(text, key, value), lambda: remove_item(text, key, lambda item: item is not None)):
        try:
            edited = edit()
        except EditRefused:
            continue
        assert split(edited).body == split(text).body


def hundred_edits(text: str, key: str) -> str:
    """Set one key a hundred times, to values that need quotes and values that do not."""
    values = ("plain", "a: b", "12:30", "it's", "no", 'say "hi"', "é 🚀", "x\ny", "# no comment", "last words")
    for number in range(100):
        text = set_key(text, key, f"{values[number % len(values)]} {number}" if number % 3 else values[number % 10])
    return text


@pytest.mark.parametrize("seed", range(200))
def test_a_hundred_edits_of_a_generated_note_change_one_key(seed: int) -> None:
    note = generated_note(random.Random(seed))
    key = random.Random(seed).choice(note.keys)

    assert_only_lines_of(note, key, hundred_edits(note.text, key))


def test_a_hundred_edits_of_an_input_file_change_one_line_or_are_refused() -> None:
    edited = 0
    for data in real_bytes():
        text = data.decode()
        try:
            after = hundred_edits(text, "title")
        except EditRefused:
            continue
        edited += 1
        old, new = text.split("\n"), after.split("\n")
        assert [a == b for a, b in zip(old, new, strict=True)].count(False) == 1
        assert next(a for a, b in zip(old, new, strict=True) if a != b).startswith("title:")
    assert edited == 4  # not the alias bomb, not the merge conflict; another key than the repeated ones is fine


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("title: Deploys: never on Friday", 'title: "Deploys: never on Friday"'),
        ("title: *star*", 'title: "*star*"'),
        ("title: {{title}}", 'title: "{{title}}"'),
        ("title:   @home  ", 'title:   "@home"  '),
        ('title: "a" b', 'title: "\\"a\\" b"'),
        ("title: [a", 'title: "[a"'),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_quoting_is_offered_where_it_helps(line: str, mended: str, end: str) -> None:
    text = f"---\nid: x\n{line}\ntags: [a]\n---\nBody".replace("\n", end)

    assert quote_value(text, 3) == text.replace(line, mended)


@pytest.mark.parametrize(
    "text", ["---\na: b: c\nd: e: f\n---\n", "---\n\ta: b\n---\n", "---\n- a: b: c\n---\n", "x", ""]
)
def test_quoting_is_not_offered_where_it_does_not_help(text: str) -> None:
    assert all(quote_value(text, line) is None for line in range(-1, 5))


@given(st.text(max_size=20), st.text(max_size=20))
def test_quoting_changes_one_line_and_makes_the_block_readable(first: str, second: str) -> None:
    text = f"---\na: {first}\nb: {second}\n---\nBody"

    mended = quote_value(text, 2)

    if mended is not None:
        read(split(mended))
        assert mended.endswith(f"\nb: {second}\n---\nBody")
