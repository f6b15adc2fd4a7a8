"""Values of fields as YAML text: what is written, and how it is quoted.

Owns: the shapes a value may have, rendering it so that every YAML reader, also one with types, reads the same text.
Leaves alone: where in a note it goes (`domain.edits`), which values are allowed (`domain.fields`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml


@dataclass(frozen=True, slots=True)
class Plain:
    """A scalar written without quotes, where YAML allows it, because its field is a number, a time or a flag."""

    text: str


Value: TypeAlias = "str | Plain | Sequence[Value] | Mapping[str, Value] | None"

_LONG = 100  # a flow list beyond this many characters is written one item a line
_QUOTE_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z|0o[0-7]+\Z")  # in YAML 1.2
_RESOLVER = yaml.resolver.Resolver.yaml_implicit_resolvers


def render_block(fields: Mapping[str, Value], newline: str = "\n") -> str:
    """Write fields as the lines of a block, in the order given, each ending in `newline`."""
    return "".join(entry_text(key, value, "", newline) for key, value in fields.items())


def plain_value(value: Value) -> Any:
    """The nested text that a reader of the YAML gets."""
    if isinstance(value, Plain):
        return value.text
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {key: plain_value(item) for key, item in value.items()}
    return [plain_value(item) for item in value]


def needs_block(value: Value) -> bool:
    """Whether a value is written on lines of its own below its key."""
    if value is None or isinstance(value, (str, Plain)):
        return False
    if isinstance(value, Mapping):
        return len(inline(value)) > _LONG
    return any(isinstance(item, Mapping) for item in value) or len(inline(value)) > _LONG


def entry_text(key: str, value: Value, indent: str, newline: str) -> str:
    """A key with its value, as whole lines."""
    name = scalar(key)
    if not needs_block(value):
        return f"{indent}{name}: {inline(value)}{newline}"
    if isinstance(value, Mapping):
        return f"{indent}{name}:{newline}" + "".join(entry_text(k, v, indent + "  ", newline) for k, v in value.items())
    assert value is not None
    assert not isinstance(value, (str, Plain))
    return f"{indent}{name}:{newline}" + "".join(block_item(item, indent + "  ", newline) for item in value)


def block_item(value: Value, indent: str, newline: str) -> str:
    """One item of a list, as whole lines."""
    if not isinstance(value, Mapping) or not value:
        return f"{indent}- {inline(value)}{newline}"
    lines = [f"{scalar(key)}: {inline(item)}{newline}" for key, item in value.items()]
    return f"{indent}- " + f"{indent}  ".join(lines)


def inline(value: Value, *, quote: bool = False, in_flow: bool = False) -> str:
    """A value on one line; `quote` puts a text in quotes, `in_flow` says that it stands inside [] or {}."""
    if value is None:
        return "null"
    if isinstance(value, Plain):
        return value.text if _is_plain(value.text, in_flow=in_flow) else quoted(value.text)
    if isinstance(value, str):
        return quoted(value) if quote else scalar(value, in_flow=in_flow)
    if isinstance(value, Mapping):
        pairs = (f"{scalar(key, in_flow=True)}: {inline(item, in_flow=True)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    return "[" + ", ".join(inline(item, in_flow=True) for item in value) + "]"


def scalar(text: str, *, in_flow: bool = False) -> str:
    """Text as a scalar, in quotes where it needs them."""
    return text if _is_safe_plain(text, in_flow=in_flow) else quoted(text)


def _is_safe_plain(text: str, *, in_flow: bool) -> bool:
    """Whether text may stand without quotes and still be the same text to every YAML reader, also one with types."""
    if not _is_plain(text, in_flow=in_flow) or text in ("y", "n", "Y", "N") or _NUMBER.match(text):
        return False
    return not any(pattern.match(text) for tag, pattern in _RESOLVER.get(text[0], []))


def _is_plain(text: str, *, in_flow: bool) -> bool:
    """Whether text without quotes is one scalar, whatever its type."""
    if text in ("", "~", "null") or text != text.strip() or not all(_is_shown(char) for char in text):
        return False
    if text[0] in "-?:,[]{}#&*!|>'\"%@`=<" or text.startswith("..."):
        return False
    if ": " in text or " #" in text or text.endswith(":"):
        return False
    return not (in_flow and re.search(r"[,\[\]{}:?]", text))


def quoted(text: str) -> str:
    """Text in double quotes."""
    escaped = "".join(_QUOTE_ESCAPES.get(char) or (char if _is_shown(char) else _escape(char)) for char in text)
    return f'"{escaped}"'


def _is_shown(char: str) -> bool:
    # Joiners hold emoji and Indic or Persian words together; any other invisible character is written as an escape.
    return char.isprintable() or char in "\u200c\u200d"


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
