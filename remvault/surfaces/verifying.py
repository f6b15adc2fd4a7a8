"""`verify`: hold the files, the commits and what was seen before against each other, and say what does not agree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from remvault.domain.note import Note
from remvault.domain.problems import Problem
from remvault.domain.rules import vault_problems
from remvault.errors import RemvaultError
from remvault.retrieval.view import View
from remvault.store.attributes import has_filter
from remvault.store.files import SaveFailed, read_regular
from remvault.store.state import write_lock
from remvault.store.trees import DirectoryTree
from remvault.store.verifying import CommitJudge, compare_with_head, finding, is_ok, lost_commits
from remvault.store.witness import Witness
from remvault.store.work_tree import head
from remvault.surfaces.app import OpenVault
from remvault.surfaces.auditing import row_of

_OUTSIDE = "a note outside this context"
_SETTINGS = ("remvault.toml", "synonyms.toml", ".gitattributes", ".gitignore")
_ACCEPT = "if you rewrote history yourself: remvault verify --accept"
_LOCK_WAIT_S = 2.0
_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found; nothing is wrong unless one of them is an error."""

    findings: tuple[Problem, ...]
    notes: int
    commits: int  # that touch notes

    @property
    def is_ok(self) -> bool:
        """Whether files, commits and what was seen before agree."""
        return is_ok(self.findings)

    def answer(self) -> dict[str, Any]:
        """The findings as JSON has them."""
        keys = ("code", "severity", "message", "hint", "fixable")
        return {
            "findings": [{key: getattr(one, key) for key in keys} for one in self.findings],
            "ok": self.is_ok,
            "notes": self.notes,
            "commits": self.commits,
        }


def verify(vault: OpenVault, *, accept: bool = False) -> Verified:
    """Compare work tree, commits and trailers, and the head last seen; see `store.verifying`.

    Every note is read and hashed; nothing in the vault is written. The tips of the branches are recorded in the user's
    own state folder when they contain what was recorded before.

    Args:
        accept: take the present history as the right one, whatever was seen before.

    Raises:
        NoHistory: outside git.
    """
    repository = vault.history
    view = vault.view(with_past=True)
    tree = DirectoryTree(vault.root)
    found = [*_files(vault, view, tree), *_identity(view), *_seen_before(vault, accept=accept)]
    authors = {name: str(trust) for name, trust in vault.settings.table("authors").items()}
    commits = 0
    tip = _tip(vault)
    if tip is None:
        found.append(finding("RV617", "nothing is committed yet"))
    else:
        judge = CommitJudge(repository, vault.prefix, authors, lambda note: _shown(vault, view, note))
        judged = judge.judge(tip, shallow=_shallow(vault))
        found += judged.findings
        commits = judged.commits
    order = {"error": 0, "warning": 1, "info": 2}
    found.sort(key=lambda one: (order[one.severity], one.code))
    return Verified(tuple(found), sum(1 for _ in view.visible()), commits)


def _files(vault: OpenVault, view: View, tree: DirectoryTree) -> Iterator[Problem]:
    assert vault.work_tree is not None
    work_tree, environ, config = vault.work_tree, vault.surroundings.environ, vault.git_values
    waiting = [*vault.ledger.pending(), *vault.ledger.staged()]
    yield from compare_with_head(
        tree,
        vault.history,
        vault.prefix,
        others=dict(_others(vault)),
        queued=frozenset((change.path, change.blob) for one in waiting for change in one.changes),
        has_filter=lambda path: has_filter(work_tree, path, environ, config),
        may_name=lambda path: _path_shown(vault, view, path),
    )


def _others(vault: OpenVault) -> Iterator[tuple[str, bytes | None]]:
    """What decides how notes are read, and the tracked ledger, with the bytes on disk."""
    held = vault.history.blob_ids("HEAD", vault.prefix)
    names = {*_SETTINGS, *(path.name for path in vault.root.glob("ledger/*.jsonl"))}
    paths = {f"ledger/{name}" if name.endswith(".jsonl") else name for name in names}
    for path in sorted(paths | {path for path in held if path.startswith("ledger/") or path in _SETTINGS}):
        try:
            data = read_regular(vault.root / path)
        except SaveFailed:
            data = b""  # not a regular file, so surely not what HEAD holds
        if data is not None or path in held:
            yield path, data


