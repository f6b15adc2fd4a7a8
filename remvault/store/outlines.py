"""What a code file defines, and the digests that tell a changed meaning from a changed look.

Owns: the recipes of digests, finding a symbol or a run of lines in a file.
Leaves alone: where files are (code), what a digest says of an anchor (anchor_states).

A digest is a recipe and 32 hex of SHA-256. `t1`: the tokens of a grammar (syntax); `w1`: the words of a text without
one; `c1`: the bytes of a file too long to parse, line ends apart.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from remvault.store.kinds import NAME, STATEMENT_END
from remvault.store.languages import language_of
from remvault.store.scopes import Tokens
from remvault.store.syntax import tokens_of

RECIPES = frozenset({"t1", "w1", "c1"})
MAX_PARSED_BYTES = 1024 * 1024
_OWN_NAME, _LOOSE = b"\0@", b"\0|"
_MAX_STEPS = 400_000  # lines added to runs in the search for one that moved: about a second
_SEPARATOR = b"\0"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition of a name."""

    name: str  # dotted, from the file: "Store.with_lock"
    lines: tuple[int, int]  # 1-based, inclusive, decorators included
    digest: str  # of its tokens, its own name left out


@dataclass(frozen=True, slots=True)
class Outline:
    """What a file defines."""

    language: str | None  # None: no grammar, only words
    definitions: tuple[Definition, ...]  # by line
    digest: str | None  # of the whole file; None for a binary one

    def named(self, symbol: str) -> list[Definition]:
        """Every definition of a name: the full dotted one, else one that ends in it; `::` is as good as a dot."""
        wanted = symbol.replace("::", ".")
        exact = [one for one in self.definitions if one.name == wanted]
        if exact:
            return exact
        ending = {one.name for one in self.definitions if one.name.endswith(f".{wanted}")}
        # A constructor has the name of its class: the class is meant.
        outer = {name for name in ending if not any(name.startswith(f"{other}.") for other in ending)}
        return [one for one in self.definitions if one.name in outer] if len(outer) == 1 else []


def outline(path: str, data: bytes) -> Outline:
    """Read a file's definitions. Never fails: what no grammar reads has words, what is binary has nothing."""
    language = language_of(path, data)
    if b"\0" in data:
        return Outline(None, (), None)
    if len(data) > MAX_PARSED_BYTES:
        return Outline(language.name if language else None, (), _content_digest(data))
    if language is None:
        return Outline(None, (), _digest("w1", data.split()))
    tokens = tokens_of(language, data.removeprefix(_BOM))
    hasher = _Hasher(tokens)
    bodied = {span.name for span in tokens.spans if span.has_body}
    spans = sorted(tokens.spans, key=lambda one: (one.lines, one.name))
    found = [
        Definition(one.name, one.lines, hasher.digest(*one.tokens, own=one.name))
        for one in spans
        if one.has_body or one.name not in bodied
    ]
    return Outline(language.name, tuple(found), hasher.digest(0, len(tokens.texts)))


def symbol_digest(found: Sequence[Definition]) -> str:
    """The digest of a name: its one definition's, or that of the set of all of them."""
    digests = sorted(one.digest for one in found)
    if len(digests) == 1:
        return digests[0]
    return _digest("t1", [one.encode() for one in digests])


def range_digest(path: str, data: bytes, lines: tuple[int, int]) -> str | None:
    """The digest of what stands in some lines; None where they are not there or hold nothing but looks."""
    by_line = _by_line(path, data)
    if by_line is None or lines[0] > len(by_line[1]):
        return None
    recipe, rows = by_line
    held = [token for row in rows[lines[0] - 1 : lines[1]] for token in row]
    return _digest(recipe, _trimmed(held)) if _trimmed(held) else None


def find_range(path: str, data: bytes, digest: str, near: tuple[int, int]) -> tuple[int, int] | None:
    """The lines that hold what has this digest, those nearest to `near` first; None where none do.

    A formatter may have made it longer: runs of up to twice as many lines are tried.
    """
    by_line = _by_line(path, data)
    if by_line is None:
        return None
    recipe, rows = by_line
    wanted = digest.removeprefix(f"{recipe}:")
    joined = [_joined(row) for row in rows]
    filled = [number for number, row in enumerate(joined, 1) if row[1]]
    longest = 2 * (near[1] - near[0] + 1) + 8
    left = _MAX_STEPS
    for start in sorted(filled, key=lambda number: abs(number - near[0])):
        hasher, implied = hashlib.sha256(), b""
        for end in range(start, min(start + longest, len(rows) + 1)):
            before, text, behind = joined[end - 1]
            if not text:
                implied += before
                continue
            # Digests grow line by line; what is only implied counts when something follows.
            hasher.update(text if end == start else implied + before + text)
            implied = behind + _SEPARATOR
            if hasher.copy().hexdigest()[:32] == wanted:
                return start, end
        left -= longest
        if left <= 0:
            return None
    return None


