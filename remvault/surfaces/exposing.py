"""Noting what was shown, found and recalled, after the answer is made. Never part of an answer, never a commit.

Being shown confirms nothing and moves no rank; a recall on purpose raises a memory's activation. Agents and persons
are treated alike.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from remvault.domain.activation import activation
from remvault.domain.moments import parse_moment
from remvault.retrieval.search import SearchAnswer
from remvault.retrieval.surfacing import Surfaced
from remvault.retrieval.voicing import Key
from remvault.store.usage import MemoryUsage, Usage, Use, query_digest, use_at
from remvault.surfaces.experience import VaultExperience

if TYPE_CHECKING:
    from remvault.surfaces.app import OpenVault

# A memory shown within an hour of a search that found it was looked for.
_SEARCH_LASTS = timedelta(hours=1)


def record_exposures(vault: OpenVault, surfaced: Surfaced, prompt: str) -> None:
    """Note which memories a prompt was given, each at most once a session in `surface.refresh-minutes` while unchanged.

    What came from other vaults is noted here too, for the session's sake: in theirs nothing is written.
    """
    if not surfaced.shown:
        return
    usage, now, session = Usage(vault.state), vault.surroundings.now(), vault.author.session
    known = _just_shown(vault, usage, now)
    digest = query_digest(prompt)
    usage.add(
        [
            use_at(
                now,
                "shown",
                one.id,
                session=session,
                query=digest,
                score=round(one.score, 6),
                signals=dict(one.signals),
                core=1.0 if one.part == "core" else None,
                rank=one.rank,
                content=one.content,
                provider=None if one.provider == vault.provider else one.provider,
            )
            for one in surfaced.shown
            if known.get(Key(one.provider, one.id)) != one.content
            and (session is not None or one.provider == vault.provider)
        ]
    )


def shown_earlier(vault: OpenVault) -> dict[Key, str]:
    """What the session was shown and still knows: its content by memory; without a session nothing."""
    session = vault.author.session
    if session is None:
        return {}
    return {_key(vault, use): use.content for use in Usage(vault.state).seen(session).values() if use.content}


def forget_exposures(vault: OpenVault, session: str | None = None) -> None:
    """Note that a session no longer knows what it was shown, as after its host made its context shorter.

    Args:
        session: None takes the one that the vault is open for; without any there is nothing to forget.
    """
    session = session or vault.author.session
    if session is not None:
        Usage(vault.state).add([use_at(vault.surroundings.now(), "forgotten", "", session=session)])


def _just_shown(vault: OpenVault, usage: Usage, now: datetime) -> dict[Key, str | None]:
    """What need not be written again so soon."""
    fresh = timedelta(minutes=vault.settings.count("surface.refresh-minutes"))
    session = vault.author.session
    if session is None:
        uses = usage.recent("shown", None, now=now, within=fresh).values()
        return {_key(vault, use): use.content for use in uses}
    times = {_key(vault, use): (parse_moment(use.time), use.content) for use in usage.seen(session).values()}
    return {key: content for key, (time, content) in times.items() if time is not None and abs(now - time) < fresh}


def _key(vault: OpenVault, use: Use) -> Key:
    return Key(vault.provider if use.provider is None else use.provider, use.id)


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
    return activation(
        usage.recalled_at(),
        now=now,
        half_life_days=VaultExperience(vault).half_life_days,
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
