"""Reading the code: inside its work tree, regular files, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from remvault.store.code import CodeMissing, CodeRoot, CodeUnreadable
from remvault.store.work_tree import find_work_tree


@pytest.fixture
def root(repo: Path) -> CodeRoot:
    (repo / "src").mkdir()
    (repo / "src" / "a.py").write_bytes(b"a = 1\n")
    tree = find_work_tree(repo)
    assert tree is not None
    return CodeRoot(tree, os.environ)


def test_a_file_is_read_with_the_stat_it_had(root: CodeRoot) -> None:
    data, found = root.read("src/a.py")

    assert data == b"a = 1\n"
    now = root.stat("src/a.py")
    assert now is not None
    assert found == (6, now.st_mtime_ns, now.st_ctime_ns, now.st_ino)


@pytest.mark.parametrize("path", ["src/b.py", "src/a.py/x", "src", "lost/a.py"])
def test_what_is_not_there_or_a_folder_is_missing(root: CodeRoot, path: str) -> None:
    with pytest.raises(CodeMissing):
        root.read(path)


def test_a_link_inside_the_code_is_followed(root: CodeRoot) -> None:
    (root.root / "link.py").symlink_to("src/a.py")
    (root.root / "folder").symlink_to("src")

    assert root.read("link.py")[0] == root.read("folder/a.py")[0] == b"a = 1\n"


@pytest.mark.parametrize("target", ["../secret.py", "/etc/passwd"])
def test_a_link_that_leaves_the_code_is_not_followed(root: CodeRoot, target: str) -> None:
    (root.root.parent / "secret.py").write_text("token = 1\n")
    (root.root / "link.py").symlink_to(target)
    (root.root / "up").symlink_to("..")

    for path in ("link.py", "up/secret.py"):
        with pytest.raises(CodeUnreadable, match="a link leaves the code root"):
            root.read(path)


def test_a_sibling_folder_whose_name_begins_the_same_is_outside(root: CodeRoot) -> None:
    sibling = root.root.with_name(root.root.name + "-other")
    sibling.mkdir()
    (sibling / "a.py").write_text("a = 1\n")
    (root.root / "link").symlink_to(sibling)

    with pytest.raises(CodeUnreadable, match="leaves"):
        root.read("link/a.py")


def test_a_link_into_gits_own_folder_is_not_followed(root: CodeRoot) -> None:
    (root.root / "link").symlink_to(".git")

    with pytest.raises(CodeUnreadable, match="git's own folder"):
        root.read("link/HEAD")


def test_a_link_that_points_at_itself_or_nowhere_ends(root: CodeRoot) -> None:
    (root.root / "loop.py").symlink_to("loop.py")
    (root.root / "nowhere.py").symlink_to("nothing.py")

    with pytest.raises((CodeUnreadable, CodeMissing)):
        root.read("loop.py")
    with pytest.raises(CodeMissing):
        root.read("nowhere.py")


def test_a_pipe_is_never_waited_for(root: CodeRoot) -> None:
    os.mkfifo(root.root / "pipe.py")

    with pytest.raises(CodeUnreadable, match="not a regular file"):
        root.read("pipe.py")


@pytest.mark.parametrize("path", ["a\0b.py", "\udfff.py", "x" * 300, "a/" * 3000 + "b.py"])
def test_names_that_no_file_can_have_are_refused_without_failing(root: CodeRoot, path: str) -> None:
    assert root.stat(path) is None
    with pytest.raises((CodeUnreadable, CodeMissing)):
        root.read(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_says_so(root: CodeRoot) -> None:
    (root.root / "src" / "a.py").chmod(0)

    with pytest.raises(CodeUnreadable, match="ermission"):
        root.read("src/a.py")
