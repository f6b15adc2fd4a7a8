"""From the bytes of a code file to its tokens and definitions. Nothing else runs tree-sitter.

Owns: parsing, walking the tree once, which tokens stand for it.
Leaves alone: what is defined (scopes), what is only looks (looks, literals),
digests and looking names up (outlines).

Looks are: comments and docstrings, white space and line ends, trailing commas, optional semicolons, the quotes of plain
literals, brackets that only group. A file with errors in its syntax is walked as far as the grammar read it.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from remvault.store import literals
from remvault.store.entering import DONE, Entering
from remvault.store.kinds import (
    CLOSER,
    IDENTIFIER,
    MARK,
    NAME,
    NODE,
    SEMICOLON,
    SKIP,
    SPACE,
    STATEMENT_END,
    Kind,
    kinds_of,
)
from remvault.store.languages import Language
from remvault.store.looks import looks_of
from remvault.store.scopes import Scopes, Tokens

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, TreeCursor

_OPENERS = frozenset({b"(", b"[", b"{", b"<", b","})
_CONTINUED = re.compile(rb"\\\r?\n")
_KEY = re.compile(rb"([A-Za-z_$][\w$]*|0|[1-9]\d*)\Z")  # what needs no quotes as a name in an object
_KEYED = frozenset({
    "pair", "pair_pattern", "method_definition", "property_signature", "method_signature", "field_definition",
    "public_field_definition",
})  # fmt: skip
_MAX_KINDS = 1 << 16  # a node that is an error has the last number
_ERROR = Kind("ERROR", NODE, is_named=True)


def tokens_of(language: Language, data: bytes) -> Tokens:
    """Parse a file and return its tokens. Any bytes are parsed somehow; time grows with their number alone."""
    parser, kinds = _grammar(language)
    walk = _Walk(language, kinds, data)
    walk.run(parser().parse(data).root_node)
    return walk.tokens


@cache
def _grammar(language: Language) -> tuple[Callable[[], Parser], list[Kind]]:
    import tree_sitter

    grammar = tree_sitter.Language(getattr(importlib.import_module(language.package), language.factory)())
    known = (
        (grammar.node_kind_for_id(at) or "", grammar.node_kind_is_named(at)) for at in range(grammar.node_kind_count)
    )
    kinds = kinds_of(language, known)
    # A parser keeps what it is at, so each text has its own.
    return lambda: tree_sitter.Parser(grammar), kinds + [_ERROR] * (_MAX_KINDS - len(kinds))


class _Walk:
    """One pass over a tree, without recursion: a hostile file may nest as deep as it is long."""

    def __init__(self, language: Language, kinds: list[Kind], data: bytes) -> None:
        self._language, self._looks, self._kinds, self._data = language, looks_of(language.name), kinds, data
        self.tokens = Tokens()
        self._scopes = Scopes(language, self._looks, self.tokens)
        self._above: list[Kind] = []  # from the root to the node that holds the one looked at
        self._beside: list[bytes] = []  # for each run of literals that is open, the head of the last
        self._text_at = -1  # behind which token a piece of text may go on
        self._head = b""  # of the last literal with holes
        self._has_tabs = False  # tabs at the start of the lines of a heredoc say nothing
        self._entering = Entering(self._looks, kinds)
        self._questions = self._entering.questions | {
            "literal": self._literal,
            "side by side": self._side_by_side,
            "text in braces": self._text_in_braces,
        }

    def run(self, root: Node) -> None:
        """Walk everything below `root`."""
        kinds, data, above_all = self._kinds, self._data, self._above
        texts, starts, scopes = self.tokens.texts, self.tokens.starts, self._scopes
        cursor = root.walk()
        above_all.append(kinds[root.kind_id])
        if not cursor.goto_first_child():
            return
        at = 0  # behind the last leaf
        while True:
            node = cursor.node
            assert node is not None
            kind, above = kinds[node.kind_id], above_all[-1]
            act, start = kind.act, node.start_byte
            if start > at:
                self._gap(data[at:start], at, above)
            at = start
            if act == NODE:
                entered = self._enter(node, kind, above) if kind.check or kind.has_frame else kind
                if entered.act == NODE:
                    for token in entered.opens:
                        texts.append(token)
                        starts.append(start)
                    above_all.append(entered)
                    if cursor.goto_first_child():
                        continue
                    above_all.pop()
                    self._leaf(data[start : node.end_byte], kind, start, above)
                    if entered.is_left:
                        self._leave(node, entered, at)
                act = entered.act
            elif act != SKIP and node.end_byte > start:  # what the grammar misses has no width
                if act <= IDENTIFIER and above.takes_all:  # most leaves
                    texts.append(kind.token or NAME + data[start : node.end_byte])
                    starts.append(start)
                else:
                    self._token(node, kind, above, cursor)
            at = node.end_byte
            while True:
                if act != SKIP and kind.is_named and not kind.is_prefix:
                    if above.is_block and texts and texts[-1] is not STATEMENT_END:
                        texts.append(STATEMENT_END)
                        starts.append(at)
                    if scopes.before is not None and scopes.before[0] == len(above_all):
                        scopes.before = None
                if cursor.goto_next_sibling():
                    break
                kind = above_all.pop()
                if not above_all:
                    return
                cursor.goto_parent()
                if kind.is_left:
                    node = cursor.node
                    assert node is not None
                    at = self._leave(node, kind, at)
                act, above = NODE, above_all[-1]

    def _token(self, node: Node, kind: Kind, above: Kind, cursor: TreeCursor) -> None:
        """Add a leaf that is no node of its own kind: a word, a bracket, a plain name."""
        act, start, token = kind.act, node.start_byte, kind.token
        texts, starts = self.tokens.texts, self.tokens.starts
        if above.is_literal:
            self._piece(self._data[start : node.end_byte], kind, start)
            return
        if act == MARK:
            self._mark(self._data[start : node.end_byte], start)
            return
        if act == IDENTIFIER:
            token = NAME + self._data[start : node.end_byte]
        elif act == CLOSER and texts and texts[-1] == b"," and self._is_last_comma_looks(cursor, above):
            texts.pop()
            starts.pop()
        elif act == SEMICOLON and above.name not in self._looks.counting:
            return
        if token not in above.drops:
            texts.append(token)
            starts.append(start)

    def _enter(self, node: Node, kind: Kind, above: Kind) -> Kind:
        """What a node is walked as; `SKIPPED` for one that says nothing, `DONE` for one whose tokens are added."""
        entered = self._questions[kind.check](node, kind, above) if kind.check else kind
        if kind.has_frame and entered.act == NODE:
            self._scopes.open(node, kind, above, len(self._above))
        return entered

    def _leave(self, node: Node, kind: Kind, at: int) -> int:
        """Close a node; return the byte behind it, or behind its last leaf."""
        texts, starts = self.tokens.texts, self.tokens.starts
        if kind.is_literal:
            if node.end_byte > at:
                self._text(self._data[at : node.end_byte], at)
            at = node.end_byte
        if kind.has_comma and texts and texts[-1] == b",":
            texts.pop()
            starts.pop()
        for token in kind.closes:
            texts.append(token)
            starts.append(at)
        if kind.has_frame:
            self._scopes.close(node)
        elif kind.check == "side by side":
            self._beside.pop()
        return at

    def _add(self, text: bytes, start: int) -> None:
        if text:
            self.tokens.texts.append(text.replace(b"\r\n", b"\n"))
            self.tokens.starts.append(start)

    def _gap(self, text: bytes, start: int, above: Kind) -> None:
        """What stands between two nodes: white space, text of a literal, or what the grammar has no node for."""
        if above.is_literal:
            self._text(text, start)
        elif not text.isspace():
            self._add(_CONTINUED.sub(b"", text).strip(), start)

    def _leaf(self, text: bytes, kind: Kind, start: int, above: Kind) -> None:
        if above.is_literal:
            self._piece(text, kind, start)
        elif kind.is_number:
            sign = text[:1] if text[:1] in (b"+", b"-") else b""  # (T)-1 has it in the number, (T) -1 before it
            self._add(sign, start)
            self._add(literals.number(text.removeprefix(sign), one_kind=kind.name == "number"), start)
        elif kind.is_name:
            self._add(NAME + text, start)
        elif kind.name == "preproc_arg":
            self._add(literals.macro(text), start)
        elif kind.name == "jsx_text":
            for word in literals.shown(text):
                self._shown(word, start)
        elif text.strip():
            self._add(text.lower() if kind.name in self._looks.caseless else text, start)

    def _shown(self, word: bytes, start: int) -> None:
        """A word between elements; an empty one is a space."""
        if word or self.tokens.texts[-1] != SPACE:
            self._add(literals.TEXT + word if word else SPACE, start)

    def _text(self, text: bytes, start: int) -> None:
        """Add what may be a part of the text before."""
        texts = self.tokens.texts
        if self._has_tabs and self._above[-1].name == "heredoc_body":
            text = literals.without_tabs(text)
        if self._text_at == len(texts):
            texts[-1] += text.replace(b"\r\n", b"\n")
        else:
            self._add(literals.TEXT + text, start)
            self._text_at = len(texts)

    def _piece(self, text: bytes, kind: Kind, start: int) -> None:
        """A part of a literal with holes. In Python the holes alone make an f-string, and its end says nothing."""
        is_python = self._language.has_docstrings
        if is_python and kind.name == "string_start":
            self._head = literals.head(text)
            if not (self._above[-2].check == "side by side" and self._goes_on(self._head, b"", start)):
                self._add(self._head, start)
                self._text_at = len(self.tokens.texts)
        elif not (is_python and kind.name == "string_end"):
            if not self._language.has_raw_single and not (is_python and b"r" in self._head):
                text = literals.unescaped(text)
            self._text(literals.without_doubled(text) if is_python else text, start)

    def _mark(self, text: bytes, start: int) -> None:
        """A mark of Bash, which takes the white space before it along."""
        mark = text.lstrip()
        if mark[:2] == b"<<":
            self._has_tabs = mark == b"<<-"
        if mark != text and len(self._above) > 1 and self._above[-2].is_literal:
            self._text(text[: -len(mark)], start)
        self._add(mark, start)

    def _goes_on(self, head: bytes, text: bytes, start: int) -> bool:
        """Whether a literal was added to the one that it stands beside: `"a" "b"` is `"ab"`."""
        texts, before = self.tokens.texts, self._beside[-1]
        self._beside[-1] = head
        if before != head:
            return False
        self._text_at = len(texts) if texts[-1].startswith(literals.TEXT) else -1
        if text:
            self._text(text, start)
        return True

    def _is_last_comma_looks(self, cursor: TreeCursor, above: Kind) -> bool:
        """Whether the comma in front of a closing bracket says nothing. [,] has a hole, and a[x,] asks for a tuple."""
        texts = self.tokens.texts
        if len(texts) > 1 and texts[-2] in _OPENERS:
            return False
        if above.name != "subscript":
            return True
        cursor.goto_parent()
        above_node = cursor.node
        named = [] if above_node is None else above_node.named_children
        count = len([child for child in named if self._kinds[child.kind_id].act != SKIP])
        cursor.goto_last_child()
        return count > 2

    # What is asked of a node before it is entered.

    def _literal(self, node: Node, kind: Kind, above: Kind) -> Kind:
        kinds = self._kinds
        if any(kinds[child.kind_id].is_hole for child in node.named_children):
            return kind
        start, text = node.start_byte, self._data[node.start_byte : node.end_byte]
        if above.is_literal:
            self._piece(text, kind, start)
            return DONE
        if kind.is_quoted:
            if above.name in _KEYED and self.tokens.texts[-1] not in (b":", b"=") and _KEY.match(text[1:-1]):
                self._add(text[1:-1] if text[1:2].isdigit() else NAME + text[1:-1], start)
                return DONE
            text = literals.whole(text, raw_single=self._language.has_raw_single, is_loose=self._language.has_line_ends)
        if above.check == "side by side" and text[:1] == literals.TEXT:
            head, inner = literals.parted(text) if kind.is_quoted else (literals.TEXT, text[1:-1])
            if self._goes_on(head, inner, start):
                return DONE
        if kind.name == "heredoc_body" and self._has_tabs:
            text = literals.without_tabs(text)
        elif kind.name == "regex":
            text = literals.pattern(text)
        elif kind.name == "string_literal" and text[:1] == text[-1:] == literals.TEXT:
            text = text[:-1]
        self._add(text, start)
        self._text_at = len(self.tokens.texts)
        return DONE

    def _side_by_side(self, node: Node, kind: Kind, above: Kind) -> Kind:
        self._beside.append(b"")
        return kind

    def _text_in_braces(self, node: Node, kind: Kind, above: Kind) -> Kind:
        """`{" "}` between elements is a space."""
        only = self._entering.only_node(node) if above.name == "jsx_element" else None
        if only is not None and only.type == "string" and (only.text or b"")[1:-1] == b" ":
            self._shown(b"", node.start_byte)
            return DONE
        return self._entering.questions[kind.check](node, kind, above)
