"""Text that was written by somebody else, made safe to show: nothing invisible, nothing that drives a terminal."""

from __future__ import annotations

import unicodedata

# Direction overrides and isolates, tag characters and invisible fillers hide text from a reviewer but not from a model.
_HIDDEN_RANGES = ((0x200B, 0x200B), (0x202A, 0x202E), (0x2060, 0x2064), (0x2066, 0x2069), (0xE0000, 0xE007F))
_HIDDEN = frozenset({0x00AD, 0x180E, 0xFEFF}).union(*(range(first, last + 1) for first, last in _HIDDEN_RANGES))


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
    return "".join(_escape(char) if is_hidden(char) else char for char in text)


def one_line(text: str) -> str:
    """As `shown`, with line breaks and tabs as blanks."""
    return shown(" ".join(text.split("\n")).replace("\t", " ").replace("\r", " "))


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
