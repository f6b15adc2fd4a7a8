"""Digests and places of anchors in a note's text: only the lines of the anchors that change do."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from remvault.domain.anchor_edits import retaking, taking, with_anchors
from remvault.domain.anchors import NoCode, Taken
from remvault.domain.edits import EditRefused, change_item
from remvault.domain.memory import Anchor, Memory
from remvault.domain.note import parse_note
from remvault.errors import UserError
from tests.vaults import note_text

OLD, NEW = Anchor(at="a.py#f", digest="t1:00"), Anchor(at="b.py#g", digest="t1:ff", commit="4be1d20")


class Code:
    """Code that has everything but what is said to be gone."""

    def __init__(self, *gone: str, moved: dict[str, str] | None = None) -> None:
        self.gone, self.moved, self.asked = gone, moved or {}, list[str]()

    def take(self, owner: str | None, anchor: Anchor) -> Taken:
        self.asked.append(anchor.at)
        if anchor.at in self.gone:
            raise UserError(f"{anchor.at} is gone")
        return Taken(Anchor(at=anchor.at, digest="t1:now", commit="abc1234"))

    def retaken(self, owner: str | None, anchors: Sequence[Anchor]) -> list[Taken]:
        return [
            Taken(one, f"{one.at} is gone") if one.at in self.gone
            else self.take(owner, Anchor(at=self.moved.get(one.at, one.at)))
            for one in anchors
        ]  # fmt: skip


def text_with(anchors: str) -> str:
    return note_text(scope="project", scope_id="acme").replace("freshness:", f"{anchors}freshness:")


def memory(text: str) -> Memory:
    return parse_note("a.md", text.encode()).memory


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "anchors:\n  - at: a.py#f  # the lock\n    # taken in May\n    digest: t1:00  # d\n    mine: x\n  - c.py\n",
            "anchors:\n  - at: b.py#g  # the lock\n    # taken in May\n    digest: t1:ff  # d\n    mine: x\n"
            "    commit: 4be1d20\n  - c.py\n",
        ),
        (
            "anchors: [{at: a.py#f, digest: 't1:00'}, c.py]  # two\n",
            'anchors: [{at: b.py#g, digest: "t1:ff", commit: 4be1d20}, c.py]  # two\n',
        ),
        (
            "anchors:\r\n-   digest: t1:00\r\n    at: \"a.py#f\"\r\n",
            "anchors:\r\n-   digest: t1:ff\r\n    at: \"b.py#g\"\r\n    commit: 4be1d20\r\n",
        ),
        (
            "anchors:\n  - at: a.py#f\n    digest: t1:00\n    commit:\n  - c.py\n",
            "anchors:\n  - at: b.py#g\n    digest: t1:ff\n    commit: 4be1d20\n  - c.py\n",
        ),
    ],
)  # fmt: skip
def test_an_anchor_changes_in_its_own_lines(before: str, after: str) -> None:
    assert with_anchors(text_with(before), {OLD: NEW}) == text_with(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("anchors:\n  - c.py # mine\n  - d.py\n", "anchors:\n  - at: b.py#g # mine\n    digest: t1:ff\n"
         "    commit: 4be1d20\n  - d.py\n"),
        ("anchors: [c.py, d.py]\n", 'anchors: [{at: b.py#g, digest: "t1:ff", commit: 4be1d20}, d.py]\n'),
        ("anchors: c.py\n", "anchors:\n  - at: b.py#g\n    digest: t1:ff\n    commit: 4be1d20\n"),
    ],
)  # fmt: skip
def test_an_anchor_that_is_mere_text_becomes_a_mapping(before: str, after: str) -> None:
    assert with_anchors(text_with(before), {Anchor(at="c.py"): NEW}) == text_with(after)


def test_a_list_that_holds_no_value_in_place_is_written_anew() -> None:
    edited = with_anchors(text_with("anchors: [{at: a.py#f, digest: t1:00, commit}, c.py]\n"), {OLD: NEW})

    assert memory(edited).anchors == (NEW, Anchor(at="c.py"))


def test_what_an_anchor_has_no_longer_goes_and_the_persons_own_key_stays() -> None:
    text = text_with("anchors:\n  - at: a.py#f\n    digest: t1:00\n    mine: x\n")

    edited = with_anchors(text, {OLD: Anchor(at="a.py#f")})

    assert edited == text_with("anchors:\n  - at: a.py#f\n    mine: x\n")


def test_an_anchor_that_comes_to_name_the_place_of_another_goes() -> None:
    text = text_with("anchors:\n  - at: a.py#f\n    digest: t1:00\n  - at: b.py#g\n")

    assert memory(with_anchors(text, {OLD: NEW})).anchors == (Anchor(at="b.py#g"),)
    both = with_anchors(text, {OLD: NEW, Anchor(at="b.py#g"): NEW})
    assert memory(both).anchors == (NEW,)


def test_nothing_to_change_leaves_the_text_even_where_nobody_can_read_it() -> None:
    assert with_anchors("---\na: [b\n---\n", {OLD: NEW}) == "---\na: [b\n---\n"
    assert with_anchors(text_with("anchors: [c.py]\n"), {OLD: OLD}) == text_with("anchors: [c.py]\n")


def test_a_change_that_would_touch_something_else_is_refused() -> None:
    with pytest.raises(EditRefused):
        change_item(text_with("anchors: [{at: a.py#f, digest}]\n"), "anchors", 0, {"digest": "t1:ff"})


def test_a_writer_who_names_an_anchor_gets_its_digest_and_the_others_stay() -> None:
    text = text_with("anchors:\n  - at: a.py#f\n    digest: t1:00\n  - c.py\n  - d.py\n")
    code = Code()

    edited, told = taking(text, memory(text), code, known=[OLD, Anchor(at="d.py")])

    assert (code.asked, told) == (["c.py"], ())
    expected = (OLD, Anchor(at="c.py", digest="t1:now", commit="abc1234"), Anchor(at="d.py"))
    assert memory(edited).anchors == expected


def test_naming_a_place_without_its_digest_takes_it_anew_and_a_digest_changed_by_hand_stays() -> None:
    text = text_with("anchors: [{at: a.py#f}, {at: c.py, digest: 'w1:aa'}]\n")

    edited, _ = taking(text, memory(text), Code(), known=[OLD, Anchor(at="c.py", digest="w1:00")])

    assert [one.digest for one in memory(edited).anchors] == ["t1:now", "w1:aa"]


def test_a_place_that_was_typed_over_takes_no_digest_along() -> None:
    text = text_with("anchors: [{at: a.py#other, digest: 't1:00'}]\n")

    edited, _ = taking(text, memory(text), Code(), known=[OLD])

    assert memory(edited).anchors == (Anchor(at="a.py#other", digest="t1:now", commit="abc1234"),)


def test_a_place_with_nothing_there_is_an_error_and_one_the_rules_refuse_is_left_to_them() -> None:
    text = text_with("anchors: [gone.py, ../up.py]\n")

    with pytest.raises(UserError, match=r"gone\.py is gone"):
        taking(text, memory(text), Code("gone.py"))
    assert taking(text, memory(text), NoCode(), known=[Anchor(at="gone.py")]) == (text, ())
    everywhere = note_text(anchors="[gone.py]")
    assert taking(everywhere, memory(everywhere), Code("gone.py")) == (everywhere, ())


def test_without_code_an_anchor_is_kept_and_said_so() -> None:
    text = text_with("anchors: [a.py, {at: b.py, digest: 't1:00'}]\n")

    edited, told = taking(text, memory(text), NoCode("no code here"))

    assert edited == text
    assert told == tuple(f"the anchor {at} is kept without a look at the code: no code here" for at in ("a.py", "b.py"))
    assert retaking(text, memory(text), NoCode("no code here")) == (
        text,
        ("its anchors stay as they were: no code here",),
    )


def test_confirming_takes_all_anew_but_what_is_gone_and_what_was_just_named() -> None:
    text = text_with("anchors:\n  - a.py#f  # moves\n  - gone.py\n  - named.py\n")

    edited, told = retaking(text, memory(text), Code("gone.py", moved={"a.py#f": "b.py#f"}), besides=["named.py"])

    assert [(one.at, one.digest) for one in memory(edited).anchors] == [
        ("b.py#f", "t1:now"), ("gone.py", None), ("named.py", None),
    ]  # fmt: skip
    assert told == ("gone.py is gone",)
    assert "  - at: b.py#f  # moves\n    digest: t1:now\n    commit: abc1234\n  - gone.py\n" in edited
