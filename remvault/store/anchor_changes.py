"""Which commits changed what an anchor points at since its digest was taken, and what the change is.

Owns: the commits, newest first; a short diff of the symbol, the lines or the file from then to now.
Leaves alone: whether an anchor drifted at all (anchor_states), how the answer is shown (surfaces).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from remvault.domain.anchors import Place, Reading, parse_place
from remvault.domain.memory import Anchor
from remvault.errors import UserError
from remvault.store.anchor_cache import AnchorCache
from remvault.store.code import CodeRoot
from remvault.store.code_files import key_of
from remvault.store.code_history import CodeHistory, Step
from remvault.store.code_source import Source
from remvault.store.trees import FileStat

MAX_COMMITS, MAX_DIFF_LINES = 20, 40
_MAX_STEPS = 200  # commits of the file that are looked at
_MAX_BYTES = 16 * 1024 * 1024  # of all its versions
_MAX_COMPARED, _MAX_LINE = 2_000, 200  # lines of one side; characters of a line that are shown
_MAX_SOURCES = 32  # versions of files that are kept parsed


@dataclass(frozen=True, slots=True)
class CodeCommit:
    """A commit of the code."""

    id: str
    time: datetime  # the author's, aware
    author: str
    subject: str


@dataclass(frozen=True, slots=True)
class ChangesSince:
    """What happened to the code of an anchor since its digest was taken."""

    commits: tuple[CodeCommit, ...] = ()  # that changed it, newest first, at most MAX_COMMITS
    total: int | None = None  # of such commits, those left out too; None when nobody can tell
    diff: str = ""  # unified, at most MAX_DIFF_LINES lines; "" when there is nothing to compare


class ChangeSearch:
    """The history of anchors in one work tree. Cheapest when anchors into one file are asked one after the other."""

    def __init__(self, root: CodeRoot, history: CodeHistory, cache: AnchorCache) -> None:
        self._root, self._history, self._cache = root, history, cache
        self._known: dict[str, str | None] = {}  # commits as notes name them: full ids
        self._sources: dict[tuple[str, str], Source | None] = {}  # by path and blob, the latest last
        self._last_steps: tuple[tuple[str, str], list[Step] | None] | None = None  # of one file since one commit
        self._last_here: tuple[FileStat, Source] | None = None

    def commits(self, anchor: Anchor, reading: Reading) -> tuple[CodeCommit, ...] | None:
        """Every commit that changed what the anchor points at, newest first; None when nobody can tell."""
        places, tip = _places(anchor, reading), self._history.head
        if places is None or anchor.commit is None or tip is None:
            return None
        # Named as in the note: what is known needs no git at all.
        asked = f"changes {anchor.commit} {tip} {places[1].path} {anchor.at} {anchor.digest}"
        kept = self._cache.fact(asked)
        if kept is None:
            since = self._since(anchor)
            kept = None if since is None else self._find(places, since, anchor)
            if kept is None:
                return None
            self._cache.keep_fact(asked, kept)
        return tuple(CodeCommit(one, datetime.fromisoformat(time), *said) for one, time, *said in kept)

    def changes(self, anchor: Anchor, reading: Reading) -> ChangesSince:
        """The commits, and the diff from then to what is in the work tree now."""
        commits, places, since = self.commits(anchor, reading), _places(anchor, reading), self._since(anchor)
        if commits is None or places is None or since is None:
            return ChangesSince()
        return ChangesSince(commits[:MAX_COMMITS], len(commits), self._diff(places, since, anchor))

    def _since(self, anchor: Anchor) -> str | None:
        commit = anchor.commit
        if commit is not None and commit not in self._known:
            self._known[commit] = self._history.known([commit]).get(commit)
        return None if commit is None else self._known[commit]

    def _steps(self, since: str, path: str) -> list[Step] | None:
        if self._last_steps is None or self._last_steps[0] != (since, path):
            self._last_steps = (since, path), self._history.steps(since, path, limit=_MAX_STEPS)
        return self._last_steps[1]

    def _read(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Source]:
        """The versions of files by path and blob, as `CodeHistory.blobs` names it; those that cannot be had are left
        out."""
        missing = [one for one in wanted if one not in self._sources]
        data = self._history.blobs([blob for _, blob in missing], max_bytes=_MAX_BYTES) if missing else {}
        for path, blob in missing:
            self._sources[path, blob] = Source(path, data[blob]) if blob in data else None
        found = {one: source for one in wanted if (source := self._sources[one]) is not None}
        for old in list(self._sources)[: max(0, len(self._sources) - _MAX_SOURCES)]:
            del self._sources[old]
        return found

    def _find(self, places: tuple[Place, Place], since: str, anchor: Anchor) -> list[list[str]] | None:
        steps = self._steps(since, places[1].path)
        if steps is None:
            return None
        sources = self._read(_versions(steps))
        found = []
        for step in steps:
            if any(blob is not None and (step.path, blob) not in sources for blob in (step.old_blob, step.new_blob)):
                break  # what is older was too much to read
            versions = [
                self._version(blob, sources.get((step.path, blob or "")), places, anchor)
                for blob in (step.old_blob, step.new_blob)
            ]
            if versions[0] != versions[1]:
                found.append([step.commit, step.time.isoformat(), step.author, step.subject])
        return found

    def _version(
        self, blob: str | None, source: Source | None, places: tuple[Place, Place], anchor: Anchor
    ) -> str | None:
        """The digest of the anchor's code in one version of its file; None when it is not in there."""
        if source is None:
            return None
        then, _ = places
        if then.lines is not None:  # the lines of other versions are others, so only this code is told from any other
            return anchor.digest if anchor.digest and source.lines_of(anchor.digest, then.lines) else None
        answers = self._cache.of_content(f"{blob}/{source.path.rpartition('/')[2]}")
        if key_of(then) not in answers:
            found = source.find(then)
            self._cache.keep(answers, key_of(then), None if found is None else found.digest)
            return None if found is None else found.digest
        digest: str | None = answers[key_of(then)]
        return digest

    def _diff(self, places: tuple[Place, Place], since: str, anchor: Anchor) -> str:
        before, after = places
        then = self._then(places, since, anchor)
        if then is None:
            return ""
        now = self._here(after.path)
        if before.lines is not None and after.lines is not None:
            lines = then.lines_of(anchor.digest or "", before.lines) or before.lines
            after = replace(after, lines=_followed(then, now, lines)) if after == before else after
            before = replace(before, lines=lines)
        old, new = _text(then, before), _text(now, after)
        if max(len(old), len(new)) > _MAX_COMPARED:
            return ""
        names = f"{before.path} at {since[:10]}", f"{after.path} now"
        return "\n".join(_cut(difflib.unified_diff(old, new, *names, lineterm="", n=2)))

    def _here(self, path: str) -> Source:
        """The file as it is in the work tree; empty when it cannot be read."""
        stat, last = self._root.stat(path), self._last_here
        now = None if stat is None else (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
        if last is None or last[1].path != path or last[0] != now:
            try:
                data, found = self._root.read(path)
            except UserError:
                return Source(path, b"")
            last = self._last_here = found, Source(path, data)
        return last[1]

    def _then(self, places: tuple[Place, Place], since: str, anchor: Anchor) -> Source | None:
        """The version of the file that the digest was taken of, else that of the anchor's commit."""
        before, after = places
        first = (before.path, f"{since}:{before.path}")
        then = self._read([first]).get(first)
        if then is None or _digest(then, before, anchor) == anchor.digest:
            return then
        # It was taken of a work tree that was committed later.
        for source in self._read(_versions(self._steps(since, after.path) or [])).values():
            if _digest(source, before, anchor) == anchor.digest:
                return source
        return then


def _versions(steps: Sequence[Step]) -> list[tuple[str, str]]:
    """Every version of the file, newest first."""
    found = [(step.path, blob) for step in steps for blob in (step.new_blob, step.old_blob) if blob is not None]
    return list(dict.fromkeys(found))


def _places(anchor: Anchor, reading: Reading) -> tuple[Place, Place] | None:
    """What the anchor points at, and where that is now."""
    try:
        before = parse_place(anchor.at)
        after = parse_place(reading.now_at or anchor.at)
    except ValueError:
        return None
    return before, after


def _digest(source: Source, place: Place, anchor: Anchor) -> str | None:
    if place.lines is not None:
        return anchor.digest if anchor.digest and source.lines_of(anchor.digest, place.lines) else None
    found = source.find(place)
    return None if found is None else found.digest


def _text(source: Source, place: Place) -> list[str]:
    found = source.find(place)
    return [] if found is None else source.text(found)


def _followed(then: Source, now: Source, lines: tuple[int, int]) -> tuple[int, int]:
    """Where lines of one version are in another, as a diff of the two has it."""
    old, new = then.data.split(b"\n"), now.data.split(b"\n")
    if max(len(old), len(new)) > _MAX_COMPARED:
        return lines
    places: dict[int, tuple[int, int]] = {}
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new).get_opcodes():
        for at in range(i1, i2):
            places[at + 1] = (j1 + at - i1 + 1,) * 2 if tag == "equal" else (j1 + 1, j2)
    found = [places[at] for at in range(lines[0], lines[1] + 1) if at in places]
    first = min((start for start, _ in found), default=lines[0])
    return first, max((end for _, end in found), default=first)


def _cut(lines: Iterator[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if number == MAX_DIFF_LINES:
            yield "…"
            return
        yield line if len(line) <= _MAX_LINE else line[:_MAX_LINE] + "…"
