"""Turn what a person or an agent typed into words to look for. Never a query language: every character is text.

Owns: which terms may stand for a word and how much each is worth, stop words, the cap on long input.
Leaves alone: which words the posting budget leaves out (snapshot), scores (retrieval).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from remvault.domain.synonyms import Synonyms
from remvault.index import words
from remvault.index.analysis import FOLD, MAX_TERM, PREFIXES, STEM, Analyzer, fold, is_sign, is_unspaced, spell, tokens

Kind = Literal["exact", "sign", "bigram", "joined", "form", "synonym", "fold", "part", "stem"]
# What a match through each kind is worth next to the word as typed.
WEIGHTS: dict[Kind, float] = {
    "exact": 1.0,
    "sign": 1.0,
    "bigram": 1.0,
    "joined": 0.9,  # withLock for with_lock
    "form": 0.9,  # deploys for deploy
    "synonym": 0.8,  # app for application, and what the vault's own synonyms say
    "fold": 0.8,  # cafe for café and the other way round
    "part": 0.5,  # lock for with_lock
    "stem": 0.6,  # what a stemmer takes for the same word; may add to a score, never open a gate
}
# Kinds that say the word itself is there; the others only hint at it.
PRIMARY: frozenset[str] = frozenset(("exact", "sign", "bigram", "joined", "form", "synonym", "fold"))
MAX_CHARS = 20_000  # of a query; a stack trace of 200 lines has 15,000
MAX_WORDS = 192


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A term to look up, and what finding it is worth (0..1)."""

    text: str
    kind: Kind
    weight: float


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word as typed (lower case) and the terms that may stand for it, the best first, no term twice.

    A note may answer to several of them with one occurrence ("café" is there as itself and as `FOLD + "cafe"`), so
    take the best term of a word, not the sum.
    """

    text: str
    terms: tuple[QueryTerm, ...]
    is_identifier: bool = False  # a name of several pieces, a sign, a path, a flag, something with a digit


def build_query(text: str, analyzer: Analyzer) -> list[QueryWord]:
    """Return the words of a query in the order typed, each once; empty only for text without any visible character.

    English stop words are left out unless nothing else is left. Of very long text the first `MAX_CHARS` characters
    and `MAX_WORDS` words count.
    """
    text = text[:MAX_CHARS]
    found: dict[str, QueryWord] = {}
    typed = tokens(text)
    for phrase in _phrases(typed, analyzer.synonyms):
        others = [QueryTerm(other, "synonym", WEIGHTS["synonym"]) for other in analyzer.synonyms.of(phrase)]
        found[phrase] = QueryWord(phrase, tuple(one for one in others if " " not in one.text))
    for token in dict.fromkeys(typed):
        for word in _words(token, analyzer):
            found.setdefault(word.text, word)
        if len(found) >= 2 * MAX_WORDS:
            break
    kept = list(found.values())
    if analyzer.language == "english":
        kept = [word for word in kept if word.text not in words.STOP_WORDS] or kept
    if not kept:  # only signs that no note is indexed under: still something asked for, that nothing answers
        kept = [
            QueryWord(chunk, (QueryTerm(chunk, "sign", 1.0),), True)
            for chunk in dict.fromkeys(piece[:MAX_TERM] for piece in text.split())
            if chunk.isprintable()
        ]
    return kept[:MAX_WORDS]


def _phrases(typed: Sequence[str], synonyms: Synonyms) -> Iterator[str]:
    """The phrases of several words in a query for which a single word can stand, as far as a vault's synonyms say so.

    A phrase leads to words and not the other way: what is looked up is one term.
    """
    known = [one for one in synonyms.phrases() if any(" " not in other for other in synonyms.of(one))]
    if known:
        run = f" {' '.join(token.lower() for token in typed)} "
        yield from (phrase for phrase in known if f" {phrase} " in run)


def _words(token: str, analyzer: Analyzer) -> list[QueryWord]:
    if is_unspaced(token[0]):
        pairs = list(dict.fromkeys(token[at : at + 2] for at in range(len(token) - 1)))[: 2 * MAX_WORDS] or [token]
        return [QueryWord(pair, (QueryTerm(pair, "bigram", WEIGHTS["bigram"]),)) for pair in pairs]
    if is_sign(token):
        sign = token[:MAX_TERM]
        return [QueryWord(sign, (QueryTerm(sign, "sign", WEIGHTS["sign"]),), True)]
    whole, parts = spell(token)
    terms: dict[str, Kind] = {whole: "exact"}
    joined = "".join(char for char in whole if char.isalnum())
    if joined in parts and joined != whole.lstrip(PREFIXES):
        terms.setdefault(joined, "joined")
    is_english = analyzer.language == "english"
    if is_english and whole in words.STOP_WORDS:
        return [QueryWord(whole, (QueryTerm(whole, "exact", WEIGHTS["exact"]),))]
    if is_english:
        for form in words.inflections(whole):
            terms.setdefault(form, "form")
        for other in words.variants(whole):
            terms.setdefault(other, "synonym")
    for other in analyzer.synonyms.of(whole):
        terms.setdefault(other, "synonym")
    folded = fold(whole)
    if folded != whole:
        terms.setdefault(folded, "fold")
    terms.setdefault(FOLD + folded, "fold")
    for part in parts:
        terms.setdefault(part, "part")
    if folded.isalpha():
        stem = analyzer.stem(folded)
        terms.setdefault(stem, "stem")
        terms.setdefault(STEM + stem, "stem")
    if is_english:  # what nearly every note holds says nothing of the word it is a part or the plain letters of
        terms = {term: kind for term, kind in terms.items() if kind == "exact" or term not in words.STOP_WORDS}
    is_identifier = bool(parts) or not whole.isalpha()
    return [
        QueryWord(whole, tuple(QueryTerm(term, kind, WEIGHTS[kind]) for term, kind in terms.items()), is_identifier)
    ]
