"""Edit one key of a note's frontmatter, byte-true.

Owns: replacing, adding and removing a key or one item of a list.
Leaves alone: how values are written (`domain.yaml_values`), which are allowed (`domain.fields`), files (`store`).

Every edit is read back before it is handed out: the asked-for key has its new value, every other key its old one, and
the body is the same text. Otherwise nothing is returned and `EditRefused` says what to do by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from remvault.domain.fields import FIELDS
from remvault.domain.frontmatter import Block, Entry, Node, Split, Unreadable, join, read, split
from remvault.domain.yaml_values import (
    Value,
    block_item,
    entry_text,
    inline,
    needs_block,
    plain_value,
    quoted,
)
from remvault.errors import UserError

_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)*")
_COMMA = re.compile(r"\s*,")


class EditRefused(UserError):
    """The frontmatter cannot be edited by machine; the file is as it was."""

    code = "edit_refused"

    def __init__(self, reason: str, *, line: int | None = None, hint: str | None = None) -> None:
        self.line = line
        where = f"line {line}: " if line else ""
        super().__init__(f"{where}{reason}", hint=hint or "edit the file by hand")


def set_key(text: str, key: str, value: Value) -> str:
    """Give a top-level key a value; a new key goes where the field table puts it.

    A value on one line is replaced in place, so the comment behind it stays. A note without a block gets one.

    Raises:
        EditRefused: if the block is unreadable, repeats the key, or the edit would touch anything else.
    """
    parts, block = _open(text, key)
    if not parts.has_block:
        newline = "\r\n" if "\r\n" in parts.body else "\n"
        fence = "---" + newline
        parts = replace(parts, opening=fence, closing=fence)
    entry = block.entries.get(key)
    changed = _insert(parts, block, key, value) if entry is None else _replace(parts, entry, value)
    return _verified(parts, block, changed, key, plain_value(value))


def unset_key(text: str, key: str) -> str:
    """Remove a top-level key with its lines; a key that is not there changes nothing."""
    parts, block = _open(text, key)
    entry = block.entries.get(key)
    if entry is None:
        return text
    start, end = _lines_of(parts.block, entry)
    return _verified(parts, block, parts.block[:start] + parts.block[end:], key, None)


def add_item(text: str, key: str, value: Value) -> str:
    """Append one item to a list, in the list's own style; a missing list is made, one already there changes nothing."""
    parts, block = _open(text, key)
    entry = block.entries.get(key)
    if entry is None or entry.node.value is None:
        return set_key(text, key, [value])
    present = _items(entry.node)
    if plain_value(value) in present:
        return text
    node = entry.node
    if not isinstance(node.value, list):
        return set_key(text, key, [*present, value])
    if not node.value:
        return set_key(text, key, [value])
    source = parts.block
    if node.style == "flow":
        end = node.value[-1].end
        changed = f"{source[:end]}, {inline(value, in_flow=True)}{source[end:]}"
    else:
        line_start = source.rfind("\n", 0, node.start) + 1
        indent = " " * (node.start - line_start)
        end = _line_end(source, node.end)
        newline = _newline_before(source, end, parts.opening)
        changed = source[:end] + block_item(value, indent, newline) + source[end:]
    return _verified(parts, block, changed, key, [*present, plain_value(value)])


def remove_item(text: str, key: str, matches: Callable[[Any], bool]) -> str:
    """Remove the items of a list that match (given as nested text); an emptied list goes with its key."""
    parts, block = _open(text, key)
    entry = block.entries.get(key)
    if entry is None:
        return text
    present = _items(entry.node)
    kept = [item for item in present if not matches(item)]
    if kept == present:
        return text
    if not kept:
        return unset_key(text, key)
    assert isinstance(entry.node.value, list)
    source = parts.block
    nodes = entry.node.value
    gone = [at for at, item in enumerate(present) if item not in kept]
    cut = _flow_cut if entry.node.style == "flow" else _block_cut
    # From the back, so that the offsets of what comes before stay true.
    for first, last in reversed(_runs(gone)):
        start, end = cut(source, nodes, first, last)
        source = source[:start] + source[end:]
    return _verified(parts, block, source, key, kept)


