"""Order what the index matched: one saturation over weighted fields, then a re-rank of the best by named signals.

Pure: evidence in, scores out. The tables below and in `signals` are the whole configuration.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from remvault.index.query import QueryTerm, QueryWord
from remvault.index.siblings import Siblings
from remvault.index.snapshot import MatchedDocument, Matches
from remvault.retrieval.signals import NEIGHBOUR_SHARE, WEIGHTS, Facts, fact_signals, scope_signal

# Weight of a match in a field, and b, how far a field's length is held against it. Titles and lists are short by
# nature, so their length says little; for bodies see `_SHORT_B`. Who said it is a signal of its own.
# Source of the form: Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, section 3.5.
FIELD_WEIGHTS: dict[str, tuple[float, float | None]] = {
    "title": (3.0, 0.3),
    "aliases": (3.0, 0.3),
    "tags": (2.0, 0.3),
    "summary": (2.0, 0.3),
    "headings": (1.5, 0.3),
    "body": (1.0, None),
    "date": (1.0, 0.0),
    "who": (0.0, 0.0),
}
# Fields in which a match says when or by whom, not that the memory is about the word.
_ASIDE = frozenset({"date", "who"})
K1 = 1.0
# Among one-line notes a longer one is no less about its words; among pages it is. Between averages of 40 and 120 tokens
# b goes from the one to the other.
_SHORT_B, _LONG_B = 0.4, 0.75
_SHORT_TOKENS, _LONG_TOKENS = 40.0, 120.0
RERANKED = 100  # notes that the signals beyond the text are asked for
_JUDGED = 50  # notes among which the gate looks for the best
# Of three notes that all say "deploy" one cannot tell that the word is common. The gate counts words as if so many more
# notes, of something else, stood beside those of the vault.
_BACKGROUND = 100
STEM_KINDS = frozenset({"stem"})  # may add to a score, never decide that something matched
_NEAR_TOKENS = 8  # words further apart say nothing about each other

Masses = Mapping[int, tuple[float, float]]  # word, counted from 0: weighted frequency over all fields, idf


@dataclass(frozen=True, slots=True)
class TermMatch:
    """How one word of the query was found in a memory."""

    word: str
    term: str
    kind: str  # as in `index.query`
    fields: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the memory holds the word, by more than a stem, and not only as its date or as who said it."""
        return self.kind not in STEM_KINDS and not _ASIDE.issuperset(self.fields)

    def answer(self) -> dict[str, object]:
        """The match as JSON has it."""
        return {"word": self.word, "term": self.term, "kind": self.kind, "fields": list(self.fields)}


@dataclass(frozen=True, slots=True)
class Scored:
    """One note with its score, the sum of its signals, and its best section. What it matched is told when asked."""

    path: str
    section: int | None
    signals: Mapping[str, float]
    _found: Callable[[], Sequence[TermMatch]] = field(default=tuple, repr=False, compare=False)

    @property
    def score(self) -> float:
        """The sum of the signals."""
        return sum(self.signals.values())

    @property
    def matches(self) -> tuple[TermMatch, ...]:
        """Every way in which a word of the query was found, in the query's order."""
        return tuple(self._found())

    @property
    def matched(self) -> tuple[str, ...]:
        """The words of the query that stand there as whole tokens, in the query's order."""
        return tuple(dict.fromkeys(one.word for one in self._whole()))

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields in which these words stand."""
        return tuple(sorted({name for one in self._whole() for name in one.fields}))

    def _whole(self) -> list[TermMatch]:
        return [one for one in self.matches if one.is_whole]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The notes in order, and what the gate weighs: names of who said it apart, which say nothing about the matter."""

    scored: Sequence[Scored]
    best: float  # text score of the best note by whole tokens alone
    mass: float  # idf of the query's words, unseen ones in full: what `best` could be at most
    rarest: float  # idf of a word that stands in one note


def idf(note_count: int, document_frequency: int) -> float:
    """Inverse document frequency as BM25 has it, never negative (Lucene's form: log(1 + (N - n + 0.5) / (n + 0.5)))."""
    return math.log(1 + (note_count - document_frequency + 0.5) / (document_frequency + 0.5))


