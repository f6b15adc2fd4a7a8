"""Marks of a person's commit on its way: which count, and what a writer does about them."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from remvault.store.files import FileChanged
from remvault.store.hook_runs import HooksRunning, commit_run, hook_run, marked_hook_run
from remvault.store.work_tree import WorkTree, find_work_tree
from tests.store.conftest import Desk, MakeDesk
from tests.vaults import git, note_text


@pytest.fixture
def tree(repo: Path) -> WorkTree:
    found = find_work_tree(repo)
    assert found is not None
    return found


def mark(tree: WorkTree, name: str) -> Path:
    path = tree.git_dir / "remvault/hook-runs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def gone() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


@contextmanager
def running_git(folder: Path) -> Iterator[int]:
    """A process of git that waits."""
    process = subprocess.Popen(
        ["git", "hash-object", "--stdin"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    try:
        yield process.pid
    finally:
        process.communicate()


def test_without_marks_nothing_runs(tree: WorkTree) -> None:
    assert hook_run(tree) is None
    assert commit_run(tree) is None


def test_the_mark_of_a_living_process_counts_until_it_ends(tree: WorkTree) -> None:
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    mark(tree, f"hooks-{process.pid}")

    assert hook_run(tree) == f"the hooks of a commit are running (process {process.pid})"
    process.communicate()
    assert hook_run(tree) is None


def test_an_old_mark_may_name_another_process_by_now(tree: WorkTree) -> None:
    mark(tree, f"hooks-{os.getpid()}")
    now = datetime.now(UTC)

    assert hook_run(tree, now=now + timedelta(minutes=59)) is not None
    assert hook_run(tree, now=now + timedelta(minutes=61)) is None


@pytest.mark.parametrize("name", ["hooks-", "hooks-x", "hooks-99999999999999999999", "hooks-0", "other-1", ".hooks-1"])
def test_a_mark_that_names_no_process_is_none(tree: WorkTree, name: str) -> None:
    mark(tree, name)

    assert commit_run(tree) is None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the name of a process cannot be asked here")
def test_a_commit_is_on_its_way_as_long_as_that_process_is_git(tree: WorkTree) -> None:
    mark(tree, f"commit-{os.getpid()}")
    assert commit_run(tree) is None

    with running_git(tree.root) as pid:
        mark(tree, f"commit-{pid}")
        assert commit_run(tree) == f"a commit is on its way (process {pid})"
        assert hook_run(tree) is None
    assert commit_run(tree) is None


def test_a_linked_work_tree_has_marks_of_its_own(tree: WorkTree, tmp_path: Path) -> None:
    git(tree.root, "commit", "-q", "--allow-empty", "-m", "first")
    git(tree.root, "worktree", "add", "-q", str(tmp_path / "linked"))
    linked = find_work_tree(tmp_path / "linked")
    assert linked is not None
    mark(linked, f"hooks-{os.getpid()}")

    assert hook_run(linked) is not None
    assert hook_run(tree) is None


def test_a_run_is_marked_while_it_lasts_and_dead_marks_are_swept(tree: WorkTree) -> None:
    left = mark(tree, f"hooks-{gone()}")

    with marked_hook_run(tree, {}):
        assert not left.exists()
        assert hook_run(tree) == f"the hooks of a commit are running (process {os.getpid()})"
    assert hook_run(tree) is None
    assert list(left.parent.iterdir()) == []


def test_under_the_pre_commit_framework_the_mark_is_the_frameworks(tree: WorkTree) -> None:
    with marked_hook_run(tree, {"PRE_COMMIT": "1"}):
        pass

    assert hook_run(tree) == f"the hooks of a commit are running (process {os.getppid()})"


def test_what_the_pre_commit_framework_has_put_aside_counts_in_its_own_work_tree(
    tree: WorkTree, tmp_path: Path
) -> None:
    home = tmp_path / "pre-commit"
    home.mkdir()
    made = int(datetime.now(UTC).timestamp())
    (home / f"patch{made}-{gone()}").touch()
    environ = {"PRE_COMMIT_HOME": str(home)}
    processes = [subprocess.Popen(["cat"], stdin=subprocess.PIPE, cwd=cwd) for cwd in (tmp_path, tree.root)]
    elsewhere, here = (process.pid for process in processes)

    (home / f"patch{made}-{elsewhere}").touch()
    if Path("/proc/self/cwd").exists():
        assert hook_run(tree, environ) is None
    (home / f"patch{made}-{here}").touch()
    assert hook_run(tree, environ, now=datetime.now(UTC)) is not None
    assert hook_run(tree, {}) is None
    for process in processes:
        process.communicate()
    assert hook_run(tree, environ) is None


# Writers


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A ledger that does not wait for anybody."""
    return make_desk(lock_timeout_s=0.0)


