"""The topics of memories, as a tree: from `parent`, from folders below the owner's own, from tags.

Pure. What is told of a memory here is its title and what its frontmatter says for recognition, never its body.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

# Chains of parents may be as long as there are notes; what is deeper counts for the topic at this depth.
MAX_DEPTH = 12
UNSORTED = "unsorted"  # where memories are that name no topic, by type
BETWEEN = " / "  # between the names of a path


class Known(NamedTuple):
    """One memory, as a provider's catalog names it."""

    provider: str
    id: str | None
    path: str  # relative to its vault
    title: str
    type: str
    owner: str  # owner key, "project:acme" or "global:"
    folders: tuple[str, ...]  # below the owner's own, outermost first
    parent: str | None
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    summary: str | None
    source: str | None
    importance: float | None
    newest_s: int  # seconds since 1970; 0 for unknown
    newest: str | None  # as typed

    @property
    def scope(self) -> str:
        """Owner as people read it: "project:acme", "global"."""
        return self.owner.removesuffix(":")


@dataclass(slots=True, eq=False)
class Topic:
    """One topic: what lies in it, and what lies below it."""

    key: str
    name: str
    above: Topic | None = None
    note: Known | None = None  # the memory that is this topic
    members: list[Known] = field(default_factory=list)  # that name it themselves, in order
    below: list[Topic] = field(default_factory=list)  # largest first
    count: int = 0  # memories in it and below, each once
    newest_s: int = 0
    newest: str | None = None  # as typed

    @property
    def id(self) -> str:
        """The memory's id where a memory is the topic, else made of its name; the same in one snapshot."""
        if self.note is not None and self.note.id is not None:
            return self.note.id
        return "t-" + hashlib.sha1(self.key.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:10]

    @property
    def path(self) -> str:
        """Its name behind those above it."""
        return BETWEEN.join(one.name for one in self.line())

    @property
    def depth(self) -> int:
        """1 for a topic with none above it."""
        return len(self.line())

    def line(self) -> list[Topic]:
        """The topics from the outermost to this one."""
        found = [self]
        while found[-1].above is not None:
            found.append(found[-1].above)
        return found[::-1]

    def memories(self) -> list[Known]:
        """All that lies in it and below, each once: its own note first, then the most important, the newest."""
        found: dict[tuple[str, str], Known] = {}
        pending = [self]
        while pending:
            one = pending.pop()
            for known in (*_own(one), *one.members):
                found.setdefault((known.provider, known.path), known)
            pending += one.below
        return sorted(found.values(), key=lambda known: (known is not self.note, *weight(known)))

    def direct(self) -> list[Known]:
        """What lies in it and is no topic below it, in the order of `memories`."""
        notes = {id(one.note) for one in self.below}
        found = dict.fromkeys((*_own(self), *self.members))
        return sorted(
            (known for known in found if id(known) not in notes),
            key=lambda known: (known is not self.note, *weight(known)),
        )


def weight(known: Known) -> tuple[float, int, str, str]:
    """What puts a memory before others, least first: importance (unknown counts as one half), then what is newer."""
    importance = 0.5 if known.importance is None else known.importance
    return (-importance, -known.newest_s, known.title, known.path)


def fold(name: str) -> str:
    """The key of a name: letter case, composition and the amount of white space do not tell topics apart."""
    if name.isascii():
        return " ".join(name.lower().split())
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def build_topics(memories: Sequence[Known]) -> dict[str, Topic]:
    """Place every memory, and return the topics by key; those with nothing above them are the roots of the tree.

    A memory lies in the topic that its `parent` names (a topic, or the id or title of a memory that is one), else in
    the topic of its folder, and in those of its tags; one that names none lies in `UNSORTED`, by type. `a/b` in a tag
    is `b` below `a`. A topic lies where the memory that is it lies, by parent or folder. Circles are cut at the least
    key; nothing is deeper than `MAX_DEPTH`.
    """
    tree = _Tree(memories)
    for known in memories:
        tree.place(known)
    tree.name_notes()
    tree.hang()
    _count(tree)
    return tree.topics


def roots(topics: Mapping[str, Topic]) -> list[Topic]:
    """The topics with none above them, largest first."""
    return sorted((one for one in topics.values() if one.above is None), key=_size)


def find_topics(topics: Mapping[str, Topic], name: str) -> list[Topic]:
    """The topics called so: by id, by path (`a / b`), by name or an alias of its memory; best way first."""
    by_id = [one for one in topics.values() if one.id == name]
    if by_id:
        return by_id
    wanted = fold(name)
    as_path = [fold(one) for one in name.split(BETWEEN.strip())]
    by_path = [one for one in topics.values() if [fold(part.name) for part in one.line()] == as_path]
    if by_path or wanted in topics:
        return by_path or [topics[wanted]]
    by_name = [one for one in topics.values() if fold(one.name) == wanted]
    return sorted(
        by_name or [one for one in topics.values() if one.note and wanted in map(fold, one.note.aliases)], key=_size
    )


def _own(topic: Topic) -> tuple[Known, ...]:
    return () if topic.note is None else (topic.note,)


def _size(topic: Topic) -> tuple[bool, int, str]:
    return (topic.key == UNSORTED, -topic.count, topic.key)