def rank(
    matches: Matches,
    words: Sequence[QueryWord],
    *,
    scope_of: Callable[[str], str],
    is_stale: Callable[[str], bool] = lambda path: False,
    siblings: Callable[[Sequence[str]], Siblings] = lambda paths: Siblings(),
    facts: Callable[[Sequence[str]], Mapping[str, Facts]] = lambda paths: {},
) -> Ranking:
    """Score every matched note and those that stand next to a good one, best first, ties by path.

    Args:
        matches: the evidence, already filtered by scope and status.
        words: the query.
        scope_of: the scope of a note.
        is_stale: whether a note is marked stale.
        siblings: how notes stand below their parents; asked once, for the best by text.
        facts: what else is known of notes; asked once, for the best by text.
    """
    lookup = _Lookup(words, matches)
    found = {one.path: _Found(one, lookup.masses(one)) for one in matches.documents if one.section is None}
    for document in matches.documents:
        if document.section is not None:
            found[document.path].look_at(document, saturated(lookup.masses(document)))
    head = sorted(found, key=lambda path: (-round(found[path].text, 9), path))[:RERANKED]
    around = _around(siblings(head), {path: one.masses for path, one in found.items()}, lookup.idf)
    known = facts(head)
    in_head = set(head)
    scored = []
    for path, one in found.items():
        signals = {"text": one.text, "section": WEIGHTS["section"] * one.best, **scope_signal(scope_of(path))}
        signals["coverage"] = one.text * (lookup.covered(one.masses) ** WEIGHTS["coverage"] - 1)
        if is_stale(path):
            signals["freshness"] = -WEIGHTS["freshness"] * one.text
        if lookup.is_named(one.document):
            signals["names"] = WEIGHTS["names"]
        if path in in_head:
            signals["proximity"] = WEIGHTS["proximity"] * lookup.proximity(one.document)
        signals |= around.get(path, {})
        if path in known:
            signals |= fact_signals(known[path])
        kept = {name: value for name, value in signals.items() if value or name == "text"}
        section = None if one.section is None else one.section.section
        scored.append(Scored(path, section, kept, partial(lookup.matches, one.document)))
    for path, signals in around.items():
        if path not in found:
            scored.append(Scored(path, None, {"text": 0.0, **signals, **scope_signal(scope_of(path))}))
    scored.sort(key=lambda one: (-round(one.score, 9), one.path))
    return Ranking(scored, *lookup.evidence([found[path] for path in head[:_JUDGED]]))


def saturated(masses: Masses) -> float:
    """BM25 of what was found: each word's mass saturates once, over all fields."""
    return sum(rarity * mass / (K1 + mass) for mass, rarity in masses.values())


def _closeness(one: Sequence[int], other: Sequence[int]) -> float:
    gaps = [abs(a - b) for a in one for b in other if a != b]
    least = min(gaps, default=_NEAR_TOKENS)
    return 1 / least if least < _NEAR_TOKENS else 0.0


class _Found:
    """A matched note and what was found in its sections."""

    def __init__(self, document: MatchedDocument, masses: Masses) -> None:
        self.document, self.masses = document, masses
        self.text = saturated(masses)
        self.section: MatchedDocument | None = None
        self._best = 0.0

    @property
    def best(self) -> float:
        """The text score of its best section; a short note is its own."""
        return self.text if self.section is None else self._best

    def look_at(self, section: MatchedDocument, score: float) -> None:
        """Take one of its sections in; of equal ones the first is the best."""
        if score > self._best:
            self.section, self._best = section, score


