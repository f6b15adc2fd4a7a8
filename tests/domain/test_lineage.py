"""Supersession: what holds today, in which order it came about, and which links count for nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.lineage import Lineage, Link, build_lineage, may_supersede
from remvault.domain.scope import SCOPES

OWNERS = [None, "global:", "project:a", "project:b", "team:t", "session:s", "workspace:"]
IDS = st.sampled_from("abcdefgh")
GRAPHS = st.lists(
    st.builds(Link, IDS, st.lists(IDS, max_size=4).map(tuple), st.sampled_from(OWNERS), st.booleans()), max_size=8
)
# All of one owner and valid, so that only circles take links out.
DENSE = st.lists(st.builds(Link, IDS, st.lists(IDS, max_size=3).map(tuple), st.just("global:")), max_size=8)


def lineage(*chain: str, owner: str | None = "global:") -> Lineage:
    """Build from "newer>older,older"; every id named is a valid memory of `owner`."""
    wanted: dict[str, tuple[str, ...]] = {}
    for part in chain:
        newer, _, older = part.partition(">")
        wanted[newer] = tuple(older.split(",")) if older else ()
        for one in wanted[newer]:
            wanted.setdefault(one, ())
    return build_lineage(Link(one, older, owner) for one, older in wanted.items())


def test_the_newest_of_a_chain_holds() -> None:
    graph = lineage("c>b", "b>a")

    assert graph.heads("a") == graph.heads("b") == graph.heads("c") == ["c"]
    assert graph.chain("b") == ["a", "b", "c"]
    assert [graph.is_superseded(one) for one in "abc"] == [True, True, False]
    assert graph.contests() == []


def test_a_memory_alone_is_its_own_head_and_chain() -> None:
    assert lineage("a").heads("a") == ["a"]
    assert lineage("a").chain("a") == ["a"]
    assert build_lineage([]).heads("nobody") == ["nobody"]


def test_two_successors_are_a_contest_until_one_replaces_the_other() -> None:
    assert lineage("b>a", "c>a").contests() == [("a", ("b", "c"))]
    assert lineage("b>a", "c>a").heads("a") == ["b", "c"]
    assert lineage("b>a", "c>a,b").contests() == []
    assert lineage("b>a", "c>a", "d>b,c").heads("a") == ["d"]


def test_one_memory_may_replace_several() -> None:
    graph = lineage("c>a,b", "d>c")

    assert graph.heads("a") == graph.heads("b") == ["d"]
    assert graph.chain("a") == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("links", "cycle"),
    [(("a>a",), ("a",)), (("a>b", "b>a"), ("a", "b")), (("a>b", "b>c", "c>a"), ("a", "b", "c"))],
)
def test_a_circle_has_no_effect(links: tuple[str, ...], cycle: tuple[str, ...]) -> None:
    graph = lineage(*links)

    assert graph.cycles == (cycle,)
    assert all(not graph.is_superseded(one) and graph.heads(one) == [one] for one in cycle)


def test_links_into_and_out_of_a_circle_still_count() -> None:
    graph = lineage("d>a", "a>b", "b>a,c")

    assert graph.cycles == (("a", "b"),)
    assert graph.heads("a") == ["d"]
    assert graph.heads("c") == ["b"]


@pytest.mark.parametrize(
    ("newer", "older", "may"),
    [
        ("project:a", "project:a", True),
        ("team:t", "project:a", True),
        ("global:", "session:s", True),
        ("project:a", "project:b", False),
        ("session:s", "project:a", False),
        ("project:a", "global:", False),
        (None, "project:a", False),
        ("project:a", None, False),
        (None, None, False),
        ("workspace:", "workspace:", True),
    ],
)
def test_only_the_same_owner_or_a_wider_scope_may_supersede(newer: str | None, older: str | None, may: bool) -> None:
    assert may_supersede(newer, older) is may
    graph = build_lineage([Link("n", ("o",), newer), Link("o", (), older)])
    assert graph.is_superseded("o") is may
    assert graph.without_effect == (() if may else (("n", "o"),))


def test_a_memory_that_does_not_count_supersedes_nothing() -> None:
    graph = build_lineage([Link("n", ("o",), "global:", counts=False), Link("o", (), "global:")])

    assert not graph.is_superseded("o")
    assert graph.without_effect == (("n", "o"),)


def test_a_link_to_an_unknown_id_is_left_to_the_rules() -> None:
    assert lineage("a>b") != build_lineage([Link("a", ("b",), "global:")])
    assert build_lineage([Link("a", ("b",), "global:")]) == Lineage()


@given(GRAPHS)
def test_no_head_is_superseded_and_every_memory_has_one(links: list[Link]) -> None:
    graph = build_lineage(links)
    for link in links:
        heads = graph.heads(link.id)
        assert heads
        assert not any(graph.is_superseded(head) for head in heads)
        assert graph.is_superseded(link.id) == (link.id not in heads)


@given(GRAPHS)
def test_a_chain_puts_what_was_replaced_first(links: list[Link]) -> None:
    graph = build_lineage(links)
    for link in links:
        chain = graph.chain(link.id)
        place = {one: at for at, one in enumerate(chain)}
        assert len(place) == len(chain)
        assert {link.id, *graph.heads(link.id)} <= place.keys()
        for older, newer in graph.successors.items():
            assert (older in place) == all(one in place for one in newer)
            assert all(place[older] < place[one] for one in newer if older in place)
        assert graph.chain(chain[0]) == chain


@given(DENSE)
def test_a_link_has_effect_exactly_when_it_is_in_no_circle(links: list[Link]) -> None:
    by_id = {link.id: link for link in links}
    edges = {one: {older for older in link.supersedes if older in by_id} for one, link in by_id.items()}

    def reaches(start: str, goal: str) -> bool:
        seen, waiting = set(), [start]
        while waiting:
            one = waiting.pop()
            if one == goal:
                return True
            if one not in seen:
                seen.add(one)
                waiting += edges[one]
        return False

    graph = build_lineage(links)

    effective = {(newer, older) for older, many in graph.successors.items() for newer in many}
    assert effective == {(n, o) for n, olders in edges.items() for o in olders if not reaches(o, n)}
    assert {(n, o) for n, olders in graph.predecessors.items() for o in olders} == effective
    circular = {one for members in graph.cycles for one in members}
    assert circular == {one for one, olders in edges.items() if any(reaches(older, one) for older in olders)}


@given(GRAPHS)
def test_every_link_is_effective_circular_without_effect_or_to_nobody(links: list[Link]) -> None:
    graph = build_lineage(links)
    by_id = {link.id: link for link in links}
    circles = {one: members for members in graph.cycles for one in members}
    for link in by_id.values():
        for older in link.supersedes:
            known = (
                older in graph.predecessors.get(link.id, ()),
                (link.id, older) in graph.without_effect,
                older in circles.get(link.id, ()) and (link.id, older) not in graph.without_effect,
                older not in by_id,
            )
            assert known.count(True) == 1


@given(GRAPHS, st.randoms(use_true_random=False))
def test_the_order_of_the_notes_does_not_matter(links: list[Link], rng: object) -> None:
    unique = list({link.id: link for link in links}.values())

    assert build_lineage(unique) == build_lineage(reversed(unique))


@given(st.sampled_from(SCOPES), st.sampled_from(SCOPES))
def test_of_two_scopes_exactly_the_wider_may_supersede(one: str, other: str) -> None:
    a, b = f"{one}:x", f"{other}:x"

    assert may_supersede(a, b) or may_supersede(b, a)
    assert (may_supersede(a, b) and may_supersede(b, a)) == (one == other)


def test_long_chains_are_followed_in_linear_time() -> None:
    count = 20_000
    graph = build_lineage(Link(f"{n:05}", (f"{n - 1:05}",) if n else (), "global:") for n in range(count))

    started = time.process_time()
    assert graph.heads("00000") == [f"{count - 1:05}"]
    assert graph.chain("10000") == [f"{n:05}" for n in range(count)]
    assert time.process_time() - started < 1
