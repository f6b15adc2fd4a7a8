"""The languages whose symbols are known: what a definition is, what is only looks.

Owns: one row a language. A new language is a row, a grammar package in `pyproject.toml`, and pinned digests.
Leaves alone: parsing (syntax), digests (tokens).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

# How a definition's name is found: the field `name`, inside C's declarators, the left side of an assignment, a member
# that is assigned to, the receiver and name of a Go method, the type that a Rust `impl` is for, or `export default`.
Naming = Literal["name", "declarator", "left", "member", "key", "receiver", "type", "default"]


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """What the grammar of one language calls things."""

    name: str
    package: str  # of the grammar
    suffixes: tuple[str, ...]
    definitions: Mapping[str, Naming]  # node types that define a name
    loose: frozenset[str] = frozenset()  # definitions whose order among each other means nothing
    containers: Mapping[str, Naming] = field(default_factory=dict)  # they lend their name to what they hold, no more
    bodies: frozenset[str] = frozenset()  # nodes whose children are members: files, bodies of classes
    blocks: frozenset[str] = frozenset()  # nodes whose children are statements; semicolons are optional then
    wrappers: frozenset[str] = frozenset()  # a definition inside is the same definition: decorators, export, template
    prefixes: frozenset[str] = frozenset()  # siblings before a definition that belong to it: attributes
    variables: frozenset[str] = frozenset()  # definitions that count inside functions only for these `values`
    values: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()  # what has local variables
    strings: frozenset[str] = frozenset()  # literals whose quote style is only looks
    interpreters: tuple[str, ...] = ()  # of scripts without a suffix
    factory: str = "language"
    has_blocks: bool = False  # indentation is structure
    has_docstrings: bool = False
    has_line_ends: bool = False  # a line that ends behind `return` ends the statement
    has_raw_single: bool = False  # what single quotes hold is taken as it is


_C_DEFINITIONS: dict[str, Naming] = {
    "function_definition": "declarator",
    "declaration": "declarator",
    "field_declaration": "declarator",
    "type_definition": "declarator",
    "struct_specifier": "name",
    "union_specifier": "name",
    "enum_specifier": "name",
    "enumerator": "name",
    "preproc_def": "name",
    "preproc_function_def": "name",
}
_JS_DEFINITIONS: dict[str, Naming] = {
    "function_declaration": "name",
    "generator_function_declaration": "name",
    "class_declaration": "name",
    "method_definition": "name",
    "field_definition": "name",
    "variable_declarator": "name",
    "assignment_expression": "member",
    "pair": "key",
    "export_statement": "default",
}
_JS_FUNCTIONS = frozenset({
    "function_declaration", "generator_function_declaration", "function_expression", "generator_function",
    "arrow_function", "method_definition", "class_static_block",
})  # fmt: skip
_JS_VALUES = frozenset({"function_expression", "arrow_function", "generator_function", "class"})
_JS_BLOCKS = frozenset({
    "program", "statement_block", "class_body", "switch_case", "switch_default", "for_statement",
})  # fmt: skip
_TS_DEFINITIONS: dict[str, Naming] = {
    **_JS_DEFINITIONS,
    "abstract_class_declaration": "name",
    "interface_declaration": "name",
    "type_alias_declaration": "name",
    "enum_declaration": "name",
    "internal_module": "name",
    "module": "name",
    "function_signature": "name",
    "method_signature": "name",
    "abstract_method_signature": "name",
    "property_signature": "name",
    "public_field_definition": "name",
}
_TS_LOOSE = frozenset({
    "function_declaration", "generator_function_declaration", "class_declaration", "method_definition",
    "abstract_class_declaration", "interface_declaration", "type_alias_declaration", "enum_declaration",
    "abstract_method_signature", "export_statement", "ambient_declaration",
})  # fmt: skip


def _typescript(name: str, factory: str, suffixes: tuple[str, ...]) -> Language:
    return Language(
        name,
        "tree_sitter_typescript",
        suffixes,
        _TS_DEFINITIONS,
        loose=_TS_LOOSE,
        bodies=frozenset({"program", "class_body", "statement_block"}),
        blocks=_JS_BLOCKS | {"interface_body", "object_type"},
        prefixes=frozenset({"decorator"}),
        variables=frozenset({"variable_declarator"}),
        values=_JS_VALUES,
        functions=_JS_FUNCTIONS,
        strings=frozenset({"string"}),
        has_line_ends=True,
        factory=factory,
    )


LANGUAGES: tuple[Language, ...] = (
    Language(
        "python", "tree_sitter_python", (".py", ".pyi"),
        {
            "function_definition": "name",
            "class_definition": "name",
            "assignment": "left",
            "type_alias_statement": "left",
        },
        loose=frozenset({"function_definition", "class_definition", "decorated_definition"}),
        bodies=frozenset({"module", "block"}),
        blocks=frozenset({"module", "block"}),
        wrappers=frozenset({"decorated_definition"}),
        functions=frozenset({"function_definition", "lambda"}),
        variables=frozenset({"assignment", "type_alias_statement"}),
        strings=frozenset({"string"}),
        interpreters=("python", "python3"),
        has_blocks=True,
        has_docstrings=True,
    ),
    Language(
        "javascript", "tree_sitter_javascript", (".js", ".jsx", ".mjs", ".cjs"),
        _JS_DEFINITIONS,
        loose=frozenset({
            "function_declaration", "generator_function_declaration", "class_declaration", "method_definition",
            "export_statement",
        }),
        bodies=frozenset({"program", "class_body"}),
        blocks=_JS_BLOCKS,
        prefixes=frozenset({"decorator"}),
        variables=frozenset({"variable_declarator"}),
        values=_JS_VALUES,
        functions=_JS_FUNCTIONS,
        strings=frozenset({"string"}),
        has_line_ends=True,
        interpreters=("node",),
    ),
    _typescript("typescript", "language_typescript", (".ts", ".mts", ".cts")),
    _typescript("tsx", "language_tsx", (".tsx",)),
    Language(
        "go", "tree_sitter_go", (".go",),
        {
            "function_declaration": "name",
            "method_declaration": "receiver",
            "type_spec": "name",
            "type_alias": "name",
            "const_spec": "name",
            "var_spec": "name",
            "field_declaration": "name",
            "method_elem": "name",
        },
        loose=frozenset({"function_declaration", "method_declaration", "type_declaration"}),
        bodies=frozenset({"source_file", "import_spec_list"}),
        blocks=frozenset({
            "source_file", "block", "statement_list", "expression_case", "default_case", "type_case",
            "communication_case", "field_declaration_list", "interface_type", "import_spec_list", "const_declaration",
            "var_declaration", "type_declaration", "var_spec_list", "for_clause",
        }),
        variables=frozenset({"const_spec", "var_spec"}),
        functions=frozenset({"function_declaration", "method_declaration", "func_literal"}),
    ),
    Language(
        "rust", "tree_sitter_rust", (".rs",),
        {
            "function_item": "name",
            "function_signature_item": "name",
            "struct_item": "name",
            "enum_item": "name",
            "enum_variant": "name",
            "union_item": "name",
            "trait_item": "name",
            "type_item": "name",
            "const_item": "name",
            "static_item": "name",
            "mod_item": "name",
            "macro_definition": "name",
            "field_declaration": "name",
            "associated_type": "name",
        },
        loose=frozenset({
            "function_item", "function_signature_item", "struct_item", "enum_item", "union_item", "trait_item",
            "type_item", "const_item", "static_item", "mod_item", "impl_item",
        }),
        containers={"impl_item": "type"},
        bodies=frozenset({"source_file", "declaration_list"}),
        prefixes=frozenset({"attribute_item"}),
        variables=frozenset({"const_item", "static_item"}),
        functions=frozenset({"function_item", "closure_expression"}),
    ),
    Language(
        "java", "tree_sitter_java", (".java",),
        {
            "class_declaration": "name",
            "interface_declaration": "name",
            "enum_declaration": "name",
            "record_declaration": "name",
            "annotation_type_declaration": "name",
            "method_declaration": "name",
            "constructor_declaration": "name",
            "compact_constructor_declaration": "name",
            "field_declaration": "declarator",
            "constant_declaration": "declarator",
            "enum_constant": "name",
        },
        loose=frozenset({
            "class_declaration", "interface_declaration", "enum_declaration", "record_declaration",
            "annotation_type_declaration", "method_declaration", "constructor_declaration",
        }),
        bodies=frozenset({"program", "class_body", "interface_body", "enum_body_declarations", "annotation_type_body"}),
        functions=frozenset({"method_declaration", "constructor_declaration", "lambda_expression"}),
    ),
    Language(
        "c", "tree_sitter_c", (".c", ".h"),
        _C_DEFINITIONS,
        loose=frozenset({"function_definition"}),
        bodies=frozenset({"translation_unit"}),
        variables=frozenset({"declaration"}),
        functions=frozenset({"function_definition"}),
    ),
    Language(
        "cpp", "tree_sitter_cpp", (".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".ipp"),
        {
            **_C_DEFINITIONS,
            "class_specifier": "name",
            "namespace_definition": "name",
            "alias_declaration": "name",
            "concept_definition": "name",
        },
        loose=frozenset({"function_definition", "template_declaration"}),
        bodies=frozenset({"translation_unit", "declaration_list"}),
        wrappers=frozenset({"template_declaration"}),
        variables=frozenset({"declaration"}),
        functions=frozenset({"function_definition", "lambda_expression"}),
    ),
    Language(
        "csharp", "tree_sitter_c_sharp", (".cs",),
        {
            "class_declaration": "name",
            "struct_declaration": "name",
            "interface_declaration": "name",
            "enum_declaration": "name",
            "record_declaration": "name",
            "delegate_declaration": "name",
            "method_declaration": "name",
            "constructor_declaration": "name",
            "property_declaration": "name",
            "event_declaration": "name",
            "local_function_statement": "name",
            "namespace_declaration": "name",
            "enum_member_declaration": "name",
            "field_declaration": "declarator",
            "event_field_declaration": "declarator",
        },
        loose=frozenset({
            "class_declaration", "struct_declaration", "interface_declaration", "enum_declaration",
            "record_declaration", "delegate_declaration", "method_declaration", "constructor_declaration",
            "property_declaration", "namespace_declaration",
        }),
        bodies=frozenset({"compilation_unit", "declaration_list"}),
        functions=frozenset({
            "method_declaration", "constructor_declaration", "local_function_statement", "lambda_expression",
            "accessor_declaration",
        }),
    ),
    Language(
        "ruby", "tree_sitter_ruby", (".rb", ".rake", ".gemspec"),
        {"method": "name", "singleton_method": "name", "class": "name", "module": "name", "assignment": "left"},
        loose=frozenset({"method", "singleton_method", "class", "module"}),
        bodies=frozenset({"program", "body_statement"}),
        blocks=frozenset({"program", "body_statement", "then", "else", "do", "block_body", "begin", "ensure"}),
        functions=frozenset({"method", "singleton_method", "lambda", "block", "do_block"}),
        variables=frozenset({"assignment"}),
        strings=frozenset({"string"}),
        interpreters=("ruby",), has_raw_single=True,
    ),
    Language(
        "php", "tree_sitter_php", (".php", ".phtml"),
        {
            "function_definition": "name",
            "method_declaration": "name",
            "class_declaration": "name",
            "interface_declaration": "name",
            "trait_declaration": "name",
            "enum_declaration": "name",
            "enum_case": "name",
            "const_element": "name",
            "property_element": "name",
            "namespace_definition": "name",
        },
        loose=frozenset({
            "function_definition", "method_declaration", "class_declaration", "interface_declaration",
            "trait_declaration", "enum_declaration",
        }),
        bodies=frozenset({"program", "declaration_list"}),
        functions=frozenset({"function_definition", "method_declaration", "anonymous_function", "arrow_function"}),
        strings=frozenset({"string", "encapsed_string"}),
        interpreters=("php",), has_raw_single=True,
        factory="language_php",
    ),
    Language(
        "bash", "tree_sitter_bash", (".sh", ".bash"),
        {"function_definition": "name", "variable_assignment": "name"},
        loose=frozenset({"function_definition"}),
        bodies=frozenset({"program"}),
        blocks=frozenset({"program", "compound_statement", "do_group", "subshell", "if_statement", "elif_clause",
                          "else_clause", "case_item", "variable_assignments"}),
        functions=frozenset({"function_definition"}),
        variables=frozenset({"variable_assignment"}),
        strings=frozenset({"string", "raw_string"}),
        interpreters=("bash", "sh", "dash", "zsh"), has_raw_single=True,
    ),
)  # fmt: skip

# What no header of C says at the start of a line.
_CPP = re.compile(rb"^[ \t]*(?:class\s+\w|(?:inline )?namespace\b|template\s*<|(?:public|private|protected)\s*:)", re.M)
_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
_BY_INTERPRETER = {name: language for language in LANGUAGES for name in language.interpreters}


def kindred(path: str) -> tuple[str, ...]:
    """The suffixes of files in which the same code has the same digest as in this one."""
    suffix = PurePosixPath(path).suffix
    language = _BY_SUFFIX.get(suffix.lower())
    if language is None:
        return (suffix,)
    # A header may be of either.
    more = (_BY_SUFFIX[".c"].suffixes + _BY_SUFFIX[".cpp"].suffixes) if language.name in ("c", "cpp") else ()
    return tuple(dict.fromkeys((suffix, *language.suffixes, *more)))


def language_of(path: str, data: bytes) -> Language | None:
    """The language of a file by its suffix, or by its first line where it has none; None for one without a grammar."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix == ".h" and _CPP.search(data):
        return _BY_SUFFIX[".cpp"]
    if suffix:
        return _BY_SUFFIX.get(suffix)
    if not data.startswith(b"#!"):
        return None
    words = data[2:256].partition(b"\n")[0].decode("utf-8", "replace").split()
    names = [PurePosixPath(word).name for word in words if not word.startswith("-")]
    if names[:1] == ["env"]:
        names = names[1:]
    return _BY_INTERPRETER.get(names[0].rstrip("0123456789.")) or _BY_INTERPRETER.get(names[0]) if names else None
