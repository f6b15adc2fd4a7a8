"""Anchors that are written: digests from the code at hand, and the places that are mended without a guess.

Owns: what becomes of an anchor that is named, confirmed or repaired, and what is said of it.
Leaves alone: which code may be read (`code_roots`), what it says (`store.anchor_states`), the text (`domain`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from remvault.domain.anchor_rules import rule_of
from remvault.domain.anchors import NoCode, Reading, Taken
from remvault.domain.memory import Anchor
from remvault.domain.note import Note
from remvault.errors import UserError

if TYPE_CHECKING:
    from remvault.store.anchor_states import CodeAnchors
    from remvault.surfaces.code_roots import CodeRoots


class Anchoring:
    """An `AnchorTaker`, and what `check --fix` asks, for the code at hand."""

    def __init__(self, roots: CodeRoots) -> None:
        self._roots = roots

    def take(self, owner: str | None, anchor: Anchor) -> Taken:
        """An anchor that is written on purpose; raises UserError when it points at nothing that can be read."""
        code = self._roots.of(owner)
        return NoCode(self._roots.why_not(owner)).take(owner, anchor) if code is None else code.take(anchor.at)

    def retaken(self, owner: str | None, anchors: Sequence[Anchor]) -> list[Taken]:
        """The anchors of a memory that was found still true; never fails."""
        code = self._roots.of(owner)
        if code is None:
            return NoCode(self._roots.why_not(owner)).retaken(owner, anchors)
        readings = code.readings(anchors)
        return [_retaken(code, *pair) for pair in zip(anchors, readings, strict=True)]

    def readings(self, owner: str | None, anchors: Sequence[Anchor]) -> list[Reading] | None:
        """What the code says of each, in the same order; None when it is not at hand."""
        code = self._roots.of(owner)
        return None if code is None else code.readings(anchors)

    def mended(self, note: Note, rules: Collection[str]) -> Mapping[Anchor, Anchor]:
        """What to write in place of a note's anchors that fall under one of the rules and need no guess."""
        code, anchors = self._roots.of(note.owner), note.memory.anchors
        if code is None:
            return {}
        mended = {}
        for anchor, reading in zip(anchors, code.readings(anchors), strict=True):
            if reading.mended_at is not None and rule_of(reading) in rules:
                with suppress(UserError):  # it changed since it was read: the next look tells
                    mended[anchor] = code.take(reading.mended_at).anchor
        return mended


def _retaken(code: CodeAnchors, anchor: Anchor, reading: Reading) -> Taken:
    """A confirmed anchor: as the code is now at its place, or where that has gone."""
    kept = Taken(anchor, f"the anchor {anchor.at} stays as it was: {reading.detail}")
    at = reading.now_at or anchor.at
    if reading.state == "broken" and reading.now_at is None:
        return kept
    try:
        taken = code.take(at)
    except UserError as err:
        return Taken(anchor, f"the anchor {anchor.at} stays as it was: {err.message}")
    if reading.state == "unknown" and anchor.digest is not None and _recipe(taken.anchor) == _recipe(anchor):
        return kept  # of another branch, or too much to look through: what is here may not be what was confirmed
    if at != anchor.at:
        return Taken(taken.anchor, f"the anchor {anchor.at} is now {at}")
    if reading.state == "drifted":
        return Taken(taken.anchor, f"the anchor {anchor.at} was taken anew: {reading.detail}")
    return taken if anchor.digest is None else Taken(taken.anchor)


def _recipe(anchor: Anchor) -> str | None:
    return anchor.digest.partition(":")[0] if anchor.digest is not None else None
