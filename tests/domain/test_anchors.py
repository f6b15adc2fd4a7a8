"""Anchors: a place in the code, never one outside it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.anchors import Place, parse_place


@pytest.mark.parametrize(
    ("at", "place"),
    [
        ("a.py", Place("a.py")),
        ("src/a.py#Store.with_lock", Place("src/a.py", symbol="Store.with_lock")),
        ("a.py#L10", Place("a.py", lines=(10, 10))),
        ("a.py#L10-L20", Place("a.py", lines=(10, 20))),
        ("a.py#L10-20", Place("a.py", lines=(10, 20))),
        ("a.py#L0", Place("a.py", symbol="L0")),
        ("a.py#Length", Place("a.py", symbol="Length")),
        ("C#/é b.cs", Place("C", symbol="/é b.cs")),
        (".github/a.yml", Place(".github/a.yml")),
    ],
)
def test_a_place_is_a_path_with_a_symbol_or_lines(at: str, place: Place) -> None:
    assert parse_place(at) == place


@pytest.mark.parametrize(
    ("at", "reason"),
    [
        ("", "empty"),
        ("#x", "empty"),
        ("/etc/passwd", "absolute"),
        ("a//b", "empty part"),
        ("a/", "empty part"),
        ("../a", r"'\.\.'"),
        ("a/../b", r"'\.\.'"),
        ("./a", r"'\.'"),
        ("a\\b", "with /"),
        ("C:/a", "with /"),
        ("a/.git/config", "git"),
        (".GIT/config", "git"),
        ("a\nb", "control"),
        ("a#x\x00", "control"),
        ("a#", "nothing follows"),
        ("a#L20-L10", "before the first"),
    ],
)
def test_what_may_lead_outside_is_refused_with_its_reason(at: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_place(at)


@given(
    st.one_of(
        st.text(), st.lists(st.sampled_from(["..", ".", "/", "a", "\\", "#", "L1", "-", ":", ".git"])).map("".join)
    )
)
def test_any_text_is_a_safe_place_or_a_value_error(at: str) -> None:
    try:
        place = parse_place(at)
    except ValueError:
        return
    assert not place.path.startswith("/")
    assert not {"", ".", "..", ".git"} & set(place.path.split("/"))
    assert place.symbol is None or place.lines is None
