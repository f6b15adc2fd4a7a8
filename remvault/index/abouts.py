"""What a catalog needs of a note beyond its row: kept in the manifest, so that none of ten thousand is opened for it.

Owns: which fields, their limits, how they are kept.
Leaves alone: what is made of them (retrieval.catalog).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from remvault.domain.memory import Memory, trust_of
from remvault.domain.moments import parse_moment

# What a person reads at a glance; a note with a thousand tags is under the first ones.
MAX_NAMES = 16
MAX_NAME_CHARS = 80
MAX_SUMMARY_CHARS = 240
MAX_SOURCE_CHARS = 240


class About(NamedTuple):
    """A note as a catalog shows it. Nothing is kept of a local-only note, and nothing of any note's body."""

    parent: str | None  # a topic's name or a memory's id
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    summary: str | None  # the beginning of it
    source: str | None  # the first one, or the beginning of it
    importance: float | None
    trust: str | None  # see `domain.memory.trust_of`
    is_pinned: bool
    times: tuple[tuple[int, str], ...]  # when it was known to hold: seconds since 1970 and as typed, ascending

    def newest(self, now_s: float) -> tuple[int, str] | None:
        """When it was last known to hold, as far as that is not in the future; None when it names no such time."""
        for time in reversed(self.times):
            if time[0] <= now_s:
                return time
        return None


NOTHING = About(None, (), (), None, None, None, None, False, ())


def about(memory: Memory) -> About:
    """What is kept of a memory."""
    if memory.is_local_only:
        return NOTHING
    source = next((entry.source for entry in memory.provenance if entry.source), None)
    return About(
        None if memory.parent is None or len(memory.parent) > MAX_NAME_CHARS else memory.parent,
        _names(memory.tags),
        _names(memory.aliases),
        memory.summary and memory.summary[:MAX_SUMMARY_CHARS],
        source and source[:MAX_SOURCE_CHARS],
        memory.importance,
        trust_of((entry.trust, entry.origin) for entry in memory.provenance),
        memory.pinned,
        tuple(_times(memory)),
    )


def unpack(stored: Iterable[bytes]) -> Iterator[About]:
    """Read what was stored, compact JSON each, all at once: ten thousand calls would take twice as long."""
    for parent, tags, aliases, summary, source, importance, trust, is_pinned, times in json.loads(
        b"[%b]" % b",".join(stored)
    ):
        moments = tuple((at, text) for at, text in times)
        yield About(parent, tuple(tags), tuple(aliases), summary, source, importance, trust, is_pinned, moments)


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if 0 < len(name) <= MAX_NAME_CHARS)[:MAX_NAMES]


def _times(memory: Memory) -> list[tuple[int, str]]:
    texts = [memory.confirmed, memory.observed, memory.created, *(entry.captured for entry in memory.provenance)]
    found = {(int(moment.timestamp()), text) for text in texts if text and (moment := parse_moment(text)) is not None}
    return sorted(found)[-MAX_NAMES:]
