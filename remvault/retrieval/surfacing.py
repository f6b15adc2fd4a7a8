"""Surfacing: the few memories worth a prompt's attention, in one bounded block.

Owns: which memories may stand in a block, in which part, and why each of the others may not.
Leaves alone: finding and ranking them (`search`), fitting them in (`packing`), how they look (`rendering`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from remvault.index.analysis import Analyzer
from remvault.retrieval.core import core_offers, in_slots
from remvault.retrieval.frame import Form, Frame
from remvault.retrieval.gate import Gate
from remvault.retrieval.packing import CHARS_PER_TOKEN, PARTS, Packed, Placed, pack, size_of
from remvault.retrieval.providers import Offer
from remvault.retrieval.recognition import Recognition, recognise
from remvault.retrieval.search import SearchOptions, search
from remvault.retrieval.view import View
from remvault.retrieval.voicing import Key, Voiced, content_of, digest_of, gathered, key_of

# Candidates looked at for each one that may be shown: room for those that do not fit.
OVERSAMPLE = 2
# Of what a session was shown already, so many more are looked at, so that the next best have their turn.
_BEHIND = 100
CATALOG = "catalog"  # under which id the line of the catalog is remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What block is asked for."""

    budget: int  # characters, and UTF-8 bytes
    max_items: int  # memories, those of the core apart
    core_slots: int
    frame: Frame
    now: datetime
    earlier: Mapping[Key, str] = field(default_factory=dict)  # content of what this session was shown, by memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What there is to choose from."""

    core: Sequence[Offer] = ()  # in order
    found: Sequence[Offer] = ()  # best first
    gates: Mapping[str, Gate] = field(default_factory=dict)  # by provider; of one without, all may pass
    recognition: Recognition = field(default_factory=Recognition)  # of the vault we are in
    is_more: bool = False  # some that were found are not among `found`


