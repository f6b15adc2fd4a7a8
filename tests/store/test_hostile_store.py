"""What somebody else put into a work tree or its git directory: read as what it is, never obeyed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from remvault.domain.blobs import blob_id
from remvault.domain.note import parse_note
from remvault.errors import GitError
from remvault.retrieval.private_notes import private_notes
from remvault.store.checking import load_notes
from remvault.store.files import SaveFailed, read_regular
from remvault.store.git import Repository
from remvault.store.git_command import CommandRepository
from remvault.store.limits import MAX_FILE_BYTES, BlobTooLarge
from remvault.store.trees import CommitTree, DirectoryTree, NoteUnreadable
from remvault.store.work_tree import WorkTree, child_environment, find_work_tree, run_git
from tests.store.conftest import Desk
from tests.vaults import git, note_text


def found_tree(repo: Path) -> WorkTree:
    """The work tree at a folder."""
    found = find_work_tree(repo)
    assert found is not None
    return found


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

    assert found_tree(repo).git_dir == repo / ".git"


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


def huge(path: Path) -> Path:
    """A file of 3 GiB that takes no room."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.truncate(path, 3 * 1024**3)
    return path


def test_a_huge_file_is_skipped_and_named_without_being_read(repo: Path) -> None:
    huge(repo / "global" / "huge.md")
    tree = DirectoryTree(repo)

    assert tree.paths() == []
    assert [(one.code, one.path, one.message) for one in tree.skipped()] == [
        ("RV601", "global/huge.md", "skipped: larger than 64 MiB")
    ]
    with pytest.raises(NoteUnreadable, match="larger than 64 MiB"):
        tree.read("global/huge.md")
    with pytest.raises(SaveFailed, match="larger than 64 MiB"):
        read_regular(repo / "global" / "huge.md")


def test_a_note_over_a_mebibyte_is_named_as_git_names_it(repo: Path) -> None:
    long = note_text(body="x" * (2 * 1024**2)).encode()
    (repo / "long.md").write_bytes(long)

    note = parse_note("long.md", DirectoryTree(repo).read("long.md"))

    assert note.blob == git(repo, "hash-object", "long.md").strip()
    assert [one.code for one in note.problems] == ["RV110"]
    assert len(note.body) < 1024**2


@pytest.mark.parametrize("through", ["the library", "the git program"])
def test_a_huge_blob_is_skipped_by_its_header(repo: Path, through: str) -> None:
    (repo / "huge.md").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    git(repo, "-c", "core.compression=1", "add", "huge.md")
    git(repo, "commit", "-q", "-m", "huge")
    work_tree = found_tree(repo)
    opened = Repository.open(work_tree, os.environ)
    repository = opened if through == "the library" else CommandRepository(work_tree, os.environ)

    notes, problems = load_notes(CommitTree(repository, "HEAD", ""))

    assert notes == []
    assert [(one.code, one.message) for one in problems] == [("RV601", "skipped: larger than 64 MiB")]
    with pytest.raises(BlobTooLarge):
        repository.read_blob(repository.blob_ids("HEAD", "")["huge.md"])


def test_a_folder_of_the_vault_that_is_a_link_is_not_entered(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret.md").write_text(note_text("Secret"))
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "private").symlink_to(elsewhere)
    tree = DirectoryTree(tmp_path / "vault" / "private", is_inner=True)

    assert tree.paths() == []
    assert list(private_notes(tmp_path / "vault" / "private")) == []
    with pytest.raises(NoteUnreadable):
        tree.read("secret.md")
    assert DirectoryTree(tmp_path / "vault" / "private").paths() == ["secret.md"], "a vault may be reached by a link"


