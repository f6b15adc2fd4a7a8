"""The commit protocol on real repositories: what is saved, committed, staged and left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from remvault.domain.blobs import blob_id
from remvault.domain.commit_message import Operation, UnfitForCommit, parse
from remvault.store.files import FileChanged, SaveFailed
from remvault.store.ledger import FileChange, Outcome
from remvault.store.note_paths import PathRefused
from tests.store.conftest import Desk, MakeDesk
from tests.vaults import git, note_text


def test_r21_the_first_note_is_the_first_commit_and_the_second_has_one_parent(
    tmp_path: Path, make_desk: MakeDesk
) -> None:
    git(tmp_path, "init", "-q", "-b", "trunk", "new")
    desk = make_desk(tmp_path / "new")

    first = desk.write("global/a.md", note_text("One"))
    second = desk.write("global/b.md", note_text("Two"))

    assert (first.saved, first.committed, first.pending) == (True, True, None)
    assert desk.git("rev-list", "--parents", "trunk").split("\n")[0].split() == [second.commit, first.commit]
    assert desk.git("status", "--porcelain") == ""
    assert desk.git("fsck", "--strict") == ""


def test_a_commit_holds_our_paths_only_and_its_trailers(desk: Desk, text: str) -> None:
    outcome = desk.write("global/a.md", text, title="Deploys: never on Friday")

    assert desk.git("show", "--format=", "--name-status", "HEAD") == "A\tglobal/a.md\n"
    message = desk.git("log", "-1", "--format=%B")
    assert message.startswith("new: Deploys: never on Friday\n\nRemvault-Op: new\n")
    found = parse(message)
    assert found is not None
    assert (found.ids, found.actor, found.scope) == (("m-0000000000",), "user:dana", "global:")
    assert outcome.commit == desk.git("rev-parse", "HEAD").strip()


def test_what_the_person_had_staged_is_byte_equal_before_and_after(desk: Desk, text: str) -> None:
    desk.commit_by_hand("code.py", "one\ntwo\nthree\n")
    (desk.root / "code.py").write_text("one\nTWO\nthree\n")
    desk.git("add", "code.py")
    (desk.root / "code.py").write_text("one\nTWO\nTHREE\n")
    (desk.root / "new.py").write_text("x")
    desk.git("add", "-N", "new.py")
    (desk.root / "run.sh").write_text("x")
    desk.git("add", "--chmod=+x", "run.sh")
    desk.commit_by_hand("kept.py", "x")
    desk.git("reset", "-q", "--soft", "HEAD~1")
    desk.git("update-index", "--assume-unchanged", "kept.py")
    before = (
        desk.git("diff", "--cached", "--binary"),
        desk.git("ls-files", "-s", "-t", "-v", "--debug"),
        desk.git("diff"),
    )

    outcome = desk.write("global/a.md", text)

    assert outcome.committed
    after = (
        desk.git("diff", "--cached", "--binary"),
        desk.git("ls-files", "-s", "-t", "-v", "--debug"),
        desk.git("diff"),
    )
    assert (after[0], after[2]) == (before[0], before[2])
    ours = desk.git("ls-files", "-s", "-t", "-v", "--debug", "global/a.md")
    assert after[1].replace(ours, "") == before[1]
    assert desk.git("show", "--format=", "--name-only", "HEAD") == "global/a.md\n"


def test_a_version_the_person_did_not_commit_is_committed_first_and_named(desk: Desk) -> None:
    desk.write("global/a.md", note_text("A", body="one\n"))
    (desk.root / "global/a.md").write_text(note_text("A", body="by hand\n"))

    outcome = desk.write("global/a.md", note_text("A", body="by tool\n"), op="update")

    assert desk.ops() == ["update", "edit", "new"]
    assert outcome.edits == (desk.git("rev-parse", "HEAD~1").strip(),)
    assert desk.git("show", "HEAD~1:global/a.md").endswith("by hand\n")
    assert "Remvault-Memory: m-0000000000" in desk.git("log", "-1", "--format=%B", "HEAD~1")
    assert desk.git("status", "--porcelain") == ""


def test_a_note_that_was_never_committed_is_taken_as_the_person_left_it_first(desk: Desk) -> None:
    desk.commit_by_hand("x", "x")
    (desk.root / "mine.md").write_text("plain text\n")

    outcome = desk.write("mine.md", note_text("Mine"), op="update")

    assert desk.ops() == ["update", "edit", "-"]
    assert len(outcome.edits) == 1


def test_a_staged_version_of_that_very_note_is_left_to_the_person(desk: Desk) -> None:
    desk.write("global/a.md", note_text("A", body="one\n"))
    tip = desk.git("rev-parse", "HEAD")
    (desk.root / "global/a.md").write_text(note_text("A", body="staged\n"))
    desk.git("add", "global/a.md")
    before = desk.git("diff", "--cached")

    outcome = desk.write("global/a.md", note_text("A", body="tool\n"), op="update")
    unrelated = desk.write("global/b.md", note_text("B"))

    assert (outcome.saved, outcome.committed) == (True, False)
    assert "you have staged another version of global/a.md" in (outcome.pending or "")
    assert (desk.root / "global/a.md").read_text().endswith("tool\n")
    assert desk.git("diff", "--cached") == before
    assert unrelated.committed
    assert desk.git("rev-parse", "HEAD~1") == tip
    desk.git("commit", "-q", "-m", "mine")
    assert [one.committed for one in desk.ledger.settle()] == [True]
    assert desk.git("status", "--porcelain") == ""
    assert desk.git("show", "HEAD:global/a.md").endswith("tool\n")
    assert desk.ledger.pending() == []


def test_an_operation_over_two_notes_is_one_commit(desk: Desk) -> None:
    old = note_text("Old")
    desk.write("global/old.md", old)
    changes = [
        FileChange("project/a/new.md", note_text("New").encode(), None),
        FileChange("global/old.md", note_text("Old", freshness="superseded").encode(), blob_id(old.encode())),
    ]

    outcome = desk.ledger.write(Operation("supersede", "New", ids=("m-1",), supersedes=("m-2",)), changes)

    assert outcome.committed
    assert desk.git("show", "--format=", "--name-status", "HEAD") == "M\tglobal/old.md\nA\tproject/a/new.md\n"
    assert desk.git("status", "--porcelain") == ""


def test_a_wrong_base_writes_nothing_at_all(desk: Desk, text: str) -> None:
    desk.write("global/a.md", text)
    changes = [FileChange("global/b.md", b"x", None), FileChange("global/a.md", b"y", "0" * 40)]

    with pytest.raises(FileChanged):
        desk.ledger.write(Operation("update", "x"), changes)
    with pytest.raises(FileChanged):
        desk.ledger.write(Operation("new", "x"), [FileChange("global/a.md", b"y", None)])

    assert not (desk.root / "global/b.md").exists()
    assert (desk.root / "global/a.md").read_text() == text
    assert desk.ledger.pending() == []
    assert desk.git("status", "--porcelain") == ""


def test_a_failure_halfway_puts_back_what_was_there(desk: Desk, text: str) -> None:
    desk.write("global/a.md", text)
    (desk.root / "blocked").write_text("a file where a folder should be")
    changes = [
        FileChange("global/new.md", b"x", None),
        FileChange("global/a.md", b"changed", blob_id(text.encode())),
        FileChange("blocked/b.md", b"y", None),
    ]

    with pytest.raises(SaveFailed):
        desk.ledger.write(Operation("update", "x"), changes)

    assert (desk.root / "global/a.md").read_text() == text
    assert sorted(path.name for path in (desk.root / "global").iterdir()) == ["a.md"]
    assert desk.ledger.pending() == []


def test_a_removed_note_is_gone_from_disk_history_tip_and_index(desk: Desk, text: str) -> None:
    desk.write("global/sub/a.md", text)

    outcome = desk.write("global/sub/a.md", None, op="delete")

    assert outcome.committed
    assert desk.git("ls-tree", "-r", "--name-only", "HEAD") == ""
    assert desk.git("status", "--porcelain") == ""
    assert desk.git("fsck", "--strict") == ""


def test_a_note_moves_in_one_commit(desk: Desk, text: str) -> None:
    desk.write("global/a.md", text)
    blob = blob_id(text.encode())

    desk.ledger.write(
        Operation("update", "x"),
        [FileChange("global/a.md", None, blob), FileChange("project/a.md", text.encode(), None)],
    )

    assert desk.git("show", "-M", "--format=", "--name-status", "HEAD") == "R100\tglobal/a.md\tproject/a.md\n"
    assert desk.git("status", "--porcelain") == ""


def test_bad_words_are_refused_before_anything_is_written(desk: Desk) -> None:
    with pytest.raises(UnfitForCommit):
        desk.ledger.write(Operation("new", "a\nRemvault-Actor: user:root"), [FileChange("a.md", b"x", None)])

    assert not (desk.root / "a.md").exists()


@pytest.mark.parametrize(
    "path", ["../x.md", "/tmp/x.md", ".git/hooks/pre-commit", "a\0b.md", "out/x.md", "nested/x.md"]
)
def test_r19_a_write_never_leaves_the_vault(desk: Desk, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").mkdir()
    (desk.root / "out").symlink_to(tmp_path / "outside")
    git(desk.root, "init", "-q", "nested")

    with pytest.raises(PathRefused):
        desk.ledger.write(Operation("new", "x"), [FileChange(path, b"x", None)])

    assert list((tmp_path / "outside").iterdir()) == []
    assert not (desk.root / "nested/x.md").exists()
    assert not (tmp_path / "x.md").exists()


def test_local_only_notes_stay_on_this_disk(desk: Desk, tmp_path: Path, make_desk: MakeDesk) -> None:
    desk.commit_by_hand("x", "x")
    by_folder = desk.write("private/a.md", note_text("Secret", sensitivity="local-only"))
    by_word = desk.write("global/b.md", note_text("Secret", sensitivity="local-only"))

    nothing_to_do = Outcome(saved=True, committed=False, commit=None, pending=None)
    assert by_folder == by_word == nothing_to_do
    assert desk.ops() == ["-"]
    assert not desk.has_stored(b"Secret")
    assert desk.ledger.pending() == []


def test_a_note_that_moves_into_private_does_not_take_its_secret_through_history(desk: Desk) -> None:
    desk.write("global/a.md", note_text("A"))
    secret = note_text("A", body="the secret word\n").encode()
    (desk.root / "global/a.md").write_bytes(secret)
    changes = [FileChange("private/a.md", secret, None), FileChange("global/a.md", None, blob_id(secret))]

    outcome = desk.ledger.write(Operation("update", "A"), changes)

    assert outcome.committed
    assert (desk.root / "private/a.md").read_bytes() == secret
    assert not desk.has_stored(b"the secret word")


def test_notes_apart_from_the_vault_go_to_their_own_folder(desk: Desk, tmp_path: Path) -> None:
    desk.ledger.private = tmp_path / "apart"

    desk.write("private/a.md", "x")

    assert (tmp_path / "apart/private/a.md").read_text() == "x"
    assert not (desk.root / "private").exists()


def test_r32_a_vault_in_a_subfolder_commits_to_the_repository_that_owns_it(
    repo: Path, make_desk: MakeDesk, text: str
) -> None:
    desk = make_desk(repo / "docs" / "mem")

    outcome = desk.write("global/a.md", text)

    assert outcome.committed
    assert git(repo, "ls-tree", "-r", "--name-only", "HEAD") == "docs/mem/global/a.md\n"
    assert git(repo, "status", "--porcelain") == ""


def test_r32_an_ignored_vault_is_said_to_be_not_versioned(repo: Path, make_desk: MakeDesk, text: str) -> None:
    (repo / ".gitignore").write_text("docs/\n")
    git(repo, "add", ".gitignore")
    git(repo, "commit", "-q", "-m", "x")
    for mode in ("auto", "stage"):
        desk = make_desk(repo / "docs" / "mem", mode=mode)

        outcome = desk.write(f"global/{mode}.md", text)

        assert (outcome.saved, outcome.committed) == (True, False)
        assert outcome.pending == f"not versioned: docs/mem/global/{mode}.md is ignored by .gitignore:1: docs/"
        assert desk.ledger.pending() == []
        assert git(repo, "status", "--porcelain") == ""


def test_outside_git_a_note_is_saved_and_the_lack_is_named(tmp_path: Path, make_desk: MakeDesk, text: str) -> None:
    desk = make_desk(tmp_path / "plain")

    outcome = desk.write("global/a.md", text)

    assert (outcome.saved, outcome.committed) == (True, False)
    assert (outcome.pending or "").startswith("not in a git repository")
    assert desk.ledger.settle() == []


def test_r75_a_vault_reached_through_a_link_is_the_same_vault(desk: Desk, tmp_path: Path, make_desk: MakeDesk) -> None:
    (tmp_path / "door").symlink_to(desk.root)

    outcome = make_desk(tmp_path / "door").write("global/a.md", note_text())

    assert outcome.committed
    assert desk.git("status", "--porcelain") == ""


def test_a_linked_work_tree_commits_to_its_own_branch(
    desk: Desk, tmp_path: Path, make_desk: MakeDesk, text: str
) -> None:
    desk.commit_by_hand("x", "x")
    desk.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = make_desk(tmp_path / "side")

    outcome = side.write("global/a.md", text)

    assert outcome.commit == desk.git("rev-parse", "side").strip()
    assert side.git("status", "--porcelain") == ""
    assert desk.git("status", "--porcelain") == ""


@pytest.mark.parametrize("setting", ["autocrlf", "text=auto", "both"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("shipped", [True, False])
def test_r34_line_ends_stay_as_typed_and_status_is_clean(desk: Desk, setting: str, ends: str, shipped: bool) -> None:
    if setting != "text=auto":
        desk.git("config", "core.autocrlf", "true")
    attributes = "" if setting == "autocrlf" else "* text=auto\n"
    if shipped:
        attributes += "*.md -text merge=remvault\n"
    desk.commit_by_hand(".gitattributes", attributes)
    one, two = (note_text("A", body=f"{word}\n").replace("\n", ends) for word in ("one", "two"))

    desk.write("global/a.md", one)
    after_new = desk.git("status", "--porcelain")
    desk.write("global/a.md", two, op="update")

    assert after_new == desk.git("status", "--porcelain") == ""
    assert desk.git("show", "--format=", "--numstat", "HEAD") == "1\t1\tglobal/a.md\n"
    assert blob_id(two.encode()) == desk.git("rev-parse", "HEAD:global/a.md").strip()
    assert (desk.root / "global/a.md").read_bytes() == two.encode()


def test_r34_a_note_that_git_keeps_with_other_line_ends_changes_by_one_line(desk: Desk) -> None:
    desk.git("config", "core.autocrlf", "true")
    one, two, three = (note_text("A", body=f"{word}\n").replace("\n", "\r\n") for word in ("one", "two", "three"))
    desk.commit_by_hand("a.md", one)
    assert desk.git("cat-file", "-s", "HEAD:a.md").strip() != str(len(one))

    outcome = desk.write("a.md", two, op="update")
    first = desk.git("status", "--porcelain"), desk.git("show", "--format=", "--numstat", "HEAD")
    desk.git("checkout", "-q", "--detach")
    desk.write("a.md", three, op="update")
    desk.git("checkout", "-q", "main")
    desk.ledger.settle()

    assert outcome.edits == ()
    assert first == ("", "1\t1\ta.md\n")
    assert desk.git("show", "--format=", "--numstat", "HEAD") == "1\t1\ta.md\n"
    assert desk.ops() == ["update", "update", "-"]
    assert (desk.root / "a.md").read_bytes() == three.encode()
    assert desk.git("status", "--porcelain") == ""


def test_a_note_that_git_encrypts_never_enters_history_in_the_clear(desk: Desk) -> None:
    desk.git("config", "filter.rot.clean", "tr a-zA-Z n-za-mN-ZA-M")
    desk.git("config", "filter.rot.smudge", "tr a-zA-Z n-za-mN-ZA-M")
    desk.commit_by_hand(".gitattributes", "*.md filter=rot\n")
    desk.commit_by_hand("a.md", note_text("A", body="handmade\n"))

    outcome = desk.write("a.md", note_text("A", body="plaintext\n"), op="update")

    assert outcome.committed
    assert outcome.edits == ()
    assert "cynvagrkg" in desk.git("cat-file", "blob", "HEAD:a.md")
    assert not desk.has_stored(b"plaintext")
    assert desk.git("status", "--porcelain") == ""


def test_an_executable_note_keeps_its_mode_in_history(desk: Desk) -> None:
    desk.commit_by_hand("a.md", note_text("A"))
    (desk.root / "a.md").chmod(0o755)
    desk.git("add", "a.md")
    desk.git("commit", "-q", "-m", "mode")

    desk.write("a.md", note_text("B"), op="update")

    assert desk.git("ls-tree", "HEAD", "a.md").startswith("100755")
    assert desk.git("status", "--porcelain") == ""


def test_author_and_committer_are_gits_own_and_who_acted_is_a_trailer(make_desk: MakeDesk, text: str) -> None:
    environ = dict(os.environ) | {
        "GIT_AUTHOR_NAME": "Ada <x>",
        "GIT_COMMITTER_EMAIL": "robot@example.org",
        "GIT_AUTHOR_DATE": "2001-02-03T04:05:06+07:00",
    }
    desk = make_desk(environ=environ)

    desk.write("a.md", text)

    said = desk.git("log", "-1", "--format=%an|%ae|%aI|%cn|%ce").strip()
    assert said == "Ada x|dana@example.org|2001-02-03T04:05:06+07:00|Dana|robot@example.org"


def test_stage_mode_stages_our_entry_and_queues_the_operation(make_desk: MakeDesk) -> None:
    desk = make_desk(mode="stage")
    desk.commit_by_hand("code.py", "x")
    (desk.root / "code.py").write_text("y")
    desk.git("add", "code.py")

    first = desk.write("global/a.md", note_text("A", body="one\n"))
    second = desk.write("global/a.md", note_text("A", body="two\n"), op="update")

    assert first == second == Outcome(True, False, None, "staged for your next commit")
    assert desk.git("status", "--porcelain") == "M  code.py\nA  global/a.md\n"
    assert desk.ops() == ["-"]
    assert [one.operation.op for one in desk.ledger.staged()] == ["new", "update"]
    assert desk.ledger.pending() == []
    desk.git("commit", "-q", "-m", "mine")
    assert desk.ledger.staged() == []


def test_stage_mode_does_not_touch_what_the_person_staged_otherwise(make_desk: MakeDesk) -> None:
    desk = make_desk(mode="stage")
    desk.commit_by_hand("a.md", note_text("A"))
    (desk.root / "a.md").write_text(note_text("Staged"))
    desk.git("add", "a.md")
    (desk.root / "a.md").write_text(note_text("On disk"))
    before = desk.git("diff", "--cached")

    outcome = desk.write("a.md", note_text("Ours"), op="update")

    assert (outcome.saved, outcome.committed) == (True, False)
    assert "you have staged another version" in (outcome.pending or "")
    assert desk.git("diff", "--cached") == before
    assert desk.ledger.staged() == []


def test_mode_off_saves_and_leaves_git_alone(make_desk: MakeDesk, text: str) -> None:
    desk = make_desk(mode="off")

    outcome = desk.write("a.md", text)

    assert (outcome.saved, outcome.committed) == (True, False)
    assert "off" in (outcome.pending or "")
    assert desk.git("status", "--porcelain") == "?? a.md\n"
