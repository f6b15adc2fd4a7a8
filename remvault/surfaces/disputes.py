"""Conflicts between memories: what is open or proposed, and how one is resolved. Nothing is merged in silence.

Owns: the verbs `conflicts` and `resolve`.
Leaves alone: which conflicts are open (retrieval.conflicts), the detector (domain.contradictions).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from remvault.domain.disputes import Dispute, is_explicit, is_inferred
from remvault.domain.moments import parse_moment
from remvault.errors import UsageError, UserError
from remvault.retrieval.answers import source_of
from remvault.retrieval.view import View, last_known

if TYPE_CHECKING:
    from remvault.index.rows import NoteRow
    from remvault.store.written import Written
    from remvault.surfaces.app import OpenVault


class NotInConflict(UserError):
    """What should be resolved is no conflict."""

    code = "not_in_conflict"

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = list(ids)
        one = f"{ids[0]} is in no conflict" if len(ids) == 1 else f"{' and '.join(ids)} are in no conflict together"
        super().__init__(one, hint="run 'remvault conflicts' to see what is open")


class WouldOverwriteExplicit(UserError):
    """An inferred memory was to be kept over one that somebody stated."""

    code = "explicit_over_inferred"

    def __init__(self, kept: str, explicit: str) -> None:
        self.kept, self.explicit = kept, explicit
        super().__init__(
            f"{kept} was inferred and cannot be kept over {explicit}, which was stated explicitly",
            hint=f"if {explicit} is wrong, say so: remvault retract {explicit}, or supersede it by what is right",
        )


@dataclass(frozen=True, slots=True)
class Side:
    """One memory of a conflict, with what a reader weighs it by; what is unknown is None."""

    id: str
    title: str | None
    source: str | None
    confirmed: str | None
    observed: str | None
    created: str | None

    def answer(self) -> dict[str, Any]:
        """The side as JSON has it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Conflict:
    """A conflict with its sides."""

    dispute: Dispute
    since: str | None
    sides: tuple[Side, ...]

    def answer(self) -> dict[str, Any]:
        """The conflict as JSON has it."""
        return {
            "ids": list(self.dispute.ids),
            "kind": self.dispute.kind,
            "since": self.since,
            "detail": self.dispute.detail,
            "proposed": self.dispute.proposed,
            "sides": [side.answer() for side in self.sides],
        }


@dataclass(frozen=True, slots=True)
class Conflicts:
    """What is open, then what is proposed."""

    conflicts: tuple[Conflict, ...]
    notices: tuple[str, ...]

    def answer(self) -> dict[str, Any]:
        """The conflicts as JSON has them."""
        return {"conflicts": [one.answer() for one in self.conflicts]}


def conflicts(vault: OpenVault, name: str | None = None, *, proposals: bool = True) -> Conflicts:
    """List the open conflicts of this context, and those that the detector proposes.

    Args:
        name: only those of this memory.
        proposals: also look for contradictions that nobody has named; advisory.
    """
    from remvault.surfaces.proposing import proposals as proposed

    view = vault.view()
    row = vault.find(name, view) if name is not None else None
    found = [*view.conflicts.open, *(proposed(view) if proposals else ())]
    if row is not None:
        found = [one for one in found if row.id in one.ids]
    return Conflicts(tuple(_told(view, one) for one in found), view.notices())


def conflicts_of(vault: OpenVault, view: View, memory_id: str | None) -> list[dict[str, Any]]:
    """The open conflicts of one visible memory, as `why` shows them; without proposals."""
    return [_told(view, one).answer() for one in view.conflicts.of(memory_id)]


def resolve(
    vault: OpenVault,
    names: Sequence[str],
    *,
    keep: str | None = None,
    supersede: bool = False,
    both: bool = False,
    dismiss: bool = False,
    reason: str | None = None,
    dry_run: bool = False,
) -> Written:
    """Resolve one conflict, in one commit.

    Args:
        names: its memories; one is enough where it is in a single conflict.
        keep: the memory that holds; the others are retracted, or with `supersede` superseded by it.
        both: all of them hold, each where or when it says.
        dismiss: it is no conflict. Like `both`, this is remembered for the texts as they are now.

    Raises:
        UsageError: unless exactly one of `keep`, `both` and `dismiss` is given.
        NotInConflict: if nothing is open or proposed between them.
        WouldOverwriteExplicit: if an inferred memory should be kept over an explicit one.
    """
    from remvault.surfaces.resolving import keep_one, let_stand

    if (keep is not None) + both + dismiss != 1:
        raise UsageError("say how: one of --keep ID, --both or --dismiss")
    if supersede and keep is None:
        raise UsageError("--supersede needs --keep ID: the memory that takes the others' place")
    view = vault.view()
    rows = {row.id or "": row for row in (vault.find(name, view) for name in names)}
    kept = vault.find(keep, view) if keep is not None else None
    if kept is not None:
        rows.setdefault(kept.id or "", kept)
    dispute = _meant(view, tuple(sorted(rows)))
    act = vault.act(reason=reason, dry_run=dry_run)
    if kept is None:
        return let_stand(vault, _sides(view, dispute), act, how="both" if both else "dismissed")
    # Of several heads only those named give way.
    losers = [row for row in (rows.values() if len(rows) > 1 else _sides(view, dispute)) if row.id != kept.id]
    _refuse_inference(view, kept, losers)
    return keep_one(vault, kept, losers, act, supersede=supersede)


def _meant(view: View, ids: Sequence[str]) -> Dispute:
    from remvault.surfaces.proposing import proposals

    wanted = set(ids)
    found = [one for one in view.conflicts.open if wanted <= set(one.ids)]
    found = found or [one for one in proposals(view) if wanted <= set(one.ids)]
    if not found:
        raise NotInConflict(ids)
    if len({one.ids for one in found}) > 1:
        others = sorted({one for dispute in found for one in dispute.ids} - wanted)
        raise UserError(f"{ids[0]} is in {len(found)} conflicts", hint=f"name the other side too: {', '.join(others)}")
    return found[0]


def _sides(view: View, dispute: Dispute) -> list[NoteRow]:
    rows = {row.id: row for row in reversed(view.snapshot.rows_of(dispute.ids)) if view.sees(row)}
    return [rows[one] for one in dispute.ids]


def _refuse_inference(view: View, kept: NoteRow, losers: Sequence[NoteRow]) -> None:
    records = view.snapshot.records([row.path for row in (kept, *losers)])
    if not is_inferred(records[kept.path]):
        return
    for loser in losers:
        if is_explicit(records[loser.path]):
            raise WouldOverwriteExplicit(kept.id or kept.path, loser.id or loser.path)


def _told(view: View, dispute: Dispute) -> Conflict:
    rows = _sides(view, dispute)
    records = view.snapshot.records([row.path for row in rows])
    sides = []
    for row in rows:
        record = records[row.path]
        times = {name: record[name] for name in ("confirmed", "observed", "created")}
        sides.append(Side(row.id or "", row.title, source_of(record), **times))
    dates = [text for row in rows if (text := last_known(records[row.path])) is not None]
    # Without a word in history a conflict is as old as the later of its memories.
    since = dispute.since or max(dates, key=lambda text: str(parse_moment(text)), default=None)
    return Conflict(dispute, since, tuple(sides))
