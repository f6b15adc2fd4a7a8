"""Memories as the code sees them: what their readers are told of it, and which of them point at given files.

Owns: labels, why a memory is not surfaced, finding by file.
Leaves alone: the states themselves (an `AnchorSource`), which memories may be seen (the caller's predicate).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from remvault.domain.anchors import Reading
from remvault.domain.memory import Anchor
from remvault.index.rows import NoteRow

if TYPE_CHECKING:
    from remvault.retrieval.view import View


def labels_of(readings: Iterable[Reading], commits_since: Callable[[Reading], int | None]) -> list[str]:
    """What a reader must know before trusting a memory, of its anchors: nothing for those that are fresh or moved.

    Args:
        commits_since: as an `AnchorSource` has it, for the memory's owner; asked for drifted anchors only.
    """
    labels = []
    for one in readings:
        if one.state == "drifted":
            where = f", now {one.now_at}" if one.now_at else ""
            labels.append(f"code changed: {one.at}{where}{_since(commits_since(one))}")
        elif one.state == "broken":
            labels.append(_gone(one.at, one.detail))
        elif one.state == "unknown":
            labels.append(f"anchor not checked: {one.detail}" if one.detail else "anchor not checked")
    return list(dict.fromkeys(labels))


def why_hidden(memory: Mapping[str, Any]) -> str | None:
    """Why a memory, as answers have it, is not surfaced on its own: code it rests on is gone. None when it may be."""
    gone = [_gone(one["at"], one["detail"]) for one in memory["anchors"] if one["state"] == "broken"]
    return "; ".join(gone) or None


def not_looked_at(anchors: Iterable[Anchor]) -> list[Reading]:
    """The anchors of a memory whose code nobody asked about."""
    return [Reading(one.at, "unknown", "not checked", one.digest, one.commit) for one in anchors]


def anchored_to(view: View, files: Collection[str], accept: Callable[[NoteRow], bool]) -> dict[str, tuple[str, ...]]:
    """The notes that point at one of these files or into it, by path, with the anchors that do, as they are now.

    What moved counts for the file where it is now. Each file of the code is read once at most.

    Args:
        files: relative to the code root.
        accept: which notes may be told of.
    """
    rows = [row for row in view.snapshot.anchored_rows() if accept(row)]
    view.look_at_code(rows)
    found = {row.path: tuple(at for at in map(_now, view.readings(row)) if path_of(at) in files) for row in rows}
    return {path: places for path, places in found.items() if places}


def path_of(at: str) -> str:
    """The path in an anchor."""
    return at.partition("#")[0]


def _now(reading: Reading) -> str:
    # Of what is gone `now_at` is a guess.
    return reading.at if reading.now_at is None or reading.state == "broken" else reading.now_at


def _gone(at: str, detail: str | None) -> str:
    return f"code gone: {at} ({detail})" if detail else f"code gone: {at}"


def _since(commits: int | None) -> str:
    if commits is None:
        return ""
    if commits == 0:
        return " (not committed yet)"
    return f" ({commits} commit{'' if commits == 1 else 's'} since)"
