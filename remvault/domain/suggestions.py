"""Did you mean: the known word nearest to a slip."""

from __future__ import annotations

from collections.abc import Sequence


def suggest(word: str, known: Sequence[str], *, likeness: float = 0.6) -> str | None:
    """Return the known word that `word` most likely meant, or None; `likeness` is the least ratio of difflib."""
    import difflib  # only on the way to an error message

    if len(word) > 60:
        return None
    close = difflib.get_close_matches(word.lower().replace("_", "-"), known, n=1, cutoff=likeness)
    return close[0] if close else None