class _Lookup:
    """The words of a query as the index answered to them."""

    def __init__(self, words: Sequence[QueryWord], matches: Matches) -> None:
        self._words, self._matches = words, matches
        self._by_term: dict[str, list[tuple[int, QueryTerm]]] = defaultdict(list)
        for at, word in enumerate(words):
            for term in word.terms:
                self._by_term[term.text].append((at, term))
        self._rarity = {term: idf(matches.note_count, count) for term, count in matches.document_frequency.items()}
        self.idf = [idf(matches.note_count, matches.word_frequency.get(word.text, 0)) for word in words]
        share = (matches.average_length.get("body", 0.0) - _SHORT_TOKENS) / (_LONG_TOKENS - _SHORT_TOKENS)
        self._body_b = _SHORT_B + (_LONG_B - _SHORT_B) * min(max(share, 0.0), 1.0)

    def masses(self, document: MatchedDocument, *, with_stems: bool = True) -> Masses:
        """What a document holds of each word, over all fields, and how rare that is.

        A word is its best term in each field, since one occurrence may be indexed under several of them; its rarity is
        the mean of those terms' idf, weighted by how much each brought.
        """
        best: dict[tuple[int, str], tuple[float, str]] = {}
        for (name, text), count in document.frequencies.items():
            for at, term in self._by_term.get(text, ()):
                value = term.weight * count if with_stems or term.kind not in STEM_KINDS else 0.0
                if value > best.get((at, name), (0.0, ""))[0]:
                    best[at, name] = (value, text)
        averages = self._matches.average_length if document.section is None else self._matches.section_average_length
        found: dict[int, tuple[float, float]] = {}
        for (at, name), (value, text) in best.items():
            weight, b = FIELD_WEIGHTS[name]
            if not weight:
                continue
            b = self._body_b if b is None else b
            average = averages.get(name) or 1.0
            brought = weight * value / (1 - b + b * document.lengths.get(name, average) / average)
            mass, rarity = found.get(at, (0.0, 0.0))
            found[at] = (mass + brought, rarity + brought * self._rarity.get(text, 0.0))
        # A form that few notes use is no rarer than the word.
        return {at: (mass, min(rarity / mass, self.idf[at])) for at, (mass, rarity) in sorted(found.items())}

    def covered(self, masses: Masses) -> float:
        """Which share of the query's idf mass a note holds at least something of, 0..1."""
        return sum(self.idf[at] for at in masses) / (sum(self.idf) or 1.0)

    def is_named(self, document: MatchedDocument) -> bool:
        """Whether the query names who said it."""
        return bool(self._names(document))

    def _names(self, document: MatchedDocument) -> set[int]:
        said = [text for name, text in document.frequencies if name == "who"]
        return {at for text in said for at, term in self._by_term.get(text, ()) if term.kind == "exact"}

    def evidence(self, candidates: Sequence[_Found]) -> tuple[float, float, float]:
        """What the best of some notes holds by whole tokens, of how much, and what one rare word is worth.

        A long note counts half by its best section: words that stand far apart are hardly an answer.
        """
        names = {at for one in candidates for at in self._names(one.document)}
        asked = [at for at in range(len(self._words)) if at not in names] or list(range(len(self._words)))
        count = self._matches.note_count + _BACKGROUND
        rarity = {at: idf(count, self._matches.word_frequency.get(self._words[at].text, 0)) for at in asked}

        def held(document: MatchedDocument) -> float:
            masses = self.masses(document, with_stems=False)
            return saturated({at: (masses[at][0], rarity[at]) for at in asked if at in masses})

        best = 0.0
        for one in candidates:
            whole = held(one.document)
            best = max(best, whole if one.section is None else (whole + held(one.section)) / 2)
        return best, sum(rarity.values()), idf(count, 1)

    def matches(self, document: MatchedDocument) -> list[TermMatch]:
        """Every way in which a document holds the words, in their order."""
        held: dict[tuple[int, str], tuple[QueryTerm, list[str]]] = {}
        for field_name, text in document.frequencies:
            for at, term in self._by_term.get(text, ()):
                held.setdefault((at, text), (term, []))[1].append(field_name)
        return [
            TermMatch(self._words[at].text, term.text, term.kind, tuple(sorted(fields)))
            for (at, _), (term, fields) in sorted(held.items())
        ]

    def proximity(self, document: MatchedDocument) -> float:
        """How close words that follow each other in the query stand in title or body: 1 for each two side by side."""
        total = 0.0
        for field_name in ("title", "body"):
            places: dict[int, list[int]] = defaultdict(list)
            for text in document.postings:
                for at, term in self._by_term.get(text, ()):
                    if term.kind not in STEM_KINDS:
                        places[at] += document.positions(field_name, text)
            total += sum(_closeness(places[at], places[at + 1]) for at in list(places) if at + 1 in places)
        return total


def _around(siblings: Siblings, masses: Mapping[str, Masses], rarity: Sequence[float]) -> dict[str, dict[str, float]]:
    """What the notes next to a note, and all below its parent, hold of the query: signals by path."""
    near: dict[str, dict[str, None]] = defaultdict(dict)
    for path, both in siblings.next_to.items():
        near.setdefault(path, {})
        for other in both:
            near[path][other] = near[other][path] = None
    groups: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for path, number in siblings.group.items():
        for at, (mass, _) in masses.get(path, {}).items():
            groups[number][at] += mass
    parents = {
        number: saturated({at: (mass / _stretch(siblings, number), rarity[at]) for at, mass in held.items()})
        for number, held in groups.items()
    }
    signals = {}
    for path, others in near.items():
        own = masses.get(path, {})
        extended = dict(own)
        for other in others:
            for at, (mass, rare) in masses.get(other, {}).items():
                known, own_rarity = own.get(at, (0.0, rare))
                extended[at] = max(extended.get(at, (0.0, 0.0)), (known + NEIGHBOUR_SHARE * mass, own_rarity))
        number = siblings.group[path]
        signals[path] = {
            "neighbours": WEIGHTS["neighbours"] * (saturated(extended) - saturated(own)),
            "parent": WEIGHTS["parent"] * parents.get(number, 0.0),
        }
    return signals


def _stretch(siblings: Siblings, group: int) -> float:
    """How far a group's size is held against it, as the length of a text."""
    return 1 - _LONG_B + _LONG_B * siblings.size[group] / siblings.average_size
