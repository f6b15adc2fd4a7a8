"""The correcting verbs, for every front door: still true, found inaccurate, put away, removed, linked.

Each takes an open vault, finds what it names through the same boundary as reading, and is one change. `undo` is in
`surfaces.undoing`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from remvault.domain.commit_message import is_one_line
from remvault.domain.memory import RELATION_TYPES
from remvault.domain.scope import SCOPES
from remvault.domain.suggestions import suggest
from remvault.errors import UsageError, UserError
from remvault.retrieval.lifecycle import Stage, stage_of
from remvault.retrieval.lookup import MemoryNotFound
from remvault.store import correcting
from remvault.store.correcting import Cleared
from remvault.store.written import Written
from remvault.surfaces.addressing import heads, own_private_notes, persons_only, private_note, rests, seen_ids
from remvault.surfaces.app import OpenVault

if TYPE_CHECKING:
    from remvault.index.rows import NoteRow
    from remvault.retrieval.view import View

_RESTORE = "'remvault restore' makes it active again"
_ACCEPT = "'remvault set ID status=active' accepts it"


class NotStanding(UserError):
    """What is asked for makes no sense for a memory in this stage of its life."""

    code = "not_standing"

    def __init__(self, memory: str, stage: str, hint: str) -> None:
        self.memory, self.stage = memory, stage
        super().__init__(f"{memory} is {stage}", hint=hint)


class NoSuchLink(UserError):
    """The memory has no such relation."""

    code = "no_such_link"

    def __init__(self, memory: str, kind: str, target: str) -> None:
        self.memory, self.kind, self.target = memory, kind, target
        super().__init__(f"{memory} has no link {kind!r} to {target!r}", hint="'remvault show' lists its relations")


class ScopeClosed(UserError):
    """The context knows no owner of the scope."""

    code = "scope_closed"

    def __init__(self, scope: str) -> None:
        self.scope = scope
        super().__init__(f"no {scope} is known here", hint="'remvault context' shows the active ids")


@dataclass(frozen=True, slots=True)
class _Meant:
    """The memory a verb means; `row` and `view` are None for a local-only one, which no index knows."""

    path: str
    id: str
    stage: Stage
    expires: str | None  # as typed, when that time has passed
    row: NoteRow | None = None
    view: View | None = None

    def heads(self) -> list[str]:
        """What holds in its place."""
        return heads(self.view, self.row) if self.view is not None and self.row is not None else []

    def rests(self) -> tuple[str, ...]:
        """What rests on it."""
        return rests(self.view, self.row) if self.view is not None and self.row is not None else ()

    def replaced(self) -> list[str]:
        """What it holds in the place of, directly."""
        if self.view is None:
            return []
        return sorted(seen_ids(self.view, self.view.snapshot.lineage.predecessors.get(self.id, ())))


def confirm(
    vault: OpenVault, name: str, *, private: bool = False, reason: str | None = None, dry_run: bool = False
) -> Written:
    """Say that a memory is still true.

    Raises:
        NotStanding: for one that is retracted, superseded, archived or a candidate.
    """
    meant = _meant(vault, name, private=private)
    if meant.stage == "superseded":
        raise NotStanding(meant.id, "superseded", _instead("confirm", meant.heads()))
    if meant.stage not in ("active", "expired"):
        raise NotStanding(meant.id, meant.stage, _ACCEPT if meant.stage == "candidate" else _RESTORE)
    written = correcting.confirm(vault.vault, meant.path, vault.act(reason=reason, dry_run=dry_run))
    return _noting(written, _expired(meant))


def retract(
    vault: OpenVault,
    name: str,
    *,
    no_infer: Sequence[str] = (),
    private: bool = False,
    reason: str | None = None,
    dry_run: bool = False,
) -> Written:
    """Say that a memory is inaccurate. It stays, readable and linked, out of normal recall.

    Args:
        no_infer: what must not be concluded again.

    Returns:
        Among others `rests`: ids of visible memories to look at again, since they rest on it.
    """
    meant = _meant(vault, name, private=private)
    act = vault.act(reason=reason, dry_run=dry_run)
    written = correcting.retract(vault.vault, meant.path, act, no_infer=_terms(no_infer))
    return _noting(replace(written, rests=meant.rests()), *_holding_again(meant))


def archive(
    vault: OpenVault, name: str, *, private: bool = False, reason: str | None = None, dry_run: bool = False
) -> Written:
    """Put a memory away: out of normal recall, without a word about its truth."""
    meant = _meant(vault, name, private=private)
    if meant.stage == "retracted":
        raise NotStanding(meant.id, "retracted", "it is out of recall already, and its retraction stays on record")
    written = correcting.archive(vault.vault, meant.path, vault.act(reason=reason, dry_run=dry_run))
    return _noting(written, *_holding_again(meant))


def restore(
    vault: OpenVault, name: str, *, private: bool = False, reason: str | None = None, dry_run: bool = False
) -> Written:
    """Make a retracted or archived memory active again.

    Raises:
        NotStanding: for a superseded memory or a candidate, which other verbs decide about.
    """
    meant = _meant(vault, name, private=private)
    if meant.stage == "superseded":
        raise NotStanding(meant.id, "superseded", _instead("retract or supersede", meant.heads()))
    if meant.stage == "candidate":
        raise NotStanding(meant.id, "candidate", _ACCEPT)
    written = correcting.restore(vault.vault, meant.path, vault.act(reason=reason, dry_run=dry_run))
    notices = [_expired(meant)]
    if meant.heads():
        notices.append(f"it stays superseded by {' and '.join(meant.heads())}")
    return _noting(written, *notices)


def delete(
    vault: OpenVault, name: str, *, private: bool = False, reason: str | None = None, dry_run: bool = False
) -> Written:
    """Remove a memory's file in a commit; history keeps it. A local-only one (`private`) is gone for good."""
    meant = _meant(vault, name, private=private)
    written = vault.vault.remove(meant.path, vault.act(reason=reason, dry_run=dry_run))
    notices = []
    if private:
        notices.append("it was on this disk only: nothing keeps it")
    if meant.heads():
        notices.append(f"{' and '.join(meant.heads())} supersedes it: that link leads nowhere now")
    if meant.replaced():
        notices.append(f"{' and '.join(meant.replaced())} says it is superseded by it, and stays marked so")
    return _noting(replace(written, rests=meant.rests()), *notices)


