"""The startup law: what a command may load. Loading costs more than most commands take."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.vaults import git, note_text

ROOT = Path(__file__).parent.parent
HEAVY = {
    "pygit2",
    "whoosh",
    "frontmatter",
    "typer",
    "rich",
    "pydantic",
    "hypothesis",
    "watchdog",
    "tree_sitter",
    "mcp",
    "yaml",
    "asyncio",
    "urllib.request",
    "multiprocessing",
}


def _loaded(code: str, cwd: Path) -> set[str]:
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], cwd=cwd, env=env, capture_output=True, text=True, check=True)
    return {name for name in done.stderr.split() if name in HEAVY}


def _run(*args: str) -> str:
    return f"from remvault.surfaces.cli.program import run\nassert run({list(args)!r}) == 0"


@pytest.fixture
def indexed(repo: Path) -> Path:
    import remvault

    remvault.init(str(repo))
    (repo / "note.md").write_text(note_text("Deploys", body="on tuesday\n"))
    # Old enough that its time stamp cannot hide a change, so that the second read has nothing to hash.
    os.utime(repo / "note.md", (1_600_000_000, 1_600_000_000))
    vault = remvault.open_vault(str(repo))
    remvault.search(vault, "tuesday")
    return repo


def test_importing_the_library_loads_nothing_heavy(tmp_path: Path) -> None:
    assert _loaded("import remvault", tmp_path) == set()


def test_a_search_where_nothing_changed_loads_neither_git_nor_yaml(indexed: Path) -> None:
    assert _loaded(_run("search", "tuesday"), indexed) <= {"typer", "whoosh", "urllib.request"}


def test_anchors_load_no_grammar_where_there_are_none_or_the_cache_knows(indexed: Path) -> None:
    code = indexed.parent / "code"
    git(indexed.parent, "init", "-q", str(code))
    (code / "pay.py").write_text("def charge(card):\n    return card.take()\n")
    git(code, "add", "-A")
    git(code, "commit", "-qm", "code")
    assert "tree_sitter" not in _loaded(_run("surface", "tuesday"), indexed)
    assert "tree_sitter" not in _loaded(_run("stale"), indexed)
    git(code, "config", "remvault.project", "acme")
    note = note_text(
        "Charging", id="m-1", scope="project", scope_id="acme", anchors="[{at: pay.py#charge, digest: 't1:00'}]"
    )
    (indexed / "charging.md").write_text(note)
    os.utime(code / "pay.py", (1_600_000_000, 1_600_000_000))
    os.utime(indexed / "charging.md", (1_600_000_000, 1_600_000_000))
    first = _loaded(_run("--vault", str(indexed), "search", "charging"), code)
    assert "tree_sitter" in first  # the first look reads the code

    for verb in (("search", "charging"), ("surface", "charging"), ("search", "--file", "pay.py"), ("stale",)):
        assert _loaded(_run("--vault", str(indexed), *verb), code) <= {"typer", "whoosh", "urllib.request"}


def test_context_and_version_load_neither_index_nor_git(indexed: Path) -> None:
    assert _loaded(_run("context"), indexed) <= {"typer"}
    assert _loaded(_run("--version"), indexed) <= {"typer"}


def test_writing_loads_no_index(indexed: Path) -> None:
    assert "whoosh" not in _loaded(_run("new", "X", "--scope", "global"), indexed)


def test_the_hook_loads_no_typer_and_no_index(indexed: Path) -> None:
    code = "from remvault.surfaces.hooks import main\nassert main(['pre-commit']) == 0"

    assert _loaded(code, indexed) <= {"pygit2", "yaml"}
