"""From the bytes of a code file to its tokens and definitions. The only user of tree-sitter.

Owns: parsing, walking the tree once, what of it is only looks.
Leaves alone: which names mean what in a language (languages), digests (tokens), looking names up (outlines).

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

from remvault.store.languages import Language, Naming

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

# What is implied by the layout. No token of a file holds white space at its ends, so none of them looks like these.
STATEMENT_END, INDENT, DEDENT = b"\n;", b"\n>", b"\n<"
NAME = b" "  # stands before tokens that are names, so that a name is not taken for a literal that reads the same
_CLOSERS = frozenset({b")", b"]", b"}", b">"})
_NAME_NODES = frozenset({"name", "constant", "word"})
_WITH_HOLES = re.compile(r"interpolation|substitution|expansion|variable|embedded|escape")
_MACRO_LOOKS = re.compile(rb"/\*.*?\*/|//[^\n]*|\\\r?\n", re.DOTALL)
_QUOTED = re.compile(rb"([A-Za-z]*)('''|\"\"\"|'|\")(.*)\2\Z", re.DOTALL)
_GENERIC = re.compile(rb"[<\[].*\Z", re.DOTALL)
_MAX_NESTED = 64  # deeper in each other than that, what is inside has no name of its own


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
    before: tuple[int, int] | None = None  # token and line where the attributes of the next child begin
    has_child: bool = False


def tokens_of(language: Language, data: bytes) -> Tokens:
    """Parse a file and return its tokens. Any bytes are parsed somehow; time grows with their number alone."""
    root = _parser(language.package, language.factory).parse(data).root_node
    walk = _Walk(language)
    walk.run(root)
    return walk.tokens


@cache
def _parser(package: str, factory: str) -> Parser:
    import tree_sitter

    grammar = importlib.import_module(package)
    return tree_sitter.Parser(tree_sitter.Language(getattr(grammar, factory)()))


class _Walk:
    """One pass over a tree, without recursion: a hostile file may nest as deep as it is long."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._open: list[_Open] = []
        self._nested = 0
        self.tokens = Tokens()

    def run(self, root: Node) -> None:
        """Walk everything below `root`."""
        self._enter(root, None)
        while self._open:
            above = self._open[-1]
            child = next(above.children, None)
            if child is None:
                self._leave()
            elif not self._is_skipped(child, above):
                self._enter(child, above)

    def _is_skipped(self, node: Node, above: _Open) -> bool:
        kind = node.type
        if "comment" in kind or kind == "line_continuation":
            return True
        is_first, above.has_child = not above.has_child, True
        return self._language.has_docstrings and is_first and _is_docstring(node, above)

    def _enter(self, node: Node, above: _Open | None) -> None:
        language, kind, tokens = self._language, node.type, self.tokens
        if node.child_count == 0 or (kind in language.strings and _is_plain(node)):
            self._token(node, kind, above)
            if above is not None:
                self._end_statement(node, above)
            return
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
            if self._nested < _MAX_NESTED:
                names = _names(language, node, kind, prefix, in_function=in_function)
                is_loose = is_loose and self._nested < _MAX_NESTED
            if names and above.kind in language.wrappers:
                start, line = above.start, above.line
        if names:
            self._nested += 1
            # A variable holds functions only where functions are values.
            if kind not in language.variables or language.values:
                prefix = f"{names[0]}."
        elif kind in language.containers:
            found = _found(node, language.containers[kind])
            prefix = "".join(f"{prefix}{name}." for name in found[:1]) or prefix
        self._open.append(_Open(node, kind, iter(node.children), start, line, names, prefix, in_function, is_loose))
        if language.has_blocks and kind == "block":
            self._imply(INDENT)

    def _leave(self) -> None:
        language, tokens, closed = self._language, self.tokens, self._open.pop()
        if language.has_blocks and closed.kind == "block":
            self._imply(DEDENT)
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
        self.tokens.texts.append(text)
        self.tokens.lines.append((0, 0))

    def _token(self, node: Node, kind: str, above: _Open | None) -> None:
        text = node.text or b""
        if kind in self._language.strings:
            text = _plain_text(text, raw_single=self._language.has_raw_single)
        elif kind.endswith("identifier") or kind in _NAME_NODES:
            text = NAME + text
        elif kind in ("jsx_text", "preproc_arg"):
            text = b" ".join(_MACRO_LOOKS.sub(b" ", text).split() if kind == "preproc_arg" else text.split())
        elif not text.strip() or (above is not None and self._is_optional(text, above)):
            return
        if not text:
            return
        if text in _CLOSERS and self._ends_with_comma(above):
            self.tokens.texts.pop()
            self.tokens.lines.pop()
        self.tokens.texts.append(text.replace(b"\r\n", b"\n"))
        self.tokens.lines.append((node.start_point[0] + 1, node.end_point[0] + 1))

    def _is_optional(self, text: bytes, above: _Open) -> bool:
        if text == b";":
            return bool(self._language.blocks)
        if text not in (b"(", b")") or above.kind not in self._language.redundant:
            return False
        if above.kind == "formal_parameters":  # x => x, (x) => x
            named = [child for child in above.node.named_children if "comment" not in child.type]
            is_single = len(named) == 1 and (named[0].type == "identifier" or named[0].named_child_count == 1)
            if not is_single or b":" in (named[0].text or b"") or not _is_word(named[0].text):
                return False
        parent = self._open[-2].kind if len(self._open) > 1 else ""
        return parent in self._language.redundant[above.kind]

    def _ends_with_comma(self, above: _Open | None) -> bool:
        texts = self.tokens.texts
        if not texts or texts[-1] != b"," or above is None:
            return False
        # (x,) is a tuple and (x) is not; a[x,] asks for one.
        return not (above.kind == "subscript" or ("tuple" in above.kind and above.node.named_child_count < 2))


