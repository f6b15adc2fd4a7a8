"""Propose contradictions: two memories of one owner that say opposite things, or give one thing different values.

Cheap, explained and cautious: words, negation and values, no model. A proposal is advice for a person; nothing is ever
labelled, merged or changed because of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from remvault.domain.statements import Statement, Value, statements

_ALIKE = 50  # statements of the same words that each is compared with; what is said more often is boilerplate
_SHOWN = 80  # characters of a statement in a reason
# Events and tasks of different days may say opposite things and both be true.
_TIMELESS = frozenset(("semantic", "decision", "preference", "procedure", "other"))


@dataclass(frozen=True, slots=True)
class Claim:
    """What the detector looks at of one memory."""

    id: str
    owner: str
    title: str
    body: str = ""
    type: str = "semantic"
    said: tuple[Statement, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Two memories, ids sorted, that may contradict each other, and why."""

    ids: tuple[str, str]
    reason: str


def propose(
    claims: Iterable[Claim], *, no_infer: Sequence[str] = (), known: frozenset[tuple[str, ...]] = frozenset()
) -> list[Proposal]:
    """Find pairs that may contradict each other, by ids.

    Args:
        claims: memories that hold today. Only those of one owner are compared, events and tasks not at all.
        no_infer: terms that must not be concluded about again: what mentions one of them is left alone.
        known: pairs (sorted ids) whose relation is known already.
    """
    terms = [" ".join(term.casefold().split()) for term in no_infer]
    by_owner: dict[str, list[tuple[str, Statement]]] = defaultdict(list)
    for claim in claims:
        if claim.type in _TIMELESS:
            said = claim.said or statements(claim.title, claim.body)
            by_owner[claim.owner] += [(claim.id, one) for one in said if not _mentions(one.text, terms)]
    found: dict[tuple[str, str], str] = {}
    for stated in by_owner.values():
        for (first, one), (second, other) in _near(stated):
            ids = (min(first, second), max(first, second))
            if ids in found or ids in known:
                continue
            reason = contradiction(one, other) if first < second else contradiction(other, one)
            if reason is not None:
                found[ids] = reason
    return [Proposal(ids, reason) for ids, reason in sorted(found.items())]


def contradiction(one: Statement, other: Statement) -> str | None:
    """Say why two statements contradict each other; None when they do not, or when that is not plain."""
    slot = _names(one, other)
    if slot is not None:
        return f"{slot}: {_quoted(one)} against {_quoted(other)}"
    if not _same_matter(one, other):
        return None
    differing = _differing(one.values, other.values)
    if differing is None:
        return None
    is_turned = one.order is not None and other.order is not None and one.order == other.order[::-1]
    is_opposite = (one.is_negative != other.is_negative) != is_turned
    if differing:
        # Opposites of different values agree more often than not: "retry on 503", "do not retry on 400".
        first, second = differing[0]
        return (
            None
            if is_opposite
            else f"different values, {first.typed} and {second.typed}: {_quoted(one)} against {_quoted(other)}"
        )
    return f"opposite: {_quoted(one)} against {_quoted(other)}" if is_opposite else None


def _same_matter(one: Statement, other: Statement) -> bool:
    """Whether both are about the same thing under the same conditions."""
    shared, only_one, only_other = one.words & other.words, one.words - other.words, other.words - one.words
    if len(shared) < 2:
        return False
    if not only_one and not only_other:
        return True
    # One more word on one side is fine where it is no condition: "Python is 3.9", "the Python version is 3.11".
    extra = only_one | only_other
    return len(shared) >= 3 and len(extra) == 1 and not extra & (one.qualifying | other.qualifying)


def _differing(ones: Sequence[Value], others: Sequence[Value]) -> list[tuple[Value, Value]] | None:
    """The one pair of values that differs, [] for none, None when the statements speak of different things."""
    if len(ones) != len(others):
        return None
    differing = [(one, other) for one, other in zip(ones, others, strict=True) if one.value != other.value]
    if any(one.kind != other.kind for one, other in zip(ones, others, strict=True)) or len(differing) > 1:
        return None
    return None if any(one.is_label or other.is_label for one, other in differing) else differing


def _names(one: Statement, other: Statement) -> str | None:
    if one.slot is None or other.slot is None or one.slot[0] != other.slot[0] or one.slot[1] == other.slot[1]:
        return None
    return f"different names, {one.slot[1]} and {other.slot[1]}"


def _near(stated: Sequence[tuple[str, Statement]]) -> Iterator[tuple[tuple[str, Statement], tuple[str, Statement]]]:
    """Pairs of statements of different memories that may be about the same matter, looked up, not tried out.

    Those of the same words, of the same words but one, and of the same slot.
    """
    by_words: dict[object, list[int]] = defaultdict(list)
    for at, (_, statement) in enumerate(stated):
        by_words[statement.words].append(at)
        if statement.slot is not None:
            by_words["slot", statement.slot[0]].append(at)
    for at, (memory_id, statement) in enumerate(stated):
        keys: list[object] = [statement.words]
        keys += [statement.words - {word} for word in statement.words] if len(statement.words) > 3 else []
        keys += [("slot", statement.slot[0])] if statement.slot is not None else []
        for key in keys:
            # Two of the same words meet each other twice, one with a word more meets the other once.
            is_shorter = isinstance(key, frozenset) and len(key) < len(statement.words)
            for other in by_words.get(key, ())[:_ALIKE]:
                if stated[other][0] != memory_id and (is_shorter or other > at):
                    yield stated[at], stated[other]


def _mentions(text: str, terms: Sequence[str]) -> bool:
    folded = f" {' '.join(text.casefold().replace('.', ' ').replace(',', ' ').split())} "
    return any(f" {term} " in folded for term in terms if term)


def _quoted(statement: Statement) -> str:
    text = " ".join(statement.text.split())
    return f"“{text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}”"
