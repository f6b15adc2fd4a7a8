"""What of a literal, or of text between elements, is only looks.

Owns: quotes, prefixes, ways to write a number, the white space of a page. Bytes in, bytes out.
Leaves alone: where a literal begins and ends, and whether it has holes (syntax).
"""

from __future__ import annotations

import re

TEXT = b'"'  # stands before text, in which white space counts
_QUOTED = re.compile(rb"([A-Za-z]*)('''|\"\"\"|'|\")(.*)\2\Z", re.DOTALL)
_ESCAPED = re.compile(rb"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_WORD = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*")
_COUNT = re.compile(rb"0|[1-9][0-9]*")
_DECIMAL = re.compile(rb"([0-9_]*)\.([0-9_]*)(e[-+]?[0-9_]+)?([a-z]*)\Z")
_READ_IN_DOUBLE = re.compile(rb"[\\$`#]")  # between double quotes these say something else than between single ones
_MACRO_LOOKS = re.compile(rb"/\*.*?\*/|//[^\n]*|\\\r?\n", re.DOTALL)


def whole(text: bytes, *, raw_single: bool) -> bytes:
    """A literal without holes, as its `head` and what is in it: `'a'` and `"a"` are one, and so is `f"a"`."""
    match = _QUOTED.match(text)
    if match is None:
        return text
    start, quote, inner = head(match[1]), match[2], match[3]
    if b"r" not in start:
        if raw_single and quote == b"'" and _READ_IN_DOUBLE.search(inner.replace(b"\\'", b"")):
            return text
        inner = unescaped(inner)
    return start + (without_doubled(inner) if b"f" in match[1].lower() else inner)


def head(prefix: bytes) -> bytes:
    """What stands for the start of a literal: `Rb'` and `br"` are one, and an `f` says nothing that holes do not."""
    kept = sorted(prefix.rstrip(b"'\"").lower().replace(b"u", b"").replace(b"f", b""))
    return TEXT + bytes(kept) + b'"'


def parted(text: bytes) -> tuple[bytes, bytes]:
    """The head of a literal, and what is in it."""
    end = text.index(b'"', 1) + 1
    return text[:end], text[end:]


def unescaped(text: bytes) -> bytes:
    """The inside of a literal where quotes stand for themselves, and digits of escapes are small."""
    return _ESCAPED.sub(_escape, text)


def without_doubled(text: bytes) -> bytes:
    """The inside of an f-string, where two braces stand for one."""
    return text.replace(b"{{", b"{").replace(b"}}", b"}")


def key(text: bytes, name: bytes) -> bytes:
    """A quoted key of an object, as `name` and the word in it where it needs no quotes."""
    start, inner = parted(text)
    if start != head(b""):
        return text
    return name + inner if _WORD.fullmatch(inner) else inner if _COUNT.fullmatch(inner) else text


def joined(before: bytes, text: bytes) -> bytes | None:
    """Two literals of C that stand side by side as the one that they are; None where a prefix keeps them apart."""
    quotes = {before[:1], before[-1:], text[:1], text[-1:]}
    return before[:-1] + text[1:] if quotes == {b'"'} and min(len(before), len(text)) > 1 else None


def number(text: bytes, *, one_kind: bool) -> bytes:
    """A number as its value is written in one way: `0XFF`, `1.50`, `.5` and `1e+3` have other ways.

    `one_kind`: the language tells no 1.0 from 1.
    """
    text = text.lower()
    match = _DECIMAL.match(text)
    if match is None:
        return text if text.startswith(b"0x") else text.replace(b"e+", b"e")
    before, fraction, exponent, kind = match[1] or b"0", match[2].rstrip(b"0_"), match[3] or b"", match[4]
    point = b"" if one_kind and not fraction else b"."
    return before + point + fraction + exponent.replace(b"+", b"") + kind


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


def _escape(match: re.Match[bytes]) -> bytes:
    if match[1] in b"'\"":
        return match[1]
    return match[0].lower() if len(match[1]) > 1 and match[1][:1] != b"U" else match[0]
