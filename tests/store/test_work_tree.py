"""Git facts read from files: always the same answer as git's own."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from remvault.errors import GitError
from remvault.store.work_tree import (
    busy_with,
    child_environment,
    find_work_tree,
    git_config,
    head,
    is_true,
    syncs_objects,
)
from tests.vaults import git


def commit(repo: Path, name: str = "a.txt") -> str:
    (repo / name).write_text(name)
    git(repo, "add", name)
    git(repo, "commit", "-q", "-m", name)
    return git(repo, "rev-parse", "HEAD").strip()


def test_r75_the_same_work_tree_is_found_from_everywhere_inside(repo: Path, tmp_path: Path) -> None:
    deep = repo / "docs" / "mem"
    deep.mkdir(parents=True)
    (tmp_path / "door").symlink_to(deep)

    found = {find_work_tree(start) for start in (repo, deep, tmp_path / "door", tmp_path / "door" / ".")}

    assert len(found) == 1
    tree = found.pop()
    assert tree is not None
    assert (tree.root, tree.git_dir, tree.common_dir) == (repo, repo / ".git", repo / ".git")


def test_outside_any_repository_there_is_no_work_tree(repo: Path, tmp_path: Path) -> None:
    assert find_work_tree(tmp_path) is None
    assert find_work_tree(repo / ".git" / "hooks") is None
    assert find_work_tree(tmp_path / "gone") is None


def test_git_variables_of_a_hook_do_not_name_the_work_tree(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))

    tree = find_work_tree(repo)

    assert tree is not None
    assert tree.root == repo


def test_a_linked_work_tree_has_its_own_git_dir_and_the_common_one(repo: Path, tmp_path: Path) -> None:
    commit(repo)
    git(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))

    tree = find_work_tree(tmp_path / "side")

    assert tree is not None
    assert tree.git_dir == repo / ".git" / "worktrees" / "side"
    assert tree.common_dir == repo / ".git"
    assert head(tree).branch == "side"


def test_a_separate_git_dir_and_a_submodule_are_followed(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "kept.git"), str(tmp_path / "tree"))
    commit(repo)
    outer = tmp_path / "outer"
    git(tmp_path, "init", "-q", str(outer))
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo), "inner")

    separate, inner = find_work_tree(tmp_path / "tree"), find_work_tree(outer / "inner")

    assert separate is not None
    assert separate.git_dir == tmp_path / "kept.git"
    assert inner is not None
    assert inner.root == outer / "inner"
    assert inner.git_dir == outer / ".git" / "modules" / "inner"


def test_a_git_file_that_points_nowhere_does_not_give_the_outer_repository(repo: Path) -> None:
    (repo / "broken").mkdir()
    (repo / "broken" / ".git").write_text("gitdir: ../gone\n")

    assert find_work_tree(repo / "broken") is None


def test_head_is_read_unborn_loose_packed_and_detached(repo: Path) -> None:
    tree = find_work_tree(repo)
    assert tree is not None
    assert (head(tree).branch, head(tree).commit, head(tree).detached) == ("main", None, False)

    first = commit(repo)
    assert (head(tree).branch, head(tree).commit) == ("main", first)

    git(repo, "pack-refs", "--all")
    assert not (repo / ".git" / "refs" / "heads" / "main").exists()
    assert head(tree).commit == first

    git(repo, "checkout", "-q", "-b", "feature/x")
    second = commit(repo, "b.txt")
    assert (head(tree).branch, head(tree).commit) == ("feature/x", second)

    git(repo, "checkout", "-q", "--detach")
    assert (head(tree).branch, head(tree).commit, head(tree).detached) == (None, second, True)


def test_a_damaged_head_is_an_error_that_says_so(repo: Path) -> None:
    tree = find_work_tree(repo)
    assert tree is not None
    (repo / ".git" / "HEAD").write_text("rubbish")

    with pytest.raises(GitError, match="damaged"):
        head(tree)


def test_settings_of_git_come_from_every_level_and_the_last_wins(repo: Path, home: Path) -> None:
    git(repo, "config", "user.email", "local@example.org")
    git(repo, "config", "remote.origin.url", "git@example.org:acme/api.git")
    git(repo, "config", "remvault.project", "acme-api")
    (home / "extra").write_text("[commit]\n\tgpgsign\n")
    git(repo, "config", "include.path", str(home / "extra"))

    found = git_config(repo, os.environ)

    assert found["user.name"] == "Dana"
    assert found["user.email"] == "local@example.org"
    assert found["remote.origin.url"] == "git@example.org:acme/api.git"
    assert found["remvault.project"] == "acme-api"
    assert is_true(found["commit.gpgsign"])
    assert "core.bare" not in found


def test_settings_without_any_repository_are_the_users(tmp_path: Path) -> None:
    assert git_config(tmp_path, os.environ)["user.name"] == "Dana"


def test_r28_children_are_bound_to_no_repository() -> None:
    given = {"GIT_DIR": "x", "GIT_INDEX_FILE": "y", "GIT_WORK_TREE": "z", "GIT_PREFIX": "p", "PATH": "/bin"}
    given |= {"GIT_AUTHOR_NAME": "Dana", "GIT_CONFIG_GLOBAL": "/cfg"}

    made = child_environment(given)

    assert not {"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX"} & set(made)
    assert (made["PATH"], made["GIT_AUTHOR_NAME"], made["GIT_CONFIG_GLOBAL"]) == ("/bin", "Dana", "/cfg")


@pytest.mark.parametrize(
    ("value", "on"),
    [("true", True), ("Yes", True), ("1", True), ("10", True), ("0", False), ("off", False), ("", False)],
)
def test_switches_are_read_as_git_reads_them(value: str, on: bool) -> None:
    assert is_true(value) is on


@pytest.mark.parametrize(
    ("config", "syncs"),
    [
        ({}, False),
        ({"core.fsync": "committed,-loose-object"}, False),
        ({"core.fsync": "committed"}, True),
        ({"core.fsync": "none"}, False),
        ({"core.fsyncobjectfiles": "true"}, True),
    ],
)
def test_objects_are_as_safe_from_a_power_cut_as_git_is_set_to_make_them(config: dict[str, str], syncs: bool) -> None:
    assert syncs_objects(config) is syncs


def diverge(repo: Path) -> None:
    commit(repo, "base.txt")
    for branch, text in (("one", "1"), ("two", "2")):
        git(repo, "checkout", "-q", "-b", branch, "main")
        (repo / "base.txt").write_text(text)
        git(repo, "commit", "-q", "-a", "-m", branch)


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (("merge", "one"), "a merge"),
        (("rebase", "one"), "a rebase"),
        (("cherry-pick", "one"), "a cherry-pick"),
        (("revert", "--no-edit", "one"), "a revert"),
        (("bisect", "start", "HEAD", "main"), "a bisect"),
    ],
)
def test_what_git_is_busy_with_is_named(repo: Path, command: tuple[str, ...], named: str) -> None:
    diverge(repo)
    tree = find_work_tree(repo)
    assert tree is not None
    assert busy_with(tree) is None

    git(repo, *command, check=False)

    assert (busy_with(tree) or "").startswith(named)


def test_r23_a_left_over_lock_is_named_with_its_age(repo: Path) -> None:
    tree = find_work_tree(repo)
    assert tree is not None
    lock = repo / ".git" / "index.lock"
    lock.touch()

    later = datetime.now(UTC) + timedelta(seconds=90)

    said = busy_with(tree, now=later) or ""
    assert str(lock) in said
    assert "age 90 s" in said or "age 89 s" in said
    lock.unlink()
    assert busy_with(tree) is None


def test_git_missing_is_one_clear_error(repo: Path, tmp_path: Path) -> None:
    assert shutil.which("git")

    with pytest.raises(GitError, match="not installed"):
        git_config(repo, {"PATH": str(tmp_path)})
