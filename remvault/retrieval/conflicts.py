"""What is in dispute among the memories a context may see, and what rests on one that was retracted.

Owns: which conflicts are open, both ends' labels. Only notes that say so by a relation or a supersession are opened.
Leaves alone: proposals (domain.contradictions), settling (surfaces.disputes), what git and the ledger know (`Past`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from remvault.domain.disputes import Dispute, Key
from remvault.domain.moments import parse_moment
from remvault.index.rows import NoteRow

if TYPE_CHECKING:
    from remvault.retrieval.view import View

SUPPORTING = ("supports", "derived-from")


@dataclass(frozen=True, slots=True)
class Opening:
    """When a contradiction was first said, and whether a side's text has changed since."""

    since: str | None
    is_outdated: bool = False


class Past(Protocol):
    """What the files themselves do not tell."""

    def settled(self) -> frozenset[Key]:
        """Conflicts that somebody let stand."""
        ...

    def opening(self, holder: NoteRow, other: NoteRow) -> Opening:
        """When `holder` first said that it contradicts `other`."""
        ...

    def is_confirmed_since(self, upper: NoteRow, confirmed: datetime, lower: NoteRow) -> bool:
        """Whether `upper` was confirmed after `lower` was retracted; False when nobody can tell."""
        ...


class NoPast:
    """Nothing is known: every conflict is open, and nothing was confirmed in time."""

    def settled(self) -> frozenset[Key]:
        """None."""
        return frozenset()

    def opening(self, holder: NoteRow, other: NoteRow) -> Opening:
        """Unknown."""
        return Opening(None)

    def is_confirmed_since(self, upper: NoteRow, confirmed: datetime, lower: NoteRow) -> bool:
        """Unknown."""
        return False


class Conflicts:
    """The open conflicts of one view, found when first asked for."""

    def __init__(self, view: View, past: Past) -> None:
        self._view, self._past = view, past

    def of(self, memory_id: str | None) -> tuple[Dispute, ...]:
        """The open conflicts of one memory."""
        return self._by_id.get(memory_id or "", ())

    @cached_property
    def open(self) -> tuple[Dispute, ...]:
        """Every open conflict, by ids; contradictions first."""
        found = {one.ids: one for one in self._contradictions()}
        return (*sorted(found.values(), key=lambda one: one.ids), *self._contests())

    @cached_property
    def declared(self) -> frozenset[tuple[str, ...]]:
        """Pairs that say of each other that they contradict, support or derive, settled or not; sorted ids."""
        return frozenset(tuple(sorted((row.id or "", target))) for row in self._related for _, target in row.relations)

    @cached_property
    def unsound(self) -> Mapping[str, tuple[str, ...]]:
        """Memories that rest on a retracted one, by id, with the ids of what was retracted."""
        rests: dict[str, set[str]] = {}
        for row in self._related:
            for kind, target in row.relations:
                if kind in SUPPORTING and target != row.id:
                    rests.setdefault(row.id or "", set()).add(target)
                    # Support joins two memories that stand or fall together: either is worth another look.
                    if kind == "supports":
                        rests.setdefault(target, set()).add(row.id or "")
        rows = self._rows({*rests, *(one for lowers in rests.values() for one in lowers)})
        found = {}
        for upper, lowers in sorted(rests.items()):
            shaken = tuple(one for one in sorted(lowers) if upper in rows and self._shakes(rows[upper], rows.get(one)))
            if shaken:
                found[upper] = shaken
        return found

    def _shakes(self, upper: NoteRow, lower: NoteRow | None) -> bool:
        """Whether `lower` is retracted and nobody has confirmed `upper` since."""
        if lower is None or self._view.stage(lower) != "retracted":
            return False
        record = self._view.snapshot.records([upper.path]).get(upper.path)
        confirmed = parse_moment(record["confirmed"]) if record and record["confirmed"] else None
        return confirmed is None or not self._past.is_confirmed_since(upper, confirmed, lower)

    def _contradictions(self) -> list[Dispute]:
        said: dict[tuple[str, str], list[tuple[NoteRow, str]]] = {}
        for row in self._related:
            for kind, target in row.relations:
                if kind == "contradicts" and row.id is not None and target != row.id:
                    first, second = sorted((row.id, target))
                    said.setdefault((first, second), []).append((row, target))
        rows = self._rows({one for pair in said for one in pair})
        found = []
        for ids, edges in said.items():
            if not all(one in rows and self._view.stage(rows[one]) == "active" for one in ids):
                continue
            if self.key([rows[one] for one in ids]) in self._past.settled():
                continue
            openings = [self._past.opening(holder, rows[target]) for holder, target in edges]
            if all(one.is_outdated for one in openings):
                continue
            times = [one.since for one in openings if one.since is not None and not one.is_outdated]
            by = " and ".join(sorted({holder.id or "" for holder, _ in edges}))
            found.append(Dispute(ids, "contradiction", f"said by {by}", min(times, default=None)))
        return found

    def _contests(self) -> list[Dispute]:
        contests = self._view.snapshot.lineage.contests()
        rows = self._rows({one for older, heads in contests for one in (older, *heads)}) if contests else {}
        found: dict[tuple[str, ...], list[str]] = {}
        for older, heads in contests:
            seen = tuple(one for one in heads if one in rows and self._view.stage(rows[one]) == "active")
            if len(seen) > 1 and self.key([rows[one] for one in seen]) not in self._past.settled():
                found.setdefault(seen, []).extend([older] if older in rows else [])
        return [
            Dispute(heads, "contest", f"each supersedes {', '.join(olders)}" if olders else "each supersedes another")
            for heads, olders in sorted(found.items())
        ]

    @staticmethod
    def key(rows: list[NoteRow]) -> Key:
        """What a conflict between these notes, as they read now, is known by."""
        return frozenset((row.id or "", row.text_key) for row in rows)

    @cached_property
    def _by_id(self) -> Mapping[str, tuple[Dispute, ...]]:
        found: dict[str, list[Dispute]] = {}
        for one in self.open:
            for memory_id in one.ids:
                found.setdefault(memory_id, []).append(one)
        return {memory_id: tuple(many) for memory_id, many in found.items()}

    @cached_property
    def _related(self) -> list[NoteRow]:
        return [row for row in self._view.snapshot.related_rows() if self._view.sees(row)]

    def _rows(self, ids: set[str]) -> dict[str, NoteRow]:
        """The visible notes of these ids; of several with one id the first by path."""
        rows = self._view.snapshot.rows_of(ids)
        return {row.id or "": row for row in reversed(rows) if self._view.sees(row)}
