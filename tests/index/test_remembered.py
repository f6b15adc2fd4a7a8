"""A folder of which only what changed is listed again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from remvault.index.remembered import RememberedFolder
from remvault.store.trees import DirectoryTree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path in ("top.md", "global/a.md", "global/b.md", "project/acme/c.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    (tmp_path / "project/acme/link.md").symlink_to("c.md")
    return tmp_path


def same(folder: RememberedFolder, root: Path) -> bool:
    found, wanted = folder.scan(), DirectoryTree(root).scan()
    return found.files == wanted.files and found.skipped == wanted.skipped


def test_the_first_scan_lists_everything(root: Path) -> None:
    folder = RememberedFolder(root)
    folder.touch(["global/a.md"])
    assert same(folder, root)


def test_what_was_touched_is_listed_again_and_the_rest_is_remembered(root: Path) -> None:
    folder = RememberedFolder(root)
    before = folder.scan().files
    (root / "global/a.md").write_text("changed")
    (root / "global/new.md").write_text("new")
    (root / "global/b.md").unlink()
    (root / "project/acme/link.md").unlink()
    (root / "top.md").write_text("changed too")

    folder.touch(["global/a.md"])
    found = folder.scan()

    assert found.files.keys() == {"top.md", "global/a.md", "global/new.md", "project/acme/c.md"}
    assert found.files["top.md"] == before["top.md"]  # nobody said so
    assert found.files["global/a.md"].size == len("changed")
    assert [one.path for one in found.skipped] == ["project/acme/link.md"]
    folder.touch(["top.md", "project/acme/link.md"])
    assert same(folder, root)


def test_sizes_are_those_last_listed(root: Path) -> None:
    folder = RememberedFolder(root)
    assert folder.size_of("global/a.md") is None
    folder.scan()
    (root / "global/a.md").write_text("x")
    assert (folder.size_of("global/a.md"), folder.size_of("top.md"), folder.size_of("none.md")) == (11, 6, None)
    folder.forget()
    assert folder.size_of("global/a.md") is None


def test_a_second_look_is_one_at_everything(root: Path) -> None:
    folder = RememberedFolder(root)
    folder.scan()
    (root / "top.md").unlink()
    folder.touch(["global/a.md"])
    assert "top.md" in folder.scan().files
    assert same(folder, root)


def test_what_was_forgotten_is_listed_again(root: Path) -> None:
    folder = RememberedFolder(root)
    folder.scan()
    (root / "top.md").unlink()
    folder.forget()
    folder.touch([])
    assert same(folder, root)


@pytest.mark.parametrize("path", ["other/x.md", "global/deep/x.md", ".obsidian/x.md", "nested/x.md", "/elsewhere/x.md"])
def test_folders_that_are_not_known_are_looked_at_from_the_top(root: Path, path: str) -> None:
    folder = RememberedFolder(root)
    folder.scan()
    (root / "nested/.git").mkdir(parents=True)
    (root / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
    (root / path.lstrip("/")).write_text("x")
    folder.touch([path])
    assert same(folder, root)


def test_a_folder_that_went_away_is_empty(root: Path) -> None:
    folder = RememberedFolder(root)
    folder.scan()
    shutil.rmtree(root / "global")
    folder.touch(["global/a.md", "global/b.md"])
    assert same(folder, root)


def test_a_folder_that_became_a_link_is_not_followed(root: Path, tmp_path: Path) -> None:
    folder = RememberedFolder(root)
    folder.scan()
    (root / "global").rename(tmp_path / ".moved")
    (root / "global").symlink_to(tmp_path / ".moved")
    folder.touch(["global/a.md"])
    assert not any(path.startswith("global/") for path in folder.scan().files)


def test_reading_is_never_from_memory(root: Path) -> None:
    folder = RememberedFolder(root)
    folder.scan()
    (root / "top.md").write_text("now")
    assert folder.read("top.md") == b"now"