def link(
    vault: OpenVault,
    name: str,
    kind: str,
    target: str,
    *,
    weight: str | float | None = None,
    reason: str | None = None,
    dry_run: bool = False,
) -> Written:
    """Relate a memory to another one, or to an entity when `target` is no id and names no memory.

    Args:
        kind: one of the known types, or the person's own.
        weight: from 0 to 1.

    Raises:
        MemoryNotFound, AmbiguousName: for an end that this context does not see.
    """
    _refuse_odd("type", kind)
    view = vault.view()
    row = vault.find(name, view)
    other, is_entity = _target(vault, view, target)
    if other == row.id:
        raise UsageError(f"{other} cannot be linked to itself")
    act = vault.act(reason=reason, dry_run=dry_run)
    written = correcting.link(vault.vault, row.path, kind, other, act, weight=_weight(weight))
    notices = [f"no memory is called so: linked to the entity {other!r}"] if is_entity else []
    if kind not in RELATION_TYPES:
        close = suggest(kind, RELATION_TYPES)
        notices.append(f"{kind!r} is a type of your own" + (f" (did you mean {close!r}?)" if close else ""))
    return _noting(written, *notices)


def unlink(
    vault: OpenVault, name: str, kind: str, target: str, *, reason: str | None = None, dry_run: bool = False
) -> Written:
    """Remove a relation of a memory; the other end need not be there any more.

    Raises:
        NoSuchLink: if the memory has none.
    """
    view = vault.view()
    row = vault.find(name, view)
    targets = {target}
    with suppress(MemoryNotFound):  # what the note itself says may be taken out of it all the same
        targets.add(vault.find(target, view).id or target)
    written = correcting.unlink(vault.vault, row.path, kind, targets, vault.act(reason=reason, dry_run=dry_run))
    if not written.is_changed:
        raise NoSuchLink(row.id or row.path, kind, target)
    return written