class _Tree:
    """The topics while they are found."""

    def __init__(self, memories: Sequence[Known]) -> None:
        self.topics: dict[str, Topic] = {}
        self.above: dict[str, str] = {}  # key: key of the topic above
        self.places: list[tuple[Known, list[Topic]]] = []
        self._by_id: dict[str, Known] = {}
        self._by_title: dict[str, Known] = {}
        for known in memories:
            if known.id is not None:
                self._by_id.setdefault(known.id, known)
                self._by_id.setdefault(f"{known.provider}:{known.id}", known)
            self._by_title.setdefault(fold(known.title), known)
        self._chains: dict[tuple[str, ...], str | None] = {}

    def place(self, known: Known) -> None:
        """Put a memory into its topics."""
        home = self._home(known)
        keys = [home] if home is not None else []
        keys += [key for tag in known.tags if (key := self.chain(tuple(tag.split("/")))) is not None]
        if not keys:
            keys = [self.chain((UNSORTED, known.type)) or UNSORTED]
        topics = [self.topics[key] for key in dict.fromkeys(keys)]
        for topic in topics:
            topic.members.append(known)
        self.places.append((known, topics))

    def chain(self, names: tuple[str, ...]) -> str | None:
        """The key of the innermost of nested names, each made where it is missing; None for no name at all."""
        if names in self._chains:
            return self._chains[names]
        key: str | None = None
        for name in names:
            folded = fold(name)
            if not folded:
                continue
            below = folded if key is None else f"{key}/{folded}"
            self._topic(below, name)
            if key is not None:
                self.above.setdefault(below, key)
            key = below
        self._chains[names] = key
        return key

    def name_notes(self) -> None:
        """Find the memories that are topics: those named by id are known, the others have the topic's title."""
        for key, topic in self.topics.items():
            if topic.note is None:
                topic.note = self._by_title.get(key)
        for key, topic in list(self.topics.items()):
            home = None if topic.note is None else self._home(topic.note, or_folder=key not in self.above)
            if home is not None and home != key:
                self.above[key] = home

    def hang(self) -> None:
        """Make the tree: no circles, nothing deeper than `MAX_DEPTH`."""
        depths: dict[str, int] = {}
        for start in sorted(self.topics):
            for key in reversed(self._walk(start, depths)):
                self._deepen(key, depths)
        for key, topic in self.topics.items():
            if key in self.above:
                topic.above = self.topics[self.above[key]]
                topic.above.below.append(topic)

    def _walk(self, start: str, known: Mapping[str, int]) -> list[str]:
        """The keys from `start` upwards to the first known one, circles cut on the way."""
        while True:
            walk: dict[str, None] = {}
            key: str | None = start
            while key is not None and key not in known and key not in walk:
                walk[key] = None
                key = self.above.get(key)
            keys = list(walk)
            if key is None or key in known:
                return keys
            del self.above[min(keys[keys.index(key) :])]

    def _deepen(self, key: str, depths: dict[str, int]) -> None:
        above = self.above.get(key)
        while above is not None and depths[above] >= MAX_DEPTH:
            above = self.above.get(above)
        if above is None:
            self.above.pop(key, None)
        else:
            self.above[key] = above
        depths[key] = 1 if above is None else depths[above] + 1

    def _home(self, known: Known, *, or_folder: bool = True) -> str | None:
        """The key of the one topic that a memory lies in, tags apart."""
        if known.parent:
            note = self._by_id.get(f"{known.provider}:{known.parent}") or self._by_id.get(known.parent)
            name = known.parent if note is None else note.title
            key = fold(name)
            if key:
                topic = self._topic(key, name)
                topic.note = topic.note or note
                return key
        return self.chain(known.folders) if or_folder and known.folders else None

    def _topic(self, key: str, name: str) -> Topic:
        topic = self.topics.get(key)
        if topic is None:
            topic = self.topics[key] = Topic(key, " ".join(name.split()))
        return topic


def _count(tree: _Tree) -> None:
    """Count every memory once in each topic it lies in or below."""
    is_note: dict[int, list[Topic]] = defaultdict(list)
    for topic in tree.topics.values():
        if topic.note is not None:
            is_note[id(topic.note)].append(topic)
    lines: dict[str, list[Topic]] = {}
    for known, topics in tree.places:
        seen: dict[int, Topic] = {}
        for topic in (*topics, *is_note.get(id(known), ())):
            line = lines.get(topic.key)
            if line is None:
                line = lines[topic.key] = topic.line()
            seen.update((id(one), one) for one in line)
        _add(seen.values(), known)
    for topic in tree.topics.values():
        topic.below.sort(key=_size)


def _add(topics: Iterable[Topic], known: Known) -> None:
    for topic in topics:
        topic.count += 1
        if known.newest_s > topic.newest_s:
            topic.newest_s, topic.newest = known.newest_s, known.newest


def levels(first: Sequence[Topic], depth: int) -> Iterator[Topic]:
    """These topics, then all below them, and so on for so many levels; the largest first in each."""
    level = list(first)
    for _ in range(depth):
        yield from level
        level = sorted((below for one in level for below in one.below), key=_size)
