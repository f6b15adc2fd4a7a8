"""What the code of one work tree says of anchors: their states now, and their digests.

Owns: the state of an anchor from what lies at its place, taking a digest.
Leaves alone: reading files (code_files), what became of what is not in place (anchor_moves), which code a memory may
    point into (surfaces).
"""

from __future__ import annotations

import difflib
import importlib.util
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from remvault.domain.anchors import NOT_TAKEN, Place, Reading, State, Taken, parse_place
from remvault.domain.memory import Anchor
from remvault.errors import UserError
from remvault.store.anchor_cache import AnchorCache, Answers
from remvault.store.anchor_changes import ChangeSearch, ChangesSince
from remvault.store.anchor_moves import Lost, Whereabouts
from remvault.store.code import CodeMissing, CodeRoot, CodeUnreadable
from remvault.store.code_files import TOO_MUCH, Look, TooMuch
from remvault.store.code_history import CodeHistory
from remvault.store.code_source import Source
from remvault.store.outlines import RECIPES
from remvault.store.state import State as StateFolders

SHORT = 10  # hex digits of a commit in an anchor
_MAKERS = (
    "outlines",
    "syntax",
    "entering",
    "kinds",
    "looks",
    "literals",
    "symbol_names",
    "languages",
    "code_source",
    "scopes",
)
_WHOLE = Place("file")
_NEVER_NS = 1 << 62


# Path, the answers an anchor was judged by, the anchor, and what it was judged to be.
_Judged = tuple[str, Answers | None, Anchor | None, Reading | None]


class AnchorNotFound(UserError):
    """What an anchor points at is not there: no such file, symbol or lines."""

    code = "anchor_not_found"

    def __init__(self, at: str, reason: str, close: Sequence[str] = ()) -> None:
        self.at, self.reason, self.close = at, reason, list(close)
        hint = f"did you mean {close[0]}?" if close else None
        super().__init__(f"anchor {at!r}: {reason}", hint=hint)


class AnchorRefused(UserError):
    """An anchor that no code can be read for: its form, or where its path leads, is not allowed."""

    code = "anchor_refused"

    def __init__(self, at: str, reason: str) -> None:
        self.at, self.reason = at, reason
        super().__init__(f"anchor {at!r}: {reason}", hint="write path, path#symbol or path#L10-L20")


class CodeAnchors:
    """The anchors into one work tree.

    Args:
        state: where the cache is kept; None keeps it in memory.
        clock_ns: the time, in nanoseconds since 1970, to tell files that changed just now; by default all may have.
    """

    def __init__(
        self, root: CodeRoot, state: StateFolders | None = None, *, clock_ns: Callable[[], int] = lambda: _NEVER_NS
    ) -> None:
        self.root = root
        self._history = CodeHistory(root)
        self._cache = AnchorCache(state, root=root.root, flavour=_flavour(), clock_ns=clock_ns)
        self._fresh: dict[str, _Judged] = {}  # by the text of an anchor: most of a look is making these
        self._taken = Source("", b"")  # the last file that was taken from: others often follow from the same
        self._changes = ChangeSearch(root, self._history, self._cache)

    def readings(self, anchors: Sequence[Anchor]) -> list[Reading]:
        """What the code says of each anchor, in the same order; every file is read once at most. Never fails."""
        look, known, fresh = Look(self.root, self._cache), dict[str, Answers](), self._fresh
        found: list[Reading | None] = []
        lost: dict[int, Lost] = {}
        for anchor in anchors:
            path, then, seen, reading = fresh.get(anchor.at) or _split(anchor.at)
            answers = known.get(path)
            if answers is None:
                answers = known[path] = self._cache.answers(path, self.root.stat) or {}
            # Most are in place, with nothing new in their file.
            if then is answers and (seen is anchor or seen == anchor):
                found.append(reading)
                continue
            judged = _known_fresh(anchor, answers) or _judged(anchor, look)
            if isinstance(judged, Lost):
                lost[len(found)] = judged
            elif judged.state == "fresh":
                fresh[anchor.at] = path, answers, anchor, judged
            found.append(None if isinstance(judged, Lost) else judged)
        if lost:
            settled = Whereabouts(look, self._history, self._cache, list(lost.values())).readings()
            for place, one in lost.items():
                found[place] = settled.get(one) or one.reading("unknown", TOO_MUCH)
        self._cache.save()
        return found  # type: ignore[return-value]  # every place is filled

    def take(self, at: str) -> Taken:
        """The anchor with the digest of what is there now, and the commit that is checked out.

        Raises:
            AnchorNotFound: no such file, symbol or lines.
            AnchorRefused: the form is not allowed, or the path leads out of the code or to what cannot be read.
        """
        try:
            place = parse_place(at)
        except ValueError as err:
            raise AnchorRefused(at, str(err)) from err
        try:
            data, _ = self.root.read(place.path)
        except CodeMissing as err:
            raise AnchorNotFound(at, err.reason, self._near(place)) from err
        except CodeUnreadable as err:
            raise AnchorRefused(at, err.reason) from err
        source = self._taken
        if (source.path, source.data) != (place.path, data):
            source = self._taken = Source(place.path, data)
        commit = self._history.head
        short = None if commit is None else commit[:SHORT]
        found = source.find(place)
        if found is not None:
            return Taken(Anchor(at=at, digest=found.digest, commit=short), found.notice)
        if source.outline.digest is None:
            return Taken(Anchor(at=at, commit=short), "the file is binary: whether it changes cannot be told")
        names = {one.name for one in source.outline.definitions}
        close = difflib.get_close_matches((place.symbol or "")[:200], sorted(names)[:2000], n=3)
        raise AnchorNotFound(at, missing(place), [f"{place.path}#{name}" for name in close])

    def changes_since(self, anchor: Anchor, reading: Reading) -> ChangesSince:
        """The commits that changed what an anchor points at since its digest was taken, and a short diff.

        Cheapest when anchors into one file are asked one after the other; what was learned is kept by `save`.

        Args:
            reading: what `readings` said of it.
        """
        return self._changes.changes(anchor, reading)

    def commits_since(self, anchor: Anchor, reading: Reading) -> int | None:
        """How many commits that is; None when nobody can tell, 0 for a change that is not committed yet."""
        commits = self._changes.commits(anchor, reading)
        self._cache.save()
        return None if commits is None else len(commits)

    def save(self) -> None:
        """Keep what was learned for the next process; every reading does so itself, and so does a count of commits."""
        self._cache.save()

    def _near(self, place: Place) -> list[str]:
        """Paths of files that may have been meant: of the same name, or one much like it."""
        known = sorted(self._history.tracked()[0] | self._history.untracked())
        name = place.path.rpartition("/")[2].lower()
        same = [path for path in known if path.rpartition("/")[2].lower() == name]
        close = same or difflib.get_close_matches(place.path[:200], known[:5000], n=3)
        fragment = place.symbol if place.symbol is not None else None
        return [path if fragment is None else f"{path}#{fragment}" for path in close[:3]]


