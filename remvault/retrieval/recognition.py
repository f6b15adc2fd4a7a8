"""A line for the end of a block: how much else there is, so that a reader knows to ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from remvault.retrieval.view import View

_NAMED = 4


@dataclass(frozen=True, slots=True)
class Recognition:
    """How many notes a context may see, by scope, as items name it. No title, body or date."""

    counts: tuple[tuple[str, int], ...] = ()

    def line(self, shown: Iterable[str]) -> str:
        """Count what is not shown, most first; "" when that is nothing.

        Args:
            shown: the scope of each memory that is.
        """
        left = Counter(dict(self.counts))
        left.subtract(scope for scope in shown if scope in left)
        known = sorted(((scope, count) for scope, count in left.items() if count > 0), key=lambda one: (-one[1], one))
        if not known:
            return ""
        named = [f"{count:,} of {scope}" for scope, count in known[:_NAMED]]
        rest = sum(count for _, count in known[_NAMED:])
        named += [f"{rest:,} of others"] if rest else []
        return f"Other notes here: {', '.join(named)}; remvault catalog tells their topics"


def recognise(view: View) -> Recognition:
    """Count what a context may see; one walk over the manifest, no note is looked at."""
    counted = view.snapshot.counts(view.context.owners())
    return Recognition(tuple(sorted((owner.removesuffix(":"), count) for owner, count in counted.items())))
