"""The explanation of a score on a terminal: aligned tables of at most `WIDTH` columns, without colour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from remvault.domain.hostile_text import one_line

WIDTH = 100
_GAP = "  "


def explanation_lines(told: Mapping[str, Any], *, indent: int = 0, width: int = WIDTH) -> list[str]:
    """The signals of a score with their values and weights, and how the words of the query were found.

    Args:
        width: columns a line may have, `indent` included.
    """
    room = width - indent
    signals = [(one["signal"], f"{one['value']:+.6f}", _weight(one["weight"])) for one in told["signals"]]
    lines = list(_table(("signal", "value", "weight"), [*signals, ("score", f"{told['score']:+.6f}", "")], room, "lrr"))
    if told["matches"]:
        found = [(one["word"], one["term"], one["kind"], ", ".join(one["fields"])) for one in told["matches"]]
        lines += _table(("query term", "found as", "kind", "in"), found, room, "llll")
    lines = [" " * indent + line for line in lines]
    inside = told.get("in_provider")
    return lines if inside is None else [*lines, *explanation_lines(inside, indent=indent, width=width)]


def gate_line(gate: Mapping[str, Any] | None, dropped: Sequence[str] = (), *, width: int = WIDTH) -> str:
    """Whether what was found is worth showing unasked, and by how much."""
    left = f"; too common to count: {one_line(', '.join(dropped))}" if dropped else ""
    if gate is None:
        return _cut(f"gate: each vault has its own{left}", width)
    verdict = "closed" if gate["abstained"] else "open"
    sign = "<" if gate["score"] < gate["threshold"] else ">="
    about = f"; the best holds {gate['best']:.3f} of the query's idf mass {gate['mass']:.3f}"
    return _cut(f"gate {verdict}: {gate['score']:.3f} {sign} {gate['threshold']:.3f}{about}{left}", width)


def _weight(weight: float | None) -> str:
    return "" if weight is None else f"{weight:g}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], room: int, sides: str) -> Iterator[str]:
    """Aligned columns; the widest are cut until a line has room."""
    cells = [head, *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    while sum(widths) + len(_GAP) * (len(widths) - 1) > room:
        widths[widths.index(max(widths))] -= 1
    for row in cells:
        texts = (_cut(cell, width) for cell, width in zip(row, widths, strict=True))
        placed = zip(texts, widths, sides, strict=True)
        yield _GAP.join(
            text.rjust(width) if side == "r" else text.ljust(width) for text, width, side in placed
        ).rstrip()


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
