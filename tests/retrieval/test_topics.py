"""The tree of topics: where a memory lies, what is below what, and that hostile parents do no harm."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from remvault.retrieval.topics import MAX_DEPTH, Known, Topic, build_topics, find_topics, fold, levels, roots


def known(
    title: str, *, number: int = 0, parent: str | None = None, folders: Sequence[str] = (), **said: object
) -> Known:
    """A memory of provider "vault"; its id is made of its title unless given."""
    values: dict[str, object] = {
        "provider": "vault", "id": f"m-{fold(title).replace(' ', '-')}", "path": f"{fold(title)}-{number}.md",
        "title": title, "type": "semantic", "owner": "global:", "folders": tuple(folders), "parent": parent,
        "tags": (), "aliases": (), "summary": None, "source": None, "importance": None, "newest_s": 0, "newest": None,
    }  # fmt: skip
    return Known(**(values | said))  # type: ignore[arg-type]


def tree(*memories: Known) -> dict[str, tuple[int, list[str]]]:
    """Each topic's path with its count and the titles that lie in it directly."""
    found = build_topics(memories)
    return {one.path: (one.count, [member.title for member in one.direct()]) for one in levels(roots(found), MAX_DEPTH)}


def test_a_parent_is_the_name_of_a_topic() -> None:
    assert tree(known("Locks", parent="Storage"), known("Pages", parent="storage")) == {
        "Storage": (2, ["Locks", "Pages"])
    }


def test_a_parent_may_be_a_memory_by_id_or_title_which_then_is_the_topic() -> None:
    storage = known("Storage", parent="backend", summary="How bytes are kept")
    by_id, by_title = known("Locks", parent=storage.id), known("Pages", parent="storage")

    assert tree(storage, by_id, by_title) == {
        "backend": (3, []),
        "backend / Storage": (3, ["Storage", "Locks", "Pages"]),
    }
    (topic,) = find_topics(build_topics([storage, by_id]), "Storage")
    assert topic.id == "m-storage"


def test_chains_of_parents_make_depth() -> None:
    a, b, c = known("A"), known("B", parent="A"), known("C", parent="m-b")

    assert tree(a, b, c, known("leaf", parent="C")) == {
        "A": (4, ["A"]),
        "A / B": (3, ["B"]),
        "A / B / C": (2, ["C", "leaf"]),
        "unsorted": (1, []),
        "unsorted / semantic": (1, ["A"]),
    }


def test_folders_nest_and_tags_with_slashes_do_too() -> None:
    found = tree(known("x", folders=("storage", "locks")), known("y", tags=("storage/locks", "urgent")))

    assert found == {
        "storage": (2, []),
        "storage / locks": (2, ["x", "y"]),
        "urgent": (1, ["y"]),
    }


def test_a_parent_goes_before_the_folder_and_tags_count_beside_it() -> None:
    found = tree(known("x", parent="backend", folders=("misc",), tags=("Backend", "speed")))

    assert found == {"backend": (1, ["x"]), "speed": (1, ["x"])}


def test_what_names_no_topic_is_last_and_by_type() -> None:
    found = tree(known("a", type="decision"), known("b", type="decision"), known("c", parent="x"))

    assert list(found) == ["x", "unsorted", "unsorted / decision"]
    assert found["unsorted"] == (2, [])


def test_the_newest_time_and_the_size_are_those_of_the_whole_branch() -> None:
    old = known("old", parent="a", newest_s=1, newest="1970-01-01")
    new = known("new", parent="b", newest_s=9, newest="1970-01-09")
    topics = build_topics([old, new, known("b", parent="a")])

    assert (topics["a"].count, topics["a"].newest) == (3, "1970-01-09")


def test_circles_are_cut_at_the_least_name() -> None:
    found = tree(known("b", parent="c"), known("c", parent="a"), known("a", parent="b"), known("self", parent="self"))

    assert found == {"a": (3, ["a"]), "a / c": (3, ["c"]), "a / c / b": (2, ["b", "a"]), "self": (1, ["self"])}


def test_a_long_chain_ends_at_the_greatest_depth() -> None:
    chain = [known(f"n{number:05d}", parent=f"n{number - 1:05d}" if number else None) for number in range(5000)]
    topics = build_topics(chain)

    assert max(one.depth for one in topics.values()) == MAX_DEPTH
    assert topics["n00000"].count == 5000


def test_a_topic_is_found_by_id_path_name_and_alias() -> None:
    locks = known("Locks", parent="storage", aliases=("mutexes",))
    topics = build_topics([locks, known("x", parent="m-locks"), known("y", folders=("other", "locks"))])

    def found(name: str) -> list[str]:
        return [one.path for one in find_topics(topics, name)]

    assert found("m-locks") == found("storage / locks") == found("mutexes") == ["storage / Locks"]
    assert found("other/locks") == found("other / locks") == ["other / locks"]
    assert found("nothing") == []
    assert found(topics["storage"].id) == ["storage"]


NAMES = st.sampled_from(["a", "b", "c", "d/e", "A", " ", "", "m-a", "m-b", "unsorted", "é"])


@st.composite
def memories(draw: st.DrawFn) -> list[Known]:
    """Memories that name each other and themselves at random."""
    return [
        known(
            draw(NAMES), number=number, parent=draw(st.none() | NAMES), folders=draw(st.lists(NAMES, max_size=3)),
            tags=tuple(draw(st.lists(NAMES, max_size=3))), id=draw(st.none() | st.sampled_from(["m-a", "m-b", "m-c"])),
            newest_s=draw(st.integers(0, 3)),
        )
        for number in range(draw(st.integers(0, 12)))
    ]  # fmt: skip


@given(memories())
def test_every_memory_lies_somewhere_and_no_topic_counts_one_twice(found: list[Known]) -> None:
    topics = build_topics(found)
    first = roots(topics)

    reached: list[Topic] = list(levels(first, MAX_DEPTH))
    assert {one.key for one in reached} == set(topics)
    assert len(reached) == len(topics)
    assert {one.path for topic in first for one in topic.memories()} == {one.path for one in found}
    for topic in topics.values():
        members = topic.memories()
        assert topic.count == len(members) == len({one.path for one in members})
        below = {one.path for part in topic.below for one in part.memories()}
        assert {one.path for one in members} == below | {one.path for one in topic.direct()}
        assert topic.newest_s == max((one.newest_s for one in members), default=0)
