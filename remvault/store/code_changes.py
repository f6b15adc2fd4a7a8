"""What the next commit does to the places in the code that memories point at.

Owns: which files a commit changes and renames, what they were and will be, the effect on one anchor.
Leaves alone: the states of anchors in the work tree (anchor_states), which memories are asked about.

Only git's blobs are read, never a file of the work tree, and of a changed file each version is parsed once at most.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Literal

from remvault.domain.anchors import Place, parse_place
from remvault.domain.memory import Anchor
from remvault.errors import GitError
from remvault.store.code_source import Source
from remvault.store.work_tree import WorkTree, head, run_git

Kind = Literal["changes", "removes", "renames", "moves"]
_REGULAR = frozenset({b"100644", b"100755"})


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One regular file that the commit changes; None where there is none before or after."""

    old: str | None
    new: str | None
    old_blob: str | None
    new_blob: str | None

    @property
    def is_moved(self) -> bool:
        """Whether it goes by another path afterwards."""
        return self.old is not None and self.new is not None and self.old != self.new


@dataclass(frozen=True, slots=True)
class Effect:
    """What the commit does to the code of one anchor."""

    kind: Kind
    what: str  # as a person calls it: a symbol, a path, lines
    now_at: str | None = None  # of what moves or is renamed: the anchor it would be


