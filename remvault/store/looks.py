"""What formatters may add, take away or write otherwise, by language and node type.

Owns: which brackets only group, which tokens of a node say nothing.
Leaves alone: what defines a name (languages), characters of literals (literals), the walk that applies it (syntax).

Brackets that group are left out wherever what they hold is known: an operand needs none, and an operator is marked with
its extent whether it has brackets or not, so two texts have the same tokens when they have the same tree. What is not
listed keeps its brackets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_ARRAY = frozenset({b"array", b"list", b"(", b")", b"[", b"]"})
_PARENTHESES = frozenset({b"(", b")"})


@dataclass(frozen=True, slots=True)
class Looks:
    """What is only looks in one language, by the grammar's node types."""

    brackets: frozenset[str] = frozenset()  # they hold one expression, and only group it
    grouped: frozenset[str] = frozenset()  # operators
    flat: frozenset[str] = frozenset()  # operators that read the same whichever is first; one may stand in front
    plain: frozenset[str] = frozenset()  # operands
    needed: frozenset[str] = frozenset()  # nodes whose own brackets are part of the language: `if (a)`
    # Brackets around one of `members` count below one of `callers`: `(a?.b).c`, `(a.b)()`.
    callers: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()  # tuples; brackets and a comma at the end say nothing once they are marked
    bracketed: frozenset[str] = frozenset()  # tuples that always have brackets
    drops: Mapping[str, frozenset[bytes]] = field(default_factory=dict)  # tokens of a node that say nothing
    ended: frozenset[str] = frozenset()  # nodes with a mark behind them instead of what is dropped
    wrapped: frozenset[str] = frozenset()  # nodes with marks around them instead of what is dropped
    imports: frozenset[str] = frozenset()  # their order in a file means nothing
    commas: frozenset[str] = frozenset()  # nodes that may end in a comma without a bracket behind
    caseless: frozenset[str] = frozenset()  # words that read the same in capitals
    counting: frozenset[str] = frozenset({"for_statement", "for_clause", "empty_statement"})  # semicolons in them count


