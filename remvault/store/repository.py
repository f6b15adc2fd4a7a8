"""What the store asks of a git repository, whichever way it is reached.

Owns: the protocol, its values and its failures. `git.Repository` answers in process, `git_command.CommandRepository`
through the git program where the library cannot open a repository.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from remvault.errors import GitError, UserError
from remvault.store.identity import Identity
from remvault.store.work_tree import WorkTree

FILE_MODE, EXECUTABLE_MODE, LINK_MODE, REPOSITORY_MODE, FOLDER_MODE = 0o100644, 0o100755, 0o120000, 0o160000, 0o040000


class NotOwned(GitError):
    """The repository belongs to another user; git's check stands, we never switch it off."""

    code = "not_owned"

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        super().__init__(
            f"the repository {path} is owned by another user",
            hint=f"if you trust it, run: git config --global --add safe.directory {path}",
        )


class TipMoved(GitError):
    """The branch moved between reading it and moving it; nothing was changed."""

    code = "tip_moved"

    def __init__(self, branch: str) -> None:
        self.branch = branch
        super().__init__(f"branch {branch} moved meanwhile", hint="try again")


class IndexLocked(GitError):
    """Somebody else holds the staged index."""

    code = "index_locked"

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        super().__init__(f"index.lock exists ({path})", hint="end the git command that holds it, or remove a left-over")


class RevisionNotFound(UserError):
    """No commit has this name."""

    code = "revision_not_found"

    def __init__(self, rev: str) -> None:
        self.rev = rev
        super().__init__(f"no commit named {rev!r}", hint="run 'git log --oneline' to see commits")


def folder_prefix(prefix: str) -> str:
    """Write a folder as a prefix of paths: "" for the root, else ending in "/"."""
    name = prefix.strip("/")
    return f"{name}/" if name not in ("", ".") else ""


@dataclass(frozen=True, slots=True)
class CommitFacts:
    """One commit as read."""

    id: str
    parents: tuple[str, ...]
    author: str  # name, without the address
    email: str
    time: datetime  # the author's, aware, offset as committed
    message: str


@dataclass(frozen=True, slots=True)
class Step:
    """One commit of a draft."""

    changes: Mapping[str, str | None]  # path from the repository's root: blob id, None removes
    message: str


@dataclass(frozen=True, slots=True)
class Draft:
    """Commits to be made one on top of the other, the first on `parent`, of which the branch sees all or none."""

    branch: str  # without refs/heads/
    parent: str | None  # None before the first commit
    steps: Sequence[Step]
    identity: Identity
    sign: bool
    config: Mapping[str, str]  # git's settings

    @property
    def staged(self) -> dict[str, str | None]:
        """What the staged entries of all its paths become."""
        return {path: blob for step in self.steps for path, blob in step.changes.items()}


@dataclass(frozen=True, slots=True)
class Made:
    """The commits of a draft, in order; `trouble` says why the staged entries could not follow."""

    commits: tuple[str, ...]
    trouble: str | None = None


class GitRepository(Protocol):
    """A repository with a work tree. Ids are hex; paths have "/" and are relative to its root unless a prefix is given.

    A prefix is "" or a folder; paths given back are relative to it. Every method may raise GitError. "HEAD" before the
    first commit is an empty tree to whatever lists or looks up files.
    """

    tree: WorkTree
    environ: Mapping[str, str]

    def hash(self, data: bytes) -> str:
        """The blob id this repository gives to content."""
        ...

    def hash_filtered(self, path: str, data: bytes) -> str:
        """The blob id that `write_filtered_blob` would give; nothing is stored."""
        ...

    def resolve(self, rev: str) -> str:
        """The commit a name stands for; raises RevisionNotFound."""
        ...

    def entries(self, rev: str, prefix: str) -> Mapping[str, tuple[int, str]]:
        """Every file below `prefix` in a commit: path to (mode, blob id)."""
        ...

    def blob_ids(self, rev: str, prefix: str) -> Mapping[str, str]:
        """Every regular file below `prefix` in a commit: path to blob id; empty when the folder is not there."""
        ...

    def tree_paths(self, rev: str, prefix: str) -> list[str]:
        """The keys of `blob_ids`, sorted."""
        ...

    def blob_at(self, rev: str, path: str) -> str | None:
        """The blob of one regular file in a commit, or None."""
        ...

    def staged_entries(self, prefix: str) -> Mapping[str, tuple[int, str]]:
        """Every staged file below `prefix`; a path in conflict has our side, else theirs."""
        ...

    def staged_blob_ids(self, prefix: str) -> Mapping[str, str]:
        """Every regular staged file below `prefix`: path to blob id."""
        ...

    def staged_blobs(self, paths: Sequence[str]) -> Mapping[str, str | None]:
        """The staged blob of each path, None where nothing is staged; a path in conflict has an empty id."""
        ...

    def read_blob(self, blob: str) -> bytes:
        """All bytes of a blob; raises BlobTooLarge for one beyond the limit, before anything is read."""
        ...

    def has_blob(self, blob: str) -> bool:
        """Whether the blob is stored."""
        ...

    def write_blob(self, data: bytes) -> str:
        """Store content exactly as given, no filter applied; returns its id."""
        ...

    def write_filtered_blob(self, path: str, data: bytes) -> str:
        """Store content as `git add` of this path would; returns its id."""
        ...

    def changed_paths(self, old: str | None, new: str, prefix: str) -> Mapping[str, tuple[str | None, str | None]]:
        """Regular files that differ between two commits (None: the empty tree): path to (old blob, new blob)."""
        ...

    def ignored_by(self, path: str) -> str | None:
        """The rule that keeps an untracked path out of git, as `file:line: pattern`, or None."""
        ...

    def commit(self, draft: Draft) -> Made:
        """Make the commits from the parent's tree plus the changes alone, move the branch if it still is at `parent`,
        and let the staged entries of the paths, and only those, follow; call with our write lock held.

        Raises:
            TipMoved: the branch, or the staged index since it was last asked for, is another by now; nothing was moved.
            IndexLocked: somebody holds the staged index; nothing was moved.
            GitError: among others, when it should be signed and cannot be.
        """
        ...

    def holding_index(self) -> AbstractContextManager[None]:
        """Keep every other program from changing the staged index or committing it; raises IndexLocked."""
        ...

    def stage(self, changes: Mapping[str, str | None]) -> None:
        """Set these staged entries and no other; one write of the index. Raises IndexLocked."""
        ...

    def log(self, start: str) -> Iterator[CommitFacts]:
        """Commits from `start` backwards, newest first, no child after its parent on one line of history."""
        ...

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether one commit is the other or one of its ancestors; False when one of them is not there."""
        ...
