"""Turn text into terms, the same way for notes and for queries.

Owns: what a token is (words, identifiers, signs, CJK runs), which terms it is indexed under, how accents fold.
Leaves alone: what a query word may stand for (query), fields (schema), where postings are kept (text_index).

A term is lower-case text of at most 64 characters. Derived terms carry a mark in front that no text can contain, so
that a stem is never mistaken for a word: `STEM + "deploy"`, `FOLD + "cafe"`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

from remvault.domain.synonyms import NO_SYNONYMS, Synonyms
from remvault.index import words

# Raise it when any text would get other terms than before: indexes of another number are thrown away.
ANALYSIS_VERSION = 1
MAX_TERM = 64
STEM = "\x01"
FOLD = "\x02"
LANGUAGES = (
    "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian", "norwegian",
    "portuguese", "romanian", "russian", "spanish", "swedish", "turkish", "none",
)  # fmt: skip

# Scripts written without blanks between words (and Hangul, where particles stick to words): indexed as bigrams.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# Marks that stay apart after NFC and are no word characters to `re`: general, Hebrew, Arabic, the scripts of India.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff"
)
_OPERATORS = (
    r"<=>|===|!==|->|=>|!=|==|<=|>=|&&|\|\||\+=|-=|\*=|:=|\|>|<-|~>|=~|!~|>>|<<|\?\.|\?\?|\?:|\$[?!$#@*]|::|\+\+"
)
_PICTURES = r"|[\u2190-\u2bff\U0001f000-\U0001faff]"  # arrows, symbols, emoji
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATORS = re.compile(r"://|::|[-./\\:@'’]")
_SIGN = re.compile(r"[^\w\u0300-\u036f]+\Z")
# Alone on a line they are Markdown (bullets, rules, quotes, table cells), not something anyone looks for.
_MARKDOWN = frozenset(
    ("-", "*", "+", "#", "##", "###", "####", ">", "|", "---", "***", ".", ":", "/", "--", "..", ">>")
)
_LETTERS_WITHOUT_MARK = str.maketrans(
    {"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ς": "σ"}
)
PREFIXES = ".-:$@#~/"  # what a name may begin with: .NET --flag ::1 $PATH @name #12 ~/x
_MAX_PARTS = 16
_CACHE_SIZE = 200_000

Groups = tuple[tuple[str, ...], ...]  # one inner tuple a position: the terms that stand there


class Analyzer:
    """One language's way from text to terms. Not shared between threads: it caches what it has seen."""

    def __init__(self, language: str = "english", synonyms: Synonyms = NO_SYNONYMS) -> None:
        """`synonyms` widen queries; what is indexed does not depend on them."""
        if language not in LANGUAGES:
            raise ValueError(f"no analyzer for language {language!r}")
        self.language, self.synonyms = language, synonyms
        self.signature = f"{language}/{ANALYSIS_VERSION}"
        self._groups: dict[str, Groups] = {}

    def positions(self, text: str) -> tuple[dict[str, list[int]], int]:
        """Return every term of `text` with its positions (ascending, from 0), and the number of positions."""
        found: dict[str, list[int]] = {}
        at = 0
        known, learn = self._groups, self._learn
        for raw in tokens(text):
            for group in known.get(raw) or learn(raw):
                for term in group:
                    places = found.get(term)
                    if places is None:
                        found[term] = [at]
                    else:
                        places.append(at)
                at += 1
        return found, at

    def stem(self, word: str) -> str:
        """The Snowball stem of a lower-case word; the word itself for short words, numbers and language `none`."""
        if len(word) < 4 or not word.isalpha():
            return word
        return _stem(self.language, word)

    def _learn(self, raw: str) -> Groups:
        if len(self._groups) >= _CACHE_SIZE:
            self._groups.clear()
        self._groups[raw] = groups = tuple(self._terms(raw))
        return groups

    def _terms(self, raw: str) -> Iterator[tuple[str, ...]]:
        if is_unspaced(raw[0]):
            for at, char in enumerate(raw):
                yield (char, raw[at : at + 2]) if at + 1 < len(raw) else (char,)
        elif is_sign(raw):
            yield () if raw in _MARKDOWN else (raw[:MAX_TERM],)
        else:
            whole, parts = spell(raw)
            terms: dict[str, None] = {}
            for word in (whole, *parts):
                terms.setdefault(word)
                folded = fold(word)
                if folded != word:
                    terms.setdefault(FOLD + folded)
                stem = self.stem(folded)
                if stem != folded:
                    terms.setdefault(STEM + stem)
            yield tuple(terms)


def tokens(text: str) -> list[str]:
    """Cut text into tokens as typed, in order. CJK and Thai runs are one token; Markdown's lone signs are kept."""
    if text.isascii():
        return _ascii_pattern().findall(text)
    return _full_pattern().findall(unicodedata.normalize("NFC", text))


