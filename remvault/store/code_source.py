"""One version of one file of the code, and what an anchor finds in it.

Owns: a symbol, a range of lines or the whole of a file as one digest; the same digest elsewhere in the file.
Leaves alone: how text becomes digests (outlines), where the bytes come from (code, git).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from remvault.domain.anchors import Place
from remvault.store.outlines import (
    MAX_PARSED_BYTES,
    Outline,
    find_range,
    outline,
    range_digest,
    symbol_digest,
    word_lines,
)

_PARTS = re.compile(r"\.|::")


@dataclass(frozen=True, slots=True)
class Found:
    """What an anchor points at in one version of a file."""

    digest: str
    lines: tuple[tuple[int, int], ...]  # 1-based, inclusive: of each definition, or that hold the word; () for the file
    notice: str | None = None  # when it is not simply the one definition of a name


class Source:
    """The bytes of a file under a path, parsed once at most."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path, self.data = path, data

    @cached_property
    def outline(self) -> Outline:
        """What the file defines."""
        return outline(self.path, self.data)

    @property
    def is_parsed(self) -> bool:
        """Whether the outline was asked for."""
        return "outline" in self.__dict__

    def find(self, place: Place) -> Found | None:
        """What lies at the symbol, the lines or the file that `place` names, whatever its path; None when nothing."""
        if place.symbol is not None and last_part(place.symbol).encode("utf-8", "replace") not in self.data:
            return None  # most files that are looked through go here, and are not parsed
        whole = self.outline.digest
        if whole is None:
            return None
        if place.symbol is None and place.lines is None:
            return Found(whole, ())
        if len(self.data) > MAX_PARSED_BYTES:
            return self._in_long_file(place, whole)
        if place.lines is not None:
            digest = range_digest(self.path, self.data, place.lines)
            return None if digest is None else Found(digest, (place.lines,))
        assert place.symbol is not None
        named = self.outline.named(place.symbol)
        if not named:
            return self._word(place.symbol) if self.outline.language is None else None
        notice = f"{len(named)} definitions of {place.symbol}, all of them count" if len(named) > 1 else None
        return Found(symbol_digest(named), tuple(one.lines for one in named), notice)

    def lines_of(self, digest: str, near: tuple[int, int]) -> tuple[int, int] | None:
        """The lines that hold the tokens of a range with this digest, the place nearest to `near`."""
        return find_range(self.path, self.data, digest, near)

    def names_of(self, digest: str) -> list[str]:
        """Every name whose definition has this digest, in file order."""
        return list(dict.fromkeys(one.name for one in self.outline.definitions if one.digest == digest))

    def text(self, found: Found) -> list[str]:
        """The lines that were found, without their ends; several stretches one behind the other."""
        lines = [line.rstrip("\r") for line in self.data.decode("utf-8", "replace").split("\n")]
        return [line for first, last in found.lines or ((1, len(lines)),) for line in lines[first - 1 : last]]

    def _in_long_file(self, place: Place, whole: str) -> Found | None:
        """In a file that is not parsed all of it counts, if it holds the word or the lines at all."""
        if place.lines is not None:
            is_there = place.lines[0] <= self.data.count(b"\n") + 1
        else:
            is_there = bool(word_lines(self.data, place.symbol or ""))
        return Found(whole, (), "the file is longer than 1 MiB: any change of it counts") if is_there else None

    def _word(self, word: str) -> Found | None:
        """The lines that hold a word, in whatever order: without a grammar nothing tells how far a definition goes."""
        numbers = word_lines(self.data, word)
        if not numbers:
            return None
        lines = self.data.splitlines()
        text = b"\n".join(sorted({lines[number - 1].strip() for number in numbers}))
        digest = outline("lines.txt", text).digest
        notice = f"no grammar for the file: the {len(numbers)} lines that hold the word {last_part(word)} count"
        if len(numbers) == 1:
            notice = f"no grammar for the file: the one line that holds the word {last_part(word)} counts"
        return None if digest is None else Found(digest, tuple((number, number) for number in numbers), notice)


def last_part(symbol: str) -> str:
    """A symbol's own name, without what it is in."""
    return _PARTS.split(symbol)[-1]
