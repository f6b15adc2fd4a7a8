"""Groups of terms that can stand for each other, as a vault's `synonyms.toml` names them.

Owns: the form of the file, what may stand in it, asking for the others of a term.
Leaves alone: reading the file (store.synonyms), what a synonym is worth in a search (index.query).

    groups = [
        ["k8s", "kubernetes"],
        ["login", "sign-in", "log in"],
    ]
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from remvault.domain.hostile_text import is_hidden
from remvault.domain.problems import shown
from remvault.errors import UserError

MAX_BYTES = 64 * 1024  # of the file
MAX_GROUPS = 1000
MAX_TERMS = 16  # of a group
MAX_TERM_CHARS = 64
# Whoever likes something does not thereby prefer it: an opinion found for another would be a false memory.
_OPINION_TEXT = """
    like likes liked love loves loved prefer prefers preferred favor favour favorite favourite favorites favourites
    hate hates hated dislike dislikes disliked
"""
_OPINIONS = frozenset(_OPINION_TEXT.split())
# What decides where a TOML text has its strings and brackets. An unclosed string goes to the end of its line or text,
# so that nothing is looked at twice.
_PIECE = re.compile(
    r'"{3}(?:[^\\]|\\.)*?(?:"{3,5}|\Z)'
    r"|'{3}.*?(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\.)*"?'
    r"|'[^'\n]*'?"
    r"|#[^\n]*|[\[\]]",
    re.DOTALL,
)


class BadSynonyms(UserError):
    """The text is no list of synonyms; none of it holds."""

    code = "bad_synonyms"

    def __init__(self, line: int | None, reason: str) -> None:
        self.line, self.reason = line, reason
        where = "" if line is None else f"line {line}: "
        super().__init__(f"{where}{reason}", hint='write groups = [["k8s", "kubernetes"], ["login", "sign-in"]]')


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Groups of terms: words or phrases in lower case, one blank between words."""

    groups: tuple[tuple[str, ...], ...] = ()
    _by_term: Mapping[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_term = {term: group for group in self.groups for term in group}
        object.__setattr__(self, "_by_term", by_term)

    def of(self, term: str) -> tuple[str, ...]:
        """The other terms of its group, in the order written; none for a term of no group."""
        folded = fold_term(term)
        return tuple(other for other in self._by_term.get(folded, ()) if other != folded)

    def phrases(self) -> tuple[str, ...]:
        """The terms of several words, in the order written."""
        return tuple(term for term in self._by_term if " " in term)


NO_SYNONYMS = Synonyms()


def parse_synonyms(text: str) -> Synonyms:
    """Read the text of a `synonyms.toml`; a text without `groups` has none.

    Raises:
        BadSynonyms: not TOML, another key or shape, an empty, overlong or hidden term, a group of one, a term in two
            groups or twice in one, an opinion verb, or beyond the limits. The line counts from 1.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise BadSynonyms(None, f"over {MAX_BYTES // 1024} KiB")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    _refuse_dots(text)
    tables = _parse(text)
    for key in tables:
        if key != "groups":
            raise BadSynonyms(_line_of_key(text, key), f"unknown key {shown(key)}, only 'groups' is known")
    groups = tables.get("groups", [])
    if not isinstance(groups, list):
        raise BadSynonyms(_line_of_key(text, "groups"), "'groups' is a list of lists of terms")
    if len(groups) > MAX_GROUPS:
        raise BadSynonyms(None, f"{len(groups):,} groups, at most {MAX_GROUPS:,} are read")
    return Synonyms(tuple(_groups(groups, list(_places(text)))))


def fold_term(term: str) -> str:
    """A term as groups keep it: lower case, composed, one blank between words."""
    return " ".join(unicodedata.normalize("NFC", term).lower().split())


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError as err:
        raise BadSynonyms(None, "nested too deeply") from err
    except ValueError as err:  # of TOML itself, or a number of too many digits
        message, line = str(err), None
        found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", message)
        if found is not None:
            message = message[: found.start()]
            line = int(found[1]) if found[1] else text.count("\n") + 1
        raise BadSynonyms(line, f"not TOML: {message[:1].lower()}{message[1:]}") from err


def _refuse_dots(text: str) -> None:
    """Dotted keys are never ours, and the library takes time by the square of their dots: 17 s for 64 KiB."""
    at = 0
    for piece in _PIECE.finditer(text):
        if "." in text[at : piece.start()]:
            break
        at = piece.end()
    dot = text.find(".", at)
    if dot >= 0:
        raise BadSynonyms(text.count("\n", 0, dot) + 1, "a dot outside of quotes")


def _groups(groups: Sequence[Any], places: Sequence[tuple[int, Sequence[int]]]) -> Iterator[tuple[str, ...]]:
    """The groups, each judged; `places` tells the line of each and of its terms."""
    homes: dict[str, int] = {}
    for number, group in enumerate(groups):
        at, lines = places[number] if number < len(places) else (None, ())
        if not isinstance(group, list) or not all(isinstance(term, str) for term in group):
            raise BadSynonyms(at, "a group is a list of terms in quotes")
        if not 2 <= len(group) <= MAX_TERMS:
            raise BadSynonyms(at, f"a group has 2 to {MAX_TERMS} terms, this one {len(group)}")
        folded = []
        for position, raw in enumerate(group):
            line = lines[position] if position < len(lines) else at
            term = _term(raw, line)
            if term in folded:
                raise BadSynonyms(line, f"{shown(term)} stands twice in one group")
            if term in homes:
                other, this = shown(groups[homes[term]][0]), shown(group[0])
                raise BadSynonyms(line, f"{shown(term)} is in two groups, that of {other} and that of {this}")
            folded.append(term)
        homes.update(dict.fromkeys(folded, number))
        yield tuple(folded)


def _term(raw: str, line: int | None) -> str:
    if any(is_hidden(char) for char in raw):
        raise BadSynonyms(line, f"{shown(raw)} has characters that cannot be seen")
    term = fold_term(raw)
    if not any(char.isprintable() and not char.isspace() for char in term):
        raise BadSynonyms(line, "an empty term")
    if len(term) > MAX_TERM_CHARS:
        raise BadSynonyms(line, f"{shown(term)} is longer than {MAX_TERM_CHARS} characters")
    if term in _OPINIONS:
        raise BadSynonyms(line, f"{shown(term)} is an opinion and stands for no other word")
    return term


def _places(text: str) -> Iterator[tuple[int, list[int]]]:
    """The line of each group's bracket, and the lines of the terms in it, in a text that is valid TOML."""
    depth, line, counted = 0, 1, 0
    start, terms = 0, list[int]()
    for piece in _PIECE.finditer(text):
        line, counted = line + text.count("\n", counted, piece.start()), piece.start()
        first = piece[0][0]
        if first == "[":
            depth += 1
            if depth == 2:
                start, terms = line, []
        elif first == "]":
            if depth == 2:
                yield start, terms
            depth -= 1
        elif first in "\"'" and depth == 2:
            terms.append(line)


def _line_of_key(text: str, key: str) -> int | None:
    found = re.search(rf"^[ \t]*\[*[ \t]*[\"']?{re.escape(key)}\b", text, re.MULTILINE)
    return None if found is None else text.count("\n", 0, found.start()) + 1
