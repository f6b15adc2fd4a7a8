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
from remvault.retrieval.answers import memory_answer

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
    anchored = [row for row in view.snapshot.anchored_rows() if view.sees(row) and view.stage(row) == "active"]
    view.look_at_code(anchored)
    found = [(row, reasons) for row in view.visible() if (reasons := _reasons(view, row))]
    records = view.snapshot.records([row.path for row, _ in found])
    memories = [_told(vault, view, row, reasons, records[row.path]) for row, reasons in found if row.path in records]
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


def _told(
    vault: OpenVault, view: View, row: NoteRow, reasons: tuple[Reason, ...], record: Mapping[str, Any]
) -> StaleMemory:
    readings = view.readings(row)
    memory = memory_answer(
        record,
        provider=vault.provider,
        path=row.path,
        committed=row.is_committed,
        anchors=readings,
        successors=view.successors(row),
    )
    code = vault.anchors.of(row.owner) if "drifted" in reasons else None
    changes = [
        Change(anchor.at, code.changes_since(anchor, reading))
        for anchor, reading in zip(row.anchors, readings, strict=True)
        if code is not None and reading.state == "drifted"
    ]
    return StaleMemory(memory, tuple(view.labels(row)), reasons, tuple(changes))


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
