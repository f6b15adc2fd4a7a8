"""Feedback on what was shown: `useful` and `irrelevant`. A line in the tracked ledger; `useful` also confirms.

Owns: the two verbs.
Leaves alone: reading the lines (store.feedback), what confirming changes in a note (domain.corrections).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from remvault.domain import corrections
from remvault.domain.commit_message import Operation, one_line
from remvault.domain.moments import format_moment
from remvault.domain.note import parse_note
from remvault.errors import UserError
from remvault.store.feedback import KIND
from remvault.store.ledger import FileChange
from remvault.store.ledger_lines import line_path, to_line
from remvault.store.state import machine_id
from remvault.store.written import Act, Written
from remvault.surfaces.exposing import record_recall

if TYPE_CHECKING:
    from remvault.index.rows import NoteRow
    from remvault.surfaces.app import OpenVault


def useful(
    vault: OpenVault, name: str, *, query: str | None = None, reason: str | None = None, dry_run: bool = False
) -> Written:
    """Say that a memory helped. A memory that is active and valid is confirmed by it, in the same commit.

    Args:
        query: what it was shown for.

    Raises:
        MemoryNotFound, AmbiguousName: out of scope, and local-only, answers exactly like not there.
    """
    return _rate(vault, name, "useful", query, vault.act(reason=reason, dry_run=dry_run))


def irrelevant(
    vault: OpenVault, name: str, *, query: str | None = None, reason: str | None = None, dry_run: bool = False
) -> Written:
    """Say that a memory did not belong where it was shown. Nothing in the note changes. Raises as `useful`."""
    return _rate(vault, name, "irrelevant", query, vault.act(reason=reason, dry_run=dry_run))


def _rate(vault: OpenVault, name: str, op: Literal["useful", "irrelevant"], query: str | None, act: Act) -> Written:
    view = vault.view()
    row = vault.find(name, view)
    if row.id is None:
        raise UserError(f"{row.path} has no id to rate", hint="'remvault check --fix' gives it one")
    assert vault.vault  # raises for a vault that may only be read
    entry = {
        "time": format_moment(act.now),
        "op": op,
        "id": row.id,
        "actor": act.author.actor,
        "session": act.author.session,
        "query": query,
        "reason": act.reason,
    }
    path = line_path(KIND, act.now, machine_id(vault.state) if vault.state is not None else "local")
    line = to_line(entry)
    is_standing = op == "useful" and row.is_valid and view.stage(row) == "active"
    changes, text = _confirmed(vault, row, act) if is_standing else ([], line.decode())
    operation = Operation(
        op="feedback",
        title=one_line(f"{op}: {row.title or row.path}"),
        ids=(row.id,),
        scope=row.owner,
        actor=act.author.actor,
        session=act.author.session,
        reason=act.reason,
    )
    outcome = None if act.dry_run else vault.ledger.write(operation, changes, append={path: line})
    if op == "useful" and not act.dry_run:
        record_recall(vault, row.id, query)
    return Written("feedback", row.id, changes[0].path if changes else path, text, outcome, marked=(path,))


def _confirmed(vault: OpenVault, row: NoteRow, act: Act) -> tuple[list[FileChange], str]:
    note, data = vault.vault.load(row.path)
    if not note.is_text:
        return [], ""
    before = data.decode("utf-8")
    text = corrections.confirmed(before, format_moment(act.now))
    if text == before:
        return [], text
    return [FileChange(row.path, text.encode(), parse_note(row.path, data).blob)], text