def missing(place: Place) -> str:
    """Say what of a file that is there is not."""
    if place.lines is not None:
        return f"lines {place.lines[0]} to {place.lines[1]} are not there, or hold no code"
    return f"no {place.symbol} in the file"


def _split(at: str) -> _Judged:
    """The path of an anchor of which nothing is known."""
    return at.partition("#")[0], None, None, None


def _known_fresh(anchor: Anchor, answers: Answers) -> Reading | None:
    """The reading of an anchor that is in place by what is known of its file; None when it must be looked at."""
    # Only what `parse_place` let pass is among the answers.
    _, sharp, fragment = anchor.at.partition("#")
    if anchor.digest is None or answers.get(sharp + fragment) != anchor.digest:
        return None
    return Reading(anchor.at, "fresh", "", anchor.digest, anchor.commit)


def _judged(anchor: Anchor, look: Look) -> Reading | Lost:
    """The state of an anchor from what is in its file, or that it is not in place."""

    def reading(state: State, detail: str = "", now_at: str | None = None) -> Reading:
        return Reading(anchor.at, state, detail, anchor.digest, anchor.commit, now_at)

    try:
        place = parse_place(anchor.at)
    except ValueError as err:
        return reading("unknown", str(err))
    file = look.file(place.path)
    recipe = None if anchor.digest is None else anchor.digest.partition(":")[0]
    try:
        if not file.is_here:
            lost = Lost(anchor, place, "broken", file.why, is_gone=True)
            return lost if file.is_gone else reading("unknown", file.why)
        if file.digest(_WHOLE) is None:
            return reading("unknown", "the file is binary")
        found = file.digest(place)
        if found is not None and anchor.digest == found:
            return reading("fresh")
        if found is not None and recipe is not None and recipe not in RECIPES:
            return reading("unknown", f"its digest is of a recipe that is not known here ({recipe[:20]})")
        if place.lines is not None and anchor.digest is not None:
            lines = file.lines_of(anchor.digest, place.lines)
            if lines is not None:
                return reading("moved", "now at other lines", f"{place.path}#L{lines[0]}-L{lines[1]}")
    except TooMuch:
        return reading("unknown", TOO_MUCH)
    if found is None:
        return Lost(anchor, place, "broken", missing(place))
    if anchor.digest is None:
        return reading("unknown", NOT_TAKEN)
    if recipe != found.partition(":")[0]:
        return reading("unknown", "its digest is of another recipe")
    return Lost(anchor, place, "drifted", "its code changed")


def _flavour() -> str:
    """What digests hang on: the recipes, the code that makes them, and what is installed beside it."""
    own = Path(__file__).parent
    stamps = [",".join(sorted(RECIPES))]
    found = importlib.util.find_spec("tree_sitter")
    site = Path(found.origin).parent.parent if found is not None and found.origin is not None else own
    for path in (*(own / f"{name}.py" for name in _MAKERS), site):
        with suppress(OSError):
            stamps.append(str(os.stat(path).st_mtime_ns))  # noqa: PTH116
    return " ".join(stamps)
