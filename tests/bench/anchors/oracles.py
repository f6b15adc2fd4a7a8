"""What a definition means, by parsers that the product does not use.

Python by the standard `ast`, JavaScript by Acorn run in Node, Go by the tokens of Pygments and the braces between them.
Two texts mean the same when their trees (for Go: their tokens) are equal without comments, docstrings and places.
"""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pygments.lexers.go import GoLexer
from pygments.token import Comment


@dataclass(frozen=True, slots=True)
class Known:
    """One definition, as an oracle sees it."""

    name: str  # dotted from the file
    lines: tuple[int, int]  # 1-based, inclusive
    meaning: str


def python(text: str) -> list[Known] | None:
    """The functions and classes of a module; None when it does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    return list(_python_definitions(tree, ""))


def _python_definitions(node: ast.AST, prefix: str) -> Iterator[Known]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            # Inner ones first: leaving the docstrings out changes the tree.
            inner = list(_python_definitions(child, f"{prefix}{child.name}."))
            first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
            yield Known(prefix + child.name, (first, child.end_lineno or first), ast.dump(_without_docstrings(child)))
            yield from inner
        elif not isinstance(child, ast.expr):
            yield from _python_definitions(child, prefix)


def _without_docstrings(node: ast.AST) -> ast.AST:
    for one in ast.walk(node):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            match one.body:
                case [ast.Expr(value=ast.Constant(value=str())), *rest]:
                    one.body = rest
    return node


def javascript(texts: Mapping[str, str], acorn: Path) -> dict[str, list[Known]]:
    """The functions, classes and methods of each file that parses, by path; `acorn` is the parser's module file."""
    script = Path(__file__).with_name("javascript_oracle.cjs")
    done = subprocess.run(
        ["node", str(script), str(acorn)], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    return {
        path: [Known(name, (first, last), meaning) for name, first, last, meaning in found]
        for path, found in json.loads(done.stdout).items()
        if found is not None
    }


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    line: int


def go(text: str) -> list[Known]:
    """The functions, methods and types of a Go file."""
    tokens = _go_tokens(text)
    found: list[Known] = []
    at = depth = 0
    while at < len(tokens):
        token = tokens[at]
        if depth == 0 and token.text == "func":
            end = _function_end(tokens, at)
            found += _known(tokens, at, end, _function_name(tokens, at))
            at = end
        elif depth == 0 and token.text == "type":
            at = _go_types(tokens, at, found)
        else:
            depth += (token.text in ("(", "{", "[")) - (token.text in (")", "}", "]"))
            at += 1
    return found


def _go_tokens(text: str) -> list[_Token]:
    """The tokens that matter: no comments, no trailing commas, no semicolon at the end of a line."""
    line = 1
    tokens: list[_Token] = []
    for kind, value in GoLexer(stripnl=False, ensurenl=False).get_tokens(text):
        if value.strip() and kind not in Comment:
            tokens.append(_Token(value.strip(), line))
        line += value.count("\n")
    kept = []
    for token, after in zip(tokens, [*tokens[1:], _Token("", line + 1)], strict=True):
        is_last = after.line > token.line
        if (token.text == "," and is_last and after.text in (")", "}", "]")) or (token.text == ";" and is_last):
            continue
        kept.append(token)
    return kept


def _closing(tokens: list[_Token], at: int) -> int:
    """The place after the bracket that closes the one at `at`."""
    depth = 0
    while at < len(tokens):
        depth += (tokens[at].text in ("(", "{", "[")) - (tokens[at].text in (")", "}", "]"))
        at += 1
        if depth == 0:
            break
    return at


def _statement_end(tokens: list[_Token], at: int) -> int:
    """The place after a declaration: the next line outside of all brackets."""
    while at < len(tokens):
        if tokens[at].text in ("(", "{", "["):
            at = _closing(tokens, at)
        else:
            at += 1
        if at < len(tokens) and tokens[at].line > tokens[at - 1].line and tokens[at - 1].text not in ("|", "=", "."):
            break
    return at


def _function_end(tokens: list[_Token], at: int) -> int:
    # A result type may hold braces of its own: interface{} and struct{}.
    while at < len(tokens):
        text = tokens[at].text
        if text in ("(", "[") or (text == "{" and tokens[at - 1].text in ("interface", "struct")):
            at = _closing(tokens, at)
        elif text == "{":
            return _closing(tokens, at)
        else:
            at += 1
        if at < len(tokens) and tokens[at].line > tokens[at - 1].line and tokens[at].text in ("func", "type", "var"):
            break  # without a body: it is in assembly
    return at


def _function_name(tokens: list[_Token], at: int) -> str:
    if tokens[at + 1].text != "(":
        return tokens[at + 1].text
    end = _closing(tokens, at + 1)
    receiver = [one.text for one in tokens[at + 2 : end - 1]]
    if "[" in receiver:
        receiver = receiver[: receiver.index("[")]
    return f"{receiver[-1]}.{tokens[end].text}"


def _go_types(tokens: list[_Token], at: int, found: list[Known]) -> int:
    """Add the types of the declaration at `at`; the place after it."""
    if tokens[at + 1].text != "(":
        end = _statement_end(tokens, at)
        found += _known(tokens, at, end, tokens[at + 1].text)
        return end
    end = _closing(tokens, at + 1)
    at += 2
    while at < end - 1:
        after = min(_statement_end(tokens, at), end - 1)
        found += _known(tokens, at, after, tokens[at].text)
        at = after
    return end


def _known(tokens: list[_Token], at: int, end: int, name: str) -> list[Known]:
    taken = tokens[at:end]
    if taken and taken[0].text == "type":
        taken = taken[1:]  # grouped or not
    return [Known(name, (tokens[at].line, tokens[end - 1].line), "\x00".join(one.text for one in taken))]
