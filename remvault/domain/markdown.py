"""Markdown as far as a vault needs it: headings with their lines, and wikilinks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\Z")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)\Z")
_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


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
        level, heading, line = len(match[1]), (match[2] or "").strip(), first_line + number
        outer = [(depth, name) for depth, name in outer if depth < level] + [(level, heading)]
        lines = []
    close()
    return found


def wikilinks(body: str) -> list[str]:
    """Return the targets of `[[target]]` and `[[target|shown]]` outside code, in order, each once."""
    targets: dict[str, None] = {}
    for _, raw, is_code in _lines(body):
        if "[[" in raw and not is_code:
            for match in _WIKILINK.finditer(_CODE_SPAN.sub("", raw)):
                targets.setdefault(match[1].strip())
    return [target for target in targets if target]


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
