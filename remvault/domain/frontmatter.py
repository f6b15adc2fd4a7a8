"""Read frontmatter: split a note, parse its YAML block into nodes that know where they stand.

Owns: the fences, the strict YAML subset, source positions.
Leaves alone: editing (`domain.edits`), which keys exist (`domain.memory`), whether values make sense (`domain.rules`).

The subset is YAML's failsafe schema: every scalar is text, as typed. Aliases, anchors, tags, merge keys, directives and
further documents are refused while the events stream in, so a hostile block costs no memory.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

MAX_BLOCK_CHARS = 64 * 1024
MAX_DEPTH = 8
MAX_KEYS = 200
MAX_ITEMS = 1_000

BOM = "\ufeff"
_FENCE = re.compile(r"---[ \t]*(?:\r?\n|\Z)")
_CLOSING = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_INNER_BOM = re.compile("(?:\\A|[\n\r\x85\u2028\u2029])[ \t]*\ufeff")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ABSENT = frozenset({"", "null", "~"})

# libyaml where the wheel has it (7x faster); the pure loader gives the same events, or refuses (tabs between tokens).
_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class Unreadable(ValueError):
    """The block is not in the subset. `line` is 1-based in the file, `message` one line, `hint` the way out."""

    def __init__(self, line: int, message: str, hint: str) -> None:
        self.line, self.message, self.hint = line, message, hint
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Split:
    """A note cut at its fences; the five pieces joined are the text again, character for character."""

    bom: str
    opening: str  # the first fence with its line end; "" when there is no block
    block: str
    closing: str
    body: str
    # Why text that begins like a block is not one: "unclosed" or "not a fence"; None when nothing looks odd.
    oddity: str | None = None

    @property
    def has_block(self) -> bool:
        """Whether a frontmatter block exists."""
        return bool(self.opening)

    @property
    def block_start(self) -> int:
        """Offset of the block's first character in the text."""
        return len(self.bom) + len(self.opening)

    @property
    def body_line(self) -> int:
        """1-based line on which the body begins."""
        return 1 + (self.opening + self.block + self.closing).count("\n")


def split(text: str) -> Split:
    """Cut a note into byte-order mark, fence, block, fence and body.

    A block exists only when the first line is exactly `---` and so is a later one (trailing blanks allowed).
    """
    bom = BOM if text.startswith(BOM) else ""
    rest = text[len(bom) :]
    opening = _FENCE.match(rest)
    if opening is None:
        return Split(bom, "", "", "", rest, "not a fence" if rest.startswith("---") else None)
    closing = _CLOSING.search(rest, opening.end())
    if closing is None:
        return Split(bom, "", "", "", rest, "unclosed")
    block = rest[opening.end() : closing.start()]
    return Split(bom, opening[0], block, closing[0], rest[closing.end() :])


def join(parts: Split) -> str:
    """Undo `split`."""
    return parts.bom + parts.opening + parts.block + parts.closing + parts.body


@dataclass(slots=True)
class Node:
    """A YAML value with its place. Offsets are characters in the block; the line is 1-based in the file."""

    value: str | list[Node] | dict[str, Node] | None
    line: int
    start: int
    end: int  # just past the last character of the value's own text, trailing comments not included
    style: str  # "plain", "'", '"', "|", ">", "flow" or "block"

    def plain_value(self) -> Any:
        """Return the value as nested str, None, list and dict."""
        if isinstance(self.value, list):
            return [item.plain_value() for item in self.value]
        if isinstance(self.value, dict):
            return {key: item.plain_value() for key, item in self.value.items()}
        return self.value


@dataclass(frozen=True, slots=True)
class Entry:
    """One top-level key: where its name begins, and its value."""

    key: str
    start: int
    line: int
    node: Node


