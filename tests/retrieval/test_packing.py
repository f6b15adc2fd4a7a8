"""Packing: never a character over the budget, never a part of a memory, always in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.retrieval.frame import FORMS, Form, Frame
from remvault.retrieval.packing import PARTS, Packed, pack, size_of
from remvault.retrieval.rendering import Item
from tests.retrieval.blocks import DELIMITER, parse_block
from tests.retrieval.hostile import items
from tests.retrieval.test_rendering import PLAIN, as_shown


@dataclass(frozen=True)
class Note:
    """A candidate with the texts that may stand for it."""

    item: Item
    ladder: tuple[str, ...] = ("Text.",)
    why_not: str = ""

    @property
    def id(self) -> str:
        return self.item.id

    def look(self) -> Item | str:
        return self.why_not or self.item

    def texts(self, item: Item, most: int) -> Sequence[str]:
        return [text for text in self.ladder if len(text) <= most]


def notes(count: int, *, size: int = 5, name: str = "m") -> list[Note]:
    return [Note(replace(PLAIN, id=f"{name}-{at}", rank=at + 1), ("x" * size, "")) for at in range(count)]


def packed(
    budget: int,
    *,
    form: Form = "xml",
    core: Sequence[Note] = (),
    files: Sequence[Note] = (),
    relevant: Sequence[Note] = (),
    max_items: int = 18,
    line: str = "",
    is_more: bool = False,
) -> Packed:
    wanted = [("core", core), ("files", files), ("relevant", relevant)]
    frame = Frame(form, DELIMITER)
    return pack(wanted, budget=budget, max_items=max_items, frame=frame, line=lambda _: line, is_more=is_more)


@pytest.mark.parametrize("form", FORMS)
@given(
    budget=st.integers(0, 4_000),
    core=st.lists(items(), max_size=4),
    relevant=st.lists(items(), max_size=8),
    line=st.sampled_from(["", "Other notes here", "数据库 " * 9]),
    is_more=st.booleans(),
)
def test_a_block_is_whole_and_never_over_its_budget(
    form: Form, budget: int, core: list[Item], relevant: list[Item], line: str, is_more: bool
) -> None:
    given_core = [Note(one, (one.text, "")) for one in core]
    given_relevant = [Note(one, (one.text * 3, one.text, "")) for one in relevant]

    got = packed(budget, form=form, core=given_core, relevant=given_relevant, line=line, is_more=is_more)

    assert len(got.block) <= size_of(got.block) <= budget or got.block == ""
    assert bool(got.block) == bool(got.items)
    assert len(got.items) + len(got.left_out) == len(core) + len(relevant)
    if got.block:
        block = parse_block(got.block, form)
        shown = {name: [as_shown(one.item) for one in got.items if one.part == name] for name in ("core", "relevant")}
        assert block.parts == {name: many for name, many in shown.items() if many}


@pytest.mark.parametrize("form", FORMS)
def test_a_tiny_budget_gives_nothing_or_a_valid_block(form: Form) -> None:
    for budget in range(1, 700):
        block = packed(budget, form=form, core=notes(1), relevant=notes(3), line="line").block

        assert len(block) <= budget
        assert not block or parse_block(block, form).parts


@pytest.mark.parametrize("form", FORMS)
def test_a_budget_one_character_short_leaves_something_out(form: Form) -> None:
    """Nothing is given away: at some budget one character more shows one memory more."""
    counts = [len(packed(budget, form=form, relevant=notes(3)).items) for budget in range(2_500)]

    assert counts == sorted(counts)
    assert set(counts) == {0, 1, 2, 3}


@pytest.mark.parametrize("form", FORMS)
def test_bytes_count_as_characters_do(form: Form) -> None:
    wide = [Note(replace(PLAIN, id=f"m-{at}", title="数据库连接池" * 9), ("認証トークン" * 20, "")) for at in range(9)]

    block = packed(2_400, form=form, relevant=wide).block

    assert block
    assert len(block.encode()) <= 2_400


def test_memories_stand_in_the_order_of_parts_and_ranks() -> None:
    got = packed(9_000, core=notes(2, name="c"), files=notes(2, name="f"), relevant=notes(2, name="r"))

    assert [one.item.id for one in got.items] == ["c-0", "c-1", "f-0", "f-1", "r-0", "r-1"]
    assert list(parse_block(got.block, "xml").parts) == ["core", "files", "relevant"]


@pytest.mark.parametrize("budgets", [range(300, 1_000, 7), range(1_000, 3_000, 7)])
def test_more_room_never_reorders_or_drops_what_comes_first(budgets: range) -> None:
    """A budget from which on the voices are explained begins anew."""
    before: list[str] = []
    for budget in budgets:
        got = [one.item.id for one in packed(budget, relevant=notes(6)).items]
        assert got[: len(before)] == before
        before = got


def test_the_core_leaves_room_for_what_answers_the_prompt() -> None:
    got = packed(2_400, core=notes(9, size=300, name="c"), relevant=notes(9, size=100, name="r"))

    core = sum(one.chars for one in got.items if one.part == "core")
    assert 0 < core <= PARTS["core"].share * 2_400
    assert [one for one in got.items if one.part == "relevant"]


def test_what_one_part_leaves_is_there_for_the_next() -> None:
    alone = packed(2_400, relevant=notes(9, size=150))
    beside = packed(2_400, core=notes(1, size=5), relevant=notes(9, size=150))

    assert len([one for one in beside.items if one.part == "relevant"]) >= len(alone.items) - 2


def test_a_text_that_does_not_fit_is_replaced_by_the_next_and_never_cut() -> None:
    note = Note(PLAIN, ("a" * 900, "b" * 300, "c"))

    assert [packed(budget, relevant=[note]).items[0].item.text[0] for budget in (2_400, 1_000, 620)] == ["a", "b", "c"]


def test_the_limit_counts_what_the_prompt_brought_and_not_the_core() -> None:
    got = packed(90_000, core=notes(3, name="c"), files=notes(2, name="f"), relevant=notes(30, name="r"), max_items=18)

    assert [sum(one.part == name for one in got.items) for name in ("core", "files", "relevant")] == [3, 2, 16]
    assert dict(got.left_out)["r-16"] == "over 18 memories"
    assert "14 more did not fit" in got.block


def test_the_last_line_counts_what_had_no_room_and_nothing_else() -> None:
    hidden = Note(replace(PLAIN, id="m-gone"), why_not="code gone: a.py")
    big = [Note(replace(PLAIN, id=f"m-big{at}"), ("x" * 9_000,)) for at in range(2)]

    got = packed(2_400, relevant=[hidden, *notes(1), *big])

    assert parse_block(got.block, "xml").more == "2 more did not fit: remvault search"
    assert dict(got.left_out) == {
        "m-gone": "code gone: a.py",
        "m-big0": "does not fit the budget",
        "m-big1": "does not fit the budget",
    }
    more = packed(2_400, relevant=[*notes(1), *big], is_more=True)
    assert parse_block(more.block, "xml").more.startswith("at least 2 more")


def test_the_catalog_is_shown_whole_and_only_beside_memories() -> None:
    assert parse_block(packed(2_400, relevant=notes(1), line="a line").block, "xml").line == "a line"
    assert packed(2_400, line="a line").block == ""
    crowded = packed(600, relevant=notes(9), line="a line " * 30)
    assert (crowded.line, "a line" in crowded.block) == ("", False)
