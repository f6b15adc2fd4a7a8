"""Taking documents out of what counts, though they stay in the index until their segment is written anew.

Owns: totals without them, and how many of the dead hold which term, so that frequencies stay exact.
Leaves alone: which documents those are (changes), which segments are kept (segments).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from remvault.index.manifest import Dead, Manifest
from remvault.index.schema import NOTES, SECTIONS, stored_terms

if TYPE_CHECKING:
    from remvault.index.analysis import Analyzer
    from remvault.index.postings import Segment
    from remvault.index.rows import Entry
    from remvault.index.text_index import TextIndex

Numbers = dict[str, list[int]]  # of documents of notes, by segment
Terms = Mapping[str, Mapping[str, int]]  # by segment: notes that hold a term


def retire(
    index: TextIndex, entries: Iterable[Entry], fresh: Manifest, dead: dict[str, Dead], segments: Sequence[Segment]
) -> Numbers:
    """Take the documents of `entries` out of the totals of `fresh`, and count them as dead in their segment.

    Returns:
        The documents in one of `segments`, whose terms have yet to be counted: `terms_of`, then `bury`.
    """
    numbers: Numbers = {}
    for entry in entries:
        note, *sections = index.lengths(entry.numbers)
        fresh.totals[NOTES].add(note, -1)
        for lengths in sections:
            fresh.totals[SECTIONS].add(lengths, -1)
        segment = next((one for one in segments if entry.number in one.numbers), None)
        if segment is not None:
            dead.setdefault(segment.name, Dead()).documents += len(entry.numbers)
            numbers.setdefault(segment.name, []).append(entry.number)
    return numbers


def terms_of(index: TextIndex, numbers: Mapping[str, Sequence[int]], analyzer: Analyzer) -> Terms:
    """Count the notes that hold each term, from what was stored of them: a third of what reading them cost."""
    found: dict[str, Counter[str]] = {}
    for name, some in numbers.items():
        found[name] = Counter(term for number in some for term in stored_terms(index.stored(number), analyzer))
    return found


def bury(dead: dict[str, Dead], terms: Terms) -> None:
    """Add counts of terms to those of the dead."""
    for name, counts in terms.items():
        known = dead[name].terms
        for term, count in counts.items():
            known[term] = known.get(term, 0) + count
