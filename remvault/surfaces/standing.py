"""How the vault stands, as far as this context may know: what waits, what is not committed, how many problems.

Owns: `status`.
Leaves alone: committing what waits (the ledger), judging notes (domain.rules).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remvault.domain.problems import Problem, problem, with_severities
from remvault.retrieval.view import View
from remvault.store.note_paths import is_note_path
from remvault.store.trees import DirectoryTree
from remvault.store.watch_post import WatcherSeen, watcher_of
from remvault.surfaces.app import OpenVault

if TYPE_CHECKING:
    from remvault.store.ledger import Outcome
    from remvault.store.pending import PendingOperation


@dataclass(frozen=True, slots=True)
class Status:
    """How the vault stands."""

    vault: Path
    notes: int
    generation: int
    is_stale: bool
    uncommitted: tuple[str, ...]  # paths of notes that HEAD does not hold as they are
    deleted: tuple[str, ...]  # paths of notes that HEAD holds and the disk does not
    settled: tuple[Outcome, ...]  # what this call committed of what was left over
    pending: tuple[Mapping[str, Any], ...]
    errors: int
    warnings: int
    notices: tuple[str, ...]
    watcher: WatcherSeen

    def answer(self) -> dict[str, Any]:
        """The status as JSON has it."""
        return {
            "vault": str(self.vault),
            "notes": self.notes,
            "index": {"generation": self.generation, "notes": self.notes, "stale": self.is_stale},
            "watcher": self.watcher.answer(),
            "uncommitted": [*self.uncommitted, *self.deleted],
            "pending": [dict(one) for one in self.pending],
            "problems": {"errors": self.errors, "warnings": self.warnings},
        }


def status(vault: OpenVault, *, settle: bool = True) -> Status:
    """How the vault stands; commits first what was saved but could not be committed at the time."""
    settled = vault.ledger.settle() if settle and vault.settings.read_only_reason is None else []
    view = vault.view(with_past=True)
    rows = list(view.visible())
    pending = [
        {
            "op": one.operation.op,
            "ids": list(one.operation.ids),
            "paths": [change.path for change in one.changes],
            "why": one.why,
        }
        for one in vault.ledger.pending()
        if _may_tell(view, one)
    ]
    found = _all_problems(vault, view)
    return Status(
        vault.root,
        len(rows),
        view.snapshot.generation,
        view.snapshot.is_stale,
        tuple(sorted(row.path for row in rows if not row.is_committed)),
        tuple(_deleted(vault, view)),
        tuple(settled),
        tuple(pending),
        sum(one.severity == "error" for one in found),
        sum(one.severity == "warning" for one in found),
        (*view.notices(), *(f"{path} was set aside: it is torn, or not ours" for path in vault.ledger.set_aside())),
        watcher_of(vault.state.caches) if vault.state is not None else WatcherSeen(False),
    )


def _may_tell(view: View, pending: PendingOperation) -> bool:
    """Whether this context may know of an operation: it is its own, or all of its notes are in sight."""
    operation = pending.operation
    if operation.scope is not None:
        return operation.scope in view.owners and not view.withheld & {*operation.ids, *operation.supersedes}
    rows = [view.snapshot.rows.get(path) for path in pending.paths if is_note_path(path)]
    return all(row is not None and view.sees(row) for row in rows)


def _deleted(vault: OpenVault, view: View) -> Iterator[str]:
    """Paths of this context's notes that HEAD holds and the disk does not, sorted."""
    from remvault.store.history import read_note
    from remvault.surfaces.auditing import row_of

    for path, blob in sorted(vault.head_blobs().items()):
        if path in view.snapshot.rows or not is_note_path(path):
            continue
        if view.sees(row_of(vault, read_note(vault.history, path, blob))):
            yield path


def _code_problems(vault: OpenVault, view: View) -> Iterator[Problem]:
    """What `check` would find in the code of this context's memories; each file is looked at once."""
    from remvault.domain.anchor_rules import is_held_to_code, rule_of

    held = [
        row
        for row in view.snapshot.anchored_rows()
        if view.sees(row) and is_held_to_code(row.status, row.freshness) and not vault.anchors.why_not(row.owner)
    ]
    view.look_at_code(held)
    for row in held:
        for reading in view.readings(row):
            code = rule_of(reading)
            if code is not None:
                yield problem(code, row.path, None, reading.detail)


def _all_problems(vault: OpenVault, view: View) -> list[Problem]:
    """What `check` would find in the notes of this context; only those with problems are opened."""
    from remvault.domain.note import parse_note
    from remvault.domain.rules import note_problems, vault_problems
    from remvault.store.checking import folder_problems, name_clashes
    from remvault.surfaces.upkeep import beside_notes

    rows = list(view.snapshot.rows.values())
    tree = DirectoryTree(vault.root)
    found = [*vault_problems([row.linked() for row in rows]), *name_clashes(row.path for row in rows)]
    for row in rows:
        found += folder_problems(row.path, row.owner, 1)
        if row.problems:
            found += note_problems(parse_note(row.path, tree.read(row.path)), is_embedded=vault.is_embedded)
    found += _code_problems(vault, view)
    seen = {row.path for row in rows if view.sees(row) or row.is_local_only}
    found = [one for one in found if one.path in seen]
    return [*with_severities([*found, *view.skipped()], vault.settings.rules), *beside_notes(vault)]
