"""Which notes a person has edited and let rest for a while, so that the watcher may commit them.

Owns: what is fit to be committed without being asked, and how long it has been quiet.
Leaves alone: the commits (store.edit_commits), when to look (watching).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from remvault.domain.note import parse_note
from remvault.domain.problems import has_errors, with_severities
from remvault.domain.rules import note_problems, vault_problems
from remvault.errors import UserError
from remvault.index.manifest import disk_clock
from remvault.index.rows import NoteRow
from remvault.index.snapshot import Snapshot
from remvault.store.checking import folder_problems, name_clashes
from remvault.store.edit_commits import Edit, commit_edits
from remvault.store.ledger import STAGED
from remvault.store.note_paths import is_note_path
from remvault.store.trees import DirectoryTree
from remvault.surfaces.app import OpenVault

# A batch holds the lock of all writers.
_BATCH = 20


@dataclass(frozen=True, slots=True)
class Settled:
    """What was taken into history without being asked for."""

    commits: tuple[tuple[str, str], ...] = ()  # path and commit; "" for what waited, and what is not to be told
    why_held: str | None = None  # one line: why not all of it
    wait_s: float | None = None  # until the next edit will have been quiet for long enough; None: there is none

    def answer(self) -> dict[str, object]:
        """The commits as JSON has them."""
        commits = [{"path": path or None, "commit": commit} for path, commit in self.commits]
        return {"committed": commits, "held": self.why_held}


def settle_quiet(vault: OpenVault, snapshot: Snapshot, passed_over: set[tuple[str, str]]) -> Settled:
    """Commit what waits for its commit, and where `[watch] commit` is on the edits that are quiet.

    Args:
        snapshot: just taken.
        passed_over: path and blob of edits not to try again; is added to.
    """
    settings = vault.settings
    if settings.is_off or settings.read_only_reason is not None or vault.state is None:
        return Settled()
    waiting = [outcome for outcome in vault.ledger.settle() if outcome.commit or outcome.pending]
    held = next((one.pending for one in waiting if not one.committed and one.pending != STAGED), None)
    settled = tuple(("", outcome.commit) for outcome in waiting if outcome.commit)
    if held is not None or not settings.flag("watch.commit"):
        return Settled(settled, held)
    mode = settings.text("git.commit") or "auto"
    if mode != "auto":
        return Settled(settled, f'[git] commit is "{mode}", so edits are yours to commit')
    done = _commit_quiet(vault, snapshot, passed_over)
    return Settled((*settled, *done.commits), done.why_held, done.wait_s)


def _commit_quiet(vault: OpenVault, snapshot: Snapshot, passed_over: set[tuple[str, str]]) -> Settled:
    assert vault.state is not None
    quiet_s = max(1, vault.settings.count("watch.quiet-seconds"))
    rows = [row for row in snapshot.uncommitted_rows() if row.is_valid and not row.is_local_only]
    rows = [row for row in rows if row.path not in snapshot.copies and (row.path, row.blob) not in passed_over]
    if not rows:
        return Settled()
    now = disk_clock(vault.state.caches) / 1e9
    ages = {row.path: now - changed for row in rows if (changed := _changed_at(vault, row.path)) is not None}
    loud = [quiet_s - age for age in ages.values() if age < quiet_s]
    wait_s = max(0.1, min(loud)) if loud else None
    quiet = [row for row in rows if ages.get(row.path, 0.0) >= quiet_s]
    if not quiet:
        return Settled(wait_s=wait_s)
    fit = list(_fit(vault, quiet, snapshot.rows.values()))
    edits = _with_moves(vault, fit, snapshot.removed)
    commits: list[tuple[str, str]] = []
    for at in range(0, len(edits), _BATCH):
        done = commit_edits(vault.ledger, edits[at : at + _BATCH])
        commits += done.commits
        passed_over.update((one.path, one.blob) for one in done.passed_over)
        if done.why_held is not None:
            return Settled(tuple(commits), done.why_held, wait_s)
    return Settled(tuple(commits), None, wait_s)


def _changed_at(vault: OpenVault, path: str) -> float | None:
    """When a file last changed, by the disk's clock; None when it is gone."""
    try:
        found = (vault.root / path).lstat()
    except OSError:
        return None
    # Programs set the time of a change as they like, but not the one at which they do it; Windows has no such time.
    return found.st_mtime if os.name == "nt" else found.st_ctime


def _fit(vault: OpenVault, rows: Sequence[NoteRow], everything: Iterable[NoteRow]) -> Iterator[NoteRow]:
    """Those in which `check` would find no error."""
    everything = list(everything)
    across = [*vault_problems([row.linked() for row in everything]), *name_clashes(row.path for row in everything)]
    tree, severities = DirectoryTree(vault.root), vault.settings.rules
    for row in rows:
        try:
            note = parse_note(row.path, tree.read(row.path))
        except UserError:
            continue
        found = [*note_problems(note, is_embedded=vault.is_embedded), *folder_problems(row.path, row.owner, 1)]
        found += [one for one in across if one.path == row.path]
        if note.blob == row.blob and not has_errors(with_severities(found, severities)):
            yield row


def _with_moves(vault: OpenVault, rows: Sequence[NoteRow], removed: Mapping[str, str]) -> list[Edit]:
    """As edits. A memory that lies elsewhere by now leaves its old place in the same commit, or it were there twice."""
    new_ids = {row.id for row in rows if row.head_blob is None and row.id is not None}
    gone: dict[str, str] = {}
    for path, blob in removed.items() if new_ids else ():
        memory_id = parse_note(path, vault.history.read_blob(blob)).memory.id if is_note_path(path) else None
        if memory_id in new_ids:
            gone[memory_id] = path
    return [Edit(row.path, row.blob, gone.get(row.id or "") if row.head_blob is None else None) for row in rows]
