"""A git repository reached through the git program: slower (20-100 ms an answer), but able to open every kind.

Owns: the same questions as `git.Repository` in plumbing commands, signed commits, the wording of ignore rules.
Leaves alone: when to use it (git).
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from functools import cached_property
from pathlib import Path

from remvault.errors import GitError
from remvault.store.limits import MAX_FILE_BYTES, BlobTooLarge
from remvault.store.repository import (
    EXECUTABLE_MODE,
    FILE_MODE,
    CommitFacts,
    Draft,
    IndexLocked,
    Made,
    RevisionNotFound,
    TipMoved,
    folder_prefix,
)
from remvault.store.work_tree import WorkTree, first_line, run_git

_REGULAR = (FILE_MODE, EXECUTABLE_MODE)
# A program that asks for a passphrase may wait for a person; an agent's process must not wait for ever.
_SIGNING_TIMEOUT_S = 120
_LOG_FORMAT = "%H%x00%P%x00%an%x00%ae%x00%aI%x00%B%x00%x01%x00"


def git_accepts(tree: WorkTree, environ: Mapping[str, str]) -> bool:
    """Whether git itself opens the repository, its ownership check included."""
    return run_git(tree.root, ["rev-parse", "--is-inside-work-tree"], environ, check=False).returncode == 0


class CommandRepository:
    """`repository.GitRepository` through the git program."""

    def __init__(self, tree: WorkTree, environ: Mapping[str, str], index_file: str | None = None) -> None:
        self.tree, self.environ = tree, environ
        self._staged_in = {} if index_file is None else {"GIT_INDEX_FILE": index_file}

    def hash(self, data: bytes) -> str:
        """See GitRepository."""
        digest = hashlib.new(self._object_format, b"blob %d\0" % len(data), usedforsecurity=False)
        digest.update(data)
        return digest.hexdigest()

    def hash_filtered(self, path: str, data: bytes) -> str:
        """See GitRepository."""
        return self._run("hash-object", "--stdin", f"--path={path}", stdin=data).decode().strip()

    def resolve(self, rev: str) -> str:
        """See GitRepository."""
        done = self._try("rev-parse", "-q", "--verify", "--end-of-options", f"{rev}^{{commit}}")
        if done is None:
            raise RevisionNotFound(rev)
        return done.decode().strip()

    def entries(self, rev: str, prefix: str) -> dict[str, tuple[int, str]]:
        """See GitRepository."""
        prefix = folder_prefix(prefix)
        if self._is_unborn(rev):
            return {}
        listed = self._run("ls-tree", "-rz", "--full-tree", self._tree_of(rev), "--", *([prefix] if prefix else []))
        found = {}
        for item in _items(listed):
            facts, _, path = item.partition("\t")
            mode, _, blob = facts.split(" ")
            found[path[len(prefix) :]] = (int(mode, 8), blob)
        return found

    def blob_ids(self, rev: str, prefix: str) -> dict[str, str]:
        """See GitRepository."""
        return {path: blob for path, (mode, blob) in self.entries(rev, prefix).items() if mode in _REGULAR}

    def tree_paths(self, rev: str, prefix: str) -> list[str]:
        """See GitRepository."""
        return sorted(self.blob_ids(rev, prefix))

    def blob_at(self, rev: str, path: str) -> str | None:
        """See GitRepository."""
        if self._is_unborn(rev):
            return None
        listed = self._run("ls-tree", "-z", "--full-tree", self._tree_of(rev), "--", path)
        for item in _items(listed):
            facts, _, found = item.partition("\t")
            mode, _, blob = facts.split(" ")
            if found == path and int(mode, 8) in _REGULAR:
                return blob
        return None

    def staged_entries(self, prefix: str) -> dict[str, tuple[int, str]]:
        """See GitRepository."""
        prefix = folder_prefix(prefix)
        found: dict[str, tuple[int, str]] = {}
        for path, (mode, blob, _) in sorted(self._staged(prefix).items()):
            found[path[len(prefix) :]] = (mode, blob)
        return found

    def staged_blob_ids(self, prefix: str) -> dict[str, str]:
        """See GitRepository."""
        return {path: blob for path, (mode, blob) in self.staged_entries(prefix).items() if mode in _REGULAR}

    def staged_blobs(self, paths: Sequence[str]) -> dict[str, str | None]:
        """See GitRepository."""
        found = self._staged(*paths) if paths else {}
        answer: dict[str, str | None] = {}
        for path in paths:
            entry = found.get(path)
            answer[path] = None if entry is None else entry[1] if entry[2] == 0 else ""
        return answer

    def read_blob(self, blob: str) -> bytes:
        """See GitRepository."""
        if int(self._run("cat-file", "-s", blob)) > MAX_FILE_BYTES:
            raise BlobTooLarge(blob)
        return self._run("cat-file", "blob", blob)

    def has_blob(self, blob: str) -> bool:
        """See GitRepository."""
        return self._try("cat-file", "-e", blob) is not None

    def write_blob(self, data: bytes) -> str:
        """See GitRepository."""
        return self._run("hash-object", "-w", "--no-filters", "--stdin", stdin=data).decode().strip()

    def write_filtered_blob(self, path: str, data: bytes) -> str:
        """See GitRepository."""
        return self._run("hash-object", "-w", "--stdin", f"--path={path}", stdin=data).decode().strip()

    def changed_paths(self, old: str | None, new: str, prefix: str) -> dict[str, tuple[str | None, str | None]]:
        """See GitRepository."""
        prefix = folder_prefix(prefix)
        before = self._run("mktree").decode().strip() if old is None else self._tree_of(old)
        trees = (before, self._tree_of(new))
        parts = _items(self._run("diff-tree", "-r", "-z", "--no-renames", *trees, "--", *([prefix] if prefix else [])))
        found: dict[str, tuple[str | None, str | None]] = {}
        for facts, path in zip(parts[::2], parts[1::2], strict=True):
            old_mode, new_mode, old_blob, new_blob, _ = facts[1:].split(" ")
            was = old_blob if int(old_mode, 8) in _REGULAR else None
            now = new_blob if int(new_mode, 8) in _REGULAR else None
            if was != now:
                found[path[len(prefix) :]] = (was, now)
        return found

    def ignored_by(self, path: str) -> str | None:
        """See GitRepository."""
        said = self._try("check-ignore", "-v", "-z", "--stdin", stdin=os.fsencode(path) + b"\0")
        if not said:
            return None
        source, line, pattern, _ = said.decode("utf-8", "replace").split("\0")[:4]
        return None if pattern.startswith("!") else f"{source}:{line}: {pattern}"

    def commit(self, draft: Draft) -> Made:
        """See GitRepository. The trees are built in a temporary index; the person's own is changed once at the end."""
        if (self.tree.git_dir / "index.lock").exists():
            raise IndexLocked(self.tree.git_dir / "index.lock")
        parent, made = draft.parent, []
        with tempfile.TemporaryDirectory(prefix="remvault-") as folder:
            extra = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            if parent is not None:
                self._run("read-tree", parent, extra=extra)
            for step in draft.steps:
                info = self._index_info(step.changes, draft.parent)
                self._run("update-index", "-z", "--index-info", stdin=info, extra=extra)
                tree_id = self._run("write-tree", extra=extra).decode().strip()
                parent = self.commit_tree(tree_id, parent, step.message, draft)
                made.append(parent)
        self.update_ref(draft, made[-1])
        return Made(tuple(made), trouble_of(lambda: self.stage(draft.staged)))

    def commit_tree(self, tree_id: str, parent: str | None, message: str, draft: Draft) -> str:
        """Store a commit, signed if the draft says so; no branch is moved. Raises GitError."""
        args = ["-c", "i18n.commitEncoding=UTF-8", "commit-tree", tree_id, "-F", "-"]
        args += [] if parent is None else ["-p", parent]
        done = run_git(
            self.tree.root,
            [*args, *(["-S"] if draft.sign else [])],
            self.environ,
            stdin=message.encode(),
            check=False,
            extra=_sides(draft),
            timeout_s=_SIGNING_TIMEOUT_S,
        )
        if done.returncode != 0:
            what = "the commit cannot be signed" if draft.sign else "the commit cannot be made"
            hint = "check commit.gpgsign, user.signingkey and gpg.format, or sign once by hand" if draft.sign else None
            raise GitError(f"{what}: {first_line(done.stderr)}", hint=hint)
        return done.stdout.decode().strip()

    def update_ref(self, draft: Draft, commit: str) -> None:
        """Move the branch by compare-and-swap; raises TipMoved or GitError."""
        subject = draft.steps[-1].message.split("\n", 1)[0]
        expected = draft.parent or "0" * len(commit)
        args = ["update-ref", "-m", f"commit: {subject}", f"refs/heads/{draft.branch}", commit, expected]
        moved = run_git(self.tree.root, args, self.environ, check=False, extra=_sides(draft), with_hooks=True)
        if moved.returncode != 0:
            if b"lock" in moved.stderr or b"expected" in moved.stderr or b"exists" in moved.stderr:
                raise TipMoved(draft.branch)
            raise GitError(f"branch {draft.branch} cannot be moved: {first_line(moved.stderr)}")

    def holding_index(self) -> AbstractContextManager[None]:
        """See GitRepository. The program takes and frees the lock for each change, so there is nothing to hold."""
        return nullcontext()

    def stage(self, changes: Mapping[str, str | None]) -> None:
        """See GitRepository."""
        args = ["update-index", "-z", "--index-info"]
        info = self._index_info(changes, None)
        done = run_git(self.tree.root, args, self.environ, stdin=info, check=False, extra=self._staged_in)
        if done.returncode == 0:
            return
        if b"index.lock" in done.stderr:
            raise IndexLocked(self.tree.git_dir / "index.lock")
        raise GitError(f"the staged index cannot be written: {first_line(done.stderr)}")

    def log(self, start: str) -> Iterator[CommitFacts]:
        """See GitRepository."""
        listed = self._run("log", "--date-order", f"--format={_LOG_FORMAT}", start)
        for item in listed.decode("utf-8", "replace").split("\0\x01\0"):
            fields = item.lstrip("\n").split("\0")
            if len(fields) == 6:
                commit, parents, author, email, when, message = fields
                yield CommitFacts(commit, tuple(parents.split()), author, email, datetime.fromisoformat(when), message)

    def is_ancestor(self, older: str, newer: str) -> bool:
        """See GitRepository."""
        return self._try("merge-base", "--is-ancestor", older, newer) is not None

    @cached_property
    def _object_format(self) -> str:
        return (self._try("rev-parse", "--show-object-format") or b"sha1").decode().strip()

    def _is_unborn(self, rev: str) -> bool:
        return rev == "HEAD" and self._try("rev-parse", "-q", "--verify", "HEAD") is None

    def _tree_of(self, rev: str) -> str:
        done = self._try("rev-parse", "-q", "--verify", "--end-of-options", f"{rev}^{{tree}}")
        if done is None:
            raise RevisionNotFound(rev)
        return done.decode().strip()

    def _staged(self, *paths: str) -> dict[str, tuple[int, str, int]]:
        """Staged files: path to (mode, blob, side), side 0 unless in conflict, then ours (2) before theirs (3)."""
        found: dict[str, tuple[int, str, int]] = {}
        for item in _items(
            self._run("ls-files", "-sz", "--full-name", "--", *(path for path in paths if path), extra=self._staged_in)
        ):
            facts, _, path = item.partition("\t")
            mode, blob, side = facts.split(" ")
            if side != "1" and path not in found:
                found[path] = (int(mode, 8), blob, int(side))
        return found

    def _index_info(self, changes: Mapping[str, str | None], parent: str | None) -> bytes:
        lines = []
        nothing = "0" * (64 if self._object_format == "sha256" else 40)
        for path, blob in changes.items():
            mode = FILE_MODE if blob is not None else 0
            if blob is not None and parent is not None:
                present = _items(self._run("ls-tree", "-z", "--full-tree", parent, "--", path))
                found = int(present[0].split(" ")[0], 8) if present else FILE_MODE
                mode = found if found in _REGULAR else FILE_MODE
            lines.append(b"%o %s\t%s" % (mode, (blob or nothing).encode(), os.fsencode(path)))
        return b"\0".join(lines) + b"\0"

    def _run(self, *args: str, stdin: bytes = b"", extra: Mapping[str, str] | None = None) -> bytes:
        # Paths are names, never patterns: a note may be called `[a]*.md`.
        args = ("--literal-pathspecs", *args)
        return run_git(self.tree.root, args, self.environ, stdin=stdin, extra=extra).stdout

    def _try(self, *args: str, stdin: bytes = b"") -> bytes | None:
        done = run_git(self.tree.root, args, self.environ, stdin=stdin, check=False)
        return done.stdout if done.returncode == 0 else None


def trouble_of(stage: Callable[[], None]) -> str | None:
    """Run what lets the staged entries follow a commit that stands; returns what went wrong, or None."""
    try:
        stage()
    except GitError as err:
        return err.message if err.hint is None else f"{err.message}: {err.hint}"
    return None


def _sides(draft: Draft) -> dict[str, str]:
    return draft.identity.author.as_environment("AUTHOR") | draft.identity.committer.as_environment("COMMITTER")


def _items(output: bytes) -> list[str]:
    return [os.fsdecode(item) for item in output.split(b"\0") if item]
