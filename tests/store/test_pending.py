"""What waits for its commit: named at once, committed by the next writing verb, never lost."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from remvault.domain.blobs import blob_id
from remvault.store.settling import settle
from tests.store.conftest import Desk, MakeDesk
from tests.vaults import git, note_text


def diverge(desk: Desk) -> None:
    desk.commit_by_hand("base.txt", "0")
    for branch in ("one", "two"):
        desk.git("checkout", "-q", "-b", branch, "main")
        desk.commit_by_hand("base.txt", branch)


@pytest.mark.parametrize(
    ("start", "finish", "named"),
    [
        (("merge", "one"), ("merge", "--abort"), "a merge is in progress"),
        (("rebase", "one"), ("rebase", "--abort"), "a rebase is in progress"),
        (("cherry-pick", "one"), ("cherry-pick", "--abort"), "a cherry-pick is in progress"),
        (("revert", "one"), ("revert", "--abort"), "a revert is in progress"),
        (("bisect", "start", "two", "main"), ("bisect", "reset"), "a bisect is in progress"),
    ],
)
def test_while_git_is_busy_a_note_is_saved_and_committed_afterwards(
    desk: Desk, start: tuple[str, ...], finish: tuple[str, ...], named: str
) -> None:
    diverge(desk)
    desk.git(*start, check=False)
    tip, staged = desk.git("rev-parse", "HEAD"), desk.git("ls-files", "-s")

    outcome = desk.write("global/a.md", note_text("A"))

    assert (outcome.saved, outcome.committed, outcome.commit) == (True, False, None)
    assert (outcome.pending or "").startswith(named)
    assert "\n" not in (outcome.pending or "")
    assert (desk.git("rev-parse", "HEAD"), desk.git("ls-files", "-s")) == (tip, staged)
    assert [one.why for one in desk.ledger.pending()] == [outcome.pending]
    desk.git(*finish)
    [settled] = desk.ledger.settle()
    assert settled.committed
    assert desk.ops()[0] == "new"
    assert desk.git("status", "--porcelain") == ""
    assert desk.ledger.pending() == []


def test_r23_a_left_over_lock_is_named_never_removed_and_the_next_command_commits_all(desk: Desk) -> None:
    desk.commit_by_hand("x", "x")
    lock = desk.root / ".git" / "index.lock"
    lock.touch()
    os.utime(lock, (time.time() - 100, time.time() - 100))

    begun = time.monotonic()
    outcomes = [desk.write(f"global/{name}.md", note_text(name)) for name in "abc"]

    assert time.monotonic() - begun < 1, "a left-over lock costs no waiting"
    assert all(one.saved and not one.committed for one in outcomes)
    assert str(lock) in (outcomes[0].pending or "")
    assert "age 10" in (outcomes[0].pending or "")
    assert lock.exists()
    lock.unlink()
    assert desk.write("global/d.md", note_text("d")).committed
    assert desk.ops() == ["new"] * 4 + ["-"]
    assert desk.git("log", "-4", "--reverse", "--format=", "--name-only").split() == [f"global/{x}.md" for x in "abcd"]
    assert desk.git("status", "--porcelain") == ""


def test_r25_on_a_detached_head_nothing_is_committed_and_the_branch_gets_it_later(desk: Desk) -> None:
    desk.commit_by_hand("x", "x")
    desk.git("checkout", "-q", "--detach")

    outcomes = [desk.write(f"global/{name}.md", note_text(name)) for name in "ab"]

    assert [one.pending for one in outcomes] == ["HEAD is detached: check out a branch, then run 'remvault status'"] * 2
    desk.git("checkout", "-q", "main")
    assert [one.committed for one in desk.ledger.settle()] == [True, True]
    assert desk.git("log", "--format=%s", "main").startswith("new: A memory\nnew: A memory\n")
    assert desk.git("status", "--porcelain") == ""


@pytest.mark.parametrize("name", [None, "", "   "])
def test_r22_without_an_identity_the_note_is_safe_and_the_answer_says_what_to_set(
    desk: Desk, home: Path, name: str | None
) -> None:
    config = "" if name is None else f'[user]\n\tname = "{name}"\n\temail = dana@example.org\n'
    (home / "gitconfig").write_text(config)

    outcome = desk.write("global/a.md", note_text("A"))

    assert (outcome.saved, outcome.committed) == (True, False)
    assert "git has no name for you" in (outcome.pending or "")
    assert "git config --global user.name" in (outcome.pending or "")
    assert desk.git("rev-parse", "-q", "--verify", "HEAD", check=False) == ""
    (home / "gitconfig").write_text("[user]\n\tname = Dana\n\temail = dana@example.org\n")
    assert [one.committed for one in desk.ledger.settle()] == [True]
    assert desk.ops() == ["new"]


def test_a_file_changed_since_is_committed_as_an_edit_and_the_earlier_text_never(desk: Desk) -> None:
    desk.commit_by_hand("x", "x")
    desk.git("checkout", "-q", "--detach")
    desk.write("global/a.md", note_text("A", body="with a pass" + "word\n"))
    (desk.root / "global/a.md").write_text(note_text("A", body="without\n"))
    desk.git("checkout", "-q", "main")

    [outcome] = desk.ledger.settle()

    assert outcome.committed
    assert desk.ops() == ["edit", "-"]
    assert desk.git("log", "-p", "--format=").count("password") == 0
    assert desk.git("status", "--porcelain") == ""


def test_a_note_written_twice_while_waiting_becomes_two_commits_in_order(desk: Desk) -> None:
    desk.commit_by_hand("x", "x")
    desk.git("checkout", "-q", "--detach")
    desk.write("global/a.md", note_text("A", body="one\n"))
    desk.write("global/a.md", note_text("A", body="two\n"), op="update")
    desk.git("checkout", "-q", "main")

    desk.write("global/a.md", note_text("A", body="three\n"), op="confirm")

    assert desk.ops() == ["confirm", "update", "new", "-"]
    assert desk.git("show", "HEAD~2:global/a.md").endswith("one\n")
    assert desk.git("status", "--porcelain") == ""


def test_what_the_person_committed_or_deleted_meanwhile_is_theirs(desk: Desk) -> None:
    desk.commit_by_hand("x", "x")
    desk.git("checkout", "-q", "--detach")
    for name in "ab":
        desk.write(f"global/{name}.md", note_text(name))
    desk.git("checkout", "-q", "main")
    (desk.root / "global/a.md").unlink()
    desk.git("add", "global/b.md")
    desk.git("commit", "-q", "-m", "mine")

    assert [(one.committed, one.commit) for one in desk.ledger.settle()] == [(True, None)]
    assert desk.ops() == ["-", "-"]
    assert desk.ledger.pending() == []


@pytest.mark.parametrize(
    "torn", [b"", b'{"format": 1, "operation": {"op"', b"\xff\x00\xfe" * 9, b"[]", b'{"format": 9}']
)
def test_r54_a_torn_file_is_set_aside_and_named_and_the_others_still_go(desk: Desk, torn: bytes) -> None:
    desk.commit_by_hand("x", "x")
    desk.git("checkout", "-q", "--detach")
    for name in "ab":
        desk.write(f"global/{name}.md", note_text(name))
    desk.git("checkout", "-q", "main")
    assert desk.ledger.state is not None
    first = min((desk.ledger.state.shared / "pending").iterdir())
    first.write_bytes(torn)

    outcomes = desk.ledger.settle()

    assert [one.committed for one in outcomes] == [True]
    [aside] = desk.ledger.state.set_aside
    assert aside.name.startswith(f"{first.name}.torn-")
    assert aside.read_bytes() == torn
    assert (desk.root / "global/a.md").exists()
    later = desk.write("global/a.md", note_text("a", body="more\n"), op="update")
    assert len(later.edits) == 1, "the note of the torn operation is found again from the disk"


def test_each_work_tree_and_vault_settles_its_own(desk: Desk, tmp_path: Path, make_desk: MakeDesk) -> None:
    desk.commit_by_hand("x", "x")
    desk.git("worktree", "add", "-q", "--detach", str(tmp_path / "side"))
    side, inner = make_desk(tmp_path / "side"), make_desk(desk.root / "inner")
    side.write("global/a.md", note_text("A"))

    assert (len(side.ledger.pending()), len(desk.ledger.pending()), len(inner.ledger.pending())) == (1, 0, 0)
    assert desk.ledger.settle() == inner.ledger.settle() == []
    assert git(desk.root, "status", "--porcelain") == ""
    side.git("checkout", "-q", "-b", "side")
    assert [one.committed for one in side.ledger.settle()] == [True]
    assert side.git("log", "-1", "--format=%s", "side") == "new: A memory\n"


def cut_short(desk: Desk, path: str, before: str | None, after: str) -> None:
    """Queue an operation as a process does that is killed right after."""
    ledger = desk.ledger
    assert ledger.state is not None
    from remvault.domain.commit_message import Operation
    from remvault.store.committing import Tracked

    base = None if before is None else blob_id(before.encode())
    files = [Tracked(path, blob_id(after.encode()), base)]
    ledger._enqueue(ledger.queue("pending"), Operation("new", "A"), files, {path: base}, why="", durable=False)


def test_a_write_killed_before_its_file_left_nothing_to_do(desk: Desk) -> None:
    desk.commit_by_hand("x", "x")
    cut_short(desk, "a.md", None, note_text())

    assert desk.ledger.settle() == []
    assert desk.ledger.pending() == []
    assert desk.ops() == ["-"]


def test_a_write_killed_between_commit_and_index_leaves_no_phantom_revert(desk: Desk) -> None:
    desk.write("a.md", note_text("A", body="one\n"))
    old, new = note_text("A", body="one\n"), note_text("A", body="two\n")
    cut_short(desk, "a.md", old, new)
    (desk.root / "a.md").write_text(new)
    desk.git("commit", "-q", "-o", "a.md", "-m", "ours")
    desk.git("read-tree", "HEAD~1")
    assert desk.git("status", "--porcelain") == "MM a.md\n"

    assert [one.committed for one in desk.ledger.settle()] == [True]

    assert desk.git("status", "--porcelain") == ""


def test_nothing_to_settle_takes_no_lock(desk: Desk) -> None:
    assert desk.ledger.settle() == []
    assert desk.ledger.state is not None
    assert not (desk.ledger.state.shared / "lock").exists()
    assert settle.__module__ == "remvault.store.settling"
