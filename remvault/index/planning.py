"""Which terms of a query are read, and which words are left out to stay within the posting budget.

Pure: it is told frequencies and chooses. The same vault gives the same choice, however it was indexed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from remvault.index.query import PRIMARY, QueryTerm, QueryWord

# Postings read for one query. One costs 3 µs with all that follows: some 15 ms at most, whatever the vault's size.
POSTING_BUDGET = 5_000
# Of a longer query, as a prompt, only so many words are looked at more closely, and of those in no note only names.
_MANY_WORDS = 16
_STRANGE_NAMES = 6


@dataclass(slots=True)
class Plan:
    """What is read for a query."""

    chosen: list[tuple[QueryWord, list[QueryTerm]]] = field(default_factory=list)  # in the order typed
    frequencies: dict[str, int] = field(default_factory=dict)  # of every term looked up
    dropped: set[str] = field(default_factory=set)  # words, as typed
    spent: int = 0  # postings

    def cost(self, word: QueryWord) -> int:
        """Postings of everything that says the word itself is there, as far as it was looked up."""
        return sum(self.frequencies.get(term.text, 0) for term in word.terms if term.kind in PRIMARY)

    def least(self, word: QueryWord) -> int:
        """How many notes hold a word, at least: as many as its most frequent form."""
        return max(self.frequencies.get(term.text, 0) for term in word.terms if term.kind in PRIMARY)


def make_plan(words: Sequence[QueryWord], frequency: Callable[[str], int], budget: int | None) -> Plan:
    """Choose: the words themselves first, names and rare ones before others; then, for what is left, hints at them.

    Args:
        words: as typed.
        frequency: how many live notes hold a term.
        budget: postings to read at most, the first word's apart; None for no limit.
    """
    plan, limit = Plan(), float("inf") if budget is None else budget

    def price(word: QueryWord) -> int:
        # A name says more than a word as frequent; a quarter of the price puts it first.
        return plan.cost(word) * (1 if word.is_identifier else 4)

    def look_up(term: QueryTerm) -> None:
        if term.text not in plan.frequencies:
            plan.frequencies[term.text] = frequency(term.text)

    for word in words:
        look_up(word.terms[0])
    likely = list(words)
    if budget is not None and len(words) > _MANY_WORDS:
        known = sorted((word for word in words if plan.cost(word)), key=price)
        names = [word for word in words if word.is_identifier and not plan.cost(word)]
        likely = names[:_STRANGE_NAMES] + known[:_MANY_WORDS]
        plan.dropped.update(word.text for word in known[_MANY_WORDS:])
    for word in likely:
        for term in word.terms:
            look_up(term)
    kept: dict[str, list[QueryTerm]] = {}
    for word in sorted(likely, key=price):
        cost = plan.cost(word)
        if plan.spent and plan.spent + cost > limit:
            plan.dropped.add(word.text)
            continue
        plan.spent += cost
        kept[word.text] = [term for term in word.terms if term.kind in PRIMARY and plan.frequencies[term.text]]
        plan.chosen.append((word, kept[word.text]))
    for word, terms in plan.chosen:
        for term in word.terms:
            cost = 0 if term.kind in PRIMARY else plan.frequencies[term.text]
            if cost and not (plan.spent and plan.spent + cost > limit):
                plan.spent += cost
                terms.append(term)
    plan.chosen = [(word, kept[word.text]) for word in words if word.text in kept]
    return plan
