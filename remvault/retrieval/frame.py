"""What marks a block's bounds, and how text of others is written inside them so that it can never mark any.

Owns: the delimiter of a call, escaping for each form.
Leaves alone: which fields there are and where they stand (`rendering`).

Escaping loses nothing but what `hostile_text.shown` made visible: a reader who undoes it has the text again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Literal

from remvault.domain.hostile_text import shown

Form = Literal["xml", "md", "json"]
FORMS: tuple[Form, ...] = ("xml", "md", "json")
DOT = "·"  # separates texts on a line

# Sixteen letters that no escape of ours has at its beginning or end (hexadecimal digits, `\n`, `\t`, `\u`), so that
# escaping a text can never write a delimiter that was not in it.
_LETTERS = str.maketrans("0123456789abcdef", "ghijklmopqsvwxyz")
_DELIMITER = re.compile(r"[ghijklmopqsvwxyz]{8,64}\Z")
DELIMITER_BYTES = 6  # 48 bits: no note, written before the call, can guess them

# What Markdown may read as more than text, anywhere in a line and at its beginning.
_SIGNS = re.compile(r"[\\`*_\[\]()#|~]")
_LIST_ITEM = re.compile(r"\A(\s*\d*)([-+=.])")


def make_delimiter(entropy: bytes) -> str:
    """Spell random bytes as letters."""
    return entropy.hex().translate(_LETTERS)


@dataclass(frozen=True, slots=True)
class Frame:
    """One form with the delimiter of one call.

    Raises:
        ValueError: the delimiter is not of `make_delimiter`'s letters, or shorter than 8.
    """

    form: Form
    delimiter: str
    _first: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not _DELIMITER.match(self.delimiter):
            raise ValueError(f"no delimiter: {self.delimiter!r}")
        # Each occurrence loses its first letter, overlapping ones too.
        first = re.compile(f"{self.delimiter[0]}(?={self.delimiter[1:]})")
        object.__setattr__(self, "_first", first)

    def lines(self, text: str) -> str:
        """Text that may run over several lines, for XML-like elements and quoted Markdown."""
        return self._escaped(shown(text))

    def line(self, text: str) -> str:
        """Text that stays on one line."""
        return _on_one_line(self.lines(text))

    def listed(self, text: str) -> str:
        """One of several texts on a line, with `DOT` between them."""
        return self.line(text).replace(DOT, "&#xb7;")

    def attribute(self, text: str) -> str:
        """Text in double quotes."""
        return self.line(text).replace('"', "&quot;")

    def inert(self, text: str) -> str:
        """As `listed`, and nothing but text to Markdown: no emphasis, link, heading, table cell or list item."""
        signed = _LIST_ITEM.sub(r"\1\\\2", _SIGNS.sub(r"\\\g<0>", shown(text)))
        return _on_one_line(self._escaped(signed)).replace(DOT, "&#xb7;")

    def string(self, text: str) -> str:
        """A JSON string that closes no tag either, should it be put between some."""
        quoted = self._first.sub(_unicode_escape, json.dumps(shown(text), ensure_ascii=False))
        return quoted.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")

    def _escaped(self, text: str) -> str:
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return self._first.sub(_reference, escaped)


def _on_one_line(escaped: str) -> str:
    return escaped.replace("\n", "&#xa;").replace("\t", "&#x9;")


def _reference(match: re.Match[str]) -> str:
    return f"&#x{ord(match[0]):x};"


def _unicode_escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