def test_r35_a_known_note_is_not_touched_while_hooks_run(desk: Desk, tree: WorkTree) -> None:
    desk.write("global/a.md", note_text("One"))
    before = (desk.root / "global/a.md").read_bytes(), desk.git("rev-parse", "HEAD")
    mark(tree, f"hooks-{os.getpid()}")

    with pytest.raises(HooksRunning) as caught:
        desk.write("global/a.md", note_text("Two"), op="update")

    assert caught.value.code == "hooks_running"
    assert "nothing was written" in caught.value.message
    assert ((desk.root / "global/a.md").read_bytes(), desk.git("rev-parse", "HEAD")) == before
    assert desk.ledger.pending() == []


def test_r35_a_new_note_is_saved_while_hooks_run_and_committed_later(desk: Desk, tree: WorkTree) -> None:
    made = mark(tree, f"hooks-{os.getpid()}")

    outcome = desk.write("global/a.md", note_text("One"))

    assert (outcome.saved, outcome.committed) == (True, False)
    assert "the hooks of a commit are running" in (outcome.pending or "")
    assert desk.git("status", "--porcelain") == "?? global/\n"
    made.unlink()
    (settled,) = desk.ledger.settle()
    assert settled.committed
    assert desk.git("status", "--porcelain") == ""


def test_while_a_message_is_written_the_branch_stays_where_it_is(desk: Desk, tree: WorkTree) -> None:
    desk.write("global/a.md", note_text("One"))
    before = desk.git("rev-parse", "HEAD")
    with running_git(tree.root) as pid:
        mark(tree, f"commit-{pid}")

        outcome = desk.write("global/a.md", note_text("Two"), op="update")

        assert "a commit is on its way" in (outcome.pending or "")
        assert (desk.root / "global/a.md").read_text() == note_text("Two")
        assert desk.git("rev-parse", "HEAD") == before
    assert [one.committed for one in desk.ledger.settle()] == [True]


def test_what_git_never_sees_is_written_at_any_time(desk: Desk, tree: WorkTree) -> None:
    desk.write("private/a.md", note_text("One", sensitivity="local-only"))
    mark(tree, f"hooks-{os.getpid()}")

    assert desk.write("private/a.md", note_text("Two", sensitivity="local-only"), op="update").saved
    assert "Two" in (desk.root / "private/a.md").read_text()


def test_r35_a_command_that_holds_gits_lock_may_finish_with_the_files_first(desk: Desk, tree: WorkTree) -> None:
    desk.write("global/a.md", note_text("One"))
    lock = tree.git_dir / "index.lock"
    lock.touch()

    def check_out() -> None:
        (desk.root / "global/a.md").write_text(note_text("Of another branch"))
        lock.unlink()

    running = threading.Timer(0.3, check_out)
    running.start()
    with pytest.raises(FileChanged):
        desk.write("global/a.md", note_text("Two"), op="update")
    running.join()

    assert (desk.root / "global/a.md").read_text() == note_text("Of another branch")
