"""What the walk over a syntax tree does at each kind of node, worked out once for a grammar.

Owns: the sets of `languages` and `looks` as one record for each kind of node, since a walk asks at every node.
Leaves alone: the walk itself (syntax), the tables (languages, looks).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from remvault.store.languages import Language
from remvault.store.looks import Looks, looks_of

# What is implied by the layout or by the tree. No code file that is read holds a NUL, so no token of one is like these.
STATEMENT_END, INDENT, DEDENT = b"\0;", b"\0>", b"\0<"
OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, JOINED, SPACE = b"\0(", b"\0)", b"\0[", b"\0]", b"\0+", b"\0_"
NAME = b"\1"  # stands before tokens that are names, so that a name is not taken for a literal that reads the same

# Acts, those of leaves first.
SKIP, WORD, IDENTIFIER, CLOSER, SEMICOLON, MARK, NODE = range(7)

_NAMES = frozenset({"name", "constant", "word", "variable_name", "extglob_pattern"})
_NUMBERS = frozenset({
    "integer", "float", "number", "number_literal", "int_literal", "float_literal", "integer_literal", "real_literal",
    "decimal_integer_literal", "hex_integer_literal", "decimal_floating_point_literal",
})  # fmt: skip
# Literals. Without holes one is a single token; with them, what stands between the holes is text.
_LITERALS = frozenset({
    "string", "string_content", "string_literal", "raw_string", "raw_string_literal", "interpreted_string_literal",
    "verbatim_string_literal", "interpolated_string_expression", "encapsed_string", "ansi_c_string", "template_string",
    "template_literal_type", "char_literal", "character_literal", "rune_literal", "delimited_symbol", "regex",
    "heredoc_body", "nowdoc_body", "format_specifier",
})  # fmt: skip
_IDENTIFIERS = frozenset({
    "identifier", "property_identifier", "field_identifier", "type_identifier", "shorthand_property_identifier",
    "shorthand_property_identifier_pattern", "package_identifier", "namespace_identifier", "statement_identifier",
    "private_property_identifier", "shorthand_field_identifier",
})  # fmt: skip
_HOLES = ("interpolation", "substitution", "expansion", "variable", "embedded")
_SKIPPED = frozenset({"line_continuation", "preproc_region", "preproc_endregion"})
_CLOSERS = frozenset({")", "]", "}", ">"})


@dataclass(slots=True)
class Kind:
    """A kind of node, and what is done at it."""

    name: str
    act: int
    token: bytes = b""  # of one whose text is always the same
    is_named: bool = False
    is_block: bool = False  # its named children are statements
    is_literal: bool = False
    is_quoted: bool = False  # a literal whose quotes are only looks
    is_hole: bool = False  # in a literal
    is_number: bool = False
    is_name: bool = False
    is_grouped: bool = False
    is_plain: bool = False
    has_frame: bool = False  # it defines, holds or belongs to what is defined
    is_prefix: bool = False
    has_comma: bool = False  # one at the end says nothing
    opens: tuple[bytes, ...] = ()  # implied in front
    closes: tuple[bytes, ...] = ()  # implied behind
    drops: frozenset[bytes] = frozenset()  # tokens right below it that say nothing
    check: str = ""  # what is asked of the node before it is entered
    is_left: bool = field(init=False)  # there is something to do behind it
    takes_all: bool = field(init=False)  # words right below it are tokens as they are

    def __post_init__(self) -> None:
        is_run = self.check == "side by side"
        self.is_left = bool(self.closes) or self.has_frame or self.has_comma or self.is_literal or is_run
        self.takes_all = not (self.is_literal or self.drops)


def kinds_of(language: Language, grammar: Iterable[tuple[str, bool]]) -> list[Kind]:
    """The kinds of a grammar in the order of its numbers; `grammar` has the name of each and whether it is named."""
    looks = looks_of(language.name)
    return [_named(language, looks, name) if is_named else _anonymous(language, name) for name, is_named in grammar]


def _anonymous(language: Language, name: str) -> Kind:
    if not name.strip("\0 \r\n\t"):
        return Kind(name, SKIP)
    act = CLOSER if name in _CLOSERS else WORD
    if name == ";" and language.blocks:
        act = SEMICOLON
    elif name.startswith(("$", "<<")) and language.name == "bash":
        act = MARK
    return Kind(name, act, token=name.encode())


def _named(language: Language, looks: Looks, name: str) -> Kind:
    if "comment" in name or name in _SKIPPED:
        return Kind(name, SKIP)
    is_literal = name in _LITERALS
    has_frame = (
        name in language.definitions
        or name in language.functions
        or name in language.wrappers
        or name in language.containers
        or name in language.loose
        or name in looks.imports
        or name in language.prefixes
    )
    opens, closes = _marks(language, looks, name)
    return Kind(
        name,
        IDENTIFIER if name in _IDENTIFIERS else NODE,
        is_named=True,
        is_block=name in language.blocks,
        is_literal=is_literal,
        is_quoted=name in language.strings,
        is_hole=any(part in name for part in _HOLES),
        is_number=name in _NUMBERS,
        is_name=name.endswith("identifier") or name in _NAMES,
        is_grouped=name in looks.grouped or name in looks.flat,
        is_plain=name in looks.plain,
        has_frame=has_frame,
        is_prefix=name in language.prefixes,
        has_comma=name in looks.commas or name in looks.lists,
        drops=looks.drops.get(name, frozenset()),
        opens=opens,
        closes=closes,
        check=_check(language, looks, name, is_literal=is_literal),
    )


def _marks(language: Language, looks: Looks, name: str) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """What is implied in front of a node of a kind, and behind it."""
    if language.has_blocks and name == "block":
        return (INDENT,), (DEDENT,)
    if name in looks.grouped or name in looks.wrapped:
        return (OPEN,), (CLOSE,)
    if name in looks.lists or name in looks.bracketed:
        return (OPEN_LIST,), (CLOSE_LIST,)
    if name == "concatenation":  # "a""b" is one argument, "a" "b" are two
        return (JOINED,), (JOINED,)
    return (), ((STATEMENT_END,) if name in looks.ended else ())


def _check(language: Language, looks: Looks, name: str, *, is_literal: bool) -> str:
    """What is asked of a node of this kind before it is entered."""
    if is_literal:
        return "literal"
    if name in looks.brackets:
        return "brackets"
    if name in looks.flat:
        return "flat"
    if name in looks.lists or name in looks.bracketed:
        return "list"
    special = {
        ("python", "expression_statement"): "text alone",
        ("python", "argument_list"): "no bases",
        ("rust", "expression_statement"): "end of a jump",
        ("rust", "block"): "one expression",
        ("bash", "command_substitution"): "backquotes",
        ("php", "object_creation_expression"): "no arguments",
    }
    if (language.name, name) in special:
        return special[language.name, name]
    if name == "concatenated_string":
        return "side by side"
    if name == "empty_statement":
        return "nothing"
    if not language.has_line_ends:
        return ""
    return {
        "formal_parameters": "one parameter",
        "new_expression": "no arguments",
        "return_statement": "line end",
        "jsx_expression": "text in braces",
    }.get(name, "")
