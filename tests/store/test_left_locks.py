"""What a killed process of ours had locked is free again after the next read; what anybody else locked stays locked."""

from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock

from remvault.store.left_locks import free_left_locks
from remvault.store.own_lock import OwnLock
from remvault.store.state import State
from remvault.store.work_tree import WorkTree, branch_swap, find_work_tree, index_swap
from tests.vaults import git


@pytest.fixture
def tree(repo: Path) -> WorkTree:
    git(repo, "commit", "-qm", "first", "--allow-empty")
    found = find_work_tree(repo)
    assert found is not None
    return found


@pytest.fixture
def state(tree: WorkTree) -> State:
    shared = tree.common_dir / "remvault"
    shared.mkdir()
    return State(shared / "v", shared)


def leave(lock: OwnLock) -> Path:
    """Take a lock as a process does that is killed then."""
    lock.target.parent.mkdir(parents=True, exist_ok=True)
    lock.part.write_bytes(b"")
    lock.take()
    return lock.lock


def test_the_locks_of_a_killed_process_are_freed(tree: WorkTree, state: State) -> None:
    locks = [leave(index_swap(tree.git_dir)), leave(branch_swap(tree.common_dir, "main"))]
    locks.append(leave(branch_swap(tree.common_dir, "topic/new.one")))
    free_left_locks(tree, state)
    assert not any(lock.exists() for lock in locks)
    assert not [path for path in tree.common_dir.iterdir() if "remvault-" in path.name]
    git(tree.root, "commit", "-qm", "second", "--allow-empty")


def test_the_file_beside_a_lock_that_was_never_taken_goes_too(tree: WorkTree, state: State) -> None:
    parts = [index_swap(tree.git_dir).part, branch_swap(tree.common_dir, "main").part]
    for part in parts:
        part.write_bytes(b"")
    free_left_locks(tree, state)
    assert not any(part.exists() for part in parts)


def test_a_lock_of_git_or_of_another_program_stays(tree: WorkTree, state: State) -> None:
    locks = [tree.git_dir / "index.lock", tree.common_dir / "refs/heads/main.lock"]
    for lock in locks:
        lock.write_bytes(b"")
    index_swap(tree.git_dir).part.write_bytes(b"")
    free_left_locks(tree, state)
    assert all(lock.exists() for lock in locks)


def test_the_locks_of_a_writer_at_work_stay(tree: WorkTree, state: State) -> None:
    lock = leave(index_swap(tree.git_dir))
    with FileLock(state.shared / "lock"):
        free_left_locks(tree, state)
        assert lock.exists()
    free_left_locks(tree, state)
    assert not lock.exists()


def test_a_git_directory_nobody_may_change_is_left_as_it_is(
    tree: WorkTree, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = leave(index_swap(tree.git_dir))

    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    free_left_locks(tree, state)
    assert lock.exists()
