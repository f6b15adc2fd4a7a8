"""A line for the end of a block: how much else there is, so that a reader knows to ask."""

from __future__ import annotations

from remvault.retrieval.view import View

_NAMED = 4


def recognition_line(view: View) -> str:
    """Count what is visible here, by owner, the largest first; "" when there is nothing.

    No title, body or date, and nothing of other contexts.
    """
    counted = [(view.snapshot.count(frozenset((owner,))), owner) for owner in sorted(view.context.owners())]
    known = sorted(((count, owner) for count, owner in counted if count), key=lambda pair: (-pair[0], pair[1]))
    if not known:
        return ""
    named = [f"{count:,} of {owner.removesuffix(':')}" for count, owner in known[:_NAMED]]
    rest = sum(count for count, _ in known[_NAMED:])
    named += [f"{rest:,} of others"] if rest else []
    return f"Notes here: {', '.join(named)}; remvault catalog tells their topics"
