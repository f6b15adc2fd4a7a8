"""Headings with their lines, and wikilinks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.markdown import Section, sections, wikilinks

MARKDOWN = st.lists(
    st.sampled_from(
        ["# ", "## ", "#", "```", "~~~", "`", "\n", "\r\n", " ", "[[a]]", "[[", "|", "]]", "text", "\t", "é"]
    )
).map("".join)


def test_a_body_is_cut_at_its_headings() -> None:
    body = "Intro\n# One\nA\n### Deep\nB\n## Two\n# Three\r\nC"

    assert sections(body, 10) == [
        Section(0, "", (), 10, "Intro\n"),
        Section(1, "One", ("One",), 11, "A\n"),
        Section(3, "Deep", ("One", "Deep"), 13, "B\n"),
        Section(2, "Two", ("One", "Two"), 15, ""),
        Section(1, "Three", ("Three",), 16, "C"),
    ]


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# One", "One"),
        ("   # One", "One"),
        ("#\tOne\t", "One"),
        ("# One ##", "One"),
        ("# One #two", "One #two"),
        ("# C#", "C#"),
        ("# C# #", "C#"),
        ("#", ""),
        ("# ", ""),
        ("## ##", ""),
        ("# #", ""),
        ("    # code", None),
        ("#tag", None),
        ("####### seven", None),
        ("\\# no", None),
    ],
)
def test_a_heading_is_what_commonmark_says(line: str, heading: str | None) -> None:
    found = sections(line + "\n")

    assert (found[0].heading if found[0].level else None) == heading


def test_lines_in_fenced_code_are_no_headings_and_no_links() -> None:
    body = "```sh\n# no\n[[no]]\n~~~\n```\n# yes\n~~~\n# no\n```\n[[no]]\n~~~ \n[[yes]]\n````\n```\n# no\n"

    assert [one.heading for one in sections(body)] == ["", "yes"]
    assert wikilinks(body) == ["yes"]


@pytest.mark.parametrize(
    ("body", "targets"),
    [
        ("[[a]] and [[b|shown]] and [[c#part]] and [[d#part|shown]] and [[a]]", ["a", "b", "c", "d"]),
        ("[[ a b ]]", ["a b"]),
        ("[[]] [[ ]] [[|a]] [[#a]] [a] [[a\n]]", []),
        ("`[[no]]` ``[[no]] ` [[no]]`` [[yes]]", ["yes"]),
        ("`[[yes]]``", ["yes"]),
        ("[`x`[no]]", []),
        ("![[embedded]]", ["embedded"]),
    ],
)
def test_wikilinks_outside_code_are_found_once(body: str, targets: list[str]) -> None:
    assert wikilinks(body) == targets


@given(MARKDOWN, st.integers(1, 50))
def test_sections_hold_every_line_and_know_where_they_stand(body: str, first_line: int) -> None:
    lines = body.split("\n")
    found = sections(body, first_line)
    for one in found:
        assert one.level == 0 or lines[one.line - first_line].lstrip(" ").startswith("#" * one.level)
        assert one.path[-1:] == ((one.heading,) if one.level else ())
        assert one.text in body
    assert [one.line for one in found] == sorted({one.line for one in found})
    assert sum(one.text.count("\n") for one in found) <= body.count("\n")
    assert all(target == target.strip() and target in body for target in wikilinks(body))


@pytest.mark.parametrize(
    "line",
    [
        "# a" + " " * 100_000 + "b",
        "# " + " #" * 50_000,
        "[[" + "`" * 100_000,
        "[[ `` ` " * 20_000,
        "[[" * 50_000,
        "[[a#" * 30_000,
        "#" * 100_000,
    ],
)
def test_a_hostile_line_costs_no_more_than_its_length(line: str) -> None:
    started = time.process_time()
    sections(line)
    wikilinks(line)

    assert time.process_time() - started < 0.5
