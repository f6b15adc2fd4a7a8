"""From what a provider offers to what a block says of it: the memory's own words, remvault's, and what is in doubt.

Owns: items, the texts that may stand for a memory, near-duplicates behind one head, what counts as changed content.
Leaves alone: whether a memory may be shown at all (`surfacing`), how it looks (`rendering`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from remvault.domain.memory import TRUSTS, trust_of
from remvault.retrieval.ages import age_of
from remvault.retrieval.anchored import why_hidden
from remvault.retrieval.answers import owner_label
from remvault.retrieval.diversity import Wording, groups
from remvault.retrieval.listing import known_since
from remvault.retrieval.packing import size_of
from remvault.retrieval.providers import Offer
from remvault.retrieval.rendering import Item
from remvault.retrieval.snippets import snippet

# How the labels begin that tell of uncertainty or conflict (`view.View`, `anchored.labels_of`); the others are news of
# the memory that leave it standing.
DOUBTS = (
    "conflict with ",
    "last known to hold ",
    "of unknown date",
    "rests on retracted ",
    "marked superseded, ",
    "anchor not checked",
)


class Key(NamedTuple):
    """A memory among those of all providers."""

    provider: str
    id: str


@dataclass(frozen=True, slots=True)
class Voiced:
    """A memory that may be shown, or several that say the same, of which one speaks for all."""

    offers: tuple[Offer, ...]  # the one to be shown first; the next has its turn when that one's code is gone
    rank: int | None  # of the best of them, 1 is the best; None for the core
    now: datetime

    @property
    def offer(self) -> Offer:
        """The one to be shown."""
        return self.offers[0]

    @property
    def key(self) -> Key:
        """Which memory it is."""
        return key_of(self.offer.memory)

    @property
    def provider(self) -> str:
        """Where it comes from."""
        return self.key.provider

    @property
    def id(self) -> str:
        """Its id."""
        return self.key.id

    def look(self) -> Item | str:
        """See `packing.Candidate`."""
        reasons: list[str] = []
        for offer in self.offers:
            looked = offer.looked()
            reason = why_hidden(looked.memory)
            if reason is None:
                return item_of(looked, self.rank, self.now, alike=len(self.offers) - len(reasons) - 1)
            reasons.append(reason)
        return reasons[0]

    def texts(self, item: Item, most: int) -> Iterator[str]:
        """See `packing.Candidate`."""
        return texts_of(next(one for one in self.offers if key_of(one.memory) == (item.provider, item.id)), most)


def key_of(memory: Mapping[str, Any]) -> Key:
    """Which memory an answer is about."""
    return Key(memory["provider"], memory["id"])


def item_of(offer: Offer, rank: int | None, now: datetime, *, alike: int = 0) -> Item:
    """A memory as a block shows it, its text still to be chosen."""
    memory = offer.memory
    doubts = tuple(label for label in offer.labels if label.startswith(DOUBTS))
    labels = tuple(label for label in offer.labels if label not in doubts)
    if alike:
        labels = (*labels, f"and {alike} alike")
    return Item(
        provider=memory["provider"],
        id=memory["id"],
        title=memory["title"],
        type=memory["type"],
        scope=owner_label(memory),
        source=memory["source"],
        text="",
        freshness=memory["freshness"],
        age=age_of(memory, now),
        epistemic=memory["epistemic"],
        trust=_trust_of(memory),
        rank=rank,
        labels=labels,
        doubts=doubts,
        reasons=offer.reasons,
    )


def texts_of(offer: Offer, most: int) -> Iterator[str]:
    """What may stand for a memory in `most` bytes, longest first: body, section, summary, the line that matched best.

    None is cut but the last, and all but the first say what they are; behind them a word on where to find the text.
    """
    memory_id = offer.memory["id"]
    body = offer.body.replace("\r\n", "\n").strip("\n").rstrip()
    if _fits(body, most):
        yield body
    passage = offer.body
    if offer.section is not None:
        heading, line = offer.section
        passage = offer.section_text
        where = f"section {heading}, line {line}" if heading else f"from line {line}"
        text = f"({where})\n{passage.strip()}"
        if _fits(text, most):
            yield text
    if offer.memory["summary"]:
        text = f"(summary)\n{offer.memory['summary']}"
        if _fits(text, most):
            yield text
    line_of_it = snippet(passage, offer.matched)
    if any(word.casefold() in line_of_it.casefold() for word in offer.matched):
        yield f"(a line of it; all: remvault show {memory_id})\n{line_of_it}"
    yield f"(for its text: remvault show {memory_id})"


def _fits(text: str, most: int) -> bool:
    # Even a byte a character is too much for most of a long note: it need not be encoded.
    return len(text) <= most and size_of(text) <= most


def content_of(offer: Offer) -> str:
    """Name what a reader is told by a memory: 16 hex, the same while its words and the doubts about them are."""
    memory = offer.memory
    said = [memory["title"], memory["summary"], memory["freshness"], memory["epistemic"], offer.body]
    # A label that comes with the code is known only once that was looked at, which is not done for what is left out.
    said += [label for label in offer.labels if label.startswith(DOUBTS) and not label.startswith("anchor ")]
    return digest_of("\0".join(one or "" for one in said))


def digest_of(text: str) -> str:
    """16 hex of SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def gathered(parts: Mapping[str, Sequence[Voiced]]) -> dict[str, list[Voiced]]:
    """Put near-duplicates behind one head, in the place of the best of them.

    The head is the newest of those that are trusted most: what somebody of less trust wrote later hides nothing. Only
    memories of one scope, type and kind of knowledge that nothing speaks against are put together.
    """
    flat = [(name, one) for name, many in parts.items() for one in many]
    kinds: dict[tuple[object, ...], list[int]] = {}
    for at, (_, one) in enumerate(flat):
        kinds.setdefault(_kind(one, at), []).append(at)
    grouped = [
        [numbers[at] for at in group]
        for numbers in kinds.values()
        for group in groups([_wording(flat[at][1]) for at in numbers])
    ]
    found: dict[str, list[Voiced]] = {name: [] for name in parts}
    for group in sorted(grouped):
        name, first = flat[group[0]]
        members = sorted((flat[at][1] for at in group), key=_headship)
        found[name].append(replace(first, offers=tuple(one.offer for one in members)))
    return found


def _kind(one: Voiced, at: int) -> tuple[object, ...]:
    memory = one.offer.memory
    is_doubted = any(label.startswith(DOUBTS) for label in one.offer.labels)
    return (owner_label(memory), memory["type"], memory["epistemic"], at if is_doubted else None)


def _wording(one: Voiced) -> Wording:
    return Wording(one.offer.memory["title"], one.offer.body)


def _headship(one: Voiced) -> tuple[int, float]:
    trust = _trust_of(one.offer.memory)
    return len(TRUSTS) if trust is None else TRUSTS.index(trust), -known_since(one.offer.memory)


def _trust_of(memory: Mapping[str, Any]) -> str | None:
    return trust_of((entry.get("trust"), entry.get("origin")) for entry in memory["provenance"])
