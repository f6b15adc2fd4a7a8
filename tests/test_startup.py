"""The startup law: what a command may load. Loading costs more than most commands take."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.vaults import note_text

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


def test_context_and_version_load_neither_index_nor_git(indexed: Path) -> None:
    assert _loaded(_run("context"), indexed) <= {"typer"}
    assert _loaded(_run("--version"), indexed) <= {"typer"}


def test_writing_loads_no_index(indexed: Path) -> None:
    assert "whoosh" not in _loaded(_run("new", "X", "--scope", "global"), indexed)


def test_the_hook_loads_no_typer_and_no_index(indexed: Path) -> None:
    code = "from remvault.surfaces.hooks import main\nassert main(['pre-commit']) == 0"

    assert _loaded(code, indexed) <= {"pygit2", "yaml"}
