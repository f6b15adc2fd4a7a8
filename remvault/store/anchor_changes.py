"""Which commits changed what an anchor points at since its digest was taken, and what the change is.

Owns: the commits, newest first; a short diff of the symbol, the lines or the file from then to now.
Leaves alone: whether an anchor drifted at all (anchor_states), how the answer is shown (surfaces).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
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

MAX_COMMITS, MAX_DIFF_LINES = 20, 40
_MAX_STEPS = 200  # commits of the file that are looked at
_MAX_BYTES = 16 * 1024 * 1024  # of all its versions
_MAX_COMPARED, _MAX_LINE = 2_000, 200  # lines of one side; characters of a line that are shown


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
    """The history of anchors in one work tree."""

    def __init__(self, root: CodeRoot, history: CodeHistory, cache: AnchorCache) -> None:
        self._root, self._history, self._cache = root, history, cache

    def commits(self, anchor: Anchor, reading: Reading) -> tuple[CodeCommit, ...] | None:
        """Every commit that changed what the anchor points at, newest first; None when nobody can tell."""
        places, since = _places(anchor, reading), self._since(anchor)
        tip = self._history.head
        if places is None or since is None or tip is None:
            return None
        asked = f"changes {since} {tip} {places[1].path} {anchor.at} {anchor.digest}"
        kept = self._cache.fact(asked)
        if kept is None:
            kept = self._find(places, since, anchor)
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
        return self._history.known([anchor.commit]).get(anchor.commit) if anchor.commit is not None else None

    def _find(self, places: tuple[Place, Place], since: str, anchor: Anchor) -> list[list[str]] | None:
        steps = self._history.steps(since, places[1].path, limit=_MAX_STEPS)
        if steps is None:
            return None
        blobs = self._blobs(steps)
        found = []
        for step in steps:
            versions = [self._version(step, blob, blobs, places, anchor) for blob in (step.old_blob, step.new_blob)]
            if versions[0] != versions[1]:
                found.append([step.commit, step.time.isoformat(), step.author, step.subject])
        return found

    def _blobs(self, steps: Sequence[Step]) -> Mapping[str, bytes]:
        names = [blob for step in steps for blob in (step.new_blob, step.old_blob) if blob is not None]
        return self._history.blobs(names, max_bytes=_MAX_BYTES)

    def _version(
        self, step: Step, blob: str | None, blobs: Mapping[str, bytes], places: tuple[Place, Place], anchor: Anchor
    ) -> str | None:
        """The digest of the anchor's code in one version of its file; None when it is not in there."""
        if blob is None or blob not in blobs:
            return None
        source = Source(step.path, blobs[blob])
        then, _ = places
        if then.lines is not None:  # the lines of other versions are others, so only this code is told from any other
            return anchor.digest if anchor.digest and source.lines_of(anchor.digest, then.lines) else None
        answers = self._cache.of_content(f"{blob}/{step.path.rpartition('/')[2]}")
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
        try:
            now = Source(after.path, self._root.read(after.path)[0])
        except UserError:
            now = Source(after.path, b"")
        old, new = _text(then, before, anchor), _text(now, after, anchor)
        if max(len(old), len(new)) > _MAX_COMPARED:
            return ""
        names = f"{before.path} at {since[:10]}", f"{after.path} now"
        return "\n".join(_cut(difflib.unified_diff(old, new, *names, lineterm="", n=2)))

    def _then(self, places: tuple[Place, Place], since: str, anchor: Anchor) -> Source | None:
        """The version of the file that the digest was taken of, else that of the anchor's commit."""
        before, after = places
        first = f"{since}:{before.path}"
        found = self._history.blobs([first], max_bytes=_MAX_BYTES)
        then = Source(before.path, found[first]) if first in found else None
        if then is None or _digest(then, before, anchor) == anchor.digest:
            return then
        # It was taken of a work tree that was committed later.
        steps = self._history.steps(since, after.path, limit=_MAX_STEPS) or []
        for blob in self._blobs(steps).values():
            source = Source(before.path, blob)
            if _digest(source, before, anchor) == anchor.digest:
                return source
        return then


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


def _text(source: Source, place: Place, anchor: Anchor) -> list[str]:
    lines = source.lines_of(anchor.digest, place.lines) if place.lines is not None and anchor.digest else None
    found = source.find(place if lines is None else replace(place, lines=lines))
    return [] if found is None else source.text(found)


def _cut(lines: Iterator[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if number == MAX_DIFF_LINES:
            yield "…"
            return
        yield line if len(line) <= _MAX_LINE else line[:_MAX_LINE] + "…"
