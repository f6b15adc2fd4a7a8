"""One version of one file of the code, and what an anchor finds in it.

Owns: a symbol, a range of lines or the whole of a file as one digest; the same digest elsewhere in the file.
Leaves alone: how text becomes digests (outlines), where the bytes come from (code, git).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from remvault.domain.anchors import Place
from remvault.store.outlines import Outline, find_range, outline, range_digest, symbol_digest, word_lines


@dataclass(frozen=True, slots=True)
class Found:
    """What an anchor points at in one version of a file."""

    digest: str
    count: int = 1  # definitions of one name, or lines that hold the word
    is_word: bool = False  # found by searching for a word, since there is no grammar for the file


class Source:
    """The bytes of a file under a path, parsed once at most."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path, self.data = path, data

    @cached_property
    def outline(self) -> Outline:
        """What the file defines."""
        return outline(self.path, self.data)

    @property
    def is_binary(self) -> bool:
        """Whether nothing can be said of the file."""
        return self.outline.digest is None

    def find(self, place: Place) -> Found | None:
        """What lies at the symbol, the lines or the file that `place` names, whatever its path; None when nothing."""
        whole = self.outline.digest
        if whole is None:
            return None
        if place.lines is not None:
            digest = range_digest(self.path, self.data, place.lines)
            return None if digest is None else Found(digest)
        if place.symbol is None:
            return Found(whole)
        named = self.outline.named(place.symbol)
        if named:
            return Found(symbol_digest(named), len(named))
        return self._word(place.symbol) if self.outline.language is None else None

    def lines_of(self, digest: str, near: tuple[int, int]) -> tuple[int, int] | None:
        """The lines that hold the tokens of a range with this digest, the place nearest to `near`."""
        return find_range(self.path, self.data, digest, near)

    def names_of(self, digest: str) -> list[str]:
        """Every name whose definition has this digest, in file order."""
        return list(dict.fromkeys(one.name for one in self.outline.definitions if one.digest == digest))

    def _word(self, word: str) -> Found | None:
        """The lines that hold a word, in whatever order: without a grammar nothing tells how far a definition goes."""
        numbers = word_lines(self.data, word)
        if not numbers:
            return None
        lines = self.data.split(b"\n")
        text = b"\n".join(sorted({lines[number - 1].strip() for number in numbers}))
        digest = outline("lines.txt", text).digest
        return None if digest is None else Found(digest, len(numbers), is_word=True)
