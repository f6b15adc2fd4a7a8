"""Reading: where the block is, what it says, and what is refused."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from remvault.domain import frontmatter
from remvault.domain.frontmatter import Block, Split, Unreadable, join, read, split
from remvault.domain.yaml_values import render_block
from tests.domain.generated import generated_note, real_bytes

NOTE_LIKE = st.lists(
    st.sampled_from(["---", "\n", "\r\n", "\r", " ", "\t", "\ufeff", "a: b", "- ", "----", "#", "\u2028", "é", "..."])
).map("".join)
SIGNS = [*":-?[]{},#|>'\"%@`~\\", "\ufeff", "\u2028", "\x85", "\r", "\n", "\t", "\x00", "\x7f", "\xa0", "🚀", "é"]
SIGNS += ["&a", "*a", "!t", "...", "---", "\\ud800", "\\x41"]


@contextlib.contextmanager
def loader(name: str) -> Iterator[None]:
    """Read with libyaml ("CBaseLoader") or the pure parser ("BaseLoader")."""
    before = frontmatter._Loader
    frontmatter._Loader = getattr(yaml, name)
    try:
        yield
    finally:
        frontmatter._Loader = before


def block_of(text: str) -> Block:
    return read(split(text))


def values(text: str) -> dict[str, object]:
    return {key: entry.node.plain_value() for key, entry in block_of(text).entries.items()}


def refusal(block: str) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        block_of(f"---\n{block}---\n")
    return caught.value


def outcome(text: str) -> object:
    """What reading says of a text, places included; None for a refusal."""
    try:
        block = block_of(text)
    except Unreadable:
        return None
    places = {k: (e.node.plain_value(), e.start, e.line, e.node.start, e.node.end) for k, e in block.entries.items()}
    return places, dict(block.repeated)


@given(st.one_of(st.text(), NOTE_LIKE))
@example("---\n---")
@example("\ufeff---\r\n---\r\n")
def test_a_split_text_joined_is_the_same_text(text: str) -> None:
    assert join(split(text)) == text


@pytest.mark.parametrize(
    ("text", "block", "body"),
    [
        ("---\na: b\n---\nBody", "a: b\n", "Body"),
        ("\ufeff---\na: b\n---\nBody", "a: b\n", "Body"),
        ("--- \t\r\na: b\r\n---  \r\nBody", "a: b\r\n", "Body"),
        ("---\n---", "", ""),
        ("---\na: b\n---", "a: b\n", ""),
        ("---\na: |\n  ---\n---\nBody", "a: |\n  ---\n", "Body"),
        ("---\na: b\n----\n---\nBody", "a: b\n----\n", "Body"),
    ],
)
def test_a_block_stands_between_two_exact_fences(text: str, block: str, body: str) -> None:
    parts = split(text)

    assert (parts.has_block, parts.block, parts.body) == (True, block, body)


@pytest.mark.parametrize(
    ("text", "oddity"),
    [
        ("", None),
        ("Body\n---\na: b\n---\n", None),
        ("\n---\na: b\n---\n", None),
        (" ---\na: b\n---\n", None),
        ("-----\na: b\n---\n", "not a fence"),
        ("--- text ---\n", "not a fence"),
        ("---\na: b\n", "unclosed"),
        ("---", "unclosed"),
        ("---\na: b\n ---\n", "unclosed"),
    ],
)
def test_anything_else_is_body_text_and_says_why(text: str, oddity: str | None) -> None:
    parts = split(text)

    assert (parts.has_block, parts.body, parts.oddity) == (False, text, oddity)


def test_the_body_line_counts_what_an_editor_counts() -> None:
    assert split("---\r\na: b\r\n---\r\nBody").body_line == 4
    assert split("---\na: b\u2028c\n---\nBody").body_line == 4
    assert split("Body").body_line == 1


@pytest.mark.parametrize(
    "typed",
    [
        "no",
        "on",
        "yes",
        "Yes",
        "TRUE",
        "0123",
        "12:30",
        "1e3",
        "0x1F",
        "1_000",
        ".5",
        "+7",
        "-5",
        "2026-03-01",
        "2026-03-01T10:00:00+02:00",
        "=",
        "1.2.3",
    ],
)
def test_every_scalar_is_text_as_typed(typed: str) -> None:
    assert values(f"---\na: {typed}\nb: [{typed}]\n---\n") == {"a": typed, "b": [typed]}


@pytest.mark.parametrize("typed", ["", " ", "~", "null", " # comment"])
def test_unquoted_nothing_is_absent(typed: str) -> None:
    assert values(f"---\na: {typed}\n---\n") == {"a": None}


@pytest.mark.parametrize("typed", ['""', "''", "'null'", '"~"', "Null", "NULL"])
def test_quoted_nothing_and_other_spellings_are_text(typed: str) -> None:
    assert values(f"---\na: {typed}\n---\n") == {"a": typed.strip("'\"")}


@pytest.mark.parametrize("block", ["", "\n", "# only a comment\n", "# one\n\n# two\n", "~\n"])
def test_a_block_that_says_nothing_is_empty(block: str) -> None:
    assert block_of(f"---\n{block}---\nBody\n") == Block()


def test_a_node_knows_its_place() -> None:
    text = "---\r\n# note\r\ntitle: 'Größe 🚀'  # why\r\ntags: [a,  b]\r\n---\r\n"
    block = block_of(text).entries

    source = split(text).block
    assert source[block["title"].node.start : block["title"].node.end] == "'Größe 🚀'"
    assert source[block["tags"].node.start : block["tags"].node.end] == "[a,  b]"
    assert (block["title"].line, block["tags"].line) == (3, 4)


def test_lines_are_counted_as_editors_count_them() -> None:
    assert block_of('---\na: "x\u2028y"\nb: c\n---\n').entries["b"].line == 3


def test_a_repeated_key_names_both_lines_and_has_no_value() -> None:
    block = block_of("---\na: 1\nb: 2\na: 3\na: 4\n---\n")

    assert dict(block.repeated) == {"a": (2, 4)}
    assert list(block.entries) == ["b"]


@pytest.mark.parametrize(
    ("block", "line", "part"),
    [
        ("a: 1\nb: *x\n", 3, "alias"),
        ("a: &x 1\n", 2, "anchor"),
        ("a: 1\n? &x b\n: 1\n", 3, "anchor"),
        ("a: !!python/object:os.system x\n", 2, "tag"),
        ("a: [1, !t 2]\n", 2, "tag"),
        ("!t a: 1\n", 2, "tag"),
        ("a: {<<: {b: c}}\n", 2, "merge"),
        ("<<: {b: c}\n", 2, "merge"),
        ("a: {b: 1, b: 2}\n", 2, "twice"),
        ("a: 1\n[b, c]: 2\n", 3, "key"),
        ("title: {{title}}\n", 2, "key"),
        ("- a\n- b\n", 2, "key: value"),
        ("just text\n", 2, "key: value"),
        ("{a: b}\n", 2, "key: value"),
        ("a: b\n--- c\n", 3, "document"),
        ("a: b\n...\nc: d\n", 4, "document"),
        ("%YAML 1.2\n--- x\n", 2, "directive"),
        ("a: b\n\tc: d\n", 3, "YAML"),
        ("a: b: c\n", 2, "YAML"),
        ("a: [b\n", 3, "YAML"),
        ("a: b\nc: \x00\n", 3, "U+0000"),
        ('a: "\\ud800"\n', 2, ""),
        ("\ufeffa: b\n", 2, "byte-order mark"),
        ("a: b\n \ufeffc: d\n", 3, "byte-order mark"),
    ],
)
@pytest.mark.parametrize("name", ["CBaseLoader", "BaseLoader"])
def test_what_is_outside_the_subset_is_refused_with_its_line(name: str, block: str, line: int, part: str) -> None:
    with loader(name):
        fault = refusal(block)

    assert part in fault.message
    assert abs(fault.line - line) <= (1 if part == "YAML" else 0)  # the libraries differ by a line on syntax
    assert fault.hint


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ("a: " + "x" * 65_536 + "\n", "64 KiB"),
        ("".join(f"k{n}: 1\n" for n in range(201)), "200 keys"),
        ("a: {" + "".join(f"k{n}: 1, " for n in range(200)) + "}\n", "200 keys"),
        ("a: [" + "x, " * 1001 + "]\n", "1,000 list items"),
        ("".join(f"k{n}: [{'x, ' * 300}]\n" for n in range(4)), "1,000 list items"),
        ("a: " + "[" * 8 + "]" * 8 + "\n", "8 deep"),
        ("a: " + "[" * 500 + "]" * 500 + "\n", ""),
    ],
)
def test_a_block_over_a_cap_is_refused(block: str, part: str) -> None:
    assert part in refusal(block).message


def test_a_block_at_its_caps_is_read() -> None:
    keys = "".join(f"k{n}: 1\n" for n in range(199))

    assert len(values(f"---\n{keys}a: [{'x, ' * 1000}]\n---\n")) == 200
    assert values("---\na: " + "[" * 7 + "]" * 7 + "\n---\n")["a"]


@given(st.text(st.characters(codec=None, categories=("Cs", "Lu")), max_size=5))
def test_half_a_surrogate_pair_is_refused_and_not_a_crash(text: str) -> None:
    assert outcome(f"---\na: '{text}'\n---\n") is None or text.isprintable()


@given(st.randoms(use_true_random=False), st.lists(st.sampled_from(SIGNS), max_size=3))
def test_reading_raises_nothing_but_unreadable(rng: random.Random, signs: list[str]) -> None:
    text = generated_note(rng).text
    for sign in signs:
        at = rng.randrange(4, max(5, len(text)))
        text = text[:at] + sign + text[at + rng.choice((0, 1)) :]

    outcome(text)


@given(st.randoms(use_true_random=False))
def test_libyaml_and_the_pure_parser_read_the_same(rng: random.Random) -> None:
    text = generated_note(rng, tabs=False).text

    with loader("CBaseLoader"):
        fast = outcome(text)
    with loader("BaseLoader"):
        assert outcome(text) == fast
    assert fast is not None


@given(st.randoms(use_true_random=False), st.lists(st.sampled_from(SIGNS), min_size=1, max_size=3))
def test_the_two_parsers_may_differ_in_what_they_refuse_but_never_in_a_value(
    rng: random.Random, signs: list[str]
) -> None:
    text = generated_note(rng).text
    for sign in signs:
        at = rng.randrange(4, max(5, len(text)))
        text = text[:at] + sign + text[at:]

    with loader("CBaseLoader"):
        fast = outcome(text)
    with loader("BaseLoader"):
        slow = outcome(text)

    assert fast == slow or fast is None or slow is None


@given(st.randoms(use_true_random=False))
def test_generated_notes_are_read_key_by_key(rng: random.Random) -> None:
    """Keeps the generator honest: what it makes is in the subset."""
    note = generated_note(rng)

    assert list(block_of(note.text).entries) == note.keys
    assert split(note.text).body == note.body


@pytest.mark.parametrize(
    "block",
    [
        "".join(f"k{n}: [{'a,' * 160}]\n" for n in range(199)),
        "k: " + "[" * 30_000 + "\n",
        "k: " + "{" * 30_000 + "\n",
        "".join(" " * n + f"k{n}:\n" for n in range(300)),
        "k: a\n" + "\n" * 60_000,
        'k: "' + "a\n " * 15_000,
        "a: " * 20_000 + "\n",
        "? a\n" * 15_000,
        "<<<<<<< a\n" * 6_000,
    ],
)
def test_a_hostile_block_costs_under_a_tenth_of_a_second(block: str) -> None:
    parts = Split("", "---\n", block, "---\n", "")

    started = time.process_time()
    with contextlib.suppress(Unreadable):
        read(parts)

    assert time.process_time() - started < 0.1


def test_every_input_file_is_read_or_refused() -> None:
    assert len(real_bytes()) == 6
    for data in real_bytes():
        outcome(data.decode())


def test_what_is_rendered_at_the_top_is_read_back() -> None:
    fields = {"title": "a: b", "tags": ["no", "x"], "provenance": [{"source": "x", "messages": ["1", "2"]}]}

    assert values(f"---\n{render_block(fields)}---\n") == fields
