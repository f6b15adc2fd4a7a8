"""What of a literal, or of text between elements, is only looks.

Owns: quotes, escapes of quotes, the white space of a page. Bytes in, bytes out.
Leaves alone: where a literal begins and ends, and whether it has holes (syntax).
"""

from __future__ import annotations

import re

TEXT = b'"'  # stands before text, in which white space counts
PLAIN = TEXT + b'"'  # what a literal without a prefix starts with, once its quotes are only looks
_QUOTED = re.compile(rb"([A-Za-z]*)('''|\"\"\"|'|\")(.*)\2\Z", re.DOTALL)
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
_READ_IN_DOUBLE = re.compile(rb"[\\$`#]")  # between double quotes these say something else than between single ones
_MACRO_LOOKS = re.compile(rb"/\*.*?\*/|//[^\n]*|\\\r?\n", re.DOTALL)


def whole(text: bytes, *, raw_single: bool) -> bytes:
    """A literal without holes and without its quote style: `'a'` and `"a"` are one, and `'it\\'s'` is `"it's"`."""
    match = _QUOTED.match(text)
    if match is None:
        return text
    prefix, quote, inner = match[1].lower().replace(b"u", b""), match[2], match[3]
    if b"r" not in prefix:
        if raw_single and quote == b"'" and _READ_IN_DOUBLE.search(inner.replace(b"\\'", b"")):
            return text
        inner = _without_escaped_quotes(inner)
    return TEXT + prefix + b'"' + inner


def piece(text: bytes, kind: str, *, raw_single: bool) -> bytes:
    """A part of a literal with holes; `kind` is the grammar's word for it."""
    if kind == "string_start":  # f", rb'''
        return text.rstrip(b"'\"").lower().replace(b"u", b"") + b'"'
    if kind == "string_end":
        return b'"'
    return text if raw_single else _without_escaped_quotes(text)


def joined(before: bytes, text: bytes) -> bytes | None:
    """Two literals that stand side by side as the one that they are; None where a prefix keeps them apart."""
    if before.startswith(PLAIN) and text.startswith(PLAIN):
        return before + text.removeprefix(PLAIN)
    quotes = (before[:1], before[-1:], text[:1], text[-1:])
    return before[:-1] + text[1:] if set(quotes) == {b'"'} and min(len(before), len(text)) > 1 else None


def shown(text: bytes) -> bytes:
    """Text between elements as a page shows it: a line break takes the white space around it along; b"" for nothing."""
    lines = text.split(b"\n")
    kept = [line.lstrip() if number else line for number, line in enumerate(lines)]
    kept = [line.rstrip() if number < len(lines) - 1 else line for number, line in enumerate(kept)]
    found = b" ".join(line for line in kept if line)
    return TEXT + found if found else b""


def macro(text: bytes) -> bytes:
    """The body of a macro as the compiler reads it: no comments, and one line."""
    return b" ".join(_MACRO_LOOKS.sub(b" ", text).split())


def _without_escaped_quotes(text: bytes) -> bytes:
    return _ESCAPED.sub(lambda match: match[1] if match[1] in b"'\"" else match[0], text)
