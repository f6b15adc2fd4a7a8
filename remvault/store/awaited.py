"""Operations staged for the person's next commit: which of them a commit is about to hold.

Owns: matching the queue of staged operations with what is staged.
Leaves alone: the queue's files (`pending`), putting operations into it (`ledger`), the commit's message (surfaces).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from remvault.store.git import Repository
from remvault.store.pending import PendingOperation, Queue
from remvault.store.work_tree import WorkTree, head

FOLDER = "staged"


def awaited(
    entries: Sequence[PendingOperation], *, heads: Mapping[str, str | None], staged: Mapping[str, str | None]
) -> list[PendingOperation]:
    """The operations whose whole result is staged and not in HEAD yet, oldest first; pure.

    Args:
        entries: oldest first.
        heads: the blob in HEAD of every path of theirs; None for no file.
        staged: the blob in the index of every path of theirs.
    """
    now = dict(staged)
    kept: list[PendingOperation] = []
    for entry in reversed(entries):
        if all(now[one.path] == one.blob != heads[one.path] for one in entry.changes):
            kept.append(entry)
            # A note written twice: what the earlier operation staged is the base of the later one.
            now |= {one.path: one.base for one in entry.changes}
    return kept[::-1]


def awaited_in_commit(tree: WorkTree, environ: Mapping[str, str], *, index_file: str | None) -> list[PendingOperation]:
    """The operations of every vault of a work tree that the commit being made holds, oldest first.

    Args:
        index_file: git's own choice of index for this commit: `--only` and `-a` commit from another than the usual.

    Raises:
        GitError: git cannot be read.
    """
    queued = Queue(tree.common_dir / "remvault" / FOLDER).read([])
    entries = [entry for entry in queued if entry.work_tree == tree.name]
    if not entries:
        return []
    repository = Repository.open(tree, environ, index_file=index_file)
    paths = sorted({change.path for entry in entries for change in entry.changes})
    commit = head(tree, environ).commit
    heads = {path: None if commit is None else repository.blob_at(commit, path) for path in paths}
    return awaited(entries, heads=heads, staged=repository.staged_blobs(paths))