@dataclass(frozen=True, slots=True)
class Exposure:
    """A memory that was shown."""

    provider: str
    id: str
    part: str
    rank: int | None  # among what was found, 1 is the best
    content: str  # see `voicing.content_of`
    score: float = 0.0
    signals: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Surfaced:
    """The block, the memories in it and those left out, in the order of parts and ranks."""

    packed: Packed
    gate: Gate | None  # of the vault we are in
    delimiter: str
    notices: tuple[str, ...] = ()
    shown: tuple[Exposure, ...] = ()

    @property
    def block(self) -> str:
        """What goes into the prompt; "" when nothing is worth showing."""
        return self.packed.block

    def answer(self) -> dict[str, Any]:
        """The answer as JSON has it."""
        items = [
            {
                "provider": one.item.provider,
                "id": one.item.id,
                "part": one.part,
                "rank": one.item.rank,
                "title": one.item.title,
                "type": one.item.type,
                "epistemic": one.item.epistemic,
                "source": one.item.source,
                "scope": one.item.scope,
                "freshness": one.item.freshness,
                "age": one.item.age,
                "trust": one.item.trust,
                "chars": one.chars,
                "reasons": list(one.item.reasons),
                "labels": [*one.item.labels, *one.item.doubts],
                "doubts": list(one.item.doubts),
            }
            for one in self.packed.items
        ]
        counted = {name: [one.chars for one in self.packed.items if one.part == name] for name in PARTS}
        return {
            "block": self.block,
            "delimiter": self.delimiter,
            "chars": len(self.block),
            "tokens": -(-size_of(self.block) // CHARS_PER_TOKEN),
            "items": items,
            "parts": {name: {"items": len(chars), "chars": sum(chars)} for name, chars in counted.items()}
            | {CATALOG: {"items": 0, "chars": len(self.packed.line)}},
            "left_out": [{"id": memory_id, "why": why} for memory_id, why in self.packed.left_out],
            "gate": None if self.gate is None else self.gate.answer(),
        }


def surface(
    view: View,
    prompt: str,
    *,
    budget_chars: int,
    max_items: int,
    form: Form,
    analyzer: Analyzer,
    provider: str,
    delimiter: str,
    core_slots: int = 0,
    files: Collection[str] | None = None,
    earlier: Mapping[Key, str] | None = None,
) -> Surfaced:
    """Choose and render the memories that match a prompt, within `budget_chars` characters.

    Only valid, active notes of this context. The core (tier `core`) and what is anchored to a file in hand are there
    whatever the prompt; everything else only when the gate is open, and when it is matched by more than a stem.
    Memories are whole or left out; of a long one the matching section, or the summary, stands for it, and its text says
    so. One whose code is gone is left out.

    Args:
        delimiter: of `frame.make_delimiter`, new for each call.
        core_slots: core memories at most.
        files: in hand, relative to the code root.
        earlier: what this session was shown, which is left out while its content is the same.
    """
    terms = Terms(
        budget=budget_chars,
        max_items=max_items,
        core_slots=core_slots,
        frame=Frame(form, delimiter),
        now=view.now,
        earlier=earlier or {},
    )
    options = surface_options(max_items, files, earlier=len(terms.earlier))
    answer = search(view, prompt, options, analyzer=analyzer, provider=provider)
    candidates = Candidates(
        core=core_offers(view, provider) if core_slots else (),
        found=answer.hits,
        gates={provider: answer.gate},
        recognition=recognise(view),
        is_more=len(answer.hits) == options.limit,
    )
    return choose(candidates, terms, gate=answer.gate, notices=answer.notices)


def surface_options(max_items: int, files: Collection[str] | None = None, *, earlier: int = 0) -> SearchOptions:
    """The search behind a block of `max_items` memories; the code is looked at as they are packed.

    Args:
        earlier: memories that this session was shown.
    """
    return SearchOptions(
        limit=max_items * OVERSAMPLE + min(earlier, _BEHIND),
        only_valid=True,
        files=files,
        files_first=files is not None,
        with_code=False,
    )


def choose(candidates: Candidates, terms: Terms, *, gate: Gate | None = None, notices: Sequence[str] = ()) -> Surfaced:
    """Choose among what was found and render it; pure.

    Args:
        gate: of the vault we are in, to be told.
    """
    core = [Voiced((offer,), None, terms.now) for offer in candidates.core if offer.memory.get("id")]
    slots, waiting = in_slots(core, terms.core_slots)
    taken = {one.key for one in slots}
    found = [
        Voiced((offer,), rank, terms.now)
        for rank, offer in enumerate(candidates.found, 1)
        if offer.memory.get("id") and key_of(offer.memory) not in taken
    ]
    known = {one.key for one in found}
    why_not = [(one.id, f"over {terms.core_slots} core memories") for one in waiting if one.key not in known]
    sorted_out: dict[str, list[Voiced]] = {"core": slots, "files": [], "relevant": []}
    for one in found:
        why = "" if one.offer.anchored else why_closed(one.offer, candidates.gates.get(one.provider))
        if why:
            why_not.append((one.id, why))
        else:
            sorted_out["files" if one.offer.anchored else "relevant"].append(one)
    wanted = gathered(sorted_out)
    fresh = {name: [one for one in many if not _is_known(one, terms.earlier)] for name, many in wanted.items()}
    known_already = [one for many in wanted.values() for one in many if _is_known(one, terms.earlier)]
    why_not += [(one.id, "shown earlier in this session") for one in known_already]
    recognition = candidates.recognition
    totals = digest_of(repr(recognition.counts))

    def line(shown: Sequence[Placed]) -> str:
        is_told = terms.earlier.get(Key("", CATALOG)) == totals
        return "" if is_told else recognition.line(one.item.scope for one in shown)

    packed = pack(
        list(fresh.items()),
        budget=terms.budget,
        max_items=terms.max_items,
        frame=terms.frame,
        line=line,
        is_more=candidates.is_more and bool(fresh["relevant"]),
    )
    shown = {(one.item.provider, one.item.id) for one in packed.items}
    why_not += [pair for many in wanted.values() for one in many for pair in _alike(one, shown)]
    packed = replace(packed, left_out=(*packed.left_out, *why_not))
    return Surfaced(packed, gate, terms.frame.delimiter, tuple(notices), _exposures(packed, fresh, totals))


def why_closed(offer: Offer, gate: Gate | None) -> str:
    """Why the prompt alone does not bring a memory into the block; "" when it does."""
    if not offer.opens:
        return next(iter(offer.reasons), "no whole word matched")
    if gate is not None and not gate.is_open:
        return f"gate closed: {gate.score:.2f} is under {gate.threshold:.2f}"
    return ""


def _is_known(one: Voiced, earlier: Mapping[Key, str]) -> bool:
    known = earlier.get(one.key)
    return known is not None and known == content_of(one.offer)


def _alike(one: Voiced, shown: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """The near-duplicates behind the one that speaks, each with the reason."""
    keys = [key_of(offer.memory) for offer in one.offers]
    speaker = next((key for key in keys if key in shown), keys[0])
    return [(key.id, f"near-duplicate of {speaker.id}") for key in keys if key != speaker]


def _exposures(packed: Packed, fresh: Mapping[str, Sequence[Voiced]], totals: str) -> tuple[Exposure, ...]:
    by_key = {key_of(offer.memory): (one, offer) for many in fresh.values() for one in many for offer in one.offers}
    shown = []
    for placed in packed.items:
        one, offer = by_key[Key(placed.item.provider, placed.item.id)]
        key, content = key_of(offer.memory), content_of(offer)
        shown.append(Exposure(*key, placed.part, one.rank, content, offer.score, offer.signals))
    if packed.line:
        shown.append(Exposure("", CATALOG, CATALOG, None, totals))
    return tuple(shown)