def change_item(text: str, key: str, number: int, fields: Mapping[str, str]) -> str:
    """Give keys of one item of a list new values, each in its place; a key that is missing goes behind the others.

    An item that is mere text becomes a mapping with `fields` alone.

    Args:
        number: which item of the list, from 0.

    Raises:
        EditRefused: as `set_key`, and where the item is written in a way that holds no new value in place.
    """
    parts, block = _open(text, key)
    node = block.entries[key].node
    if not isinstance(node.value, list):
        raise EditRefused(f"{key} is not a list")
    item, expected = node.value[number], node.plain_value()
    expected[number] = {**(expected[number] if isinstance(item.value, dict) else {}), **fields}
    source = parts.block
    newline = _newline_before(source, _line_end(source, item.end), parts.opening)
    for start, end, new in sorted(_item_changes(source, item, fields, node.style, newline), reverse=True):
        source = source[:start] + new + source[end:]
    return _verified(parts, block, source, key, expected)


def _item_changes(
    source: str, item: Node, fields: Mapping[str, str], style: str, newline: str
) -> Iterator[tuple[int, int, str]]:
    """What to write where, as (start, end, text), for `change_item`."""
    in_flow = style == "flow" or item.style == "flow"
    known = item.value if isinstance(item.value, dict) else {}
    if not known and in_flow:
        yield item.start, item.end, inline(fields, in_flow=True)
        return
    if not known:
        (name, first), *rest = fields.items()
        fields = dict(rest)
        yield item.start, item.end, f"{name}: {inline(first)}"
    for name, value in fields.items():
        if name in known:
            node = known[name]
            lead = " " if node.start == node.end and not source[node.start - 1].isspace() else ""
            yield node.start, node.end, lead + inline(value, quote=node.style == '"', in_flow=in_flow)
    missing = {name: value for name, value in fields.items() if name not in known}
    if in_flow:
        end = max(node.end for node in known.values())
        yield end, end, "".join(f", {name}: {inline(value, in_flow=True)}" for name, value in missing.items())
    else:
        end = _line_end(source, item.end)
        indent = " " * (item.start - source.rfind("\n", 0, item.start) - 1)
        yield end, end, "".join(entry_text(name, value, indent, newline) for name, value in missing.items())


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """First and last of each unbroken run in rising numbers."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _flow_cut(source: str, nodes: Sequence[Node], first: int, last: int) -> tuple[int, int]:
    """What to cut so that the items `first` to `last` of `[a, b]` go with one comma each; never all items."""
    if last + 1 < len(nodes):
        return nodes[first].start, nodes[last + 1].start
    before, end = nodes[first - 1].end, nodes[last].end
    if "\n" not in source[before : nodes[first].start]:
        return before, end
    # On lines of their own: the comment behind the item that stays is not ours to take.
    comma = _COMMA.match(source, end)
    return nodes[first].start, comma.end() if comma else end


def _block_cut(source: str, nodes: Sequence[Node], first: int, last: int) -> tuple[int, int]:
    """The whole lines of the items `first` to `last` of a list with one item a line."""
    return source.rfind("\n", 0, nodes[first].start) + 1, _line_end(source, nodes[last].end)


def quote_value(text: str, line: int) -> str | None:
    """Quote the value on one line of an unreadable block, if that and nothing else makes the block readable.

    `line` is the 1-based line in the file that `Unreadable` named. None when quoting does not help.
    """
    parts = split(text)
    lines = re.split(r"(?<=\n)", parts.block)
    if not 0 <= line - 2 < len(lines):
        return None
    match = re.match(r"([A-Za-z][\w-]*:[ \t]+)(\S.*?)([ \t]*\r?\n?)\Z", lines[line - 2], re.DOTALL)
    if match is None:
        return None
    lines[line - 2] = match[1] + quoted(match[2]) + match[3]
    mended = join(replace(parts, block="".join(lines)))
    try:
        read(split(mended))
    except Unreadable:
        return None
    return mended


def _open(text: str, key: str) -> tuple[Split, Block]:
    parts = split(text)
    if parts.oddity:
        raise EditRefused(
            "the frontmatter is not a closed block", line=1, hint="begin and end it with a line that is exactly ---"
        )
    try:
        block = read(parts)
    except Unreadable as err:
        raise EditRefused(err.message, line=err.line, hint=err.hint) from err
    if key in block.repeated:
        first, second = block.repeated[key]
        raise EditRefused(
            f"key {key!r} stands on lines {first} and {second}", line=second, hint="keep the one that is right"
        )
    return parts, block


def _replace(parts: Split, entry: Entry, value: Value) -> str:
    source, node = parts.block, entry.node
    fits_inline = (
        not needs_block(value) and node.style not in ("block", "|", ">") and "\n" not in source[node.start : node.end]
    )
    if fits_inline and node.end > node.start:
        return source[: node.start] + inline(value, quote=node.style == '"') + source[node.end :]
    if fits_inline and not needs_block(value):
        colon = source.index(":", entry.start + len(entry.key)) + 1
        return f"{source[:colon]} {inline(value)}{source[colon:]}"
    start, end = _lines_of(source, entry)
    newline = _newline_before(source, end, parts.opening)
    return source[:start] + entry_text(entry.key, value, source[start : entry.start], newline) + source[end:]


def _insert(parts: Split, block: Block, key: str, value: Value) -> str:
    """Put a new key behind the last one that the field table puts before it."""
    source = parts.block
    order = {name: at for at, name in enumerate(FIELDS)}
    before = [e for e in block.entries.values() if order.get(e.key, len(order)) < order.get(key, len(order) + 1)]
    first = next(iter(block.entries.values()), None)
    indent = source[source.rfind("\n", 0, first.start) + 1 : first.start] if first else ""
    if before:
        at = _end_of(source, max(before, key=lambda entry: entry.start))
    else:
        at = len(source) if not block.entries else 0
    newline = _newline_before(source, at, parts.opening)
    lead = "" if at == 0 or source[at - 1] == "\n" else newline
    return source[:at] + lead + entry_text(key, value, indent, newline) + source[at:]


def _verified(parts: Split, before: Block, changed: str, key: str, expected: Any) -> str:
    text = join(replace(parts, block=changed))
    again = split(text)
    if again.body != parts.body or again.block != changed:
        raise EditRefused(f"setting {key!r} would move the end of the frontmatter")
    try:
        block = read(again)
    except Unreadable as err:
        raise EditRefused(f"setting {key!r} would make the frontmatter unreadable: {err.message}") from err
    old = {name: entry.node.plain_value() for name, entry in before.entries.items() if name != key}
    new = {name: entry.node.plain_value() for name, entry in block.entries.items()}
    got = new.pop(key, None)
    if new != old or got != expected or block.repeated.keys() != before.repeated.keys():
        raise EditRefused(f"setting {key!r} would change something else in the frontmatter")
    return text


def _lines_of(source: str, entry: Entry) -> tuple[int, int]:
    """The offsets of the whole lines that a key and its value take."""
    start = source.rfind("\n", 0, entry.start) + 1
    return start, _line_end(source, max(entry.node.end, entry.start))


def _end_of(source: str, entry: Entry) -> int:
    """Where something may follow a key: behind the blank lines too when they belong to its text (`|+`)."""
    end, value = _lines_of(source, entry)[1], entry.node.value
    keeps_blanks = entry.node.style in ("|", ">") and isinstance(value, str) and value[-2:] in ("\n", "\n\n")
    blanks = _BLANK_LINES.match(source, end) if keeps_blanks else None
    return blanks.end() if blanks else end


def _line_end(source: str, offset: int) -> int:
    end = source.find("\n", offset)
    return len(source) if end < 0 else end + 1


def _newline_before(source: str, offset: int, opening: str) -> str:
    """The line end in use just before `offset`, so that mixed files stay as mixed as they were."""
    line = source[:offset] or opening
    return "\r\n" if line.endswith("\r\n") or (not line.endswith("\n") and opening.endswith("\r\n")) else "\n"


def _items(node: Node) -> list[Any]:
    value = node.plain_value()
    return value if isinstance(value, list) else [value]
