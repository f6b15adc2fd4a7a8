"""What somebody else put into a work tree or its git directory: read as what it is, never obeyed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from remvault.errors import GitError
from remvault.store.work_tree import child_environment, find_work_tree, run_git
from tests.vaults import git


def script(path: Path, *lines: str) -> Path:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(0o755)
    return path


def test_committed_files_that_look_like_a_git_directory_do_not_hide_the_repository(repo: Path) -> None:
    for name in ("objects", "refs"):
        (repo / name).mkdir()
    (repo / "HEAD").write_text("ref: refs/heads/main\n")

    found = find_work_tree(repo)

    assert found is not None
    assert found.git_dir == repo / ".git"


def test_a_file_system_monitor_that_the_repository_names_is_not_run(repo: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    git(repo, "config", "core.fsmonitor", str(script(tmp_path / "monitor", f"touch {mark}")))

    run_git(repo, ["status"], os.environ)

    assert not mark.exists()


def test_what_only_looks_runs_no_hook(repo: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    script(repo / ".git" / "hooks" / "post-index-change", f"touch {mark}")
    git(repo, "commit", "-q", "--allow-empty", "-m", "x")
    mark.unlink(missing_ok=True)

    run_git(repo, ["read-tree", "HEAD"], os.environ)

    assert not mark.exists()


def test_a_git_that_never_ends_is_an_error_of_git(repo: Path, tmp_path: Path) -> None:
    script(tmp_path / "bin" / "git", "exec sleep 20")
    environ = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}

    with pytest.raises(GitError, match=r"git log took longer than 0\.1 s"):
        run_git(repo, ["-c", "a.b=c", "log"], environ, timeout_s=0.1)


def test_git_neither_asks_nor_fetches_on_our_behalf() -> None:
    assert child_environment({"GIT_NO_LAZY_FETCH": "0"}).items() >= {
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
    }
