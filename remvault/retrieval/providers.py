"""Several sources of memories behind one protocol, and their answers made into one.

Owns: the protocol, what of a provider's answer may pass, fusing ranked answers.
Leaves alone: what stands behind a provider, and asking several at once (`surfaces.fusing`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from remvault.domain.scope import Context
from remvault.retrieval.lifecycle import Stage, stage_of

if TYPE_CHECKING:
    from remvault.retrieval.catalog import Holdings
    from remvault.retrieval.gate import Gate
    from remvault.retrieval.recognition import Recognition
    from remvault.retrieval.search import SearchOptions

# Reciprocal rank fusion: a memory's score is 1 / (k + its rank), and 60 the constant of the paper (Cormack, Clarke,
# Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009). Scores
# of different vaults cannot be compared: each is made of its own word statistics.
RRF_K = 60


class Offer(Protocol):
    """One memory that answers a query, as a provider offers it; `search.Hit` is one."""

    @property
    def memory(self) -> Mapping[str, Any]:
        """The memory as every answer shows it (`answers.memory_answer`), without body."""
        ...

    @property
    def body(self) -> str:
        """Its whole text."""
        ...

    @property
    def score(self) -> float:
        """How well it answers, on the provider's own scale."""
        ...

    @property
    def section(self) -> tuple[str, int] | None:
        """Heading and line of its best section."""
        ...

    @property
    def section_text(self) -> str:
        """The text of that section."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """What a reader must know before trusting it."""
        ...

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it answers."""
        ...

    @property
    def matched(self) -> tuple[str, ...]:
        """The words of the query that stand in it."""
        ...

    @property
    def signals(self) -> Mapping[str, float]:
        """What its score is the sum of."""
        ...

    @property
    def opens(self) -> bool:
        """Whether more than a stem speaks for it, so that it may be surfaced."""
        ...

    @property
    def anchored(self) -> tuple[str, ...]:
        """Its anchors into the files that were asked for."""
        ...

    def looked(self) -> Offer:
        """The offer with what the code says of its anchors, where it knows; asked for what is about to be shown."""
        ...

    def answer(self) -> dict[str, Any]:
        """The hit as JSON has it."""
        ...


@dataclass(frozen=True, slots=True)
class Offered:
    """What a provider answers to a query."""

    offers: Sequence[Offer]  # best first
    generation: int = 0  # of its index, 0 for none
    notes: int = 0  # that could have answered
    is_stale: bool = False
    dropped: tuple[str, ...] = ()  # words it left out
    notices: tuple[str, ...] = ()
    gate: Gate | None = None  # whether any of it is worth showing unasked; None: it does not say
    core: Sequence[Offer] = ()  # what it would show whatever the query
    recognition: Recognition | None = None  # of what else it knows


class MemoryProvider(Protocol):
    """A source of memories. What it returns is checked again: it decides nothing about who may see what."""

    @property
    def name(self) -> str:
        """What the user calls it; stands on every item."""
        ...

    def catalog(self) -> Holdings:
        """What it may know: what the memories visible here are called, and what it says it holds."""
        ...

    def search(self, query: str, options: SearchOptions) -> Offered:
        """The memories that answer a query, best first."""
        ...

    def get(self, name: str) -> Mapping[str, Any]:
        """One memory with its body; raises MemoryNotFound as `lookup.find`."""
        ...


class MutableProvider(MemoryProvider, Protocol):
    """A source that may be written. Fields go by snake_case names."""

    def new(self, title: str, **fields: Any) -> Any:
        """Write a memory."""
        ...

    def update(self, name: str, edits: Sequence[str]) -> Any:
        """Change fields in place; edits as `KEY=V`."""
        ...

    def supersede(self, name: str, title: str, **fields: Any) -> Any:
        """Replace a memory by a newer one."""
        ...

    def delete(self, name: str) -> Any:
        """Remove a memory; history keeps it."""
        ...


