"""Anchors: where in the code a memory points, as a value."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_ANCHORS = 8
_LINES = re.compile(r"L([1-9]\d{0,8})(?:-L?([1-9]\d{0,8}))?\Z")


@dataclass(frozen=True, slots=True)
class Place:
    """A parsed `at`: a relative path, and either a dotted symbol, a range of 1-based lines, or neither."""

    path: str
    symbol: str | None = None
    lines: tuple[int, int] | None = None


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