def clear(
    vault: OpenVault,
    *,
    scope: str | None = None,
    private: bool = False,
    reason: str | None = None,
    dry_run: bool = False,
    agree: Callable[[Cleared], bool] | None = None,
) -> Cleared | None:
    """Remove every memory of the active context, in one commit; history keeps them.

    Args:
        scope: only those of this scope's owner.
        private: the local-only ones too, which nothing keeps; for persons only.
        agree: asked with what would go; None removes without asking.

    Returns:
        None when the answer was no.
    """
    if scope is not None and scope not in SCOPES:
        raise UsageError(f"unknown scope {scope!r}", hint="one of " + ", ".join(SCOPES))
    if private:
        persons_only(vault)
    owners = {one for one in vault.context.owners() if scope is None or one.partition(":")[0] == scope}
    if not owners:
        assert scope is not None
        raise ScopeClosed(scope)
    rows = [row for row in vault.view().visible() if row.owner in owners]
    paths = [row.path for row in rows]
    if private:
        paths += [note.path for note in own_private_notes(vault) if note.owner in owners]
    act = vault.act(reason=reason, dry_run=dry_run)
    whose = " and ".join(sorted({str(row.owner).rstrip(":") for row in rows}))
    what = f"{len(rows)} {'memory' if len(rows) == 1 else 'memories'} of {whose}"
    rehearsed = correcting.clear(vault.vault, paths, replace(act, dry_run=True), what=what)
    if dry_run or not paths:
        return rehearsed
    if agree is not None and not agree(rehearsed):
        return None
    return correcting.clear(vault.vault, paths, act, what=what)


def _meant(vault: OpenVault, name: str, *, private: bool) -> _Meant:
    now = vault.surroundings.now()
    if private:
        note = private_note(vault, name)
        memory = note.memory
        stage = _stage(memory.status, memory.freshness, memory.expires, now)
        return _Meant(note.path, memory.id or note.path, stage, _past(memory.expires, now))
    view = vault.view()
    row = vault.find(name, view)
    return _Meant(row.path, row.id or row.path, view.stage(row), _past(row.expires, now), row, view)


def _stage(status: str, freshness: str | None, expires: str | None, now: datetime) -> Stage:
    return stage_of(status, freshness, expires, successors=(), is_mark_idle=False, now=now)


def _past(expires: str | None, now: datetime) -> str | None:
    return expires if _stage("active", None, expires, now) == "expired" else None


def _noting(written: Written, *notices: str | None) -> Written:
    return replace(written, notices=(*written.notices, *(one for one in notices if one)))


def _expired(meant: _Meant) -> str | None:
    if meant.expires is None:
        return None
    return f"its time passed on {meant.expires}, so it is not surfaced: 'remvault set ID expires=WHEN' gives it more"


def _holding_again(meant: _Meant) -> list[str]:
    """What a memory that no longer holds leaves standing."""
    if meant.stage not in ("active", "expired"):
        return []
    return [f"{one}, which it superseded, holds again" for one in meant.replaced()]


def _instead(verb: str, ids: Sequence[str]) -> str:
    return f"{verb} {' or '.join(ids)} instead" if ids else "'remvault show' tells by what"


def _terms(no_infer: Sequence[str]) -> list[str]:
    terms = [term.strip() for term in no_infer if term.strip()]
    for term in terms:
        _refuse_odd("term", term)
    return terms


def _refuse_odd(what: str, text: str) -> None:
    if not text.strip() or text != text.strip() or not is_one_line(text):
        raise UsageError(f"{what} {text!r} is not one line of text")


def _weight(weight: str | float | None) -> str | None:
    if weight is None:
        return None
    text = str(weight)
    try:
        is_fit = 0 <= float(text) <= 1 and text[:1] not in "+-"
    except ValueError:
        is_fit = False
    if not is_fit:
        raise UsageError(f"--weight {text!r} is not a number from 0 to 1", hint="write --weight 0.5")
    return text


def _target(vault: OpenVault, view: View, target: str) -> tuple[str, bool]:
    """The id that a target means, or the target itself as an entity."""
    try:
        row = vault.find(target, view)
    except MemoryNotFound:
        if target.startswith("m-") or target.endswith(".md") or "/" in target:
            raise
        _refuse_odd("entity", target)
        return target, True
    if row.id is None:
        raise UserError(f"{row.path} has no id to link to", hint="'remvault check --fix' gives it one")
    return row.id, False
