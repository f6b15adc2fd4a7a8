"""Freeing locks of git that a killed process of ours left, so that a person's next git command does not meet them.

Owns: finding them at little cost, and being sure that no writer of ours is at work.
Leaves alone: how such a lock is told from anybody else's (own_lock), every other lock.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from remvault.store.own_lock import OwnLock
from remvault.store.state import State, hold_alone
from remvault.store.work_tree import BRANCH_PART, WorkTree, index_swap


def free_left_locks(tree: WorkTree, state: State) -> None:
    """Free what a killed process left; at most a look into the git directory where there is nothing. Never raises."""
    try:
        if not any(_parts(tree)):
            return
        free = hold_alone(state.shared / "lock")
        if free is None:
            return  # whose locks are in use, or will be cleared by their holder
        try:
            for lock in _own_locks(tree):
                lock.clear()
        finally:
            free()
    except OSError:
        return  # the next writer sees to it


def _parts(tree: WorkTree) -> Iterator[Path]:
    """The files of ours that stand beside a lock; there are some for as long as a write takes, or after a kill."""
    index = index_swap(tree.git_dir).part
    if index.exists():
        yield index
    with os.scandir(tree.common_dir) as listing:
        yield from [Path(entry.path) for entry in listing if entry.name.startswith(BRANCH_PART)]


def _own_locks(tree: WorkTree) -> Iterator[OwnLock]:
    index, branches = index_swap(tree.git_dir), tree.common_dir / "refs" / "heads"
    for part in list(_parts(tree)):
        if part == index.part:
            yield index
            continue
        # The part is named after a digest of the branch; its lock is the other name of the same file.
        locks = [path for path in branches.rglob("*.lock") if OwnLock(path.with_suffix(""), part).is_left_over()]
        yield from [OwnLock(path.with_suffix(""), part) for path in locks] or [OwnLock(branches / "none", part)]
