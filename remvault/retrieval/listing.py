"""Listing what is there: every visible memory, filtered and sorted, without a query."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from remvault.domain.moments import parse_moment
from remvault.retrieval.answers import row_answer
from remvault.retrieval.lifecycle import Stage
from remvault.retrieval.view import View, last_known

Sort = Literal["recent", "surfaced", "title"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """Which memories. Empty collections leave nothing out; within one collection any value will do."""

    sort: Sort = "recent"
    stages: tuple[Stage, ...] = ("active",)
    types: Collection[str] = ()
    tags: Collection[str] = ()  # all of them
    scopes: Collection[str] = ()
    tiers: Collection[str] = ()
    surfaced: Mapping[str, str] = field(default_factory=dict)  # id: when last, in UTC to the second, for that order


@dataclass(frozen=True, slots=True)
class Listing:
    """The memories in order, each with its labels; bodies are not loaded into the answers."""

    memories: tuple[tuple[Mapping[str, Any], tuple[str, ...]], ...]
    notices: tuple[str, ...]

    def answer(self) -> dict[str, Any]:
        """The listing as JSON has it."""
        return {"memories": [dict(memory) for memory, _ in self.memories], "total": len(self.memories)}


def list_memories(view: View, options: ListOptions, *, provider: str) -> Listing:
    """List visible memories: newest knowledge first, last surfaced first, or by title; ties by path.

    What was never surfaced stands behind what was, newest knowledge first.
    """
    rows = [row for row in view.visible() if view.stage(row) in options.stages]
    rows = [row for row in rows if not options.types or row.type in options.types]
    records = view.snapshot.records([row.path for row in rows])
    kept = []
    for row in rows:
        record = records[row.path]
        if options.tags and not set(options.tags) <= set(record["tags"]):
            continue
        if options.scopes and record["scope"] not in options.scopes:
            continue
        if options.tiers and record["tier"] not in options.tiers:
            continue
        kept.append((row, record))
    kept.sort(key=lambda pair: pair[0].path)
    if options.sort == "title":
        kept.sort(key=lambda pair: (pair[1]["title"] or "").casefold())
    else:
        kept.sort(key=lambda pair: known_since(pair[1]), reverse=True)
    if options.sort == "surfaced":
        kept.sort(key=lambda pair: options.surfaced.get(pair[0].id or "", ""), reverse=True)
    view.look_at_code(row for row, _ in kept)
    memories = []
    for row, record in kept:
        memory = row_answer(view, row, record, provider=provider, anchors=view.readings(row))
        memories.append((memory, tuple(view.labels(row))))
    return Listing(tuple(memories), view.notices())


def known_since(record: Mapping[str, Any]) -> float:
    """When a memory was last known to hold, in seconds since 1970: the latest of its own times, 0.0 without any."""
    text = last_known(record)
    moment = parse_moment(text) if text else None
    return moment.timestamp() if moment is not None else 0.0
