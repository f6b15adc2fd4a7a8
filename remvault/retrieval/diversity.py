"""Which memories say the same in nearly the same words, so that a block need hold only one of them.

Pure. Cautious on purpose: showing a memory twice costs room, hiding one that says something else costs its content. Two
texts are near-duplicates only when one is the other with a few words added, and nothing among these words could turn
the meaning: a word replaced or moved, a negation, a number, a name or a sign tells them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

# Shingles of three words, as Broder has them ("On the resemblance and containment of documents", 1997). What was said
# differently is excluded beforehand, so the threshold only limits what may be added: at 0.75 about a quarter, a
# closing sentence to a short note. A word in the middle of less than twenty keeps two texts apart.
SHINGLE_WORDS = 3
THRESHOLD = 0.75
# Longer texts are duplicates only when they are equal: comparing more takes longer than the room is worth.
COMPARED_CHARS = 8_000

_TURNING_TEXT = """
    not no never none nothing nobody neither nor without except unless until only but however instead rather seldom
    rarely hardly barely cannot avoid stop if when while before after always sometimes maybe perhaps was were longer
    formerly previously old deprecated obsolete wrong false
"""
_TURNING = frozenset(_TURNING_TEXT.split())
_PUNCTUATION = ".,;:!?\"'()[]{}<>*_`“”‘’…"


@dataclass(frozen=True)
class Wording:
    """What a memory says, to be compared."""

    title: str
    text: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words in order; letter case counts only in names and where there are signs."""
        stripped = (word.strip(_PUNCTUATION) or word for word in f"{self.title}\n{self.text}".split())
        return tuple(word if _is_telling(word) else word.casefold() for word in stripped)

    @cached_property
    def shingles(self) -> frozenset[tuple[str, ...]]:
        """Every run of three words."""
        words = self.words
        runs = range(max(len(words) - SHINGLE_WORDS, 0) + 1)
        return frozenset(words[at : at + SHINGLE_WORDS] for at in runs)


def is_near_duplicate(one: Wording, other: Wording) -> bool:
    """Whether two memories say the same; symmetric."""
    short, long = sorted((one, other), key=lambda wording: len(wording.title) + len(wording.text))
    length = len(long.title) + len(long.text)
    # What is so much longer cannot be alike; this spares most pairs the splitting.
    if length > COMPARED_CHARS or len(short.title) + len(short.text) < length * THRESHOLD / 2:
        return (short.title, short.text) == (long.title, long.text)
    if len(short.words) > len(long.words):
        short, long = long, short
    added = _added(short.words, long.words)
    if added is None or any(word in _TURNING or _is_telling(word) for word in added):
        return False
    both = len(short.shingles & long.shingles)
    return both >= THRESHOLD * (len(short.shingles) + len(long.shingles) - both)


def groups(wordings: Sequence[Wording | None]) -> list[list[int]]:
    """Put near-duplicates together, by number; each is a near-duplicate of every other in its group.

    Args:
        wordings: in order; one that is None is like nothing else.

    Returns:
        Groups in the order of their first members, each in order.
    """
    found: list[list[int]] = []
    for at, wording in enumerate(wordings):
        for group in found if wording is not None else ():
            if all(_alike(wordings[other], wording) for other in group):
                group.append(at)
                break
        else:
            found.append([at])
    return found


def _alike(one: Wording | None, other: Wording | None) -> bool:
    return one is not None and other is not None and is_near_duplicate(one, other)


def _added(short: Sequence[str], long: Sequence[str]) -> list[str] | None:
    """The words that make the longer text of the shorter one; None when that takes more than adding."""
    added = []
    at = 0
    for word in long:
        if at < len(short) and word == short[at]:
            at += 1
        else:
            added.append(word)
    return added if at == len(short) else None


def _is_telling(word: str) -> bool:
    """Whether a word is a number, a name in code, a sign, or a name with capitals inside."""
    return not word.isalpha() or not (word.islower() or word.istitle() or word.isupper())
