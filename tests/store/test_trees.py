"""Where notes are read from: one contract for every tree, and what a folder scan refuses."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from remvault.store.note_paths import PathRefused, is_note_path, name_key
from remvault.store.trees import DirectoryTree, MemoryTree, NoteMissing, NoteUnreadable


def put(root: Path, path: str, data: bytes = b"x\n") -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def test_a_scan_lists_notes_in_every_folder_but_those_set_apart(tmp_path: Path) -> None:
    for path in ("a.md", "global/b.md", "project/x/c.md", "global/inbox/d.md", "e.txt"):
        put(tmp_path, path)
    for path in ("private/p.md", "inbox/i.md", "handoffs/h.md", "ledger/l.md", ".obsidian/o.md", "global/.trash/t.md"):
        put(tmp_path, path)

    assert DirectoryTree(tmp_path).paths() == ["a.md", "global/b.md", "global/inbox/d.md", "project/x/c.md"]


def test_a_scan_tells_size_time_and_inode(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"12345")

    found = DirectoryTree(tmp_path).scan().files["a.md"]

    real = (tmp_path / "a.md").stat()
    assert found == (5, real.st_mtime_ns, real.st_ctime_ns, real.st_ino)


def test_r18_links_pipes_and_sockets_are_named_and_never_opened(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    put(root, "global/real.md")
    (root / "loop").symlink_to(".")
    (root / "up").symlink_to("..")
    (root / "leak.md").symlink_to("/etc/hostname")
    (root / "dev.md").symlink_to("/dev/zero")
    (root / "dangling.md").symlink_to("nowhere")
    os.mkfifo(root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "s.md"))

    tree = DirectoryTree(root)

    assert tree.paths() == ["global/real.md"]
    reasons = {problem.path: problem.message for problem in tree.skipped()}
    assert set(reasons) == {"loop", "up", "leak.md", "dev.md", "dangling.md", "pipe.md", "s.md"}
    assert "link" in reasons["leak.md"]
    assert "not a regular file" in reasons["pipe.md"]
    for path in ("leak.md", "dev.md", "pipe.md", "s.md", "up/vault/global/real.md", "dangling.md"):
        with pytest.raises(NoteMissing):
            tree.read(path)


def test_r32_a_nested_repository_is_skipped_and_named(tmp_path: Path) -> None:
    put(tmp_path, "global/mine.md")
    put(tmp_path, "other/.git/HEAD")
    put(tmp_path, "other/theirs.md")
    put(tmp_path, "linked/.git", b"gitdir: elsewhere\n")
    put(tmp_path, "linked/theirs.md")

    tree = DirectoryTree(tmp_path)

    assert tree.paths() == ["global/mine.md"]
    assert [(problem.code, problem.path) for problem in tree.skipped()] == [("RV601", "linked"), ("RV601", "other")]


@pytest.mark.parametrize(
    "name",
    ["note~.md", ".#note.md", "4913", ".note.md.swp", "note.md~", "#note#.md", "~$note.md", "note_LOCAL_77.md", ".md"],
)
def test_r48_working_files_of_editors_are_not_notes(tmp_path: Path, name: str) -> None:
    put(tmp_path, "note.md")
    put(tmp_path, name)

    tree = DirectoryTree(tmp_path)

    assert tree.paths() == ["note.md"]
    assert tree.skipped() == []


OUTSIDE = (
    *("../../x", "/etc/hostname", "notes/../../x", "a\0b", "a\\..\\b", "C:/x.md", "", "a//b.md", "./a.md", "~/x.md"),
    *(".git/hooks/pre-commit", "x/.GIT/y.md", ".g\u200cit/config", "git~1/config"),
)


@pytest.mark.parametrize("path", OUTSIDE)
def test_r19_paths_that_walk_out_are_refused_before_any_open(tmp_path: Path, path: str) -> None:
    with pytest.raises(PathRefused):
        DirectoryTree(tmp_path).read(path)


def test_a_note_behind_a_linked_folder_is_not_read(tmp_path: Path) -> None:
    put(tmp_path, "outside/secret.md", b"secret")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "door").symlink_to(tmp_path / "outside")

    with pytest.raises(NoteUnreadable) as caught:
        DirectoryTree(tmp_path / "vault").read("door/secret.md")

    assert "link" in caught.value.reason


def test_r15_both_forms_of_an_accented_name_are_read_and_share_one_key(tmp_path: Path) -> None:
    put(tmp_path, "caf\u00e9.md", b"composed")
    put(tmp_path, "cafe\u0301.md", b"decomposed")

    tree = DirectoryTree(tmp_path)

    assert [tree.read(path) for path in tree.paths()] == [b"decomposed", b"composed"]
    assert len({name_key(path) for path in tree.paths()}) == 1
    assert name_key("Deploy.md") == name_key("deploy.md")


def test_a_name_that_is_not_utf8_is_named_not_read(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_bytes(b"x")

    scan = DirectoryTree(tmp_path).scan()

    assert scan.files == {}
    assert scan.skipped[0].path == "caf\\xe9.md"


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_does_not_hide_the_others(tmp_path: Path) -> None:
    put(tmp_path, "closed/a.md")
    put(tmp_path, "open/b.md")
    (tmp_path / "closed").chmod(0)

    tree = DirectoryTree(tmp_path)

    assert tree.paths() == ["open/b.md"]
    assert tree.skipped()[0].path == "closed"
    (tmp_path / "closed").chmod(0o755)


def test_a_missing_root_is_an_empty_tree_that_says_so(tmp_path: Path) -> None:
    scan = DirectoryTree(tmp_path / "gone").scan()

    assert scan.files == {}
    assert "cannot be read" in scan.skipped[0].message


def test_memory_and_folder_agree_on_what_a_note_is(tmp_path: Path) -> None:
    notes = {path: path.encode() for path in ("a.md", "x/b.md", "private/c.md", ".d.md", "e.txt", "x/.y/f.md")}
    for path, data in notes.items():
        put(tmp_path, path, data)

    folder, memory = DirectoryTree(tmp_path), MemoryTree(notes)

    assert folder.paths() == memory.paths() == [path for path in sorted(notes) if is_note_path(path)]
    assert [folder.read(path) for path in folder.paths()] == [memory.read(path) for path in memory.paths()]
    for tree in (folder, memory):
        with pytest.raises(NoteMissing):
            tree.read("none.md")


def test_a_folder_of_its_own_that_is_a_link_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/e.md").write_text("secret")
    (tmp_path / "vault/linked").symlink_to(tmp_path / "elsewhere")
    assert DirectoryTree(tmp_path / "vault").scan_folders(["linked"]).files == {}
