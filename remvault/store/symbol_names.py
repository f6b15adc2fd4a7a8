"""The names that a node of a syntax tree defines.

Owns: reading names off declarators, receivers, assignments; joining their parts with dots.
Leaves alone: which nodes define anything (languages), walking the tree (syntax).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from remvault.store.languages import Language, Naming

if TYPE_CHECKING:
    from tree_sitter import Node

_SEVERAL = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "left_assignment_list"})
_WITH_BODY = frozenset({"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"})
MAX_NESTED = 64  # deeper in each other than that, what is inside has no name of its own
_MAX_NAME = 512  # bytes; what is longer is no name that anybody writes
_COMMENT = re.compile(rb"/\*.*?\*/", re.DOTALL)
_BETWEEN = re.compile(rb"/\*.*?\*/|\s+", re.DOTALL)
_GENERIC = re.compile(rb"[<\[].*\Z", re.DOTALL)


def names_of(language: Language, node: Node, kind: str, prefix: str, *, in_function: bool) -> tuple[str, ...]:
    """What a node defines, dotted; () for nothing that has a name here."""
    naming = language.definitions.get(kind)
    if naming is None:
        return ()
    if kind in _WITH_BODY and node.child_by_field_name("body") is None:  # struct S *next
        return ()
    if kind in language.variables and in_function and not _has_value(node, language.values):
        return ()
    if naming == "member" and _is_alias(node):
        return ()
    if naming in ("member", "key") and not (
        _has_value(node, language.values) or (naming == "member" and not in_function)
    ):
        return ()
    return tuple(f"{prefix}{name}" for name in found_names(node, naming))


def _is_alias(node: Node) -> bool:
    """Whether this gives out under its own name what is defined elsewhere: `exports.load = load`."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or right.type != "identifier":
        return False
    return (_text(left) or b"").rpartition(b".")[2] == right.text


def _has_value(node: Node, kinds: frozenset[str]) -> bool:
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    return value is not None and value.type in kinds


def found_names(node: Node, naming: Naming) -> list[str]:
    """The names that a node says it defines, as written, dots between their parts."""
    if naming == "receiver":
        return _of_receiver(node)
    if naming == "default":
        value = node.child_by_field_name("value")
        return [] if value is None or value.type == "identifier" else ["default"]
    named: Sequence[Node | None]
    if naming == "declarator":
        named = [_declared(one) for one in _declarators(node)]
    elif naming in ("left", "member"):
        left = node.child_by_field_name("left")
        named = [left] if left is not None and naming == "member" else _targets(left)
    else:
        field = naming if naming in ("key", "type") else "name"
        named = _children(node, field) or _plain(node.named_children)[:1]
        if naming == "type":
            named = [_plain_type(one) for one in named]
    found = [_dotted(one) for one in named if one is not None and one.type != ","]
    return [name for name in found if name is not None]


def _targets(left: Node | None) -> list[Node | None]:
    """The plain names on the left of an assignment."""
    if left is None:
        return []
    if left.type == "type":  # type Pair[T] = …
        left = (_plain(left.named_children) or [left])[0]
        left = (_plain(left.named_children) or [left])[0] if left.type == "generic_type" else left
    several = left.named_children if left.type in _SEVERAL else [left]
    return [one for one in several if one.type in ("identifier", "constant")]


def _plain_type(node: Node) -> Node:
    """The type that a reference or an object of a trait is of."""
    for _ in range(MAX_NESTED):
        inner = node.child_by_field_name("trait" if node.type == "dynamic_type" else "type")
        if inner is None or node.type not in ("dynamic_type", "reference_type", "pointer_type"):
            break
        node = inner
    return node


def _declarators(node: Node) -> list[Node]:
    inner = next((one for one in node.named_children if one.type == "variable_declaration"), None)
    if inner is not None:
        return [one for one in inner.named_children if one.type == "variable_declarator"]
    return _children(node, "declarator")


def _children(node: Node, field: str) -> list[Node]:
    """The children in a field; comments between them are said to be in it too."""
    return _plain(node.children_by_field_name(field))


def _plain(nodes: list[Node]) -> list[Node]:
    return [node for node in nodes if "comment" not in node.type]


def _declared(node: Node | None) -> Node | None:
    """The name inside C's declarators."""
    for _ in range(MAX_NESTED):
        if node is None:
            return None
        inner = node.child_by_field_name("declarator") or node.child_by_field_name("name")
        if inner is None and node.type in ("parenthesized_declarator", "reference_declarator", "attributed_declarator"):
            inner = next(iter(_plain(node.named_children)), None)
        if inner is None or node.type in ("qualified_identifier", "template_function"):
            return node
        node = inner
    return None


def _of_receiver(node: Node) -> list[str]:
    name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
    found = _dotted(name)
    text = None if receiver is None else _text(receiver)
    if text is None or found is None:
        return [] if found is None else [found]
    words = re.findall(rb"\w+", _GENERIC.sub(b"", _COMMENT.sub(b" ", text.strip(b"()"))))
    return [f"{words[-1].decode('utf-8', 'replace')}.{found}"] if words else [found]


def _dotted(node: Node | None) -> str | None:
    """A name as written, its parts joined by dots; None for what is no plain name."""
    text = None if node is None else _text(node)
    if node is None or not text:
        return None
    text = _BETWEEN.sub(b"", text)
    if node.type in ("generic_type", "template_type", "template_function", "qualified_identifier"):
        text = _GENERIC.sub(b"", text) if node.type == "generic_type" else re.sub(rb"<[^<>]*>", b"", text)
    text = text.strip(b"'\"").lstrip(b"$").replace(b"::", b".").replace(b"\\", b".")
    for head in (b"module.exports.", b"exports."):
        text = text.removeprefix(head)
    text = text.replace(b".prototype.", b".").removeprefix(b"this.")
    if len(text) > _MAX_NAME:
        return None
    name = text.decode("utf-8", "replace")
    return name if re.fullmatch(r"[^\s.()\[\]{}]+(\.[^\s.()\[\]{}]+)*", name) else None


def _text(node: Node) -> bytes | None:
    """The text of a node; None where it is too long for a name. Hostile files nest long ones in each other."""
    return None if node.end_byte - node.start_byte > 8 * _MAX_NAME else node.text


def inside(name: str) -> str:
    """What stands before the names inside of a definition: `A.` in `A.prototype = {…}`, nothing in `module.exports`."""
    shown = name.removesuffix(".prototype")
    return "" if shown in ("module.exports", "exports") else f"{shown}."