@dataclass(frozen=True, slots=True)
class Block:
    """The top-level keys of a block in file order. A repeated key is in `repeated` and in nothing else."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    repeated: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # key: first and second line


def read(parts: Split) -> Block:
    """Parse the block of a split note.

    Raises:
        Unreadable: with the line in the file, when the block is not in the subset or over a cap.
    """
    if not parts.block.strip():
        return Block()
    if len(parts.block) > MAX_BLOCK_CHARS:
        raise Unreadable(2, f"frontmatter is over {MAX_BLOCK_CHARS // 1024} KiB", "move long text into the body")
    hidden = _INNER_BOM.search(parts.block)
    if hidden:  # libyaml skips it, without counting it at the start of the block, where others read it as text
        line = 2 + parts.block.count("\n", 0, hidden.end())
        raise Unreadable(line, "a line of the frontmatter begins with a byte-order mark", "remove it")
    return _Builder(parts.block).build()


class _Builder:
    """Turn parser events into nodes with one explicit stack, so depth cannot overflow Python's."""

    def __init__(self, block: str) -> None:
        self._block = block
        # YAML counts U+2028 and a lone CR as line breaks; editors and git do not. Count what they count.
        self._newlines = [match.start() for match in re.finditer("\n", block)]
        self._keys = self._items = 0

    def build(self) -> Block:
        events = self._events()
        for event in events:
            if isinstance(event, yaml.MappingStartEvent):
                if event.flow_style:
                    break
                self._refuse_decoration(event)
                return self._root(events)
            if isinstance(event, yaml.DocumentStartEvent) and (event.version or event.tags):
                raise Unreadable(
                    2, "YAML directives are not allowed in frontmatter", "remove the line that begins with %"
                )
            if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and event.value in _ABSENT:
                return Block()
            if isinstance(event, (yaml.ScalarEvent, yaml.SequenceStartEvent, yaml.AliasEvent)):
                break
        else:
            return Block()  # comments only: the parser sees no document at all
        raise Unreadable(2, "frontmatter is not a list of 'key: value' lines", "write one 'key: value' a line")

    def _root(self, events: Iterator[Any]) -> Block:
        entries: dict[str, Entry] = {}
        repeated: dict[str, tuple[int, int]] = {}
        first_lines: dict[str, int] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key, start, line = self._key(event)
            node = self._value(next(events), events)
            if key in first_lines:
                repeated.setdefault(key, (first_lines[key], line))
                entries.pop(key, None)
                continue
            first_lines[key] = line
            entries[key] = Entry(key, start, line, node)
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                raise Unreadable(
                    self._line(event), "a second YAML document begins here", "keep one block of 'key: value' lines"
                )
        return Block(entries, repeated)

    def _value(self, event: Any, events: Iterator[Any]) -> Node:
        """Build the node that begins with `event`, pulling what belongs to it."""
        root = self._open(event)
        stack = [root] if isinstance(root.value, (list, dict)) else []
        keys: list[str | None] = [None]  # for each open node: the key that waits for its value
        while stack:
            event = next(events)
            end: int = event.end_mark.index
            top = stack[-1]
            if isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                keys.pop()
                stack.pop()
                if top.style == "flow":
                    top.end = end
                if stack:
                    stack[-1].end = top.end
                continue
            if isinstance(top.value, dict) and keys[-1] is None:
                key, _, line = self._key(event)
                if key in top.value:
                    raise Unreadable(line, f"key {key!r} stands twice in one mapping", "keep one of the two")
                keys[-1] = key
                continue
            node = self._open(event)
            if isinstance(top.value, dict):
                top.value[keys[-1] or ""] = node
                keys[-1] = None
            elif isinstance(top.value, list):
                top.value.append(node)
                self._items += 1
                if self._items > MAX_ITEMS:
                    raise Unreadable(node.line, f"frontmatter has over {MAX_ITEMS:,} list items", "split the note")
            top.end = node.end
            if isinstance(node.value, (list, dict)):
                stack.append(node)
                keys.append(None)
                if len(stack) + 1 > MAX_DEPTH:
                    raise Unreadable(node.line, f"values are nested over {MAX_DEPTH} deep", "flatten the value")
        return root

    def _open(self, event: Any) -> Node:
        self._refuse_decoration(event)
        line, start, end = self._line(event), event.start_mark.index, event.end_mark.index
        if isinstance(event, yaml.ScalarEvent):
            style = event.style or "plain"
            if style == '"' and _SURROGATE.search(event.value):  # libyaml refuses the escape by itself
                raise Unreadable(line, "an escape stands for half a character", "write the character itself")
            absent = style == "plain" and event.value in _ABSENT
            if style in "|>":
                end = start + len(self._block[start:end].rstrip())
            return Node(None if absent else event.value, line, start, end, style)
        style = "flow" if event.flow_style else "block"
        return Node([] if isinstance(event, yaml.SequenceStartEvent) else {}, line, start, end, style)

    def _key(self, event: Any) -> tuple[str, int, int]:
        self._refuse_decoration(event)
        line, start = self._line(event), event.start_mark.index
        if not isinstance(event, yaml.ScalarEvent):
            raise Unreadable(
                line, "a key is not plain text", "quote the value: a leading { or [ begins a YAML collection"
            )
        if event.value == "<<" and not event.style:
            raise Unreadable(line, "merge keys (<<) are not allowed in frontmatter", "write the values out")
        self._keys += 1
        if self._keys > MAX_KEYS:
            raise Unreadable(line, f"frontmatter has over {MAX_KEYS} keys", "move details into the body")
        return event.value, start, line

    def _refuse_decoration(self, event: Any) -> None:
        if isinstance(event, yaml.AliasEvent):
            raise Unreadable(
                self._line(event),
                "YAML aliases (*name) are not allowed in frontmatter",
                "quote text that begins with *",
            )
        if event.anchor is not None:
            raise Unreadable(
                self._line(event),
                "YAML anchors (&name) are not allowed in frontmatter",
                "quote text that begins with &",
            )
        if event.tag is not None:
            raise Unreadable(
                self._line(event), "YAML tags (!name) are not allowed in frontmatter", "quote text that begins with !"
            )

    def _line(self, event: Any) -> int:
        return self._line_at(event.start_mark.index)

    def _line_at(self, offset: int) -> int:
        return 2 + bisect_left(self._newlines, offset)

    def _events(self) -> Iterator[Any]:
        """Yield parser events; every fault of the YAML library becomes `Unreadable` with its line."""
        try:
            yield from yaml.parse(self._block, Loader=_Loader)
        except UnicodeEncodeError as err:  # half of a surrogate pair, as the shell hands over what is not UTF-8
            raise Unreadable(self._line_at(err.start), "not valid Unicode text", "remove the character") from err
        except yaml.reader.ReaderError as err:
            line = self._line_at(int(err.position))
            raise Unreadable(line, f"character U+{_code_point(err):04X} is not allowed in YAML", "remove it") from err
        except yaml.MarkedYAMLError as err:
            mark = err.problem_mark or err.context_mark
            line = self._line_at(mark.index) if mark else 2
            raise Unreadable(
                line, f"not valid YAML: {err.problem or err.context}", _yaml_hint(self._block, line)
            ) from err
        except yaml.YAMLError as err:
            raise Unreadable(2, "not valid YAML", "check the block by hand") from err
        except RecursionError as err:  # only the pure Python parser recurses
            raise Unreadable(2, f"values are nested over {MAX_DEPTH} deep", "flatten the value") from err


def _code_point(err: yaml.reader.ReaderError) -> int:
    return err.character if isinstance(err.character, int) else ord(err.character)


def _yaml_hint(block: str, line: int) -> str:
    lines = block.split("\n")
    text = lines[min(max(line - 2, 0), len(lines) - 1)]
    if "\t" in text[: len(text) - len(text.lstrip())]:
        return "indent with spaces: YAML does not allow tabs"
    if text.startswith(("<<<<<<<", "=======", ">>>>>>>")):
        return "resolve the merge conflict"
    return 'quote the value: key: "text"'
