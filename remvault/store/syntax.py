"""From the bytes of a code file to its tokens and definitions. Nothing else runs tree-sitter.

Owns: parsing, walking the tree once, what of it is only looks.
Leaves alone: which names mean what in a language (languages, symbol_names), what of a literal is looks (literals),
digests and looking names up (outlines).

Looks are: comments and docstrings, white space and line ends, trailing commas, optional semicolons, the quotes of plain
literals, parentheses that formatters add. A file with errors in its syntax is walked as far as the grammar read it.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from remvault.store import literals
from remvault.store.languages import Language
from remvault.store.symbol_names import MAX_NESTED, found_names, names_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

# What is implied by the layout. No token of a file holds white space at its ends, so none of them looks like these.
STATEMENT_END, INDENT, DEDENT, JOINED, GROUP, GROUP_END = b"\n;", b"\n>", b"\n<", b"\n+", b"\n(", b"\n)"
NAME = b" "  # stands before tokens that are names, so that a name is not taken for a literal that reads the same
_OPENERS = frozenset({b"(", b"[", b"{", b"<"})
_CLOSERS = frozenset({b")", b"]", b"}", b">"})
# Literals. Without holes one is a single token; with them, what stands between the holes is text.
_LITERALS = frozenset({
    "string", "string_content", "string_literal", "raw_string", "raw_string_literal", "interpreted_string_literal",
    "verbatim_string_literal", "interpolated_string_expression", "encapsed_string", "ansi_c_string", "template_string",
    "template_literal_type", "char_literal", "character_literal", "rune_literal", "delimited_symbol", "regex",
    "heredoc_body", "nowdoc_body",
})  # fmt: skip
# Every operation is grouped, as if it stood in parentheses, so that those written add nothing to it, nor to an atom.
_OPERATIONS = frozenset({
    "binary_expression", "unary_expression", "ternary_expression", "conditional_expression", "await_expression",
    "as_expression", "satisfies_expression", "instanceof_expression", "prefix_unary_expression",
    "unary_op_expression", "binary_operator", "unary_operator", "boolean_operator", "comparison_operator",
    "not_operator", "await", "new_expression", "object", "union_type", "intersection_type", "function_type",
    "constructor_type", "conditional_type",
})  # fmt: skip
_ATOMS = frozenset({
    "identifier", "variable_name", "this", "true", "false", "null", "none", "number", "integer", "float", "string",
    "call", "call_expression", "member_expression", "attribute", "subscript", "subscript_expression",
    "field_expression", "method_invocation", "invocation_expression", "member_access_expression",
    "parenthesized_expression", "type_identifier", "predefined_type", "parenthesized_type",
})  # fmt: skip
_SETS = frozenset({"union_type", "intersection_type"})
_NUMBERS = frozenset({
    "integer", "float", "number", "number_literal", "int_literal", "float_literal", "integer_literal", "real_literal",
    "decimal_integer_literal", "hex_integer_literal", "decimal_floating_point_literal",
})  # fmt: skip
_LISTS = frozenset({"expression_list", "pattern_list"})  # without brackets
_CONTINUED = re.compile(rb"\\\r?\n")
_NAME_NODES = frozenset({"name", "constant", "word"})
_WITH_HOLES = re.compile(r"interpolation|substitution|expansion|variable|embedded|escape")


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
    lines: list[tuple[int, int]] = field(default_factory=list)  # first and last of each, 1-based; (0, 0): implied
    spans: list[Span] = field(default_factory=list)
    # Definitions whose order among each other means nothing: first token to the one behind the last.
    loose: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Open:
    """A node that is being walked."""

    node: Node
    kind: str
    children: Iterator[Node]
    start: int  # its first token, what belongs to it before it included
    line: int
    names: tuple[str, ...]  # what it defines
    prefix: str  # of the names inside
    in_function: bool
    is_loose: bool
    at: int  # the byte behind its last child so far
    before: tuple[int, int] | None = None  # token and line where the attributes of the next child begin
    has_child: bool = False
    has_key: bool = False  # it is a pair, and what comes is its value


def tokens_of(language: Language, data: bytes) -> Tokens:
    """Parse a file and return its tokens. Any bytes are parsed somehow; time grows with their number alone."""
    root = _parser(language.package, language.factory).parse(data).root_node
    walk = _Walk(language, data)
    walk.run(root)
    return walk.tokens


@cache
def _parser(package: str, factory: str) -> Parser:
    import tree_sitter

    grammar = importlib.import_module(package)
    return tree_sitter.Parser(tree_sitter.Language(getattr(grammar, factory)()))


class _Walk:
    """One pass over a tree, without recursion: a hostile file may nest as deep as it is long."""

    def __init__(self, language: Language, data: bytes) -> None:
        self._language, self._data = language, data
        self._open: list[_Open] = []
        self._nested = 0
        self._is_in_text = False  # whether the last token is a piece of text that may go on
        self._head = b""  # of the last literal of Python
        self.tokens = Tokens()

    def run(self, root: Node) -> None:
        """Walk everything below `root`."""
        self._enter(root, None)
        while self._open:
            above = self._open[-1]
            child = next(above.children, None)
            if child is None:
                self._gap(above, above.node.end_byte, above.node.end_point[0])
                self._leave()
                continue
            self._gap(above, child.start_byte, child.start_point[0])
            above.at = child.end_byte
            if self._is_skipped(child, above):
                continue
            is_returned = above.kind == "return_statement" and child.is_named
            if is_returned and self._language.has_line_ends and child.start_point[0] + 1 > above.line:
                self._imply(STATEMENT_END)
            self._enter(child, above)

    def _is_skipped(self, node: Node, above: _Open) -> bool:
        kind = node.type
        if "comment" in kind or kind == "line_continuation":
            return True
        is_first, above.has_child = not above.has_child, True
        return self._language.has_docstrings and is_first and _is_docstring(node, above)

    def _enter(self, node: Node, above: _Open | None) -> None:
        language, kind, tokens = self._language, node.type, self.tokens
        if kind == "empty_statement" and above is not None:  # ; among statements is nothing, but a body is one
            if above.kind not in language.blocks or above.kind == "for_statement":
                self._add(b";", (node.start_point[0] + 1, node.end_point[0] + 1))
            return
        if node.child_count == 0 or (kind in _LITERALS and _is_plain(node)):
            self._token(node, kind, above)
            if above is not None:
                self._end_statement(node, above)
            return
        if kind == "concatenation":  # "a""b" is one argument, "a" "b" are two
            self._imply(JOINED)
        elif _is_operation(node, kind):
            self._imply(GROUP)
        start, line = len(tokens.texts), node.start_point[0] + 1
        prefix, in_function, is_loose = "", False, False
        names: tuple[str, ...] = ()
        if above is not None:
            prefix = above.prefix
            in_function = above.in_function or above.kind in language.functions
            if kind in language.prefixes:
                above.before = above.before or (start, line)
            elif above.before is not None:
                start, line = above.before
                above.before = None
            is_loose = kind in language.loose and above.kind in language.bodies and not in_function
            if self._nested < MAX_NESTED:
                names = names_of(language, node, kind, prefix, in_function=in_function)
                is_loose = is_loose and self._nested < MAX_NESTED
            if names and above.kind in language.wrappers:
                start, line = above.start, above.line
        if names:
            self._nested += 1
            # A variable holds functions only where functions are values.
            if kind not in language.variables or language.values:
                prefix = f"{names[0]}."
        elif kind in language.containers:
            found = found_names(node, language.containers[kind])
            prefix = "".join(f"{prefix}{name}." for name in found[:1]) or prefix
        children = iter(node.children)
        self._open.append(
            _Open(node, kind, children, start, line, names, prefix, in_function, is_loose, node.start_byte)
        )
        if language.has_blocks and kind == "block":
            self._imply(INDENT)

    def _leave(self) -> None:
        language, tokens, closed = self._language, self.tokens, self._open.pop()
        if language.has_blocks and closed.kind == "block":
            self._imply(DEDENT)
        elif closed.kind == "concatenation":
            self._imply(JOINED)
        elif _is_operation(closed.node, closed.kind):
            self._imply(GROUP_END)
        elif closed.kind in _LITERALS:
            self._is_in_text = False
        elif closed.kind in _LISTS and closed.node.named_child_count > 1 and tokens.texts[-1] == b",":
            tokens.texts.pop()
            tokens.lines.pop()
        if closed.names:
            self._nested -= 1
            row, column = closed.node.end_point
            last = max(closed.line, row + (1 if column else 0))
            has_body = closed.kind not in ("declaration", "function_signature", "function_signature_item")
            for name in closed.names:
                tokens.spans.append(Span(name, (closed.start, len(tokens.texts)), (closed.line, last), has_body))
        if closed.is_loose and len(tokens.texts) > closed.start:
            tokens.loose[closed.start] = len(tokens.texts)
        if self._open:
            self._end_statement(closed.node, self._open[-1])

    def _end_statement(self, node: Node, above: _Open) -> None:
        if above.kind in self._language.blocks and node.is_named and node.type not in self._language.prefixes:
            self._imply(STATEMENT_END)

    def _imply(self, text: bytes) -> None:
        self._is_in_text = False
        self.tokens.texts.append(text)
        self.tokens.lines.append((0, 0))

    def _gap(self, above: _Open, end: int, row: int) -> None:
        """What stands between two children: white space, or what the grammar has no node for. `row` is of its end."""
        if end <= above.at:
            return
        text = self._data[above.at : end]
        if above.kind not in _LITERALS:
            text = b"" if text.isspace() else _CONTINUED.sub(b"", text).strip()
        if text:
            self._add(text, (row + 1 - text.count(b"\n"), row + 1), is_text=above.kind in _LITERALS)

    def _add(self, text: bytes, lines: tuple[int, int], *, is_text: bool = False) -> None:
        tokens, text = self.tokens, text.replace(b"\r\n", b"\n")
        if is_text and self._is_in_text:
            tokens.texts[-1] += text
            tokens.lines[-1] = (tokens.lines[-1][0], lines[1])
            return
        self._is_in_text = is_text
        tokens.texts.append(literals.TEXT + text if is_text else text)
        tokens.lines.append(lines)

    def _token(self, node: Node, kind: str, above: _Open | None) -> None:
        language, text = self._language, node.text or b""
        lines = (node.start_point[0] + 1, node.end_point[0] + 1)
        if above is not None and above.kind in _LITERALS:
            self._piece(text, kind, lines, above)
            return
        if kind in language.strings:
            text = literals.whole(text, raw_single=language.has_raw_single)
            if above is not None and above.kind == "pair" and language.has_line_ends and not above.has_key:
                text = literals.key(text, NAME)
        elif kind in _NUMBERS:
            text = literals.number(text, one_kind=kind == "number")
        elif kind.endswith("identifier") or kind in _NAME_NODES:
            text = NAME + text
        elif kind == "preproc_arg":
            text = literals.macro(text)
        elif kind == "jsx_text":
            text = literals.shown(text)
        elif not text.strip():
            return
        if text in _CLOSERS and self._ends_with_comma(above):
            self.tokens.texts.pop()
            self.tokens.lines.pop()
        elif above is not None and above.kind == "concatenated_string" and self._goes_on(text, kind, lines, above):
            return
        if above is not None:
            above.has_key = above.has_key or text == b":"
        if text and not (above is not None and self._is_optional(text, above)):
            self._add(text, lines)

    def _piece(self, text: bytes, kind: str, lines: tuple[int, int], above: _Open) -> None:
        """A part of a literal with holes. In Python the holes alone make an f-string, and its end says nothing."""
        if kind == "string_start":
            outer, before = self._open[-2] if len(self._open) > 1 else above, self._head
            self._head = literals.head(text)
            is_first = outer.kind != "concatenated_string" or len(self.tokens.texts) == outer.start
            if is_first or before != self._head:
                self._add(self._head, lines)
            self._is_in_text = self.tokens.texts[-1].startswith(literals.TEXT)
        elif kind != "string_end":
            is_python = self._language.has_docstrings
            if not self._language.has_raw_single and not (is_python and b"r" in self._head):
                text = literals.unescaped(text)
            text = literals.without_doubled(text) if is_python else text
            self._add(text, lines, is_text=True)

    def _goes_on(self, text: bytes, kind: str, lines: tuple[int, int], above: _Open) -> bool:
        """Whether a literal was added to the one that it stands beside: `"a" "b"` is `"ab"`."""
        tokens = self.tokens
        is_first = len(tokens.texts) == above.start
        if kind in self._language.strings and text.startswith(literals.TEXT):
            before, (self._head, inner) = self._head, literals.parted(text)
            if is_first or before != self._head:
                return False
            self._is_in_text = tokens.texts[-1].startswith(literals.TEXT)
            if inner:
                self._add(inner, lines, is_text=True)
            return True
        joined = None if is_first else literals.joined(tokens.texts[-1], text)
        if joined is None:
            return False
        tokens.texts[-1] = joined
        return True

    def _is_optional(self, text: bytes, above: _Open) -> bool:
        if text == b";":
            return bool(self._language.blocks) and above.kind not in ("for_statement", "for_clause")
        if text in (b"|", b"&") and above.kind in _SETS:
            return above.node.named_child_count < 2  # the first of several, on lines of their own
        if text not in (b"(", b")"):
            return False
        parent = self._open[-2].kind if len(self._open) > 1 else ""
        if above.kind in ("parenthesized_expression", "parenthesized_type") and _is_grouped(above.node, parent):
            return True
        if parent not in self._language.redundant.get(above.kind, ()):
            return False
        if above.kind == "formal_parameters":  # x => x, (x) => x
            named = [child for child in above.node.named_children if "comment" not in child.type]
            is_single = len(named) == 1 and (named[0].type == "identifier" or named[0].named_child_count == 1)
            if not is_single or b":" in (named[0].text or b"") or not _is_word(named[0].text):
                return False
        return not _binds(above.node, parent)

    def _ends_with_comma(self, above: _Open | None) -> bool:
        texts = self.tokens.texts
        if not texts or texts[-1] != b"," or above is None:
            return False
        # (x,) is a tuple and (x) is not; a[x,] asks for one. [,] has a hole, or two dimensions.
        if len(texts) > 1 and (texts[-2] == b"," or texts[-2] in _OPENERS):
            return False
        is_tuple = "tuple" in above.kind and self._open[-2].kind != "with_item"  # with (open(path) as file,):
        fewest = 3 if above.kind == "subscript" else 2 if is_tuple else 0
        return above.node.named_child_count >= fewest


def _is_docstring(node: Node, above: _Open) -> bool:
    if node.type != "expression_statement" or node.named_child_count != 1:
        return False
    if node.named_children[0].type not in ("string", "concatenated_string"):
        return False
    parent = above.node.parent
    if above.kind == "module":
        return True
    return above.kind == "block" and parent is not None and parent.type in ("function_definition", "class_definition")


def _is_operation(node: Node, kind: str) -> bool:
    return kind in _OPERATIONS and not (kind in _SETS and node.named_child_count < 2)


def _is_grouped(node: Node, parent: str) -> bool:
    """Whether parentheses hold what is one thing without them, and are no part of the statement."""
    inner = next((child for child in node.named_children if "comment" not in child.type), None)
    if inner is None or parent == "new_expression":
        return False
    if parent.endswith(("_statement", "_clause")) and parent not in ("return_statement", "throw_statement"):
        return False
    # (a?.b).c fails where a?.b.c does not.
    return inner.type in _OPERATIONS or (inner.type in _ATOMS and b"?." not in (inner.text or b""))


def _binds(node: Node, parent: str) -> bool:
    """Whether parentheses that could be only looks are not, for what stands in them."""
    inner = next((child for child in node.named_children if "comment" not in child.type), None)
    if node.type in ("argument_list", "arguments"):  # class A(): is class A:, and new A() is new A
        return inner is not None
    if inner is None:  # () is an empty tuple
        return True
    return inner.type == "sequence_expression"  # f((a, b)) has one argument


def _is_plain(node: Node) -> bool:
    """Whether a string literal holds nothing but characters."""
    return not any(_WITH_HOLES.search(child.type) and "escape" not in child.type for child in node.named_children)


def _is_word(text: bytes | None) -> bool:
    return text is not None and re.fullmatch(rb"[\w$]+", text) is not None