def is_unspaced(char: str) -> bool:
    """Whether a token that begins with this character is a run of a script without blanks."""
    return char > "\u0dff" and _unspaced_pattern().match(char) is not None


def is_sign(token: str) -> bool:
    """Whether a token has no letter or digit at all."""
    return _SIGN.match(token) is not None


@lru_cache(maxsize=4096)
def spell(token: str) -> tuple[str, tuple[str, ...]]:
    """Return (the whole token as a term, its parts as terms, without the whole).

    Parts are the pieces between separators and, inside these, of snake_case and camelCase; for names of several pieces
    also the pieces run together, so that `with_lock`, `withLock` and `with-lock` meet in `withlock`.
    """
    token = token[:256].replace("’", "'").replace("${", "$")
    if token.endswith(("'s", "'S")):
        token = token[:-2]
    whole = token.lower()[:MAX_TERM]
    name = token.lstrip(PREFIXES)
    base = re.sub(r"(?:\+\+\d*|#)\Z", "", name)
    parts: dict[str, None] = {}
    if base != name:
        if name[-1].isdigit():
            parts.setdefault(name[: len(base) + 2].lower())  # c++17 is c++ too
        if len(base) == 1:  # the C of C++ is another language
            return whole, tuple(parts)
    parts.setdefault(base.lower()[:MAX_TERM])
    pieces = [piece for piece in _SEPARATORS.split(base) if piece]
    if len(pieces) > 1 and all(piece.isdigit() for piece in pieces):
        pieces = [piece for piece in pieces if len(piece) >= 4]  # the year of a date; parts of a version say nothing
        small = pieces
    elif "'" in base and base.lower() in words.CONTRACTIONS:
        pieces, small = [], []
    else:
        small = [one for piece in pieces for name in piece.split("_") if name for one in _CAMEL.split(name)]
        if "/" not in base and 1 < len(small) <= 4:
            parts.setdefault("".join(small).lower()[:MAX_TERM])
    for piece in (*pieces, *small):
        if len(parts) < _MAX_PARTS:
            parts.setdefault(piece.strip("_").lower()[:MAX_TERM])
    parts.pop(whole, None)
    parts.pop("", None)
    return whole, tuple(parts)


def fold(term: str) -> str:
    """Remove accents and other marks: `straße` is `strasse`, `ｄｂ` is `db`; `term` itself where nothing folds."""
    if term.isascii():
        return term
    decomposed = unicodedata.normalize("NFKD", term.translate(_LETTERS_WITHOUT_MARK))
    return "".join(char for char in decomposed if unicodedata.category(char) != "Mn").lower()[:MAX_TERM]


@lru_cache(maxsize=100_000)
def _stem(language: str, word: str) -> str:
    stem: str = _stemmer(language)(word)
    return stem


@lru_cache(maxsize=4)
def _stemmer(language: str) -> Callable[[str], str]:
    if language == "none":
        return str
    import snowballstemmer  # only once there is a word to stem

    stemmer: Callable[[str], str] = snowballstemmer.stemmer(language).stemWord
    return stemmer


def _token_pattern(letter: str, marks: str) -> str:
    """The pattern of a token but for scripts without blanks and pictures.

    Linear in the text: every alternative begins with a character class of its own or is fixed text.
    """
    word = rf"{letter}+(?:{marks}+{letter}*)*" if marks else rf"{letter}+"
    name = rf"{word}(?:(?:://|::|[-./\\:@'’]){word})*"
    return (
        rf"{name}(?:\+\+\d{{0,2}}(?!\w)|\#(?![\w\#]))?"  # C++, C++17, F#, and every plain word
        rf"|(?<![\w.$:@#~/-])(?:\.|--?|::|\$\{{?|@|\#|~/|/){name}"  # .NET --flag ::1 $PATH @name #12 ~/x /etc
        rf"|{_OPERATORS}"
        r"|(?<![^\s`])[!$%&*+\-./:<=>?@\\^|~#]{1,4}(?![^\s`])"  # other signs, standing alone
    )


@lru_cache(maxsize=1)
def _ascii_pattern() -> re.Pattern[str]:
    """For ASCII text the same as the full pattern, which takes 20 ms to make."""
    return re.compile(_token_pattern("[A-Za-z0-9_]", ""))


@lru_cache(maxsize=1)
def _full_pattern() -> re.Pattern[str]:
    return re.compile(rf"[{_UNSPACED}]+|" + _token_pattern(rf"[^\W{_UNSPACED}]", f"[{_MARKS}]") + _PICTURES)


@lru_cache(maxsize=1)
def _unspaced_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")
