"""The law of the house: layers import to the left, and few modules touch the outside."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import remvault

PACKAGE = Path(remvault.__file__).parent
LAYERS = ("domain", "store", "index", "retrieval", "surfaces")
MODULES = sorted(PACKAGE.rglob("*.py"))
NAMES = [path.relative_to(PACKAGE).as_posix() for path in MODULES]
MAX_LINES = 400

# Who may import what reaches outside or costs start-up time; elsewhere it goes through them.
OWNERS = {
    "pygit2": {"store/git.py"},
    "whoosh": {"index/text_index.py"},
    "typer": {"surfaces/"},
    "rich": {"surfaces/"},
    "platformdirs": {"surfaces/"},
    "filelock": {"store/state.py", "index/reconcile.py"},  # the write lock, and the index's own
    "watchdog": {"index/watcher.py"},
    # The others name the type of a node only.
    "tree_sitter": {"store/syntax.py", "store/symbol_names.py", "store/entering.py", "store/scopes.py"},
}
# Only surfaces look at the process: below, the environment, the folder and the time are arguments.
# A worker process of the index is told its share on standard input and answers on standard output.
ALLOWED = {("index/building.py", "print"), ("index/building.py", "sys.stdin")}
PROCESS = {
    "os.environ",
    "os.environb",
    "os.getenv",
    "os.getcwd",
    "os.chdir",
    "sys.argv",
    "sys.stdin",
    "sys.stdout",
    "sys.stderr",
    "Path.cwd",
    "Path.home",
    "datetime.now",
    "datetime.utcnow",
    "datetime.today",
    "date.today",
    "time.time",
    "time.time_ns",
    "time.localtime",
    "os.path.expanduser",
    "print",
    "input",
}


def tree(name: str) -> ast.Module:
    return ast.parse((PACKAGE / name).read_text(encoding="utf-8"))


def imports(name: str) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything a module imports, wherever in it, type checking aside included."""
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: relative imports hide the layer"
            assert node.module is not None
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"


def layer(name: str) -> str | None:
    """The layer of a module by its path, None for those at the top that serve every layer."""
    first = name.split("/")[0]
    return first if first in LAYERS else None


def layer_of_import(dotted: str) -> str | None:
    parts = dotted.split(".")
    return parts[1] if parts[0] == "remvault" and len(parts) > 1 and parts[1] in LAYERS else None


def is_owner(name: str, owners: set[str]) -> bool:
    return any(name == owner or (owner.endswith("/") and name.startswith(owner)) for owner in owners)


@pytest.mark.parametrize("name", NAMES)
def test_imports_run_only_to_the_left(name: str) -> None:
    own = layer(name)
    if own is None:
        return
    for line, dotted in imports(name):
        used = layer_of_import(dotted)
        if used is not None:
            assert LAYERS.index(used) <= LAYERS.index(own), f"{name}:{line}: {own} may not import {dotted}"


# They serve every layer; `__init__` and `__main__` stand above all and name what is public.
@pytest.mark.parametrize("name", [name for name in NAMES if layer(name) is None and not name.startswith("__")])
def test_what_every_layer_uses_stands_on_the_domain_alone(name: str) -> None:
    for line, dotted in imports(name):
        assert layer_of_import(dotted) in (None, "domain"), f"{name}:{line}: may not import {dotted}"


@pytest.mark.parametrize("name", NAMES)
def test_each_foreign_library_has_one_door(name: str) -> None:
    for line, dotted in imports(name):
        owners = OWNERS.get(dotted.split(".")[0])
        assert owners is None or is_owner(name, owners), f"{name}:{line}: {dotted} belongs to {sorted(owners)}"


@pytest.mark.parametrize("name", [name for name in NAMES if layer(name) != "surfaces"])
def test_only_surfaces_look_at_the_process(name: str) -> None:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Attribute | ast.Name):
            said = ast.unparse(node)
            if (name, said) in ALLOWED:
                continue
            short = ".".join(said.split(".")[-2:])
            assert said not in PROCESS, f"{name}:{node.lineno}: {said} belongs to surfaces"
            assert short not in PROCESS, f"{name}:{node.lineno}: {said} belongs to surfaces"
    for line, dotted in imports(name):
        assert dotted not in PROCESS, f"{name}:{line}: {dotted} belongs to surfaces"


@pytest.mark.parametrize("name", [name for name in NAMES if layer(name) == "domain"])
def test_the_domain_does_no_input_or_output(name: str) -> None:
    outside = {
        "os",
        "io",
        "pathlib",
        "subprocess",
        "shutil",
        "tempfile",
        "socket",
        "secrets",
        "random",
        "time",
        "urllib",
    }
    for line, dotted in imports(name):
        is_pure_path = dotted in ("pathlib.PurePosixPath", "pathlib.PurePath")
        assert dotted.split(".")[0] not in outside or is_pure_path, f"{name}:{line}: {dotted} reaches outside"
    for node in ast.walk(tree(name)):
        is_open = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open"
        assert not is_open, f"{name}: opens a file"


@pytest.mark.parametrize("name", [name for name in NAMES if layer(name) != "surfaces"])
def test_nothing_below_surfaces_swallows_what_it_does_not_know(name: str) -> None:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.ExceptHandler):
            caught = "everything" if node.type is None else ast.unparse(node.type)
            last = node.body[-1]
            # Cleaning up on the way out is fine.
            is_passed_on = isinstance(last, ast.Raise) and last.exc is None
            is_known = caught not in ("everything", "Exception", "BaseException")
            assert is_known or is_passed_on, f"{name}:{node.lineno}: swallows {caught}"


@pytest.mark.parametrize("name", NAMES)
def test_no_text_is_run_as_code_or_by_a_shell(name: str) -> None:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in ("eval", "exec", "os.system", "os.popen"), f"{name}:{node.lineno}: {called}"
            is_shell = any(word.arg == "shell" for word in node.keywords)
            assert not is_shell, f"{name}:{node.lineno}: a shell would read paths and titles as commands"


@pytest.mark.parametrize("name", NAMES)
def test_a_module_has_one_noun(name: str) -> None:
    text = (PACKAGE / name).read_text(encoding="utf-8")
    stem = Path(name).stem
    for word in ("utils", "util", "helpers", "helper", "manager", "common", "misc"):
        assert word not in stem.split("_"), f"{name}: name it after what it owns"
    lines = text.count("\n") + 1
    assert lines <= MAX_LINES, f"{name}: {lines} lines; which second noun hides inside?"
    assert not text.strip() or ast.get_docstring(ast.parse(text)), f"{name}: says not what it owns"


@pytest.mark.parametrize("name", NAMES)
def test_functions_fit_on_a_screen(name: str) -> None:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            body = node.end_lineno - node.body[0].lineno + 1
            assert body <= 60, f"{name}:{node.lineno}: {node.name} has {body} lines"