def word_lines(data: bytes, symbol: str) -> tuple[int, ...]:
    """The 1-based lines that hold a symbol's last part as a whole word: all there is without a grammar."""
    word = re.escape(re.split(r"\.|::", symbol)[-1].encode())
    pattern = re.compile(rb"(?<![\w])" + word + rb"(?![\w])")
    return tuple(number for number, line in enumerate(data.splitlines(), 1) if pattern.search(line))


class _Hasher:
    """Digests of stretches of one file's tokens."""

    def __init__(self, tokens: Tokens) -> None:
        self._texts, self._loose = tokens.texts, tokens.loose
        self._starts = sorted(tokens.loose)

    def digest(self, start: int, end: int, own: str | None = None) -> str:
        name = None if own is None else NAME + own.rpartition(".")[2].encode()
        return _digest("t1", self._assembled(start, end, name))

    def _assembled(self, start: int, end: int, own: bytes | None) -> list[bytes]:
        """The tokens of a stretch, those of members without an order behind the others and sorted."""
        texts, loose, starts = self._texts, self._loose, self._starts
        fixed: list[bytes] = []
        members: list[list[bytes]] = []
        place, at = start, bisect_left(starts, start)
        while at < len(starts) and starts[at] < end:
            first = starts[at]
            behind = loose[first]
            if behind > end or (first, behind) == (start, end):
                at += 1
                continue
            fixed += texts[place:first]
            members.append(self._assembled(first, behind, own))
            place = behind + 1 if behind < end and texts[behind] == STATEMENT_END else behind
            at = bisect_left(starts, place, at + 1)
        fixed += texts[place:end]
        if own in fixed:
            fixed = [_OWN_NAME if text == own else text for text in fixed]
        for member in sorted(members):
            fixed += [_LOOSE, *member]
        return fixed


@lru_cache(maxsize=1)  # the ranges of one file are asked for one after the other
def _by_line(path: str, data: bytes) -> tuple[str, list[list[bytes]]] | None:
    """Recipe, and the tokens of each line; None for what has no lines."""
    if b"\0" in data or len(data) > MAX_PARSED_BYTES:
        return None
    language = language_of(path, data)
    count = data.count(b"\n") + 1
    rows: list[list[bytes]] = [[] for _ in range(count)]
    if language is None:
        for number, line in enumerate(data.split(b"\n")):
            rows[number] = line.split()
        return "w1", rows
    code = data.removeprefix(_BOM)
    tokens, row, behind = tokens_of(language, code), 0, code.find(b"\n")
    for text, start in zip(tokens.texts, tokens.starts, strict=True):
        while 0 <= behind < start:
            row, behind = row + 1, code.find(b"\n", behind + 1)
        rows[row].append(text)
    return "t1", rows


def _joined(row: Sequence[bytes]) -> tuple[bytes, bytes, bytes]:
    """A line's tokens as digests take them: what is implied in front with its separators, the rest, implied behind."""
    core = _trimmed(row)
    start = next((at for at, token in enumerate(row) if not token.startswith(b"\0")), len(row))
    before = b"".join(token + _SEPARATOR for token in row[:start])
    behind = b"".join(_SEPARATOR + token for token in row[start + len(core) :])
    return before, _SEPARATOR.join(core), behind


def _trimmed(held: Sequence[bytes]) -> Sequence[bytes]:
    """Without what is only implied by the lines around."""
    start, end = 0, len(held)
    while start < end and held[start].startswith(b"\0"):
        start += 1
    while end > start and held[end - 1].startswith(b"\0"):
        end -= 1
    return held[start:end]


def _content_digest(data: bytes) -> str:
    return _digest("c1", [data.replace(b"\r\n", b"\n")])


def _digest(recipe: str, tokens: Iterable[bytes]) -> str:
    return f"{recipe}:{hashlib.sha256(_SEPARATOR.join(tokens)).hexdigest()[:32]}"
