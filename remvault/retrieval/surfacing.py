"""Surfacing: the few memories worth a prompt's attention, in one bounded block."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from remvault.index.analysis import Analyzer
from remvault.retrieval.anchored import why_hidden
from remvault.retrieval.packing import Packed, pack
from remvault.retrieval.providers import Offer
from remvault.retrieval.rendering import Format, Item
from remvault.retrieval.search import Hit, SearchOptions, search
from remvault.retrieval.view import View

# Candidates looked at for each one that may be shown: room for those that do not fit.
OVERSAMPLE = 2


@dataclass(frozen=True, slots=True)
class Surfaced:
    """The block, the memories in it and those left out, best first."""

    packed: Packed
    notices: tuple[str, ...]
    shown: tuple[tuple[int, Hit], ...] = ()  # what stands in the block, with its rank from 1

    @property
    def block(self) -> str:
        """What goes into the prompt; "" when nothing is worth showing."""
        return self.packed.block

    def answer(self, chars_per_token: int) -> dict[str, Any]:
        """The answer as JSON has it."""
        items = [
            {
                "provider": item.provider,
                "id": item.id,
                "source": item.source,
                "scope": item.scope,
                "freshness": item.freshness,
                "chars": chars,
                "reasons": list(item.reasons),
                "labels": list(item.labels),
            }
            for item, chars in self.packed.items
        ]
        return {
            "block": self.block,
            "chars": len(self.block),
            "tokens": -(-len(self.block) // chars_per_token),
            "items": items,
            "left_out": [{"id": memory_id, "why": why} for memory_id, why in self.packed.left_out],
            "gate": None,
        }


def surface(
    view: View,
    prompt: str,
    *,
    budget_chars: int,
    max_items: int,
    form: Format,
    analyzer: Analyzer,
    provider: str,
    files: Collection[str] | None = None,
) -> Surfaced:
    """Choose and render the memories that match a prompt, within `budget_chars` characters.

    Only valid, active notes of this context, matched by at least one whole word. Memories are whole or left out; of a
    long one the matching section, or the summary, stands for it, and a label says so. One whose code is gone is left
    out.

    Args:
        files: in hand, relative to the code root: what is anchored to them comes first, whatever the prompt says.
    """
    options = surface_options(max_items, files)
    answer = search(view, prompt, options, analyzer=analyzer, provider=provider)
    hits = {hit.row.id: hit for hit in answer.hits if is_worth_showing(hit)}
    packed = pack_offers(list(hits.values()), budget_chars=budget_chars, max_items=max_items, form=form)
    ranks = {memory_id: (rank, hit) for rank, (memory_id, hit) in enumerate(hits.items(), 1)}
    return Surfaced(packed, answer.notices, tuple(ranks[item.id] for item, _ in packed.items))


def surface_options(max_items: int, files: Collection[str] | None = None) -> SearchOptions:
    """The search behind a block of `max_items` memories; the code is looked at as they are packed."""
    return SearchOptions(
        limit=max_items * OVERSAMPLE, only_valid=True, files=files, files_first=files is not None, with_code=False
    )


def is_worth_showing(offer: Offer) -> bool:
    """Whether a memory may stand in a block: it has an id, and a whole word or one of its anchors speaks for it."""
    return bool(offer.memory.get("id") and (offer.matched or offer.anchored))


def pack_offers(offers: Sequence[Offer], *, budget_chars: int, max_items: int, form: Format) -> Packed:
    """Fit offers into one block, best first; see `packing.pack`. No two have the same provider and id."""
    found = {(offer.memory["provider"], offer.memory["id"]): offer for offer in offers}

    def look(item: Item) -> Item | str:
        offer = found[item.provider, item.id].looked()
        return why_hidden(offer.memory) or item_of(offer)

    return pack(
        [item_of(offer) for offer in offers],
        budget_chars=budget_chars,
        max_items=max_items,
        form=form,
        ladder=lambda item: texts_of(found[item.provider, item.id], budget_chars),
        look=look,
    )


def item_of(hit: Offer) -> Item:
    """A memory as a block shows it, its text still to be chosen."""
    memory: Mapping[str, Any] = hit.memory
    scope_id = memory["scope_id"]
    return Item(
        provider=memory["provider"],
        id=memory["id"],
        title=memory["title"],
        type=memory["type"],
        scope=f"{memory['scope']}:{scope_id}" if scope_id else memory["scope"],
        freshness=memory["freshness"],
        source=memory["source"],
        text="",
        labels=hit.labels,
        reasons=hit.reasons,
    )


def texts_of(hit: Offer, budget_chars: int) -> list[str]:
    """What may stand for a memory, longest first: body, section, summary. None may take over half the block."""
    most = budget_chars // 2
    texts = [hit.body]
    if hit.section is not None:
        heading, line = hit.section
        texts.append(f"(section {heading}, line {line})\n{hit.section_text.strip()}")
    if hit.memory["summary"]:
        texts.append(f"(summary)\n{hit.memory['summary']}")
    texts.append(f"(no room for the text: remvault show {hit.memory['id']})")
    return [text for text in texts if len(text) <= most]
