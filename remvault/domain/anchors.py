"""Anchors: where in the code a memory points, and what the code says of it now, as values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from remvault.domain.memory import Anchor

State = Literal["fresh", "moved", "unknown", "drifted", "broken"]
STATES: tuple[State, ...] = ("fresh", "moved", "unknown", "drifted", "broken")  # best first
MAX_ANCHORS = 8
NOT_TAKEN = "no digest was taken of it yet"
_LINES = re.compile(r"L([1-9]\d{0,8})(?:-L?([1-9]\d{0,8}))?\Z")


@dataclass(frozen=True, slots=True)
class Place:
    """A parsed `at`: a relative path, and either a dotted symbol, a range of 1-based lines, or neither."""

    path: str
    symbol: str | None = None
    lines: tuple[int, int] | None = None


class Reading(NamedTuple):
    """What the code says of one anchor now. Derived on every read, never stored in a note.

    A tuple, since a thousand are made in the time it takes to stat their files.
    """

    at: str  # as the note has it
    state: State
    detail: str = ""  # for people, one line; "" when there is nothing to add
    digest: str | None = None  # as the note has it
    commit: str | None = None  # as the note has it
    # moved: where it is now. broken: the only place it can have become, None when there is none or more than one.
    now_at: str | None = None

    @property
    def mended_at(self) -> str | None:
        """Where the anchor can be taken anew without a guess: what it points at is the same code as before.

        None when there is nothing to mend, or a person has to look.
        """
        if self.state in ("moved", "broken"):
            return self.now_at
        return self.at if self.state == "unknown" and self.detail == NOT_TAKEN else None

    def answer(self) -> dict[str, str | None]:
        """The anchor as JSON has it."""
        found = {"at": self.at, "state": self.state, "digest": self.digest, "commit": self.commit}
        return found | {"detail": self.detail, "now_at": self.now_at}


@dataclass(frozen=True, slots=True)
class Taken:
    """An anchor with the digest of what is there now."""

    anchor: Anchor
    notice: str | None = None  # what to say of it: several definitions of one name, no grammar, no code root


class AnchorSource(Protocol):
    """The code that memories point into, as one context reaches it."""

    def readings(self, owner: str | None, anchors: Sequence[Anchor]) -> list[Reading]:
        """What the code says of each anchor of a memory of `owner` ("project:acme"), in the same order.

        Never fails: without a reachable code root, or for a form that is not allowed, the state is "unknown".
        """
        ...

    def commits_since(self, owner: str | None, reading: Reading) -> int | None:
        """How many code commits changed what a drifted anchor points at since its digest was taken.

        None when nobody can tell; 0 for a change that is not committed yet.
        """
        ...


class AnchorTaker(Protocol):
    """The code that memories point into, as far as writing one asks it for digests."""

    def take(self, owner: str | None, anchor: Anchor) -> Taken:
        """An anchor that is written on purpose, with the digest of what is there now.

        As it is, with a notice, when the code of `owner` ("project:acme") is not at hand.

        Raises:
            UserError: nothing is there, or it may not be read.
        """
        ...

    def retaken(self, owner: str | None, anchors: Sequence[Anchor]) -> list[Taken]:
        """The anchors of a memory that was found still true, in the same order; a place that moved is the new one.

        Never fails: what is gone, or cannot be looked at, stays as it is, with a notice.
        """
        ...


class NoCode:
    """No code is at hand."""

    def __init__(self, why: str = "the code is not at hand") -> None:
        self._why = why

    def readings(self, owner: str | None, anchors: Sequence[Anchor]) -> list[Reading]:
        """Everything is unknown."""
        return [Reading(one.at, "unknown", self._why, one.digest, one.commit) for one in anchors]

    def commits_since(self, owner: str | None, reading: Reading) -> int | None:
        """Nobody can tell."""
        return None

    def take(self, owner: str | None, anchor: Anchor) -> Taken:
        """The anchor as it is."""
        return Taken(anchor, f"the anchor {anchor.at} is kept without a look at the code: {self._why}")

    def retaken(self, owner: str | None, anchors: Sequence[Anchor]) -> list[Taken]:
        """The anchors as they are."""
        return [Taken(one, f"its anchors stay as they were: {self._why}") for one in anchors]


def worst(readings: Iterable[Reading]) -> State | None:
    """The state of a memory: the worst of its anchors; None without any."""
    return max((one.state for one in readings), key=STATES.index, default=None)


def parse_place(at: str) -> Place:
    """Parse `path`, `path#symbol` or `path#L10-L20`.

    Raises:
        ValueError: with the reason: a path that is empty, absolute or leaves the code root, or control characters.
    """
    path, _, fragment = at.partition("#")
    parts = path.split("/")
    if not path or not all(parts):
        raise ValueError(
            "the path is empty or has an empty part" if not path.startswith("/") else "the path is absolute"
        )
    if any(ord(char) < 32 or ord(char) == 127 for char in at):
        raise ValueError("it holds a control character")
    if "\\" in path or re.match(r"[A-Za-z]:", path):
        raise ValueError("the path is not written with / from the code root")
    if ".." in parts or "." in parts:
        raise ValueError("the path holds '.' or '..'")
    if ".git" in (part.lower() for part in parts):
        raise ValueError("the path points into git's own folder")
    if "#" in at and not fragment:
        raise ValueError("nothing follows the #")
    match = _LINES.match(fragment)
    if match is None:
        return Place(path, symbol=fragment or None)
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise ValueError("the last line is before the first")
    return Place(path, lines=(first, last))
