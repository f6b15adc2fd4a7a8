"""Moving a branch kept as a file by compare-and-swap, under git's own lock.

Owns: the loose ref, its reflog lines.
Leaves alone: making commits (git), branches kept otherwise (git_command).

Why not the library: it does compare, but a process killed in the middle leaves `<branch>.lock`, and then no program can
commit until a person removes it.
"""

from __future__ import annotations

import os
from pathlib import Path

from remvault.store.own_lock import LockHeld
from remvault.store.repository import Draft, TipMoved
from remvault.store.work_tree import WorkTree, branch_swap, head, is_true, syncs_objects


def move_branch(tree: WorkTree, draft: Draft, commit: str) -> None:
    """Point the branch HEAD is on at `commit`, if it still is at the draft's parent.

    Raises:
        TipMoved: it is elsewhere by now, HEAD is on another branch, or another program is just moving it.
        OSError: the disk would not take it; the branch is as before.
    """
    branch = draft.branch
    lock = branch_swap(tree.common_dir, branch)
    lock.clear()
    lock.target.parent.mkdir(parents=True, exist_ok=True)
    with lock.part.open("wb") as stream:
        stream.write(f"{commit}\n".encode())
        if syncs_objects(draft.config):  # never a branch safer on disk than what it points at
            stream.flush()
            os.fsync(stream.fileno())
    try:
        lock.take()
    except LockHeld as err:
        raise TipMoved(branch) from err
    where = head(tree)  # only now nobody else can move it
    if (where.branch, where.commit) != (branch, draft.parent):
        lock.free()
        raise TipMoved(branch)
    lock.finish()
    subject = draft.steps[-1].message.split("\n", 1)[0]
    line = f"{draft.parent or '0' * 40} {commit} {draft.identity.committer.as_line()}\tcommit: {subject}\n"
    _log(tree, branch, line, draft.config.get("core.logallrefupdates", "true"))


def _log(tree: WorkTree, branch: str, line: str, setting: str) -> None:
    """Add the move to the reflogs, which the settings can turn off; an existing log is always continued."""
    is_kept = setting.lower() == "always" or is_true(setting)
    for log in (tree.common_dir / "logs" / "refs" / "heads" / branch, tree.git_dir / "logs" / "HEAD"):
        if not is_kept and not log.exists():
            continue
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as stream:
            stream.write(line.encode("utf-8", "surrogateescape"))


def is_branch_file(tree: WorkTree, branch: str) -> bool:
    """Whether the branch is, or would be, a plain file: not a ref that points at another ref."""
    path = Path(tree.common_dir, "refs", "heads", branch)
    try:
        return not path.is_symlink() and not path.read_bytes().startswith(b"ref:")
    except OSError:
        return True
