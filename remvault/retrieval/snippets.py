"""The lines of a body that show why it matched."""

from __future__ import annotations

import re
from collections.abc import Sequence

WIDTH = 160  # characters; two lines of a usual terminal
_MARKUP = re.compile(r"^[#>\-*\s]+|`{3,}\S*")


def snippet(text: str, words: Sequence[str]) -> str:
    """Return the line with most of the query's words, cut to `WIDTH` around the first of them; "" for no text."""
    wanted = [word.casefold() for word in words if word]
    best, best_count = "", 0.0
    for line in text.splitlines():
        clean = _MARKUP.sub("", line).strip()
        if not clean:
            continue
        folded = clean.casefold()
        # A heading says less than a sentence: it is taken only for words that stand nowhere else.
        count = sum(word in folded for word in wanted) - 0.5 * line.lstrip().startswith("#")
        if not best or count > best_count:
            best, best_count = clean, count
        if wanted and best_count == len(wanted):
            break
    return _cut(best, wanted)


def _cut(line: str, wanted: Sequence[str]) -> str:
    if len(line) <= WIDTH:
        return line
    folded = line.casefold()
    first = min((at for at in (folded.find(word) for word in wanted) if at >= 0), default=0)
    start = max(0, min(first - WIDTH // 4, len(line) - WIDTH))
    cut = line[start : start + WIDTH].strip()
    return ("…" if start else "") + cut + ("…" if start + WIDTH < len(line) else "")
