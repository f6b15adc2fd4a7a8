"""Laws of digests in every language: white space and comments never count, other words always do, and only there."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from functools import cache

import pytest
import tree_sitter
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from remvault.store.languages import LANGUAGES
from remvault.store.outlines import Outline, outline
from tests.bench.anchors.samples import load_all

EXAMPLES = settings(max_examples=25, deadline=None)
SWAPS = {
    b"+": b"-", b"-": b"+", b"<": b">=", b">": b"<=", b"==": b"!=", b"!=": b"==", b"&&": b"||", b"||": b"&&",
    b"and": b"or", b"or": b"and", b"+=": b"-=", b"-=": b"+=", b"true": b"false", b"false": b"true", b"++": b"--",
    b"break": b"continue", b"continue": b"break", b"while": b"until", b"if": b"unless",
}  # fmt: skip
ONLY_IN = {b"while": {"ruby", "bash"}, b"if": {"ruby"}, b"or": {"python"}, b"and": {"python"}}
# Elsewhere `/* said */` may stand between any two words.
HASH_COMMENTS = {"python", "ruby", "bash"}
WHITE_COUNTS = re.compile(
    r"string|template|text|heredoc|regex|char|raw|quote|interpolation|content|escape|symbol|array"
)


@dataclass(frozen=True)
class Leaf:
    start: int
    end: int
    kind: str
    is_plain: bool  # outside of literals and the like, where white space counts


@dataclass(frozen=True)
class Text:
    path: str
    data: bytes
    leaves: tuple[Leaf, ...]


@cache
def parser(name: str) -> tree_sitter.Parser:
    language = next(one for one in LANGUAGES if one.name == name)
    module = importlib.import_module(language.package)
    return tree_sitter.Parser(tree_sitter.Language(getattr(module, language.factory)()))


@cache
def texts(name: str) -> tuple[Text, ...]:
    """Real-looking files of a language, with their words by another walk than the product's."""
    language = next(one for one in LANGUAGES if one.name == name)
    found = []
    for sample in load_all():
        if sample.path.endswith(language.suffixes):
            for target in sample.targets:
                data = sample.file(sample.others[0], target.text, sample.others[1]).encode()
                found.append(Text(sample.path, data, tuple(leaves(parser(name).parse(data).root_node))))
    return tuple(found)


def leaves(node: tree_sitter.Node, *, is_plain: bool = True) -> list[Leaf]:
    if "comment" in node.type:
        return []
    is_statement = node.type == "expression_statement" and node.children and "string" in node.children[0].type
    is_plain = is_plain and WHITE_COUNTS.search(node.type) is None and not is_statement
    if not node.children:
        return [Leaf(node.start_byte, node.end_byte, node.type, is_plain)] if node.end_byte > node.start_byte else []
    return [leaf for child in node.children for leaf in leaves(child, is_plain=is_plain)]


def digests(found: Outline) -> list[tuple[str, str]]:
    return [(one.name, one.digest) for one in found.definitions]


NAMES = [language.name for language in LANGUAGES]


@pytest.mark.parametrize("name", NAMES)
def test_there_are_texts_of_every_language(name: str) -> None:
    assert len(texts(name)) > 1


@pytest.mark.parametrize("name", NAMES)
@EXAMPLES
@given(data=st.data())
def test_comments_and_white_space_between_words_never_count(name: str, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(texts(name)))
    gaps = [
        (one.end, two.start)
        for one, two in zip(text.leaves, text.leaves[1:], strict=False)
        if one.is_plain and two.is_plain and text.data[one.end : two.start].isspace()
    ]
    end, start = data.draw(st.sampled_from(gaps))
    gap = text.data[end:start]
    if name in HASH_COMMENTS:
        # Where a line ends, and only there.
        comment, spaces = (b"  # said" if b"\n" in gap else b""), (b"\n \n" if b"\n" in gap else b" ")
    else:
        comment, spaces = data.draw(st.sampled_from([b" /* said */", b""])), b"\n\n" if b"\n" in gap else b"  "
    added = comment + (data.draw(st.sampled_from([spaces, b""])) if b"\n" in gap else spaces) + gap

    changed = outline(text.path, text.data[:end] + added + text.data[start:])

    before = outline(text.path, text.data)
    assert changed.digest == before.digest
    assert digests(changed) == digests(before)


@pytest.mark.parametrize("name", NAMES)
@EXAMPLES
@given(data=st.data())
def test_another_word_number_or_sign_always_counts_and_only_where_it_is(name: str, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(texts(name)))
    others = [(leaf, other(name, text.data[leaf.start : leaf.end])) for leaf in text.leaves if leaf.is_plain]
    leaf, word = data.draw(st.sampled_from([one for one in others if one[1] is not None]))
    assert word is not None
    line = text.data.count(b"\n", 0, leaf.start) + 1

    after = text.data[: leaf.start] + word + text.data[leaf.end :]
    assume(not parser(name).parse(after).root_node.has_error)

    changed = outline(text.path, after)

    before = outline(text.path, text.data)
    assert changed.digest != before.digest
    elsewhere = {(one.name, one.digest) for one in before.definitions if not one.lines[0] <= line <= one.lines[1]}
    renamed = text.data[leaf.start : leaf.end].decode()
    assert all(one in digests(changed) for one in elsewhere if renamed not in one[0].split("."))
    for one in before.definitions:
        own = one.name.rpartition(".")[2]
        if one.lines[0] < line < one.lines[1] and own != renamed and renamed not in one.name.split("."):
            assert (one.name, one.digest) not in digests(changed), f"{one.name} is as before with {word!r}"


@pytest.mark.parametrize("name", NAMES)
@EXAMPLES
@given(data=st.data())
def test_broken_files_are_read_as_far_as_they_go(name: str, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(texts(name))).data
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 40, len(text))))
    noise = data.draw(st.binary(max_size=8)).replace(b"\0", b"\xff")

    broken = outline(texts(name)[0].path, text[:start] + noise + text[end:])

    assert broken.digest is not None
    assert all(1 <= one.lines[0] <= one.lines[1] <= broken_lines(text, noise) for one in broken.definitions)


def broken_lines(text: bytes, noise: bytes) -> int:
    return text.count(b"\n") + noise.count(b"\n") + 1


def other(name: str, word: bytes) -> bytes | None:
    """A word that says something else; None for one that has no other."""
    if word in SWAPS:
        return SWAPS[word] if name in ONLY_IN.get(word, {name}) else None
    if re.fullmatch(rb"[1-9][0-9]*", word):
        return word + b"7"
    if re.fullmatch(rb"[A-Za-z_][A-Za-z0-9_]{2,}", word) and word.lower() not in KEYWORDS:
        return word + b"q"
    return None


KEYWORDS = frozenset(
    b"let var val const static final public private protected int long char void bool byte string class struct enum"
    b" union interface trait impl type func function fn def end then else elif elsif fi esac done case switch match"
    b" for foreach while until loop return yield await async new this self super import export from use using include"
    b" require package namespace module mod pub mut ref not and is in instanceof typeof none null nil true false try"
    b" catch except finally raise throw throws with lambda pass del extends implements abstract default goto do begin"
    b" ensure rescue unless local declare readonly echo defer chan map range select fallthrough unsafe where dyn move"
    b" crate record get set init event params out override virtual sealed partial async keyof infer as satisfies of"
    b" sizeof typedef extern inline register volatile template typename operator friend constexpr auto noexcept array"
    b" list isset unset empty print insteadof clone global php object unsigned signed float double short".split()
)
