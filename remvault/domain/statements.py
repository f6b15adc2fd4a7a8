"""What a sentence of a note states, reduced to what two sentences can be compared by. Pure, English, no model.

Owns: words, negation and poles, values with their units, the slot of a sentence such as "the owner is Dana".
Leaves alone: when two statements contradict (contradictions).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

MAX_STATEMENTS = 20  # of one note; what a memory is about stands in its first sentences
_MAX_WORDS = 24


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_TOKEN = re.compile(r"\w[\w.:/@+'’-]*%?|[:,]")
# Words that say nothing of the matter. Places, times and persons are not among them: they tell two matters apart.
_STOP = _set(
    """a an the is are was were be been being it its this that these those of to for in on at by with and or we our us
    you your i they their there here do does did will shall would should must can could please always every each all
    any also now then only just ever use uses used using keep keeps kept has have had go goes set sets via through from
    as so but very currently still our per than over"""
)
_NEGATIONS = _set(
    """not no never cannot without neither nor don't doesn't didn't isn't aren't wasn't weren't can't won't shouldn't
    mustn't needn't wouldn't couldn't avoid avoids stop stops skip skips skipped ignore ignores"""
)
# Opposite words: what stands left is one pole, what stands right the other.
_OPPOSITES = """enable enabled enables|disable disabled disables; allow allows allowed permit permits permitted|forbid
forbids forbidden prohibit prohibited disallow disallowed ban banned; required mandatory require requires
compulsory|optional; include includes included|exclude excludes excluded; synchronous synchronously sync|asynchronous
asynchronously async; sequential sequentially serially|parallel concurrently; dark|light; public|private;
mutable|immutable; reversible|irreversible; stateful|stateless; strict|lenient; sensitive|insensitive;
ascending|descending; accept accepts accepted|reject rejects rejected;
start starts started|halt halts; open opened|closed close; encrypted|unencrypted plaintext; safe|unsafe;
stable|unstable; true yes|false; increase increases|decrease decreases; add adds added|remove removes removed;
success succeeds succeeded|failure fails failed; active|inactive; deprecated|recommended;
present|absent; valid|invalid; manual manually|automatic automatically; online|offline; internal|external;
monolith|microservices; blocking|nonblocking non-blocking; eager eagerly|lazy lazily; hot|cold; opt-in|opt-out;
supported|unsupported; case-sensitive|case-insensitive; local locally|remote remotely""".replace("\n", " ")
_POLES: dict[str, tuple[str, bool]] = {
    word: (pair.strip().split("|")[0].split()[0], side == 0)
    for pair in _OPPOSITES.split(";")
    for side, words in enumerate(pair.strip().split("|"))
    for word in words.split()
    if word not in _NEGATIONS
}
_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: str(number) for number, word in enumerate(_COUNTED, 1)}
# Units on one scale for each kind of quantity, so that an hour is sixty minutes.
_UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("time", 0.001)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("time", 1)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), ("time", 60)),
    **dict.fromkeys(("h", "hour", "hours"), ("time", 3600)),
    **dict.fromkeys(("day", "days"), ("time", 86400)),
    **dict.fromkeys(("week", "weeks"), ("time", 604800)),
    **dict.fromkeys(("kb", "kib"), ("size", 1e3)),
    **dict.fromkeys(("mb", "mib"), ("size", 1e6)),
    **dict.fromkeys(("gb", "gib"), ("size", 1e9)),
    **dict.fromkeys(("tb", "tib"), ("size", 1e12)),
    **dict.fromkeys(("%", "percent"), ("share", 1)),
}
_DIGIT = re.compile(r"\d")
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)(ms|s|min|h|kb|kib|mb|mib|gb|gib|tb|%)?\Z")
_NAMED = re.compile(r"([a-z]+[-_]?)(\d[\d.]*)\Z")
_CLOCK = re.compile(r"\d{1,2}:\d{2}\Z")
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?\Z")
# A number before the verb names the matter ("incident 41 was"), one behind it says something of it.
_VERBS = _set(
    """is are was were be has have had can must should may will run use listen time store read write start stop expire
    take need ship pay cost serve hold keep cause live contain support require return retry accept allow last support
    send talk depend connect default limit wait about"""
)
# Of these there is one at a time, so that two names for it cannot both be right.
_SINGLE = _set(
    """owner lead leader maintainer manager formatter linter branch level default license region timezone currency
    registry encoding language framework primary"""
)
_PIVOTS = frozenset(("over", "before", "than"))
_COPULA = frozenset(("is", "are", "=", "was", ":"))


@dataclass(frozen=True, slots=True)
class Value:
    """A number, version or name with a number in it."""

    kind: str  # what it may be compared with: "time", "pg#", "number"
    value: str | float
    typed: str
    is_label: bool  # it says which thing is meant, not what holds of it


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence."""

    text: str
    words: frozenset[str]  # stems of what it is about, opposite words under one name, without values
    qualifying: frozenset[str]  # of these, what stands behind a preposition: where, when, for whom
    is_negative: bool  # negations and poles counted together
    values: tuple[Value, ...]
    order: tuple[frozenset[str], frozenset[str]] | None  # what stands on either side of "over", "before"
    slot: tuple[frozenset[str], str] | None  # ("default branch", "main")