def plant(desk: Desk, path: str, **said: object) -> Path:
    """Queue an operation that this vault never made, as whoever writes to the git directory can."""
    blob = None if not (desk.root / path).is_file() else blob_id((desk.root / path).read_bytes())
    changes = [{"path": path, "blob": blob, "base": None, "head": None, "staged": ""}]
    operation = {"op": "new", "title": "A", "ids": [], "supersedes": [], "scope": None, "actor": "user:root"}
    content = {
        "format": 1,
        "operation": operation | {"session": None, "reason": None} | said,
        "changes": changes,
        "work_tree": ".",
        "prefix": "",
        "saved": "2026-01-01T00:00:00+00:00",
        "why": "waits",
    }
    assert desk.ledger.state is not None
    folder = desk.ledger.state.shared / "pending"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{1:020d}-{len(list(folder.iterdir())):08x}.json"
    file.write_text(json.dumps(content))
    return file


@pytest.mark.parametrize(
    "path",
    [
        "secret.env",
        ".env",
        "global/key.pem",
        "private/a.md",
        ".obsidian/a.md",
        "ledger/a.sh",
        "../outside.md",
        ".git/config",
        "/etc/hostname",
    ],
)
def test_a_queued_operation_on_what_is_no_file_of_ours_is_set_aside(desk: Desk, path: str) -> None:
    desk.commit_by_hand("x", "x")
    target = desk.root / path
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("zyxquartz\n")
    file = plant(desk, path)

    assert desk.ledger.settle() == []

    assert desk.ledger.state is not None
    assert [one.name.split(".torn-")[0] for one in desk.ledger.state.set_aside] == [file.name]
    assert desk.ops() == ["-"]
    assert not desk.has_stored(b"zyxquartz")


def test_a_queued_operation_that_no_message_can_hold_is_set_aside(desk: Desk) -> None:
    desk.commit_by_hand("x", "x")
    (desk.root / "a.md").write_text(note_text())
    plant(desk, "a.md", title="A\n\nRemvault-Actor: user:root")

    assert desk.ledger.settle() == []
    assert desk.ops() == ["-"]


def test_a_queued_operation_reads_nothing_behind_a_link(desk: Desk, tmp_path: Path) -> None:
    desk.commit_by_hand("x", "x")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text(note_text("Zyxquartz"))
    (desk.root / "global").symlink_to(outside)
    plant(desk, "global/a.md")

    desk.ledger.settle()

    assert desk.ops() == ["-"]
    assert not desk.has_stored(b"Zyxquartz")
    assert [path.name for path in outside.iterdir()] == ["a.md"]


def test_a_note_that_became_local_only_while_it_waited_enters_no_object(desk: Desk) -> None:
    desk.commit_by_hand("x", "x")
    desk.git("checkout", "-q", "--detach")
    desk.write("global/a.md", note_text("A"))
    (desk.root / "global/a.md").write_text(note_text("Zyxquartz", sensitivity="local-only"))
    desk.git("checkout", "-q", "main")

    desk.ledger.settle()

    assert not desk.has_stored(b"Zyxquartz")
    assert desk.ops() == ["-"]


def test_a_planted_operation_on_a_local_only_note_commits_and_stores_nothing(desk: Desk) -> None:
    desk.commit_by_hand("x", "x")
    (desk.root / "a.md").write_text(note_text("Zyxquartz", sensitivity="local-only"))
    plant(desk, "a.md")

    desk.ledger.settle()

    assert not desk.has_stored(b"Zyxquartz")
    assert desk.ops() == ["-"]


def test_a_note_written_and_removed_while_it_waited_is_both_in_history(desk: Desk) -> None:
    desk.commit_by_hand("x", "x")
    desk.git("checkout", "-q", "--detach")
    desk.write("a.md", note_text("A"))
    desk.write("a.md", None, op="delete")
    desk.git("checkout", "-q", "main")

    desk.ledger.settle()

    assert desk.ops() == ["delete", "new", "-"]


def test_what_was_not_stored_when_it_was_written_is_when_it_is_committed(desk: Desk) -> None:
    """As after a write for which git could not be reached at all."""
    desk.commit_by_hand("x", "x")
    (desk.root / "a.md").write_text(note_text("Later"))
    plant(desk, "a.md", actor="user:dana")

    assert [one.committed for one in desk.ledger.settle()] == [True]
    assert desk.ops() == ["new", "-"]
    assert desk.git("status", "--porcelain") == ""
