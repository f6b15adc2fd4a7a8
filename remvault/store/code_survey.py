"""One look at what git says of the code: what follows from commits alone is asked once and kept.

Owns: which answers may be kept (by the ids of commits), which are asked anew each look (of the work tree).
Leaves alone: the questions themselves (code_history), what follows for an anchor (anchor_moves).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property

from remvault.store.anchor_cache import AnchorCache
from remvault.store.code_history import CodeHistory, Way

Kinds = tuple[str, ...]  # suffixes of files
MAX_HOLDERS = 500  # files that hold one name; more are not looked through
_MAX_FRESH = 100  # files that differ from HEAD: so many are looked at without asking which of them hold a name
_MAX_KEPT = 1_000  # renamed and added files of one answer that is kept
_MAX_COMMITS = 64  # compared with HEAD in one look


class Survey:
    """One look at the history and the work tree; made anew for each look."""

    def __init__(self, history: CodeHistory, cache: AnchorCache) -> None:
        self._history, self._cache = history, cache
        self._ways: dict[str, Way] = {}

    @cached_property
    def tip(self) -> str | None:
        """The commit that is checked out; None before the first one."""
        return self._history.head

    @cached_property
    def here(self) -> Way:
        """What became of the files of HEAD in the work tree."""
        return Way() if self.tip is None else self._history.changes_here(self.tip)

    @cached_property
    def untracked(self) -> set[str]:
        """The files that are neither tracked nor ignored."""
        return self._history.untracked()

    @cached_property
    def left_out(self) -> set[str]:
        """The files that are tracked and not checked out."""
        return self._history.tracked()[1]

    def known(self, commits: Iterable[str]) -> dict[str, str]:
        """The full ids of those commits, as notes name them, that this clone has."""
        asked = list(dict.fromkeys(commits))
        known = {one: full for one in asked if (full := self._cache.fact(f"commit {one}")) is not None}
        found = self._history.known([one for one in asked if one not in known])
        for one, full in found.items():
            self._cache.keep_fact(f"commit {one}", full)
        return known | found

    def outside(self, commits: Iterable[str]) -> set[str]:
        """Which commits (full ids) are not in the history of HEAD: another branch, or later than HEAD."""
        if self.tip is None:
            return set()
        known = {one: self._cache.fact(f"outside {one} {self.tip}") for one in commits if one != self.tip}
        asked = [one for one, answer in known.items() if answer is None]
        outside = self._history.outside(asked)
        for one in asked:
            self._cache.keep_fact(f"outside {one} {self.tip}", one in outside)
        return {one for one, answer in known.items() if answer} | outside

    def touched(self, since: str, paths: set[str]) -> set[str]:
        """Which paths differ from the history of the commit `since` by what HEAD's history or the work tree did.

        All, where nobody knows.
        """
        touched = self._history.touched(since, sorted(paths))
        return paths if touched is None else touched | (paths & (self.here.touched | self.untracked))

    def prepare(self, commits: Iterable[str]) -> None:
        """Compare these commits (full ids) with HEAD for `way`; of those not known from before only the first few."""
        if self.tip is None:
            return
        asked = []
        for one in dict.fromkeys(commits):
            kept = self._cache.fact(f"way {one} {self.tip}")
            if kept is not None:
                self._ways[one] = Way(kept[0], set(kept[1]))
            elif one not in (self.tip, *self._ways):
                asked.append(one)
        for one, way in self._history.ways(asked[:_MAX_COMMITS], self.tip).items():
            self._ways[one] = way
            if len(way.renamed) + len(way.added) <= _MAX_KEPT:
                self._cache.keep_fact(f"way {one} {self.tip}", [way.renamed, sorted(way.added)])

    def way(self, commit: str | None) -> Way:
        """What became of files from a commit to the work tree; from HEAD where `prepare` did not compare it."""
        way = self._ways.get(commit or "")
        return self.here if way is None else way.then(self.here)

    def holders(self, wanted: Iterable[tuple[str, Kinds]]) -> dict[tuple[str, Kinds], list[str]]:
        """For each word and kinds of files, where it may be: in these files and no others of the work tree.

        What HEAD holds is kept; files that differ from it, or did when it was asked, are always among the answers.
        """
        pairs = list(dict.fromkeys(wanted))
        every = {kind for _, kinds in pairs for kind in kinds}
        fresh = {path for path in self.here.touched | self.untracked if _suffix(path) in every}
        if len(fresh) > _MAX_FRESH or self.tip is None:
            found = self._history.holding({word for word, _ in pairs}, every, with_untracked=True)
            return {(word, kinds): _of(kinds, found.get(word, ())) for word, kinds in pairs}
        kept = {pair: self._cache.fact(self._asked(pair)) for pair in pairs}
        new = [pair for pair, paths in kept.items() if paths is None]
        found = self._history.holding({word for word, _ in new}, every, with_untracked=False) if new else {}
        for word, kinds in new:
            paths = _of(kinds, found.get(word, set()) | self.here.touched)[: MAX_HOLDERS + 1]
            kept[word, kinds] = paths
            if not self.left_out:  # what is not checked out was not looked at, and differs from HEAD in nothing
                self._cache.keep_fact(self._asked((word, kinds)), paths)
        return {pair: _of(pair[1], {*(paths or ()), *fresh}) for pair, paths in kept.items()}

    def _asked(self, pair: tuple[str, Kinds]) -> str:
        return f"holds {self.tip} {' '.join(pair[1])} {pair[0]}"


def _of(kinds: Kinds, paths: Iterable[str]) -> list[str]:
    return sorted(path for path in paths if _suffix(path) in kinds)


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1]  # noqa: PTH122  a thousand a look
