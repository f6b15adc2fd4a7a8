"""Noting what was shown, found and recalled, after the answer is made. Never part of an answer, never a commit.

Being shown confirms nothing and moves no rank; a recall on purpose raises a memory's activation. Agents and persons
are treated alike.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from remvault.domain.activation import activation
from remvault.retrieval.search import SearchAnswer
from remvault.retrieval.surfacing import Surfaced
from remvault.store.usage import MemoryUsage, Usage, query_digest, use_at

if TYPE_CHECKING:
    from remvault.surfaces.app import OpenVault

# A memory shown within an hour of a search that found it was looked for.
_SEARCH_LASTS = timedelta(hours=1)


def record_exposures(vault: OpenVault, surfaced: Surfaced, prompt: str) -> None:
    """Note which memories a prompt was given, each at most once a session in `surface.refresh-minutes`."""
    if not surfaced.shown:
        return
    usage, now, session = Usage(vault.state), vault.surroundings.now(), vault.author.session
    fresh = timedelta(minutes=vault.settings.count("surface.refresh-minutes"))
    known = usage.recent("shown", session, now=now, within=fresh)
    usage.add(
        [
            use_at(
                now,
                "shown",
                hit.row.id,
                session=session,
                query=query_digest(prompt),
                score=round(hit.score, 6),
                signals=dict(hit.signals),
                core=hit.signals.get("core"),
                rank=rank,
            )
            for rank, hit in surfaced.shown
            if hit.row.id is not None and hit.row.id not in known
        ]
    )


def record_search(vault: OpenVault, found: SearchAnswer) -> None:
    """Note what a search found, so that a look at one of these memories counts as a recall."""
    record_found(vault, found.query, [(rank, hit.row.id) for rank, hit in enumerate(found.hits, 1) if hit.row.id])


def record_found(vault: OpenVault, query: str, found: Sequence[tuple[int, str]]) -> None:
    """As `record_search`, from ranks and ids of this vault's own memories."""
    if not found:
        return
    usage, now, session = Usage(vault.state), vault.surroundings.now(), vault.author.session
    known = usage.recent("found", session, now=now, within=_SEARCH_LASTS / 2)
    digest = query_digest(query)
    usage.add(
        [use_at(now, "found", one, session=session, query=digest, rank=rank) for rank, one in found if one not in known]
    )


def record_show(vault: OpenVault, memory_id: str | None) -> None:
    """Note that a memory was looked at: a recall when an agent or tool reads it, or when a search had found it."""
    if memory_id is None:
        return
    usage, now, session = Usage(vault.state), vault.surroundings.now(), vault.author.session
    found = usage.recent("found", session, now=now, within=_SEARCH_LASTS).get(memory_id)
    if found is not None or not vault.is_person:
        query = found.query if found is not None else None
        usage.add([use_at(now, "recall", memory_id, session=session, query=query)])


def record_recall(vault: OpenVault, memory_id: str, query: str | None = None) -> None:
    """Note that a memory was recalled on purpose."""
    digest = query_digest(query) if query else None
    now, session = vault.surroundings.now(), vault.author.session
    Usage(vault.state).add([use_at(now, "recall", memory_id, session=session, query=digest)])


def activation_of(vault: OpenVault, record: Mapping[str, Any], usage: MemoryUsage, *, now: datetime) -> float:
    """The activation of a memory from how it was recalled here, 0..1."""
    half_life = vault.settings.get("rank.half-life-days")
    assert isinstance(half_life, int | float)
    return activation(
        usage.recalled_at(),
        now=now,
        half_life_days=float(half_life) or 1.0,
        importance=record["importance"],
        is_pinned=bool(record["pinned"]),
    )


def usage_of(vault: OpenVault, ids: Collection[str]) -> dict[str, MemoryUsage]:
    """The usage of these memories; the caller names only those that its context may see."""
    by_id = Usage(vault.state).by_memory()
    return {one: by_id.get(one, MemoryUsage()) for one in ids}


def last_surfaced(vault: OpenVault) -> dict[str, str]:
    """When each memory was last surfaced here, by id, in UTC; of all scopes."""
    by_id = Usage(vault.state).by_memory()
    return {one: used.last_surfaced for one, used in by_id.items() if used.last_surfaced is not None}
