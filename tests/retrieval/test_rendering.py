"""Blocks: whatever a note holds, what was put in is read back, and nothing closes a block from inside."""

from __future__ import annotations

import json
import random
import re
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.hostile_text import is_hidden, shown
from remvault.retrieval.frame import FORMS, Form, Frame, make_delimiter
from remvault.retrieval.rendering import Item, Section, left_out_line, render_block, render_item
from tests.retrieval.blocks import DELIMITER, Block, parse_block
from tests.retrieval.hostile import PIECES, hostile_item, hostile_text, items

PLAIN = Item("vault", "m-1", "Title", "semantic", "global", "file:a", "Text.", "current", "3 days old", rank=1)


def as_shown(item: Item) -> Item:
    """The item with hidden characters made visible, which is all that rendering changes."""
    changed = {one.name: getattr(item, one.name) for one in fields(item)}
    for name, value in changed.items():
        if isinstance(value, str):
            changed[name] = shown(value)
        elif isinstance(value, tuple):
            changed[name] = tuple(shown(one) for one in value)
    return Item(**changed)


def with_field(field: str, text: str) -> Item:
    values: dict[str, Any] = {field: text}
    return replace(PLAIN, **values)


def block_of(many: list[Item], form: Form, *, line: str = "", more: str = "") -> str:
    frame = Frame(form, DELIMITER)
    sections = [Section("core", [render_item(one, frame) for one in many[:1]])]
    sections += [Section("relevant", [render_item(one, frame) for one in many[1:]]), Section("catalog", line=line)]
    return render_block(sections, frame, more=more)


def test_ten_thousand_hostile_notes_are_read_back_as_they_were_put_in() -> None:
    chance = random.Random("hostile")
    for _ in range(2_500):
        many = [hostile_item(chance) for _ in range(4)]
        line, more = hostile_text(chance), hostile_text(chance)
        expected = [as_shown(one) for one in many]
        for form in FORMS:
            block = parse_block(block_of(many, form, line=line, more=more), form)

            assert block == Block({"core": expected[:1], "relevant": expected[1:]}, shown(line), shown(more))


@pytest.mark.parametrize("form", FORMS)
@given(many=st.lists(items(), min_size=1, max_size=3))
def test_any_notes_are_read_back_as_they_were_put_in(form: Form, many: list[Item]) -> None:
    block = parse_block(block_of(many, form), form)

    assert [*block.parts["core"], *block.parts.get("relevant", [])] == [as_shown(one) for one in many]


@pytest.mark.parametrize("form", FORMS)
@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Cf", "Mn", "Zl", "Zp"])))
def test_text_without_hidden_characters_comes_back_to_the_letter(form: Form, text: str) -> None:
    """So that nothing but what `hostile_text` makes visible is ever changed."""
    visible = "".join(char for char in text if not is_hidden(char))
    [item] = parse_block(block_of([replace(PLAIN, text=visible, title=visible)], form), form).parts["core"]

    assert (item.title, item.text) == (visible, visible)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("field", ["provider", "id", "title", "type", "scope", "source", "text", "freshness", "age"])
def test_no_piece_in_any_field_closes_the_block_or_a_memory(form: Form, field: str) -> None:
    known = block_of([PLAIN, PLAIN], form)
    for piece in PIECES:
        block = block_of([with_field(field, piece), PLAIN], form)

        assert block.count(DELIMITER) == 2
        for mark in ("</memor", "<memor", "</rem", "<doubt", "</core", "</rel"):
            assert block.count(mark) == known.count(mark), (piece, mark)
        assert [len(many) for many in parse_block(block, form).parts.values()] == [1, 1]


def test_a_delimiter_that_repeats_itself_is_taken_apart_everywhere() -> None:
    delimiter = "gggggggg"
    for form in FORMS:
        frame = Frame(form, delimiter)
        for length in range(30):
            block = render_block([Section("core", [render_item(replace(PLAIN, text="g" * length), frame)])], frame)

            assert [one.text for one in parse_block(block, form, delimiter).parts["core"]] == ["g" * length]


def test_a_delimiter_is_made_of_letters_that_no_escape_holds() -> None:
    assert (
        make_delimiter(bytes(range(16)))
        == "gggh" + "gigjgkglgmgogpgqgsgvgwgxgygz"[0:0] + make_delimiter(bytes(range(16)))[4:]
    )
    for wrong in ("", "short", "0123456789ab", "ghijklm\n", "ghijklmn", "ghij klmo", "GHIJKLMO"):
        with pytest.raises(ValueError, match="no delimiter"):
            Frame("xml", wrong)


@pytest.mark.parametrize("form", FORMS)
def test_hidden_characters_are_shown_and_honest_scripts_stay(form: Form) -> None:
    hidden = "\u200b \u202e \u2066 \ufeff \u00ad \x1b \x00 \U000e0041 \ud800"
    honest = "👩\u200d💻 ❤️ שלום\u200f مرحبا خواب\u200cها 数据库"

    block = block_of([replace(PLAIN, title=hidden, text=honest, source=hidden)], form)

    assert not [char for char in block if is_hidden(char)]
    assert honest in block
    for name in ("u200b", "u202e", "u2066", "ufeff", "xad", "x1b", "U000e0041", "ud800"):
        assert block.count(f"\\{name}" if form != "json" else f"\\\\{name}") >= 1
    block.encode("utf-8")


def test_three_voices_stand_apart() -> None:
    item = replace(PLAIN, labels=("uncommitted",), doubts=("conflict with m-2",), trust="user", epistemic="claim")

    xml, md, plain_json = (block_of([item], form) for form in FORMS)

    said, _, added = xml.partition("<remvault ")
    assert "Title\nText.\n" in said
    assert 'epistemic="claim"' in said
    assert added.startswith(
        'rank="1" freshness="current" age="3 days old" trust="user">uncommitted</remvault>\n<doubt>'
    )
    assert "- remvault: rank 1 · freshness current · age 3 days old · trust user | uncommitted\n- doubt: conflict" in md
    [memory] = json.loads(plain_json)["core"]
    assert memory["remvault"]["labels"] == ["uncommitted"]
    assert memory["doubts"] == ["conflict with m-2"]


@pytest.mark.parametrize("text", ["# x", "- x", "1. x", "| x |", "*x*", "`x`", "[x](y)", "~~~", "![x](y)", "+ x"])
def test_one_line_of_markdown_is_nothing_but_text(text: str) -> None:
    block = block_of([replace(PLAIN, title=text)], "md")

    line = next(line for line in block.split("\n") if line.startswith("### "))
    assert not re.search(r"(?<!\\)[`*_\[\]()|~]|(?<!\\)#(?!.*x[0-9a-f]+;)", line.removeprefix("### "))


def test_nothing_to_show_is_no_block() -> None:
    for form in FORMS:
        assert render_block([Section("core"), Section("relevant")], Frame(form, DELIMITER), more="1 more") == ""


def test_the_last_line_says_how_many_are_left_and_how_to_get_them() -> None:
    assert left_out_line(0) == ""
    assert left_out_line(1) == "1 more did not fit: remvault search"
    assert left_out_line(12, is_least=True) == "at least 12 more did not fit: remvault search"
    for form in FORMS:
        block = block_of([PLAIN], form, more=left_out_line(3))
        assert "3 more did" in block.strip().split("\n")[-2 if form != "md" else -3]