def _is_docstring(node: Node, above: _Open) -> bool:
    if node.type != "expression_statement" or node.named_child_count != 1:
        return False
    if node.named_children[0].type not in ("string", "concatenated_string"):
        return False
    parent = above.node.parent
    if above.kind == "module":
        return True
    return above.kind == "block" and parent is not None and parent.type in ("function_definition", "class_definition")


def _is_plain(node: Node) -> bool:
    """Whether a string literal holds nothing but characters."""
    return not any(_WITH_HOLES.search(child.type) and "escape" not in child.type for child in node.named_children)


def _plain_text(text: bytes, *, raw_single: bool) -> bytes:
    """A literal without its quote style: `'a'` and `"a"` are one; what escapes a quote no longer has to."""
    match = _QUOTED.match(text)
    if match is None:
        return text
    prefix, quote, inner = match[1].lower().replace(b"u", b""), match[2], match[3]
    if b"r" in prefix:
        return b'"' + prefix + b'"' + inner
    if raw_single and quote == b"'" and re.search(rb"[\\$`#]", inner):
        return text  # between double quotes the same characters say something else
    inner = inner.replace(b"\\'", b"'").replace(b'\\"', b'"')
    return b'"' + prefix + b'"' + inner


def _is_word(text: bytes | None) -> bool:
    return text is not None and re.fullmatch(rb"[\w$]+", text) is not None


def _names(language: Language, node: Node, kind: str, prefix: str, *, in_function: bool) -> tuple[str, ...]:
    """What a node defines, dotted; () for nothing that has a name here."""
    naming = language.definitions.get(kind)
    if naming is None:
        return ()
    if kind in language.variables and in_function and not _has_value(node, language.values):
        return ()
    if naming in ("member", "key") and not (
        _has_value(node, language.values) or (naming == "member" and not in_function)
    ):
        return ()
    return tuple(f"{prefix}{name}" for name in _found(node, naming))


def _has_value(node: Node, kinds: frozenset[str]) -> bool:
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    return value is not None and value.type in kinds


def _found(node: Node, naming: Naming) -> list[str]:
    """The names that a node says it defines, as written, dots between their parts."""
    if naming == "receiver":
        return _of_receiver(node)
    if naming == "declarator":
        named = [_declared(one) for one in _declarators(node)]
    elif naming in ("left", "member"):
        left = node.child_by_field_name("left")
        named = [left] if left is not None and naming == "member" else _targets(left)
    else:
        named = (
            node.children_by_field_name({"key": "key", "type": "type"}.get(naming, "name")) or node.named_children[:1]
        )
    found = [_dotted(one) for one in named if one is not None and one.type != ","]
    return [name for name in found if name is not None]


def _targets(left: Node | None) -> list[Node | None]:
    """The plain names on the left of an assignment."""
    if left is None:
        return []
    several = left.named_children if left.type in ("pattern_list", "tuple_pattern", "left_assignment_list") else [left]
    return [one for one in several if one.type in ("identifier", "constant")]


def _declarators(node: Node) -> list[Node]:
    inner = next((one for one in node.named_children if one.type == "variable_declaration"), None)
    if inner is not None:
        return [one for one in inner.named_children if one.type == "variable_declarator"]
    return list(node.children_by_field_name("declarator"))


def _declared(node: Node | None) -> Node | None:
    """The name inside C's declarators."""
    for _ in range(_MAX_NESTED):
        if node is None:
            return None
        inner = node.child_by_field_name("declarator") or node.child_by_field_name("name")
        if inner is None and node.type in ("parenthesized_declarator", "reference_declarator", "attributed_declarator"):
            inner = next(iter(node.named_children), None)
        if inner is None or node.type in ("qualified_identifier", "template_function"):
            return node
        node = inner
    return None


def _of_receiver(node: Node) -> list[str]:
    name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
    found = _dotted(name)
    if receiver is None or found is None or receiver.text is None:
        return [] if found is None else [found]
    words = re.findall(rb"\w+", _GENERIC.sub(b"", receiver.text.strip(b"()")))
    return [f"{words[-1].decode('utf-8', 'replace')}.{found}"] if words else [found]


def _dotted(node: Node | None) -> str | None:
    """A name as written, its parts joined by dots; None for what is no plain name."""
    if node is None or not node.text:
        return None
    text = re.sub(rb"\s+", b"", node.text)
    if node.type in ("generic_type", "template_type", "template_function", "qualified_identifier"):
        text = re.sub(rb"<[^<>]*>", b"", _GENERIC.sub(b"", text) if node.type == "generic_type" else text)
    text = text.strip(b"'\"").lstrip(b"$").replace(b"::", b".").replace(b"\\", b".")
    for head in (b"module.exports.", b"exports."):
        text = text.removeprefix(head)
    text = text.replace(b".prototype.", b".")
    if text.startswith(b"this.") or len(text) > 512:
        return None
    name = text.decode("utf-8", "replace")
    return name if re.fullmatch(r"[^\s.()\[\]{}]+(\.[^\s.()\[\]{}]+)*", name) else None
