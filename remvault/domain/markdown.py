"""Markdown as far as a vault needs it: headings with their lines, passages of long texts, and wikilinks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

# Only the start is matched, the rest is stripped by hand: every pattern here must stay linear on hostile lines.
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|\Z)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)\Z")
_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_TICKS = re.compile(r"`+")
# A passage is a few lines of talk, or a paragraph; of a very long text passages are longer, not more.
PASSAGE_CHARS = 600
_MOST_PASSAGES = 200


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text below it, up to the next heading of any level.

    The text before the first heading is a section of level 0 with an empty heading.
    """

    level: int
    heading: str
    path: tuple[str, ...]  # headings from the outermost to this one
    line: int  # 1-based line of the heading in the file
    text: str  # without the heading line


def sections(body: str, first_line: int = 1) -> list[Section]:
    """Cut a body at its headings; `first_line` is the file's line on which the body begins.

    Lines inside fenced code are never headings. An empty leading section is left out.
    """
    found: list[Section] = []
    level, heading, line = 0, "", first_line
    outer: list[tuple[int, str]] = []
    lines: list[str] = []

    def close() -> None:
        text = "".join(lines)
        if level or text.strip():
            found.append(Section(level, heading, tuple(name for _, name in outer), line, text))

    for number, raw, is_code in _lines(body):
        match = None if is_code else _HEADING.match(raw.rstrip("\r\n"))
        if match is None:
            lines.append(raw)
            continue
        close()
        level, heading, line = len(match[1]), _heading_text(raw[match.end() :]), first_line + number
        outer = [(depth, name) for depth, name in outer if depth < level] + [(level, heading)]
        lines = []
    close()
    return found


def passages(body: str, first_line: int = 1) -> list[Section]:
    """Cut a text without headings into passages of whole lines, each a section of level 0; at most 200.

    One ends with the line that brings it to 600 characters, or to a 200th of a very long text.
    """
    least = max(PASSAGE_CHARS, len(body) // (_MOST_PASSAGES - 1))
    found: list[Section] = []
    lines: list[str] = []
    size, start = 0, first_line
    for number, line in enumerate(re.split(r"(?<=\n)", body), first_line):
        lines.append(line)
        size += len(line)
        if size >= least:
            found.append(Section(0, "", (), start, "".join(lines)))
            lines, size, start = [], 0, number + 1
    if "".join(lines).strip():
        found.append(Section(0, "", (), start, "".join(lines)))
    return found


def wikilinks(body: str) -> list[str]:
    """Return the targets of `[[target]]` and `[[target|shown]]` outside code, in order, each once."""
    targets: dict[str, None] = {}
    for _, raw, is_code in _lines(body):
        if "[[" in raw and not is_code:
            for match in _WIKILINK.finditer(_without_code(raw)):
                targets.setdefault(match[1].strip())
    return [target for target in targets if target]


def _heading_text(rest: str) -> str:
    """Strip blanks and the closing `#`s of an ATX heading, which must stand behind a blank."""
    text = rest.strip()
    bare = text.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else text


def _without_code(line: str) -> str:
    """Put a line break in the place of each code span: text between two runs of equally many backticks."""
    runs = [match.span() for match in _TICKS.finditer(line)]
    by_length: dict[int, list[int]] = defaultdict(list)
    for number, (start, end) in enumerate(runs):
        by_length[end - start].append(number)
    kept, at, number = [], 0, 0
    while number < len(runs):
        start, end = runs[number]
        same = by_length[end - start]
        closing = bisect_right(same, number)
        if closing < len(same):
            number = same[closing]
            kept.append(line[at:start])
            at = runs[number][1]
        number += 1
    return "\n".join([*kept, line[at:]])


def _lines(body: str) -> Iterator[tuple[int, str, bool]]:
    """Yield (0-based line number, line with its end, whether it belongs to fenced code)."""
    fence: str | None = None
    for number, raw in enumerate(re.split(r"(?<=\n)", body)):
        if not raw:
            continue
        match = _FENCE.match(raw.rstrip("\r\n"))
        if fence is None and match and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
            yield number, raw, True
        elif fence is not None:
            yield number, raw, True
            if match and match[1][0] == fence[0] and len(match[1]) >= len(fence) and not match[2].strip():
                fence = None
        else:
            yield number, raw, False
