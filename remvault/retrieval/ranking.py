"""Score what the index matched: one saturation over weighted fields, and a few named signals beside it.

Pure: evidence in, scores out. The table below is the whole configuration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from remvault.domain.scope import SCOPES
from remvault.index.query import QueryWord
from remvault.index.snapshot import MatchedDocument, Matches

# Weight of a match in a field, and b, how far a field's length is held against it. Titles and lists are short by
# nature, so their length says little (b 0.3); 0.5 for bodies suits notes of one line to a few pages.
# Source of the form: Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, section 3.5.
FIELD_WEIGHTS: dict[str, tuple[float, float]] = {
    "title": (3.0, 0.3),
    "aliases": (3.0, 0.3),
    "tags": (2.0, 0.3),
    "summary": (2.0, 0.3),
    "headings": (1.5, 0.3),
    "body": (1.0, 0.5),
}
K1 = 1.2
# Among equal texts the narrower scope comes first: at most 0.007, less than any real difference in text.
SCOPE_STEP = 0.001
STALE_FACTOR = 0.8  # a stale note still answers, behind a current one that answers as well
STEM_KINDS = frozenset({"stem"})  # may add to a score, never decide that something matched


@dataclass(frozen=True, slots=True)
class Scored:
    """One note with its score, the sum of its signals, best section and the words it matched."""

    path: str
    section: int | None
    signals: Mapping[str, float]
    matched: tuple[str, ...]  # query words matched by a whole token, in query order
    fields: tuple[str, ...]  # fields in which they stand

    @property
    def score(self) -> float:
        """The sum of the signals."""
        return sum(self.signals.values())


def idf(note_count: int, document_frequency: int) -> float:
    """Inverse document frequency as BM25 has it, never negative (Lucene's form: log(1 + (N - n + 0.5) / (n + 0.5)))."""
    return math.log(1 + (note_count - document_frequency + 0.5) / (document_frequency + 0.5))


def text_score(document: MatchedDocument, words: Sequence[QueryWord], matches: Matches) -> float:
    """BM25F of one document: the fields' weighted frequencies are added up before the one saturation.

    A word is its best term in each field, since one occurrence may be indexed under several of them; its idf is the
    mean of those terms' idf, weighted by how much each brought.
    """
    return sum(_word_score(document, word, matches) for word in words)


def _word_score(document: MatchedDocument, word: QueryWord, matches: Matches) -> float:
    averages = matches.average_length if document.section is None else matches.section_average_length
    mass, rarity = 0.0, 0.0
    for name, (weight, b) in FIELD_WEIGHTS.items():
        best, best_term = 0.0, ""
        for term in word.terms:
            value = term.weight * document.frequencies.get((name, term.text), 0)
            if value > best:
                best, best_term = value, term.text
        if not best:
            continue
        average = averages.get(name) or 1.0
        length = document.lengths.get(name, average)
        brought = weight * best / (1 - b + b * length / average)
        mass += brought
        rarity += brought * idf(matches.note_count, matches.document_frequency.get(best_term, 0))
    return (rarity / mass) * mass / (K1 + mass) if mass else 0.0


def scope_signal(scope: str) -> dict[str, float]:
    """What a scope adds to a score, as a signal: the narrower the more."""
    return {"scope": SCOPE_STEP * (len(SCOPES) - 1 - SCOPES.index(scope))}


def rank(
    matches: Matches, words: Sequence[QueryWord], *, scopes: Mapping[str, str], freshness: Mapping[str, str | None]
) -> list[Scored]:
    """Score every matched note, best first, ties by path; a note counts with its best document.

    Args:
        matches: the evidence, already filtered by scope and status.
        words: the query.
        scopes: scope by path.
        freshness: explicit freshness by path.
    """
    best: dict[str, tuple[float, MatchedDocument]] = {}
    for document in matches.documents:
        score = text_score(document, words, matches)
        known = best.get(document.path)
        # At equal score the section wins: it says where in the note.
        if known is None or score > known[0] or (score == known[0] and document.section is not None):
            best[document.path] = (score, document)
    matched = _matched_words(matches, words)
    scored = []
    for path, (text, document) in best.items():
        signals = {"text": text, **scope_signal(scopes[path])}
        if freshness.get(path) == "stale":
            signals["freshness"] = (STALE_FACTOR - 1) * text
        found, fields = matched[path]
        scored.append(Scored(path, document.section, signals, found, fields))
    return sorted(scored, key=lambda one: (-round(one.score, 9), one.path))


def _matched_words(matches: Matches, words: Sequence[QueryWord]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """For each path the words and fields matched by more than a stem, over all of its documents."""
    found: dict[str, tuple[set[int], set[str]]] = {}
    owners: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        for term in word.terms:
            if term.kind not in STEM_KINDS:
                owners.setdefault(term.text, []).append(at)
    for document in matches.documents:
        numbers, fields = found.setdefault(document.path, (set(), set()))
        for field, text in document.frequencies:
            if text in owners:
                numbers.update(owners[text])
                fields.add(field)
    return {
        path: (tuple(words[at].text for at in sorted(numbers)), tuple(sorted(fields)))
        for path, (numbers, fields) in found.items()
    }