def _identity(view: View) -> Iterator[Problem]:
    """Files that are passed over, and ids that stand twice."""
    rows = [row.linked() for row in view.snapshot.rows.values() if view.sees(row)]
    yield from (replace(one, message=f"{one.path}: {one.message}") for one in view.skipped())
    for one in vault_problems(rows):
        if one.code == "RV105":
            yield replace(one, message=f"{one.path}: {one.message}")


def _seen_before(vault: OpenVault, *, accept: bool) -> Iterator[Problem]:
    """Branches that no longer hold what was seen at their tips; what still does is recorded anew."""
    witness, state = vault.witness, vault.state
    assert vault.work_tree is not None
    assert witness is not None
    where = head(vault.work_tree, vault.surroundings.environ)
    records = witness.heads()
    if where.branch is not None and where.branch not in records:
        yield finding("RV617", f"branch {where.branch} was not seen here before: what it loses is told from now on")
    tips = {branch: _branch_tip(vault, branch) for branch in {*records, *([where.branch] if where.branch else [])}}
    for branch, seen in records.items():
        problem = None if accept else _loss(vault, branch, seen, tips[branch])
        if problem is not None:
            yield problem
            del tips[branch]
    if state is None:
        return
    with suppress(OSError, RemvaultError), write_lock(state, _LOCK_WAIT_S):
        _record(witness, tips, records)


def _record(witness: Witness, tips: dict[str, str | None], records: dict[str, str]) -> None:
    now = witness.heads()
    for branch, tip in tips.items():
        if now.get(branch) != records.get(branch):
            continue  # a write was here meanwhile
        if tip is None:
            witness.forget(branch)
        elif tip != records.get(branch):
            witness.set(branch, tip)


def _loss(vault: OpenVault, branch: str, seen: str, tip: str | None) -> Problem | None:
    if tip is None:
        # A branch that was merged and deleted lost nothing.
        current = _tip(vault)
        if current is not None and vault.history.is_ancestor(seen, current):
            return None
        message = f"branch {branch}, last seen at {seen[:10]}, is gone, and HEAD does not hold it"
        return finding("RV613", message, hint=_ACCEPT)
    if vault.history.is_ancestor(seen, tip):
        return None
    lost = lost_commits(vault.history, vault.prefix, seen, tip)
    if lost is None:
        message = (
            f"branch {branch} was last seen at {seen[:10]}, which this repository does not have: it is an older copy"
        )
        return finding("RV613", message, hint=_ACCEPT)
    if not lost:
        return None
    some = ", ".join(one.id[:10] for one in lost[:_EXAMPLES]) + (", ..." if len(lost) > _EXAMPLES else "")
    what = "1 commit on notes" if len(lost) == 1 else f"{len(lost):,} commits on notes"
    hint = f"'git log {seen[:10]}' still shows them; {_ACCEPT}"
    return finding("RV613", f"branch {branch} no longer has {what} that were seen here: {some}", hint=hint)


def _tip(vault: OpenVault) -> str | None:
    assert vault.work_tree is not None
    return head(vault.work_tree, vault.surroundings.environ).commit


def _branch_tip(vault: OpenVault, branch: str) -> str | None:
    from remvault.store.repository import RevisionNotFound

    try:
        return vault.history.resolve(f"refs/heads/{branch}")
    except RevisionNotFound:
        return None


def _shallow(vault: OpenVault) -> frozenset[str]:
    """Commits at which a shallow clone ends; their difference is the whole vault and says nothing."""
    assert vault.work_tree is not None
    try:
        return frozenset(Path(vault.work_tree.common_dir / "shallow").read_text(encoding="ascii").split())
    except OSError:
        return frozenset()


def _shown(vault: OpenVault, view: View, note: Note) -> str:
    return note.path if view.sees(row_of(vault, note)) else _OUTSIDE


def _path_shown(vault: OpenVault, view: View, path: str) -> str | None:
    """How a path may be called: by its name where this context sees the note, on disk or as HEAD has it.

    A local-only note that HEAD does not have is not told of.
    """
    from remvault.store.history import read_note

    if not path.endswith(".md"):
        return path
    row = view.snapshot.rows.get(path)
    if row is not None and view.sees(row):
        return path
    blob = vault.head_blobs().get(path)
    if blob is None:
        return None if row is not None and row.is_local_only else _OUTSIDE
    return path if view.sees(row_of(vault, read_note(vault.history, path, blob))) else _OUTSIDE