PYTHON = Looks(
    brackets=frozenset({"parenthesized_expression"}),
    grouped=frozenset({
        "binary_operator", "boolean_operator", "not_operator", "unary_operator", "comparison_operator",
        "conditional_expression", "lambda", "await", "yield", "named_expression",
    }),
    plain=frozenset({
        "identifier", "attribute", "subscript", "call", "string", "concatenated_string", "integer", "float", "true",
        "false", "none", "ellipsis", "list", "dictionary", "set", "list_comprehension", "dictionary_comprehension",
        "set_comprehension", "generator_expression", "parenthesized_expression", "tuple", "as_pattern",
    }),
    lists=frozenset({"tuple", "expression_list", "pattern_list", "tuple_pattern"}),
    drops={
        "import_from_statement": _PARENTHESES, "future_import_statement": _PARENTHESES, "with_clause": _PARENTHESES,
    },
    imports=frozenset({"import_statement", "import_from_statement"}),
    commas=frozenset({"expression_list", "pattern_list"}),
)  # fmt: skip
_JS_PLAIN = frozenset({
    "identifier", "this", "super", "member_expression", "subscript_expression", "call_expression", "number", "string",
    "template_string", "regex", "true", "false", "null", "undefined", "array", "parenthesized_expression",
    "jsx_element", "jsx_self_closing_element", "import", "meta_property", "non_null_expression",
    "instantiation_expression",
    "predefined_type", "type_identifier", "generic_type", "object_type", "array_type", "literal_type", "tuple_type",
    "nested_type_identifier", "lookup_type", "template_literal_type", "parenthesized_type", "this_type",
})  # fmt: skip
JAVASCRIPT = Looks(
    brackets=frozenset({"parenthesized_expression", "parenthesized_type"}),
    grouped=frozenset({
        "assignment_expression", "augmented_assignment_expression", "await_expression", "unary_expression",
        "binary_expression", "ternary_expression", "update_expression", "new_expression", "yield_expression",
        "arrow_function", "sequence_expression", "function_expression", "generator_function", "class", "object",
        "as_expression", "satisfies_expression", "type_assertion",
        "function_type", "constructor_type", "conditional_type", "index_type_query", "readonly_type", "infer_type",
        "type_query",
    }),
    flat=frozenset({"union_type", "intersection_type"}),
    plain=_JS_PLAIN,
    needed=frozenset({"if_statement", "while_statement", "do_statement", "switch_statement", "with_statement"}),
    callers=frozenset({"member_expression", "subscript_expression", "call_expression"}),
    members=frozenset({
        "member_expression", "subscript_expression", "call_expression", "parenthesized_expression",
        "non_null_expression",
    }),
    drops={"interface_body": frozenset({b";", b","}), "object_type": frozenset({b";", b","})},
    imports=frozenset({"import_statement"}),
)  # fmt: skip
GO = Looks(
    brackets=frozenset({"parenthesized_expression"}),
    grouped=frozenset({"binary_expression", "unary_expression"}),
    plain=frozenset({
        "identifier", "selector_expression", "call_expression", "index_expression", "int_literal", "float_literal",
        "rune_literal", "interpreted_string_literal", "raw_string_literal", "true", "false", "nil",
        "parenthesized_expression", "type_assertion_expression", "slice_expression",
    }),
    imports=frozenset({"import_spec", "import_declaration"}),
    counting=frozenset({
        "for_clause", "if_statement", "expression_switch_statement", "type_switch_statement", "empty_statement",
    }),
)  # fmt: skip
RUST = Looks(
    brackets=frozenset({"parenthesized_expression"}),
    grouped=frozenset({
        "binary_expression", "unary_expression", "reference_expression", "range_expression", "assignment_expression",
        "compound_assignment_expr", "type_cast_expression", "closure_expression", "return_expression",
        "break_expression",
    }),
    flat=frozenset({"or_pattern"}),
    plain=frozenset({
        "identifier", "integer_literal", "float_literal", "boolean_literal", "char_literal", "string_literal",
        "raw_string_literal", "call_expression", "field_expression", "index_expression", "macro_invocation",
        "scoped_identifier", "self", "array_expression", "tuple_expression", "await_expression", "try_expression",
        "parenthesized_expression", "unit_expression",
    }),
    callers=frozenset({"call_expression"}),
    members=frozenset({"field_expression", "parenthesized_expression"}),
    bracketed=frozenset({"tuple_expression", "tuple_type", "tuple_pattern"}),
    drops={"match_arm": frozenset({b","})},
    ended=frozenset({"match_arm"}),
    imports=frozenset({"use_declaration", "mod_item"}),
    commas=frozenset({"where_clause"}),
)  # fmt: skip
JAVA = Looks(
    brackets=frozenset({"parenthesized_expression"}),
    grouped=frozenset({
        "binary_expression", "unary_expression", "update_expression", "ternary_expression", "lambda_expression",
        "cast_expression", "assignment_expression", "instanceof_expression", "switch_expression",
        "object_creation_expression", "array_creation_expression", "method_reference",
    }),
    plain=frozenset({
        "identifier", "this", "super", "field_access", "array_access", "method_invocation", "decimal_integer_literal",
        "hex_integer_literal", "decimal_floating_point_literal", "string_literal", "character_literal", "true", "false",
        "null_literal", "parenthesized_expression", "class_literal",
    }),
    needed=frozenset({
        "if_statement", "while_statement", "do_statement", "switch_expression", "synchronized_statement",
    }),
    imports=frozenset({"import_declaration"}),
)  # fmt: skip
PHP = Looks(
    brackets=frozenset({"parenthesized_expression"}),
    grouped=frozenset({
        "binary_expression", "unary_op_expression", "update_expression", "conditional_expression", "cast_expression",
        "assignment_expression", "augmented_assignment_expression", "reference_assignment_expression",
        "object_creation_expression", "clone_expression", "error_suppression_expression", "anonymous_function",
        "arrow_function", "match_expression", "include_expression", "include_once_expression", "require_expression",
        "require_once_expression", "print_intrinsic", "yield_expression", "throw_expression",
    }),
    plain=frozenset({
        "variable_name", "integer", "float", "string", "encapsed_string", "boolean", "null", "name", "qualified_name",
        "array_creation_expression", "parenthesized_expression", "function_call_expression",
        "class_constant_access_expression", "member_access_expression", "member_call_expression",
        "scoped_call_expression", "scoped_property_access_expression", "subscript_expression",
    }),
    needed=frozenset({
        "if_statement", "else_if_clause", "while_statement", "do_statement", "switch_statement", "match_expression",
    }),
    callers=frozenset({
        "member_access_expression", "member_call_expression", "function_call_expression", "subscript_expression",
    }),
    members=frozenset({
        "member_access_expression", "member_call_expression", "name", "scoped_property_access_expression",
        "parenthesized_expression", "nullsafe_member_access_expression", "nullsafe_member_call_expression",
        "class_constant_access_expression", "qualified_name",
    }),
    drops={"array_creation_expression": _ARRAY, "list_literal": _ARRAY},
    wrapped=frozenset({"array_creation_expression", "list_literal"}),
    imports=frozenset({"namespace_use_declaration"}),
    caseless=frozenset({"boolean", "null"}),
)  # fmt: skip
C = Looks(imports=frozenset({"preproc_include", "using_declaration"}))
C_SHARP = Looks(imports=frozenset({"using_directive"}))
RUBY = Looks(
    drops={"then": frozenset({b"then"}), "method_parameters": _PARENTHESES},
    ended=frozenset({"method_parameters"}),
)
BASH = Looks(
    drops={
        "case_item": frozenset({b"(", b";;"}), "function_definition": frozenset({b"function", b"(", b")"}),
    },
    ended=frozenset({"case_item"}),
    counting=frozenset({"c_style_for_statement"}),
)  # fmt: skip

_BY_LANGUAGE: Mapping[str, Looks] = {
    "python": PYTHON, "javascript": JAVASCRIPT, "typescript": JAVASCRIPT, "tsx": JAVASCRIPT, "go": GO, "rust": RUST,
    "java": JAVA, "php": PHP, "c": C, "cpp": C, "csharp": C_SHARP, "ruby": RUBY, "bash": BASH,
}  # fmt: skip


def looks_of(language: str) -> Looks:
    """What is only looks in a language."""
    return _BY_LANGUAGE.get(language, Looks())
