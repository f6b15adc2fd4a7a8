"""What of a literal, or of text between elements, is only looks.

Owns: quotes, prefixes, ways to write a number, the white space of a page. Bytes in, bytes out.
Leaves alone: where a literal begins and ends, and whether it has holes (syntax).
"""

from __future__ import annotations

import re

TEXT = b'"'  # stands before text, in which white space counts
_QUOTED = re.compile(rb"([A-Za-z]*)('''|\"\"\"|'|\")(.*)\2\Z", re.DOTALL)
_ESCAPED = re.compile(rb"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_DECIMAL = re.compile(rb"([0-9_]*)\.([0-9_]*)(e[-+]?[0-9_]+)?([a-z]*)\Z")
_NEEDLESS = re.compile(rb"\\([^\n\r\"'0-7\\bfnrt-vx\x80-\xff])|\\.", re.DOTALL)
_TABS = re.compile(rb"(?<=\n)\t+")
_BROKEN = re.compile(rb"[ \t]*\r?\n\s*")
_READ_IN_DOUBLE = re.compile(rb"[\\$`#]")  # between double quotes these say something else than between single ones
_TOKEN = re.compile(
    rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*|\.?\d(?:[eEpP][-+]|[\w.])*|\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?"
    rb"|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|[-<>=!+*/%&|^]=|&&|\|\||##|\S",
    re.DOTALL,
)
_MACRO_LOOKS = re.compile(rb"/\*.*?\*/|//[^\n]*|\\\r?\n", re.DOTALL)


def whole(text: bytes, *, raw_single: bool, is_loose: bool = False) -> bytes:
    """A literal without holes, as its `head` and what is in it: `'a'` and `"a"` are one, and so is `f"a"`.

    Args:
        raw_single: what single quotes hold is taken as it is.
        is_loose: a backslash that means nothing may go.
    """
    match = _QUOTED.match(text)
    if match is None:
        return text
    start, quote, inner = head(match[1]), match[2], match[3]
    if b"r" not in start:
        if raw_single and quote == b"'" and _READ_IN_DOUBLE.search(inner.replace(b"\\'", b"")):
            return text
        inner = unescaped(_NEEDLESS.sub(lambda match: match[1] or match[0], inner) if is_loose else inner)
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
    before, exponent, kind = match[1] or b"0", match[3] or b"", match[4]
    fraction = match[2] if kind == b"m" else match[2].rstrip(b"0_")  # C#'s decimals count their zeros
    point = b"" if one_kind and not fraction else b"."
    return before + point + fraction + exponent.replace(b"+", b"") + kind


def shown(text: bytes) -> list[bytes]:
    """The words of text between elements, b"" for each space; a line break takes the white space around it along."""
    found: list[bytes] = []
    for part in _BROKEN.split(text):
        words = part.split()
        if not words and part:
            found.append(b"")
            continue
        if found and words:
            found.append(b"")
        if words and part[:1].isspace():
            found.append(b"")
        for word in words:
            found += [word, b""]
        if words and not part[-1:].isspace():
            found.pop()
    return found


def without_tabs(text: bytes) -> bytes:
    """The text of a heredoc without the tabs at the starts of its lines."""
    return _TABS.sub(b"", text)


def pattern(text: bytes) -> bytes:
    """A regular expression with its flags in order."""
    before, slash, flags = text.rpartition(b"/")
    return before + slash + bytes(sorted(flags))


def macro(text: bytes) -> bytes:
    """The body of a macro as the compiler reads it: its tokens, no comments, and one line."""
    return b" ".join(_TOKEN.findall(_MACRO_LOOKS.sub(b" ", text)))


def _escape(match: re.Match[bytes]) -> bytes:
    if match[1] in b"'\"":
        return match[1]
    return match[0].lower() if len(match[1]) > 1 and match[1][:1] != b"U" else match[0]