@dataclass(frozen=True, slots=True)
class FusedHit:
    """A memory found in one of several providers."""

    offer: Offer
    provider: str
    rank: int  # in its provider, from 1
    is_own: bool  # of the vault we are in
    also_in: tuple[str, ...] = ()  # providers that hold the very same memory

    @property
    def score(self) -> float:
        """The score among all providers."""
        return 1 / (RRF_K + self.rank)

    @property
    def memory(self) -> Mapping[str, Any]:
        """The memory, with the provider's name."""
        return dict(self.offer.memory) | {"provider": self.provider}

    @property
    def body(self) -> str:
        """See `Offer`."""
        return self.offer.body

    @property
    def section(self) -> tuple[str, int] | None:
        """See `Offer`."""
        return self.offer.section

    @property
    def section_text(self) -> str:
        """See `Offer`."""
        return self.offer.section_text

    @property
    def labels(self) -> tuple[str, ...]:
        """The provider's labels, and its name unless it is the vault we are in."""
        return self.offer.labels if self.is_own else (*self.offer.labels, f"from {self.provider}")

    @property
    def matched(self) -> tuple[str, ...]:
        """See `Offer`."""
        return self.offer.matched

    @property
    def signals(self) -> Mapping[str, float]:
        """Those of the fusion, which alone made the score."""
        return {"rank": self.score}

    @property
    def opens(self) -> bool:
        """See `Offer`."""
        return self.offer.opens

    @property
    def anchored(self) -> tuple[str, ...]:
        """See `Offer`."""
        return self.offer.anchored

    def looked(self) -> FusedHit:
        """See `Offer`."""
        return replace(self, offer=self.offer.looked())

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it answers, and how it stands in its provider."""
        also = (f"also in {', '.join(self.also_in)}",) if self.also_in else ()
        return (*self.offer.reasons, f"number {self.rank} in {self.provider}, by {self.offer.score:.3f} there", *also)

    def answer(self) -> dict[str, Any]:
        """The hit as JSON has it."""
        score = round(self.score, 6)
        mine = {"provider": self.provider, "score": score, "signals": {"rank": score}}
        return self.offer.answer() | mine | {"labels": list(self.labels), "reasons": list(self.reasons)}


@dataclass(frozen=True, slots=True)
class Screened:
    """What of a provider's offers may pass, and how many may not."""

    offers: tuple[Offer, ...]
    refused: int


def screen(
    offers: Sequence[Offer],
    context: Context,
    *,
    stages: Collection[Stage],
    now: datetime,
    is_own: bool,
    is_person: bool,
) -> Screened:
    """Drop what this context may not see, whatever the provider thought; pure.

    Refused: a scope or owner that is not active here or cannot be read, local-only memories, and those of a stage that
    was not asked for. Of the vault we are in (`is_own`) the stage holds as it said, since its marks may be idle, and a
    person is shown memories of unknown owner, labelled.
    """
    # A memory of another vault's work tree, without id, is at home there and not here.
    seen = context if is_own else replace(context, in_own_work_tree=False)
    kept = []
    for offer in offers:
        memory = offer.memory
        scope, scope_id = memory.get("scope"), memory.get("scope_id")
        is_known = seen.sees(scope, scope_id)
        is_shown_anyway = is_own and is_person and "unknown owner" in offer.labels
        if memory.get("sensitivity") != "normal" or not (is_known or is_shown_anyway):
            continue
        if is_own or _stage(memory, now) in stages:
            kept.append(offer)
    return Screened(tuple(kept), len(offers) - len(kept))


def fuse(answers: Sequence[tuple[str, Sequence[Offer]]], *, own: str, limit: int) -> list[FusedHit]:
    """One list of the answers of several providers, by reciprocal rank; pure and deterministic.

    Args:
        answers: provider and offers, best first; of equal ranks the earlier provider's comes first.
        own: the provider that is the vault we are in.
        limit: hits at most.

    Returns:
        The hits, best first, those anchored to a file that was asked for before all others. The same memory with the
        same text is one hit, of the provider that ranks it best.
    """
    hits = [
        FusedHit(offer, name, rank, name == own) for name, offers in answers for rank, offer in enumerate(offers, 1)
    ]
    hits.sort(key=lambda hit: (not hit.anchored, -hit.score))  # stable: the order of providers, then their own
    found: dict[tuple[object, ...], FusedHit] = {}
    for number, hit in enumerate(hits):
        memory = hit.offer.memory
        key = (memory.get("id") or number, memory.get("title"), hit.body)
        known = found.get(key)
        if known is None:
            found[key] = hit
        elif known.provider != hit.provider:
            found[key] = replace(known, also_in=(*known.also_in, hit.provider))
    return list(found.values())[:limit]


def _stage(memory: Mapping[str, Any], now: datetime) -> Stage:
    """The stage by the memory's own word."""
    successors = (memory["superseded_by"],) if memory.get("superseded_by") else ()
    status, freshness, expires = memory.get("status"), memory.get("freshness"), memory.get("expires")
    return stage_of(status or "archived", freshness, expires, successors=successors, is_mark_idle=False, now=now)
