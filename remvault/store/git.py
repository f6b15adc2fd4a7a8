"""A git repository reached in process. The only module that imports pygit2.

Owns: reading trees and blobs, building a commit from HEAD's tree plus our paths, our own staged entries.
Leaves alone: when to commit at all (ledger), HEAD and settings (work_tree), the git program (git_command).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, timezone
from functools import cached_property, partial
from typing import TypeVar

import pygit2
from pygit2.enums import FileMode, ObjectType, RepositoryOpenFlag, SortMode

from remvault.domain.blobs import blob_id
from remvault.errors import GitError
from remvault.store.branch_file import is_branch_file, move_branch
from remvault.store.files import sync_file
from remvault.store.git_command import CommandRepository, git_accepts, trouble_of
from remvault.store.identity import Person
from remvault.store.index_file import IndexFile, IndexMoved, staged_file
from remvault.store.index_format import StagedFile, UnknownIndex
from remvault.store.limits import MAX_FILE_BYTES, BlobTooLarge
from remvault.store.own_lock import LockHeld
from remvault.store.repository import (
    EXECUTABLE_MODE,
    FILE_MODE,
    FOLDER_MODE,
    CommitFacts,
    Draft,
    GitRepository,
    IndexLocked,
    Made,
    NotOwned,
    RevisionNotFound,
    TipMoved,
    folder_prefix,
)
from remvault.store.work_tree import WorkTree, head, operation_in_progress, syncs_objects

_REGULAR = (FILE_MODE, EXECUTABLE_MODE)
_Found = TypeVar("_Found")


class Repository:
    """`GitRepository` through libgit2."""

    def __init__(
        self, tree: WorkTree, environ: Mapping[str, str], handle: pygit2.Repository, index_file: str | None = None
    ) -> None:
        self.tree, self.environ = tree, environ
        self._git, self._index_file = handle, index_file
        self._unsynced: list[str] = []  # objects written since the last commit

    @staticmethod
    def open(tree: WorkTree, environ: Mapping[str, str], *, index_file: str | None = None) -> GitRepository:
        """Open the repository of a work tree; `index_file` stands for its staged index, as git tells its hooks.

        Where the library cannot (sha256, reftable, partial clone, a trust setting it does not see) but git can, the
        answer works through the git program.

        Raises:
            NotOwned: it belongs to another user and git does not trust it either.
            GitError: git cannot open it.
        """
        try:
            handle = pygit2.Repository(str(tree.root), RepositoryOpenFlag.NO_SEARCH)
        except pygit2.GitError as err:
            if git_accepts(tree, environ):
                return CommandRepository(tree, environ, index_file)
            if "not owned" in str(err):
                raise NotOwned(tree.root) from err
            raise GitError(f"git cannot open {tree.root}: {err}", hint="run 'git status' there") from err
        return Repository(tree, environ, handle, index_file)

    def hash(self, data: bytes) -> str:
        """See GitRepository."""
        return blob_id(data)

    def hash_filtered(self, path: str, data: bytes) -> str:
        """See GitRepository."""
        return self._command.hash_filtered(path, data)

    def resolve(self, rev: str) -> str:
        """See GitRepository."""
        try:
            return str(self._git.revparse_single(rev).peel(pygit2.Commit).id)
        except (KeyError, ValueError, pygit2.GitError) as err:
            raise RevisionNotFound(rev) from err

    def entries(self, rev: str, prefix: str) -> dict[str, tuple[int, str]]:
        """See GitRepository."""
        found: dict[str, tuple[int, str]] = {}
        root = self._tree_or_none(rev)
        top = None if root is None else self._folder(root, prefix)
        pending = [] if top is None else [("", top)]
        while pending:
            base, folder = pending.pop()
            for entry in folder:
                mode = int(entry.filemode)
                if mode == FOLDER_MODE:
                    pending.append((f"{base}{entry.name}/", entry))  # type: ignore[arg-type]
                else:
                    found[f"{base}{entry.name}"] = (mode, str(entry.id))
        return found

    def blob_ids(self, rev: str, prefix: str) -> dict[str, str]:
        """See GitRepository."""
        return {path: blob for path, (mode, blob) in self.entries(rev, prefix).items() if mode in _REGULAR}

    def tree_paths(self, rev: str, prefix: str) -> list[str]:
        """See GitRepository."""
        return sorted(self.blob_ids(rev, prefix))

    def blob_at(self, rev: str, path: str) -> str | None:
        """See GitRepository."""
        root = self._tree_or_none(rev)
        try:
            entry = None if root is None else root[path]
        except KeyError:
            return None
        if entry is None:
            return None
        return str(entry.id) if int(entry.filemode) in _REGULAR else None

    def staged_entries(self, prefix: str) -> Mapping[str, tuple[int, str]]:
        """See GitRepository."""
        prefix = folder_prefix(prefix)
        try:
            return self._file.below(prefix)
        except (UnknownIndex, OSError):
            return self._command.staged_entries(prefix)

    def staged_blob_ids(self, prefix: str) -> dict[str, str]:
        """See GitRepository."""
        return {path: blob for path, (mode, blob) in self.staged_entries(prefix).items() if mode in _REGULAR}

    def staged_blobs(self, paths: Sequence[str]) -> Mapping[str, str | None]:
        """See GitRepository."""

        try:
            found = self._file.find(list(paths))
        except (UnknownIndex, OSError):
            return self._command.staged_blobs(paths)
        return {
            path: None if entry is None else "" if entry.is_in_conflict else entry.blob for path, entry in found.items()
        }

    def read_blob(self, blob: str) -> bytes:
        """See GitRepository."""
        try:
            if self._git.odb.read_header(blob)[1] > MAX_FILE_BYTES:
                raise BlobTooLarge(blob)
            kind, data = self._git.read(blob)
        except (KeyError, ValueError, pygit2.GitError) as err:
            raise GitError(f"blob {blob} cannot be read: {err}", hint="run 'git fsck'") from err
        if kind != ObjectType.BLOB:
            raise GitError(f"{blob} is not a blob")
        return data

    def has_blob(self, blob: str) -> bool:
        """See GitRepository."""
        return blob in self._git

    def write_blob(self, data: bytes) -> str:
        """See GitRepository."""
        blob = str(_do(lambda: self._git.create_blob(data), "a blob cannot be stored"))
        self._unsynced.append(blob)
        return blob

    def write_filtered_blob(self, path: str, data: bytes) -> str:
        """See GitRepository."""
        return self._command.write_filtered_blob(path, data)

    def changed_paths(self, old: str | None, new: str, prefix: str) -> dict[str, tuple[str | None, str | None]]:
        """See GitRepository. Equal subtrees are skipped unread."""
        before = None if old is None else self._folder(self._root_tree(old), prefix)
        after = self._folder(self._root_tree(new), prefix)
        found: dict[str, tuple[str | None, str | None]] = {}
        pending = [("", before, after)]
        while pending:
            base, one, two = pending.pop()
            if one is not None and two is not None and one.id == two.id:
                continue
            left, right = _children(one), _children(two)
            for name in left.keys() | right.keys():
                a, b = left.get(name), right.get(name)
                if a is not None and b is not None and a.id == b.id and a.filemode == b.filemode:
                    continue
                if isinstance(a, pygit2.Tree) or isinstance(b, pygit2.Tree):
                    pending.append((f"{base}{name}/", _as_folder(a), _as_folder(b)))
                was, now = _regular(a), _regular(b)
                if was != now:
                    found[f"{base}{name}"] = (was, now)
        return found

    def ignored_by(self, path: str) -> str | None:
        """See GitRepository. The library answers the usual no; git itself words, and confirms, a yes."""
        return self._command.ignored_by(path) if self._git.path_is_ignored(path) else None

    def commit(self, draft: Draft) -> Made:
        """See GitRepository. The staged entries come first: no program may commit an index behind the branch."""
        commits = self._make_commits(draft)
        try:
            with self._file.held():
                where = head(self.tree, self.environ)
                if where.commit != draft.parent or operation_in_progress(self.tree) is not None:
                    raise TipMoved(draft.branch)
                with self._file.swapping(self._staged_files(draft.staged)):
                    self._move(draft, commits[-1])
        except UnknownIndex:
            self._move(draft, commits[-1])
            return Made(commits, trouble_of(lambda: self._command.stage(draft.staged)))
        except IndexMoved as err:
            raise TipMoved(draft.branch) from err
        except LockHeld as err:
            raise IndexLocked(self.tree.git_dir / "index.lock") from err
        except OSError as err:
            raise GitError(f"branch {draft.branch} cannot be moved: {err.strerror}") from err
        return Made(commits)

    @contextmanager
    def holding_index(self) -> Iterator[None]:
        """See GitRepository."""
        try:
            with self._file.held():
                yield
        except LockHeld as err:
            raise IndexLocked(self.tree.git_dir / "index.lock") from err

    def stage(self, changes: Mapping[str, str | None]) -> None:
        """See GitRepository."""
        try:
            self._file.swap(self._staged_files(changes))
        except UnknownIndex:
            self._command.stage(changes)
        except (LockHeld, IndexMoved) as err:
            raise IndexLocked(self.tree.git_dir / "index.lock") from err
        except OSError as err:
            raise GitError(f"the staged index cannot be written: {err.strerror}", hint="run 'git status'") from err

    def log(self, start: str) -> Iterator[CommitFacts]:
        """See GitRepository."""
        # By time alone, commits of one second come in no order.
        for commit in self._git.walk(pygit2.Oid(hex=start), SortMode.TOPOLOGICAL | SortMode.TIME):
            author = commit.author
            zone = timezone(timedelta(minutes=author.offset))
            yield CommitFacts(
                str(commit.id),
                tuple(str(parent) for parent in commit.parent_ids),
                author.name,
                author.email,
                datetime.fromtimestamp(author.time, zone),
                commit.message,
            )

    def is_ancestor(self, older: str, newer: str) -> bool:
        """See GitRepository."""
        try:
            return older == newer or self._git.descendant_of(newer, older)
        except (KeyError, ValueError, pygit2.GitError):
            return False

    @cached_property
    def _file(self) -> IndexFile:
        return IndexFile(self.tree.git_dir, self.tree.root, name=self._index_file)

    @cached_property
    def _command(self) -> CommandRepository:
        return CommandRepository(self.tree, self.environ, self._index_file)

    def _make_commits(self, draft: Draft) -> tuple[str, ...]:
        """Store the commits, not yet on any branch."""
        tree, parent = (None if draft.parent is None else self._root_tree(draft.parent)), draft.parent
        sides = (_signature(draft.identity.author), _signature(draft.identity.committer))
        made: list[str] = []
        for step in draft.steps:
            tree_id = _do(partial(self._build, tree, step.changes), "a commit cannot be built")
            if draft.sign:
                parent = self._command.commit_tree(str(tree_id), parent, step.message, draft)
            else:
                parents = [] if parent is None else [pygit2.Oid(hex=parent)]
                make = partial(self._git.create_commit, None, *sides, step.message, tree_id, parents)
                parent = str(_do(make, "a commit cannot be made"))
            made.append(parent)
            tree = self._root_tree(parent)
        self._unsynced += made
        if syncs_objects(draft.config):
            self._sync_objects()
        return tuple(made)

    def _sync_objects(self) -> None:
        """Wait until new objects are on disk; once for all, since the library's own switch waits for each in turn."""
        for name in self._unsynced:
            path = self.tree.common_dir / "objects" / name[:2] / name[2:]
            with suppress(FileNotFoundError):  # it was there already, in a pack
                sync_file(path)
        self._unsynced.clear()

    def _move(self, draft: Draft, commit: str) -> None:
        if is_branch_file(self.tree, draft.branch):
            move_branch(self.tree, draft, commit)
        else:
            self._command.update_ref(draft, commit)

    def _staged_files(self, changes: Mapping[str, str | None]) -> dict[str, StagedFile | None]:
        return {path: None if blob is None else self._staged_file(path, blob) for path, blob in changes.items()}

    def _staged_file(self, path: str, blob: str) -> StagedFile:
        return staged_file(self.tree.root / path, blob, self._staged_mode(path))

    def _staged_mode(self, path: str) -> int:
        """The mode a staged path has already, so that an executable note stays one."""
        try:
            entry = self._file.find([path])[path]
        except (UnknownIndex, OSError):
            return FILE_MODE
        return entry.mode if entry is not None and entry.mode in _REGULAR else FILE_MODE

    def _tree_or_none(self, rev: str) -> pygit2.Tree | None:
        return None if rev == "HEAD" and self._git.head_is_unborn else self._root_tree(rev)

    def _root_tree(self, rev: str) -> pygit2.Tree:
        try:
            return self._git.revparse_single(rev).peel(pygit2.Tree)
        except (KeyError, ValueError, pygit2.GitError) as err:
            raise RevisionNotFound(rev) from err

    def _folder(self, tree: pygit2.Tree, prefix: str) -> pygit2.Tree | None:
        name = folder_prefix(prefix).rstrip("/")
        if not name:
            return tree
        try:
            found = tree[name]
        except KeyError:
            return None
        return found if isinstance(found, pygit2.Tree) else None

    def _build(self, base: pygit2.Tree | None, changes: Mapping[str, str | None]) -> pygit2.Oid:
        """Nested tree builders over the touched folders only: the cost follows their size, not the repository's."""
        split = {tuple(path.split("/")): blob for path, blob in changes.items()}
        return self._build_folder(base, split) or self._git.TreeBuilder().write()

    def _build_folder(
        self, base: pygit2.Tree | None, changes: Mapping[tuple[str, ...], str | None]
    ) -> pygit2.Oid | None:
        """Write one folder with the changes below it; None when nothing is left in it."""
        builder = self._git.TreeBuilder() if base is None else self._git.TreeBuilder(base)
        below: dict[str, dict[tuple[str, ...], str | None]] = {}
        for (name, *rest), blob in changes.items():
            if rest:
                below.setdefault(name, {})[tuple(rest)] = blob
                continue
            present = builder.get(name)
            if blob is not None:
                mode = FileMode(present.filemode) if _regular(present) else FileMode.BLOB
                builder.insert(name, pygit2.Oid(hex=blob), mode)
            elif present is not None:
                builder.remove(name)
        for name, inner in below.items():
            if changes.get((name,)) is not None:
                continue  # the folder gives way to a file
            present = builder.get(name)
            folder = self._build_folder(present if isinstance(present, pygit2.Tree) else None, inner)
            if folder is not None:
                builder.insert(name, folder, FileMode.TREE)
            elif isinstance(present, pygit2.Tree):
                builder.remove(name)
        if not len(builder):
            return None
        folder_id = builder.write()
        self._unsynced.append(str(folder_id))
        return folder_id


def _children(tree: pygit2.Tree | None) -> dict[str, pygit2.Object]:
    return {} if tree is None else {entry.name or "": entry for entry in tree}


def _as_folder(entry: pygit2.Object | None) -> pygit2.Tree | None:
    return entry if isinstance(entry, pygit2.Tree) else None


def _regular(entry: pygit2.Object | None) -> str | None:
    return str(entry.id) if entry is not None and int(entry.filemode) in _REGULAR else None


def _signature(person: Person) -> pygit2.Signature:
    return pygit2.Signature(person.name, person.email, person.time_s, person.offset_min, "utf-8")


def _do(act: Callable[[], _Found], what: str) -> _Found:
    try:
        return act()
    except (pygit2.GitError, OSError, ValueError) as err:
        raise GitError(f"{what}: {err}", hint="check free space and who owns the git directory") from err
