"""How a node of a syntax tree is entered: what of it is only looks, as far as the node itself must be asked.

Owns: brackets that group nothing, docstrings, tokens that stand for the same whether they are written or not.
Leaves alone: which kinds are asked what (kinds, looks), tokens (syntax).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from remvault.store.kinds import CLOSE, OPEN, SKIP, STATEMENT_END, WORD, Kind
from remvault.store.looks import Looks

if TYPE_CHECKING:
    from tree_sitter import Node

SKIPPED, DONE = Kind("", SKIP), Kind("", WORD)  # for a node that says nothing, and for one whose tokens are added
_BRACKETS, _BRACES, _SEMICOLON = frozenset({b"(", b")"}), frozenset({b"{", b"}"}), frozenset({b";"})
_JUMPS = frozenset({"return_expression", "break_expression", "continue_expression"})


class Entering:
    """What is asked in one language, of a node, its kind and the kind above; the answer is how it is walked."""

    def __init__(self, looks: Looks, kinds: list[Kind]) -> None:
        self._looks, self._kinds = looks, kinds
        self._variants: dict[tuple[object, ...], Kind] = {}
        self.questions = {
            "brackets": self._brackets,
            "flat": self._flat,
            "list": self._list,
            "nothing": self._nothing,
            "text alone": self._text_alone,
            "no bases": self._no_bases,
            "no arguments": self._no_arguments,
            "one parameter": self._one_parameter,
            "one expression": self._one_expression,
            "end of a jump": self._end_of_jump,
            "line end": self._line_end,
            "backquotes": self._backquotes,
            "text in braces": self._text_in_braces,
        }

    def _brackets(self, node: Node, kind: Kind, above: Kind) -> Kind:
        inner = self._only(node)
        if inner is None or above.name in self._looks.needed:
            return kind
        if above.name in self._looks.callers and inner.name in self._looks.members:
            return kind
        return self._variant(kind, drops=_BRACKETS) if inner.is_grouped or inner.is_plain else kind

    def _flat(self, node: Node, kind: Kind, above: Kind) -> Kind:
        first = node.child(0)
        drops = frozenset() if first is None or first.is_named else frozenset({first.type.encode()})
        if above.name == kind.name or self._only(node) is not None:
            return self._variant(kind, drops=drops)
        return self._variant(kind, drops=drops, opens=(OPEN,), closes=(CLOSE,))

    def _list(self, node: Node, kind: Kind, above: Kind) -> Kind:
        drops = frozenset() if kind.name in self._looks.bracketed else _BRACKETS
        is_one = self._only(node) is not None and not any(child.type == "," for child in node.children)
        if is_one or above.name == "with_item":  # with (open(path) as file,):
            return self._variant(kind, drops=drops, opens=(), closes=())
        return self._variant(kind, drops=drops)

    def _nothing(self, node: Node, kind: Kind, above: Kind) -> Kind:
        return SKIPPED if above.is_block and above.name != "for_statement" else kind

    def _no_bases(self, node: Node, kind: Kind, above: Kind) -> Kind:
        return SKIPPED if above.name == "class_definition" and node.named_child_count == 0 else kind

    def _text_alone(self, node: Node, kind: Kind, above: Kind) -> Kind:
        """A docstring, or a text that says as little where it stands."""
        only = node.child(0)
        if only is None or node.child_count > 1 or only.type not in ("string", "concatenated_string"):
            return kind
        parts = only.named_children if only.type == "concatenated_string" else [only]
        holes = (child for part in parts for child in part.named_children if self._kinds[child.kind_id].is_hole)
        return SKIPPED if next(holes, None) is None else kind

    def _no_arguments(self, node: Node, kind: Kind, above: Kind) -> Kind:
        if any(child.type in ("arguments", "anonymous_class") for child in node.named_children):
            return kind
        return self._variant(kind, closes=(b"(", b")", *kind.closes))

    def _one_parameter(self, node: Node, kind: Kind, above: Kind) -> Kind:
        only = self.only_node(node) if above.name == "arrow_function" else None
        if only is not None and only.type == "required_parameter" and only.child_count == 1:
            only = only.named_child(0)
        return kind if only is None or only.type != "identifier" else self._variant(kind, drops=_BRACKETS)

    def _one_expression(self, node: Node, kind: Kind, above: Kind) -> Kind:
        """`A => { x }` is `A => x`."""
        only = self.only_node(node) if above.name in ("match_arm", "closure_expression") else None
        if only is not None and only.type == "expression_statement" and only.child_count == 1:
            only = only.named_child(0)
        if only is None:
            return kind
        is_expression = self._kinds[only.kind_id].is_plain or only.type.endswith("_expression")
        return self._variant(kind, drops=_BRACES) if is_expression else kind

    def _end_of_jump(self, node: Node, kind: Kind, above: Kind) -> Kind:
        """`return x;` is `return x`."""
        first = node.child(0)
        is_jump = first is not None and first.type in _JUMPS
        return self._variant(kind, drops=_SEMICOLON) if is_jump else kind

    def _line_end(self, node: Node, kind: Kind, above: Kind) -> Kind:
        """A line that ends behind `return` ends the statement, whatever the grammar thinks."""
        value = self.only_node(node)
        if value is None or value.start_point[0] == node.start_point[0]:
            return kind
        return self._variant(kind, opens=(STATEMENT_END,))

    def _backquotes(self, node: Node, kind: Kind, above: Kind) -> Kind:
        first = node.child(0)
        if first is None or first.type != "`":
            return kind
        return self._variant(kind, drops=frozenset({b"`"}), opens=(b"$(",), closes=(b")",))

    def _text_in_braces(self, node: Node, kind: Kind, above: Kind) -> Kind:
        """`a={"b"}` is `a="b"`."""
        only = self.only_node(node)
        is_text = only is not None and only.type == "string" and above.name == "jsx_attribute"
        return self._variant(kind, drops=_BRACES) if is_text else kind

    def only_node(self, node: Node) -> Node | None:
        """The one named child that is no comment; None where there are more or none."""
        found = [child for child in node.named_children if self._kinds[child.kind_id].act != SKIP]
        return found[0] if len(found) == 1 else None

    def _only(self, node: Node) -> Kind | None:
        only = self.only_node(node)
        return None if only is None else self._kinds[only.kind_id]

    def _variant(
        self,
        kind: Kind,
        *,
        drops: frozenset[bytes] = frozenset(),
        opens: tuple[bytes, ...] | None = None,
        closes: tuple[bytes, ...] | None = None,
    ) -> Kind:
        """The kind with other brackets."""
        key = kind.name, drops, opens, closes
        if key not in self._variants:
            opens = kind.opens if opens is None else opens
            closes = kind.closes if closes is None else closes
            self._variants[key] = replace(kind, drops=kind.drops | drops, opens=opens, closes=closes)
        return self._variants[key]
