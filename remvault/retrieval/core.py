"""The core: memories that are surfaced whatever the prompt, in a few slots of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from remvault.domain.scope import SCOPES
from remvault.index.rows import NoteRow
from remvault.retrieval.anchored import not_looked_at
from remvault.retrieval.answers import row_answer
from remvault.retrieval.lifecycle import Stage
from remvault.retrieval.listing import known_since
from remvault.retrieval.search import Hit
from remvault.retrieval.view import View

if TYPE_CHECKING:
    from remvault.retrieval.voicing import Voiced

_ACTIVE: tuple[Stage, ...] = ("active",)
T = TypeVar("T", bound="Voiced")
CORE_SIGNAL = 1.0  # said of a memory in a slot; it competes with nothing


def core_offers(view: View, provider: str) -> list[Hit]:
    """The core memories that this context may be shown, the first to get a slot first.

    Pinned before others, narrower scopes before wider ones, then the more important, the newer, and by path. The
    prompt has no say, so that the same ones stand there from one prompt to the next.
    """
    is_wanted = view.filter(_ACTIVE, only_valid=True)
    rows = [row for row in view.snapshot.core_rows() if is_wanted(row)]
    records = view.snapshot.records([row.path for row in rows])
    hits = [_hit(view, row, records[row.path], provider) for row in rows if row.path in records]
    return sorted(hits, key=lambda hit: slot_order(hit.memory))


def in_slots(offers: Sequence[T], slots: int) -> tuple[list[T], list[T]]:
    """Those that get a slot, and those that do not."""
    ordered = sorted(offers, key=lambda one: slot_order(one.offer.memory))
    return ordered[:slots], ordered[slots:]


def slot_order(memory: Mapping[str, Any]) -> tuple[bool, int, float, float, str]:
    """What decides who gets a slot, least first."""
    scope = SCOPES.index(memory["scope"]) if memory["scope"] in SCOPES else len(SCOPES)
    importance = memory["importance"]
    return (
        not memory["pinned"],
        scope,
        -(0.5 if importance is None else importance),
        -known_since(memory),
        memory["path"],
    )


def _hit(view: View, row: NoteRow, record: Mapping[str, Any], provider: str) -> Hit:
    return Hit(
        row=row,
        memory=row_answer(view, row, record, provider=provider, anchors=not_looked_at(row.anchors)),
        body=record["body"],
        score=CORE_SIGNAL,
        section=None,
        section_text="",
        snippet="",
        signals={"core": CORE_SIGNAL},
        labels=tuple(view.own_labels(row)),
        why=("core memory",),
        matched=(),
        view=view,
    )