class CodeChanges:
    """The next commit of one work tree, against HEAD.

    Args:
        index_file: the staged index that git's hook was given; None means the usual one.
    """

    def __init__(self, tree: WorkTree, environ: Mapping[str, str], *, index_file: str | None = None) -> None:
        self.tree, self._environ = tree, environ
        # Git gives a hook a path from the top of the work tree.
        self._extra = {} if index_file is None else {"GIT_INDEX_FILE": os.path.join(tree.root, index_file)}  # noqa: PTH118
        self._sources: dict[tuple[str, str], Source] = {}
        self._data: dict[str, bytes] = {}

    @cached_property
    def files(self) -> tuple[ChangedFile, ...]:
        """The files that the commit changes, renames followed; none before the first commit. Raises GitError."""
        if head(self.tree, self._environ).commit is None:
            return ()
        args = ["diff-index", "--cached", "--raw", "-z", "--no-abbrev", "-M", "--ignore-submodules", "HEAD", "--"]
        done = run_git(self.tree.root, args, self._environ, extra=self._extra)
        return tuple(_parsed(done.stdout))

    @property
    def paths(self) -> frozenset[str]:
        """Every path that is changed, added, renamed from or to, or taken away."""
        return frozenset(path for file in self.files for path in (file.old, file.new) if path is not None)

    def effects(self, anchors: Sequence[Anchor]) -> list[Effect | None]:
        """What the commit does to each anchor, in the same order.

        None where what it points at stays, or its digest is the new one already.

        Raises:
            GitError: a blob cannot be read.
        """
        places = [_place(anchor) for anchor in anchors]
        files = [None if place is None else self._file_of(place.path) for place in places]
        self._fetch(file for file in files if file is not None)
        return [
            None if place is None or file is None else self._effect(anchor, place, file)
            for anchor, place, file in zip(anchors, places, files, strict=True)
        ]

    def _effect(self, anchor: Anchor, place: Place, file: ChangedFile) -> Effect | None:
        before, after = self._before(file), self._after(file)
        was = None if before is None else before.find(place)
        if was is None:
            return None  # it was broken before, or nobody can tell
        now = None if after is None else after.find(place)
        what, fragment = _called(place), anchor.at.removeprefix(place.path)
        if now is not None and now.digest == was.digest:
            return None if file.new == place.path else Effect("moves", what, f"{file.new}{fragment}")
        if now is not None and now.digest == anchor.digest:
            return None
        return self._elsewhere(place, was.digest, file) or Effect("removes" if now is None else "changes", what)

    def _elsewhere(self, place: Place, digest: str, file: ChangedFile) -> Effect | None:
        """Where the commit puts what was there: other lines, another file or name; None when it is not clear."""
        after, what = self._after(file), _called(place)
        if place.lines is not None:
            lines = None if after is None else after.lines_of(digest, place.lines)
            return None if lines is None else Effect("moves", what, f"{file.new}#L{lines[0]}-L{lines[1]}")
        if place.symbol is None or (after is not None and after.find(place) is not None):
            return None
        homes = self._homes(place, digest, file)
        if len(homes) == 1:
            return Effect("moves", what, f"{homes[0]}#{place.symbol}")
        names = [] if after is None or homes else after.names_of(digest)
        return Effect("renames", what, f"{file.new}#{names[0]}") if len(names) == 1 else None

    def _homes(self, place: Place, digest: str, left: ChangedFile) -> list[str]:
        """Where else the commit has the same symbol: changed files of the same kind that hold its name."""
        assert place.symbol is not None
        name, suffix = place.symbol.rpartition(".")[2].encode(), PurePosixPath(place.path).suffix
        files = [one for one in self.files if one.new is not None and PurePosixPath(one.new).suffix == suffix]
        self._fetch(files)
        homes = []
        for file in files:
            after = None if file is left else self._after(file)
            found = after.find(place) if after is not None and name in after.data else None
            if found is not None and found.digest == digest and file.new is not None:
                homes.append(file.new)
        return homes

    def _file_of(self, path: str) -> ChangedFile | None:
        """The change of the file called so before the commit; else, of a renamed one, after it."""
        known = next((file for file in self.files if file.old == path), None)
        return known or next((file for file in self.files if file.new == path and file.is_moved), None)

    def _before(self, file: ChangedFile) -> Source | None:
        return self._source(file.old, file.old_blob)

    def _after(self, file: ChangedFile) -> Source | None:
        return self._source(file.new, file.new_blob)

    def _source(self, path: str | None, blob: str | None) -> Source | None:
        if path is None or blob is None:
            return None
        if (path, blob) not in self._sources:
            self._sources[path, blob] = Source(path, self._data[blob])
        return self._sources[path, blob]

    def _fetch(self, files: Iterable[ChangedFile]) -> None:
        """Read both versions of files, all by one process of git."""
        wanted = {blob for file in files for blob in (file.old_blob, file.new_blob) if blob} - self._data.keys()
        if not wanted:
            return
        names = sorted(wanted)
        asked = "".join(f"{name}\n" for name in names).encode()
        output = run_git(self.tree.root, ["cat-file", "--batch"], self._environ, stdin=asked).stdout
        at = 0
        for name in names:
            line, _, _ = output[at : at + 200].partition(b"\n")
            facts = line.split(b" ")
            if len(facts) != 3:
                raise GitError(f"git has no content of {name}", hint="run 'git fsck'")
            start = at + len(line) + 1
            at = start + int(facts[2]) + 1
            self._data[name] = output[start : at - 1]


def _place(anchor: Anchor) -> Place | None:
    try:
        return parse_place(anchor.at)
    except ValueError:
        return None


def _called(place: Place) -> str:
    """What a person calls the place."""
    if place.lines is not None:
        return f"lines {place.lines[0]} to {place.lines[1]} of {place.path}"
    return place.path if place.symbol is None else f"{place.symbol} in {place.path}"


def _parsed(output: bytes) -> Iterable[ChangedFile]:
    """Read what `git diff-index --raw -z` tells; only regular files count."""
    fields = iter(output.split(b"\0"))
    for facts in fields:
        if not facts:
            return
        old_mode, new_mode, old_blob, new_blob, status = facts.removeprefix(b":").split(b" ")
        path = os.fsdecode(next(fields))
        is_pair = status[:1] in (b"R", b"C")
        new_path = os.fsdecode(next(fields)) if is_pair else path
        is_before, is_after = old_mode in _REGULAR, new_mode in _REGULAR and status[:1] != b"U"
        if status[:1] == b"C":
            is_before = False  # what it was copied from stays
        if is_before or is_after:
            yield ChangedFile(
                path if is_before else None,
                new_path if is_after else None,
                old_blob.decode() if is_before else None,
                new_blob.decode() if is_after else None,
            )
