"""What is defined where, kept while a walk goes through a tree.

Owns: the dotted names of definitions, their tokens and lines, which of them stand in no order.
Leaves alone: tokens themselves (syntax), names in one node (symbol_names), what defines anything (languages).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remvault.store.kinds import Kind
from remvault.store.languages import Language
from remvault.store.looks import Looks
from remvault.store.symbol_names import MAX_NESTED, found_names, inside, names_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_PREFIX = 1000  # characters of a dotted name; what is inside of longer ones has no name
_MAX_FRAMES = 200  # nodes in each other whose order means nothing


@dataclass(frozen=True, slots=True)
class Span:
    """A definition's place among the tokens."""

    name: str  # dotted
    tokens: tuple[int, int]  # half open
    lines: tuple[int, int]  # 1-based, inclusive
    has_body: bool = True  # False: a declaration of what is defined elsewhere


@dataclass(slots=True)
class Tokens:
    """The tokens of a file in order, looks left out."""

    texts: list[bytes] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)  # the byte where each begins; for what is implied, one close by
    spans: list[Span] = field(default_factory=list)
    # Definitions whose order among each other means nothing: first token to the one behind the last.
    loose: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Frame:
    """A node that is being walked and defines, holds or belongs to what is defined."""

    kind: str
    start: int  # its first token, what belongs to it before it included
    line: int
    names: tuple[str, ...]  # what it defines
    prefix: str  # of the names inside
    in_function: bool
    is_loose: bool


class Scopes:
    """The open nodes of one walk that define, hold or belong to what is defined."""

    def __init__(self, language: Language, looks: Looks, tokens: Tokens) -> None:
        self._language, self._looks, self.tokens = language, looks, tokens
        self._frames = [_Frame("", 0, 1, (), "", False, False)]
        self._nested = 0
        self.before: tuple[int, int, int] | None = None  # depth, token and line of attributes of what comes next

    def open(self, node: Node, kind: Kind, above: Kind, depth: int) -> None:
        """Enter a node."""
        language, parent, name = self._language, self._frames[-1], kind.name
        start, line = len(self.tokens.texts), node.start_point[0] + 1
        in_function = parent.in_function or parent.kind in language.functions
        if kind.is_prefix:
            if self.before is None or self.before[0] != depth:
                self.before = depth, start, line
        elif self.before is not None and self.before[0] == depth:
            _, start, line = self.before
            self.before = None
        prefix, is_loose = parent.prefix, False
        names: tuple[str, ...] = ()
        if self._nested < MAX_NESTED and len(prefix) < _MAX_PREFIX:
            names = names_of(language, node, name, prefix, in_function=in_function)
            can_be = name in language.loose or name in self._looks.imports
            is_loose = can_be and above.name in language.bodies and not in_function and len(self._frames) < _MAX_FRAMES
        if names:
            if above.name in language.wrappers:
                start, line = parent.start, parent.line
            self._nested += 1
            # A variable holds functions only where functions are values.
            has_inside = name not in language.variables or language.values
            if has_inside and not (name == "type_definition" and _is_named(node)):
                prefix = inside(names[0])
        elif name in language.containers:
            found = found_names(node, language.containers[name])
            prefix = "".join(f"{prefix}{name}." for name in found[:1]) or prefix
        self._frames.append(_Frame(name, start, line, names, prefix, in_function, is_loose))

    def close(self, node: Node) -> None:
        """Leave a node; what it defines, and that its place means nothing, is noted."""
        tokens, closed, end = self.tokens, self._frames.pop(), len(self.tokens.texts)
        if closed.names:
            self._nested -= 1
            row, column = node.end_point
            last = max(closed.line, row + (1 if column else 0))
            has_body = closed.kind != "declaration"
            for name in closed.names:
                tokens.spans.append(Span(name, (closed.start, end), (closed.line, last), has_body))
        if closed.is_loose and end > closed.start:
            tokens.loose[closed.start] = end


def _is_named(node: Node) -> bool:
    """Whether the type in a `typedef` has a name of its own, which its fields are found by."""
    inner = node.child_by_field_name("type")
    return inner is not None and inner.child_by_field_name("name") is not None