def statements(title: str, body: str) -> list[Statement]:
    """Return what a note states, title first; sentences too short or too long to be compared are left out."""
    found = []
    for text in [title, *_SENTENCE.split(body)][: MAX_STATEMENTS + 1]:
        statement = state(text.strip(" \t>#*-"))
        if statement is not None:
            found.append(statement)
    return found


def state(text: str) -> Statement | None:
    """Reduce one sentence; None when there is too little, or too much, to go by."""
    typed = [token.rstrip(".:'’-") or token for token in _TOKEN.findall(text.replace("’", "'"))]
    if not 2 <= len(typed) <= _MAX_WORDS:
        return None
    lower = [_NUMBERS.get(token.lower(), token.lower()) for token in typed]
    values, rest = _take_values(lower)
    words, qualifying, is_negative = _read_words(rest, typed)
    # A sentence of little but small words says nothing that another could be held against.
    if len(words) < 2 or len(words) * 4 < len(typed):
        return None
    return Statement(
        text, words, qualifying, is_negative, values, _order(rest), None if is_negative or values else _slot(lower)
    )


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Take off the usual English endings; crude, and the same for both sides."""
    for ending, put in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith(("ss", "us", "is")):
            return word[: len(word) - len(ending)] + put
    return word


def _take_values(tokens: list[str]) -> tuple[tuple[Value, ...], list[tuple[int, str]]]:
    """The values of a sentence, and its other tokens with their places."""
    numeric = {at for at, token in enumerate(tokens) if _DIGIT.search(token)}
    if not numeric:
        return (), list(enumerate(tokens))
    values: list[Value] = []
    rest: list[tuple[int, str]] = []
    first_verb = next((at for at, token in enumerate(tokens) if token in _VERBS or stem(token) in _VERBS), -1)
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if at not in numeric:
            rest.append((at, token))
            at += 1
            continue
        unit = tokens[at + 1] if at + 1 < len(tokens) and tokens[at + 1] in _UNITS else None
        after = tokens[at + 1 + (unit is not None) :]
        is_label = at < first_verb or after[:1] == [":"]
        kind, value = _measure(token, unit)
        values.append(Value(kind, value, token if unit is None else f"{token} {unit}", is_label))
        at += 1 + (unit is not None)
    return tuple(values), rest


def _measure(token: str, unit: str | None) -> tuple[str, str | float]:
    if _CLOCK.match(token):
        return "clock", token
    if _DATE.match(token):
        return "date", token
    quantity = _QUANTITY.match(token)
    if quantity is not None:
        known = _UNITS.get(quantity[2] or unit or "")
        return (known[0], float(quantity[1]) * known[1]) if known is not None else ("number", quantity[1])
    if token.replace(".", "").isdigit():
        return "number", token
    named = _NAMED.match(token)
    return (f"{named[1]}#", named[2]) if named is not None else ("name", token)


def _read_words(tokens: list[tuple[int, str]], typed: list[str]) -> tuple[frozenset[str], frozenset[str], bool]:
    words: set[str] = set()
    qualifying: set[str] = set()
    is_negative, is_qualified = False, False
    for at, (place, token) in enumerate(tokens):
        is_last = at == len(tokens) - 1 or tokens[at + 1][1] == ","
        if token in ("on", "off") and (is_last or token == "off"):
            words.add("on")
            is_negative ^= token == "off"
        elif token in _NEGATIONS:
            is_negative = not is_negative
        elif token == "may" and typed[place] == "may":
            continue
        elif token in (":", ","):
            is_qualified = False
        elif token in _POLES:
            name, is_first = _POLES[token]
            words.add(name)
            is_negative ^= not is_first
        elif token in _STOP:
            is_qualified = is_qualified or token in ("in", "on", "for", "with", "at", "by", "to", "from", "of", "per")
        else:
            words.add(stem(token))
            if is_qualified:
                qualifying.add(stem(token))
    return frozenset(words), frozenset(qualifying), is_negative


def _order(tokens: list[tuple[int, str]]) -> tuple[frozenset[str], frozenset[str]] | None:
    """What stands on either side of the one word that makes an order of it."""
    plain = [token for _, token in tokens]
    pivots = [at for at, token in enumerate(plain) if token in _PIVOTS]
    if len(pivots) != 1:
        return None
    sides = [frozenset(_content(part)) for part in (plain[: pivots[0]], plain[pivots[0] + 1 :])]
    return (sides[0], sides[1]) if all(sides) else None


def _slot(tokens: list[str]) -> tuple[frozenset[str], str] | None:
    """Subject and name of "the default branch is main", for subjects of which there is only one."""
    if len(tokens) < 3 or tokens[-2] not in _COPULA:
        return None
    subject, name = frozenset(_content(tokens[:-2])), tokens[-1]
    return (subject, name) if subject & _SINGLE and name not in _STOP and name not in _POLES else None


def _content(tokens: list[str]) -> Iterator[str]:
    words = (token for token in tokens if token.isalnum() and token not in _STOP)
    return (word if word in _SINGLE else stem(word) for word in words)
