"""`stale`: the memories that want another look, and what happened to the code behind them.

Owns: the reasons for another look, told apart, with the code commits and a short diff for what drifted.
Leaves alone: states (retrieval.view, store.anchor_states), what rests on what (retrieval.conflicts).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from remvault.domain.anchors import Reading
from remvault.retrieval.answers import row_answer

if TYPE_CHECKING:
    from remvault.index.rows import NoteRow
    from remvault.retrieval.view import View
    from remvault.store.anchor_changes import ChangesSince, CodeCommit
    from remvault.surfaces.app import OpenVault

Reason = Literal["broken", "drifted", "unsound", "marked"]
# In the order in which they are told: code that is gone, code that changed, resting on a retracted memory, and marked
# stale by somebody.
REASONS: tuple[Reason, ...] = ("broken", "drifted", "unsound", "marked")


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to the code of one drifted anchor since its digest was taken."""

    at: str
    since: ChangesSince

    def answer(self) -> dict[str, Any]:
        """The change as JSON has it; `total` counts the commits that are left out too, null when nobody can tell."""
        commits = [_commit(one) for one in self.since.commits]
        return {"at": self.at, "commits": commits, "total": self.since.total, "diff": self.since.diff}


@dataclass(frozen=True, slots=True)
class StaleMemory:
    """A memory that wants another look, and why."""

    memory: Mapping[str, Any]
    labels: tuple[str, ...]
    reasons: tuple[Reason, ...]  # in the order of REASONS
    changes: tuple[Change, ...]  # one for each drifted anchor

    def answer(self) -> dict[str, Any]:
        """The memory as JSON has it; `commits` are those of all its anchors, newest first."""
        commits = {one.id: one for change in self.changes for one in change.since.commits}
        newest = sorted(commits.values(), key=lambda one: one.time, reverse=True)
        return dict(self.memory) | {
            "labels": list(self.labels),
            "reasons": list(self.reasons),
            "commits": [_commit(one) for one in newest],
            "changes": [one.answer() for one in self.changes],
        }


@dataclass(frozen=True, slots=True)
class Stale:
    """Memories that want another look, by path."""

    memories: tuple[StaleMemory, ...]
    notices: tuple[str, ...]

    def answer(self) -> dict[str, Any]:
        """The memories as JSON has them."""
        return {"memories": [one.answer() for one in self.memories]}


def stale(vault: OpenVault) -> Stale:
    """List active memories that want another look.

    Their code changed or is gone, somebody marked them stale, or they rest on a retracted memory and nobody has
    confirmed them since. Each file of the code is looked at once, however many anchors point into it.
    """
    view = vault.view()
    anchored = [row for row in view.snapshot.anchored_rows() if view.accepts(row, {"active"}, only_valid=False)]
    view.look_at_code(anchored)
    found = [(row, reasons) for row in view.visible() if (reasons := _reasons(view, row))]
    records = view.snapshot.records([row.path for row, _ in found])
    changes = _changes(vault, view, [row for row, reasons in found if "drifted" in reasons])
    memories = [
        StaleMemory(
            row_answer(view, row, records[row.path], provider=vault.provider, anchors=view.readings(row)),
            tuple(view.labels(row)),
            reasons,
            tuple(changes.get(row.path, ())),
        )
        for row, reasons in found
        if row.path in records
    ]
    readings = [reading for row in anchored for reading in view.readings(row)]
    return Stale(tuple(memories), (*view.notices(), *_other_states(readings)))


def _reasons(view: View, row: NoteRow) -> tuple[Reason, ...]:
    if view.stage(row) != "active":
        return ()
    states = {reading.state for reading in view.readings(row)}
    found: Mapping[Reason, bool] = {
        "broken": "broken" in states,
        "drifted": "drifted" in states,
        "unsound": row.id in view.conflicts.unsound,
        "marked": row.freshness == "stale",
    }
    return tuple(reason for reason in REASONS if found[reason])


def _changes(vault: OpenVault, view: View, rows: Sequence[NoteRow]) -> dict[str, list[Change]]:
    """What happened to the code of drifted anchors, by the path of their note."""
    drifted = [
        (row, at, anchor, reading)
        for row in rows
        for at, (anchor, reading) in enumerate(zip(row.anchors, view.readings(row), strict=True))
        if reading.state == "drifted"
    ]
    found: dict[tuple[str, int], Change] = {}
    code = vault.anchors.of(drifted[0][0].owner) if drifted else None  # what drifted was read, so there is some
    # Those into one file one after the other: its history is read once.
    for row, at, anchor, reading in sorted(drifted, key=lambda one: one[2].at):
        if code is not None:
            found[row.path, at] = Change(anchor.at, code.changes_since(anchor, reading))
    if code is not None:
        code.save()
    by_note: dict[str, list[Change]] = {}
    for (path, _), change in sorted(found.items(), key=lambda one: one[0]):
        by_note.setdefault(path, []).append(change)
    return by_note


def _other_states(readings: Sequence[Reading]) -> list[str]:
    """What is not stale and still worth a word: code that moved, and code that nobody could look at."""
    said = []
    moved = sum(reading.state == "moved" for reading in readings)
    if moved:
        what = "1 anchor points" if moved == 1 else f"{moved:,} anchors point"
        said.append(f"{what} at code that moved: 'remvault check --fix' writes the new place down")
    unknown = Counter(reading.detail for reading in readings if reading.state == "unknown")
    for why, number in sorted(unknown.items()):
        what = "1 anchor was" if number == 1 else f"{number:,} anchors were"
        said.append(f"{what} not checked: {why}")
    return said


def _commit(commit: CodeCommit) -> dict[str, Any]:
    said = {"commit": commit.id, "time": commit.time.isoformat(), "author": commit.author}
    return said | {"subject": commit.subject}
