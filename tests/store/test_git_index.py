"""The staged index: our entries follow, every other entry stays byte for byte, whatever kind of index it is."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from remvault.domain.blobs import blob_id
from remvault.store.git import Repository
from remvault.store.index_file import IndexFile
from remvault.store.index_format import Index, StagedFile, UnknownIndex
from remvault.store.own_lock import LockHeld
from remvault.store.repository import GitRepository, IndexLocked
from remvault.store.work_tree import busy_with, find_work_tree
from tests.store.conftest import Desk
from tests.vaults import git, note_text


def opened(repo: Path) -> GitRepository:
    tree = find_work_tree(repo)
    assert tree is not None
    return Repository.open(tree, os.environ)


def fill(repo: Path, count: int = 60) -> None:
    for number in range(count):
        path = repo / f"d{number % 7}" / f"s{number % 3}" / f"note-{number}{'x' * (number % 11)}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(number))
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "x")
    git(repo, "status")


def test_entries_set_and_removed_are_what_git_then_reads(repo: Path) -> None:
    fill(repo)
    names = git(repo, "ls-files").split("\n")[:-1]
    chance = random.Random(7)
    for _ in range(12):
        changes: dict[str, str | None] = {}
        for name in chance.sample(names, 3):
            changes[name] = None
        for _ in range(3):
            name = f"d{chance.randrange(9)}/{'y' * chance.randrange(1, 40)}.md"
            (repo / name).parent.mkdir(exist_ok=True)
            (repo / name).write_text(name)
            changes[name] = blob_id(name.encode())
        before = dict(line.split("\t")[::-1] for line in git(repo, "ls-files", "-s").splitlines())

        opened(repo).stage(changes)

        wanted = before | {path: f"100644 {blob} 0" for path, blob in changes.items() if blob}
        wanted = {path: entry for path, entry in wanted.items() if changes.get(path, "") is not None}
        assert dict(line.split("\t")[::-1] for line in git(repo, "ls-files", "-s").splitlines()) == wanted
        assert git(repo, "diff-files", "--name-only") == "", "the times of our entries are those of the files"
        names = sorted(wanted)
    for name in names:
        git(repo, "hash-object", "-w", name)
    built = git(repo, "write-tree").strip()
    (repo / ".git/index").unlink()
    git(repo, "add", "-A")
    git(repo, "rm", "-q", "--cached", *sorted(set(git(repo, "ls-files").split("\n")[:-1]) - set(names)))
    assert git(repo, "write-tree").strip() == built, "cached trees above our paths were not trusted"


@pytest.mark.parametrize("kind", ["version 4", "split", "sparse"])
def test_kinds_of_index_we_do_not_edit_are_edited_by_git(repo: Path, kind: str) -> None:
    fill(repo)
    if kind == "version 4":
        git(repo, "update-index", "--index-version", "4")
    elif kind == "split":
        git(repo, "update-index", "--split-index")
    else:
        git(repo, "sparse-checkout", "set", "--cone", "--sparse-index", "d1")
    (repo / "d1" / "new.md").write_text("new")
    before = git(repo, "ls-files", "-s")

    repository = opened(repo)
    blob = repository.write_blob(b"new")
    repository.stage({"d1/new.md": blob})

    assert repository.staged_blobs(["d1/new.md", "none.md"]) == {"d1/new.md": blob, "none.md": None}
    assert git(repo, "ls-files", "-s").replace(f"100644 {blob} 0\td1/new.md\n", "") == before
    assert git(repo, "status", "--porcelain") == "A  d1/new.md\n"


@pytest.mark.parametrize("kind", ["version 4", "split"])
def test_a_commit_works_with_every_kind_of_index(desk: Desk, kind: str) -> None:
    desk.commit_by_hand("x", "x")
    desk.git("update-index", *(("--index-version", "4") if kind == "version 4" else ("--split-index",)))

    assert desk.write("global/a.md", note_text()).committed
    assert desk.git("status", "--porcelain") == ""


def test_a_lock_of_a_running_command_is_respected(repo: Path) -> None:
    fill(repo, 3)
    (repo / ".git/index.lock").write_text("theirs")
    before = (repo / ".git/index").read_bytes()

    with pytest.raises(LockHeld):
        IndexFile(repo / ".git", repo).swap({"a.md": StagedFile("0" * 40, 0o100644, None)})
    with pytest.raises(IndexLocked):
        opened(repo).stage({"a.md": "0" * 40})

    assert (repo / ".git/index.lock").read_text() == "theirs"
    assert (repo / ".git/index").read_bytes() == before


def test_a_lock_our_killed_process_left_is_known_as_ours_and_cleared(desk: Desk) -> None:
    desk.commit_by_hand("x", "x")
    part, lock = desk.root / ".git/index.remvault", desk.root / ".git/index.lock"
    part.write_text("half")
    os.link(part, lock)
    tree = find_work_tree(desk.root)
    assert tree is not None
    assert busy_with(tree) is None

    assert desk.write("global/a.md", note_text()).committed

    assert not part.exists()
    assert not lock.exists()
    assert desk.git("status", "--porcelain") == ""


def test_a_change_the_person_made_within_the_second_of_git_add_is_still_seen(repo: Path) -> None:
    # Git keeps times to the second: it sees this change only because the entry is no older than the index.
    for round_ in range(5):
        (repo / "code.py").write_text(f"one {round_}")
        git(repo, "add", "code.py")
        (repo / "code.py").write_text(f"two {round_}")
        (repo / "a.md").write_text(str(round_))

        opened(repo).stage({"a.md": blob_id(str(round_).encode())})

        assert git(repo, "diff", "--name-only") == "code.py\n"


def test_an_index_that_makes_no_sense_is_left_alone(repo: Path) -> None:
    fill(repo, 3)
    data = (repo / ".git/index").read_bytes()
    for bad in (b"rubbish" * 20, data[: len(data) // 2], b"DIRC" + b"\xff" * 60):
        with pytest.raises(UnknownIndex):
            Index(bad)
    assert Index(b"").find("a.md") is None


def test_conflicts_count_as_staged_by_the_person(repo: Path) -> None:
    fill(repo, 1)
    blobs = [opened(repo).write_blob(text) for text in (b"a", b"b", b"c")]
    lines = "".join(f"100644 {blob} {side}\ta.md\n" for side, blob in enumerate(blobs, 1))
    subprocess.run(["git", "update-index", "--index-info"], cwd=repo, input=lines, text=True, check=True)

    repository = opened(repo)

    assert repository.staged_blobs(["a.md"]) == {"a.md": ""}
    assert repository.staged_blob_ids("")["a.md"] == blobs[1]
