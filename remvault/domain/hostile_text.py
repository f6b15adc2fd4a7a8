"""Text that was written by somebody else, made safe to show: nothing invisible, nothing that acts on what shows it."""

from __future__ import annotations

import unicodedata

# Direction overrides and isolates, tag characters, variation selectors of the supplement, interlinear marks and blank
# fillers hide text from a reviewer but not from a model. Joiners (200C, 200D) stay: Persian and emoji need them.
_HIDDEN_RANGES = (
    *((0x115F, 0x1160), (0x200B, 0x200B), (0x202A, 0x202E), (0x2060, 0x206F), (0xFFF9, 0xFFFB)),
    *((0xE0000, 0xE007F), (0xE0100, 0xE01EF)),
)
_HIDDEN = frozenset({0x00AD, 0x180E, 0x3164, 0xFEFF, 0xFFA0}).union(
    *(range(first, last + 1) for first, last in _HIDDEN_RANGES)
)
# Marks of direction are honest beside right-to-left letters, and have no work to do elsewhere.
_DIRECTION_MARKS = frozenset("\u200e\u200f\u061c")
_RIGHT_TO_LEFT = frozenset({"R", "AL"})
# One of these chooses how the character before it looks: an emoji, symbol or ideograph. In a row they carry a message.
_VARIATION_SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE10)))
_VARYING_CATEGORIES = frozenset({"So", "Sk", "Sm", "Lo"})
_VARYING = frozenset("0123456789#*\u203c\u2049\u2139\u3030")
# What means nothing to any shell, in quotes or out of them.
_PLAIN_SIGNS = frozenset(" .,-_/+@")


def is_hidden(char: str) -> bool:
    """Whether a character would be invisible or change what is shown around it; line feed and tab are not."""
    code = ord(char)
    if code < 0x20:
        return char not in "\n\t"
    return 0x7F <= code < 0xA0 or code in _HIDDEN or unicodedata.category(char) in ("Cs", "Zl", "Zp")


def shown(text: str) -> str:
    """Replace hidden characters by visible escapes such as `\\u202e`; line breaks become LF. Honest scripts stay."""
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.isprintable():
        return text
    is_right_to_left = _is_right_to_left(text)
    safe = []
    before = ""
    for char in text:
        is_kept = not is_hidden(char)
        if char in _DIRECTION_MARKS:
            is_kept = is_right_to_left
        elif char in _VARIATION_SELECTORS:
            is_kept = _varies(before)
        safe.append(char if is_kept else _escape(char))
        before = char
    return "".join(safe)


def one_line(text: str) -> str:
    """As `shown`, with line breaks and tabs as blanks."""
    return shown(" ".join(text.split("\n")).replace("\t", " ").replace("\r", " "))


def plain_words(text: str, *, limit: int) -> str:
    """Only the letters, digits, blanks and harmless signs of a text, `limit` characters at most: a shell may see it."""
    kept = (char for char in " ".join(text.split()) if _is_plain(char))
    return "".join(kept)[:limit].strip()


def _is_plain(char: str) -> bool:
    if char in _VARIATION_SELECTORS or is_hidden(char):
        return False
    return char in _PLAIN_SIGNS or unicodedata.category(char)[0] in "LMN"


def _is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in text if char not in _DIRECTION_MARKS)


def _varies(char: str) -> bool:
    return char != "" and (char in _VARYING or unicodedata.category(char) in _VARYING_CATEGORIES)


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
