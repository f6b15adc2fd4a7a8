"""What the code of one work tree says of anchors: their states now, and their digests.

Owns: the state of an anchor from what lies at its place, taking a digest.
Leaves alone: reading files (code), what is in them (code_source), which code a memory may point into (surfaces).
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from remvault.domain.anchors import Place, Reading, State, Taken, parse_place
from remvault.domain.memory import Anchor
from remvault.errors import UserError
from remvault.store.code import CodeMissing, CodeRoot, CodeUnreadable
from remvault.store.code_source import Source
from remvault.store.outlines import RECIPES
from remvault.store.work_tree import head

SHORT = 10  # hex digits of a commit in an anchor


class AnchorNotFound(UserError):
    """What an anchor points at is not there: no such file, symbol or lines."""

    code = "anchor_not_found"

    def __init__(self, at: str, reason: str, close: Sequence[str] = ()) -> None:
        self.at, self.reason, self.close = at, reason, list(close)
        hint = f"did you mean {close[0]}?" if close else None
        super().__init__(f"anchor {at!r}: {reason}", hint=hint)


class AnchorRefused(UserError):
    """An anchor that no code can be read for: its form, or where its path leads, is not allowed."""

    code = "anchor_refused"

    def __init__(self, at: str, reason: str) -> None:
        self.at, self.reason = at, reason
        super().__init__(f"anchor {at!r}: {reason}", hint="write path, path#symbol or path#L10-L20")


@dataclass(frozen=True, slots=True)
class _Here:
    """What lies at a path: a source, or why there is none."""

    source: Source | None
    state: State = "fresh"  # without a source: broken when it is gone, unknown when it cannot be told
    why: str = ""


class CodeAnchors:
    """The anchors into one work tree."""

    def __init__(self, root: CodeRoot) -> None:
        self.root = root

    def readings(self, anchors: Sequence[Anchor]) -> list[Reading]:
        """What the code says of each anchor, in the same order; every file is read once. Never fails."""
        here: dict[str, _Here] = {}
        return [self._reading(anchor, here) for anchor in anchors]

    def take(self, at: str) -> Taken:
        """The anchor with the digest of what is there now, and the commit that is checked out.

        Raises:
            AnchorNotFound: no such file, symbol or lines.
            AnchorRefused: the form is not allowed, or the path leads out of the code or to what cannot be read.
        """
        try:
            place = parse_place(at)
        except ValueError as err:
            raise AnchorRefused(at, str(err)) from err
        try:
            data, _ = self.root.read(place.path)
        except CodeMissing as err:
            raise AnchorNotFound(at, err.reason) from err
        except CodeUnreadable as err:
            raise AnchorRefused(at, err.reason) from err
        source = Source(place.path, data)
        commit = head(self.root.tree, self.root.environ).commit
        short = None if commit is None else commit[:SHORT]
        found = source.find(place)
        if found is None and source.is_binary:
            return Taken(Anchor(at=at, commit=short), "the file is binary: whether it changes cannot be told")
        if found is None:
            names = [one.name for one in source.outline.definitions]
            close = difflib.get_close_matches(place.symbol or "", names, n=3)
            raise AnchorNotFound(at, _missing(place), [f"{place.path}#{name}" for name in close])
        notice = None
        if found.is_word:
            notice = f"no grammar for {PurePosixPath(place.path).name}: the {found.count} lines with the word count"
        elif found.count > 1:
            notice = f"{found.count} definitions of {place.symbol}, all of them count"
        return Taken(Anchor(at=at, digest=found.digest, commit=short), notice)

    def save(self) -> None:
        """Keep what was learned for the next process."""

    def _reading(self, anchor: Anchor, here: dict[str, _Here]) -> Reading:
        def reading(state: State, detail: str = "", now_at: str | None = None) -> Reading:
            return Reading(anchor.at, state, detail, anchor.digest, anchor.commit, now_at)

        try:
            place = parse_place(anchor.at)
        except ValueError as err:
            return reading("unknown", str(err))
        if place.path not in here:
            here[place.path] = self._look(place.path)
        source = here[place.path].source
        if source is None:
            return reading(here[place.path].state, here[place.path].why)
        if source.is_binary:
            return reading("unknown", "the file is binary")
        found = source.find(place)
        if found is not None and anchor.digest == found.digest:
            return reading("fresh")
        if anchor.digest is not None and anchor.digest.partition(":")[0] not in RECIPES:
            return reading("unknown", "its digest is of another recipe")
        if place.lines is not None and anchor.digest is not None:
            lines = source.lines_of(anchor.digest, place.lines)
            if lines is not None:
                return reading("moved", "", f"{place.path}#L{lines[0]}-L{lines[1]}")
        if found is None:
            names = source.names_of(anchor.digest) if anchor.digest is not None else []
            return reading("broken", _missing(place), f"{place.path}#{names[0]}" if len(names) == 1 else None)
        if anchor.digest is None:
            return reading("unknown", "it has no digest yet")
        if anchor.digest.partition(":")[0] != found.digest.partition(":")[0]:
            return reading("unknown", "its digest is of another recipe")
        return reading("drifted", "its code changed")

    def _look(self, path: str) -> _Here:
        try:
            data, _ = self.root.read(path)
        except CodeMissing as err:
            return _Here(None, "broken", err.reason)
        except CodeUnreadable as err:
            return _Here(None, "unknown", err.reason)
        return _Here(Source(path, data))


def _missing(place: Place) -> str:
    if place.lines is not None:
        return f"lines {place.lines[0]} to {place.lines[1]} are not there, or hold no code"
    return f"no {place.symbol} in the file"
