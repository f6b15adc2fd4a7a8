"""Carrying a resolution out: one change of notes, or one line in the ledger.

Owns: the texts and the operation of `resolve`.
Leaves alone: which conflict is meant and whether it may be resolved so (disputes).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from remvault.domain import corrections
from remvault.domain.commit_message import Operation, one_line
from remvault.domain.edits import add_item
from remvault.domain.lineage import may_supersede
from remvault.domain.moments import format_moment
from remvault.domain.note import parse_note
from remvault.domain.rules import note_problems
from remvault.errors import UserError
from remvault.store.ledger import FileChange
from remvault.store.ledger_lines import line_path, to_line
from remvault.store.state import machine_id
from remvault.store.written import Act, Written
from remvault.surfaces.past import RESOLUTIONS

if TYPE_CHECKING:
    from remvault.index.rows import NoteRow
    from remvault.surfaces.app import OpenVault


def keep_one(vault: OpenVault, kept: NoteRow, losers: Sequence[NoteRow], act: Act, *, supersede: bool) -> Written:
    """Retract the losers, or let the kept memory take their place, in one change.

    Raises:
        UserError: if the kept memory's scope does not allow it to supersede one of them.
    """
    texts = {row.path: _text(vault, row.path) for row in (kept, *losers)}
    changed = dict(texts)
    for loser in losers:
        if not supersede:
            changed[loser.path] = corrections.retracted(changed[loser.path])
            continue
        if not may_supersede(kept.owner, loser.owner):
            message = f"{kept.id} of {kept.owner} cannot supersede {loser.id} of {loser.owner}"
            raise UserError(message, hint="retract the other instead: leave --supersede out")
        assert kept.id is not None
        assert loser.id is not None
        changed[loser.path] = corrections.superseded(changed[loser.path], kept.id)
        if loser.id not in kept.supersedes:
            changed[kept.path] = add_item(changed[kept.path], "supersedes", loser.id)
    changes = [
        FileChange(path, text.encode(), parse_note(path, texts[path].encode()).blob)
        for path, text in changed.items()
        if text != texts[path]
    ]
    operation = _operation(vault, (kept, *losers), act, supersedes=tuple(_ids(losers)) if supersede else ())
    hold = _errors(vault, changes)
    outcome = None if act.dry_run else vault.ledger.write(operation, changes, hold=hold)
    marked = tuple(change.path for change in changes if change.path != kept.path)
    return Written("resolve", kept.id or "", kept.path, changed[kept.path], outcome, operation.supersedes, (), marked)


def let_stand(vault: OpenVault, sides: Sequence[NoteRow], act: Act, *, how: str) -> Written:
    """Remember that these texts may stand side by side."""
    assert vault.vault  # raises for a vault that may only be read
    path = line_path(RESOLUTIONS, act.now, machine_id(vault.state) if vault.state is not None else "local")
    line = to_line(
        {
            "time": format_moment(act.now),
            "ids": _ids(sides),
            "text_keys": [row.text_key for row in sides],
            "how": how,
            "actor": act.author.actor,
            "session": act.author.session,
            "reason": act.reason,
        }
    )
    operation = _operation(vault, sides, act)
    outcome = None if act.dry_run else vault.ledger.write(operation, [], append={path: line})
    return Written("resolve", sides[0].id or "", path, line.decode(), outcome)


def _operation(vault: OpenVault, rows: Sequence[NoteRow], act: Act, *, supersedes: tuple[str, ...] = ()) -> Operation:
    owners = {row.owner for row in rows}
    return Operation(
        op="resolve",
        title=one_line(" / ".join(row.title or row.path for row in rows)),
        ids=tuple(_ids(rows)),
        supersedes=supersedes,
        scope=owners.pop() if len(owners) == 1 else None,
        actor=act.author.actor,
        session=act.author.session,
        reason=act.reason,
    )


def _ids(rows: Sequence[NoteRow]) -> list[str]:
    return [row.id for row in rows if row.id is not None]


def _text(vault: OpenVault, path: str) -> str:
    note, data = vault.vault.load(path)
    if not note.is_text:
        raise UserError(f"{path} is not UTF-8 text and is never rewritten", hint="save the file as UTF-8 first")
    return data.decode("utf-8")


def _errors(vault: OpenVault, changes: Sequence[FileChange]) -> str | None:
    """Why the notes may not enter history: the same as for every other write."""
    for change in changes:
        note, limit = parse_note(change.path, change.data or b""), vault.settings.count("anchors.max-per-note")
        for one in note_problems(note, is_embedded=vault.is_embedded, max_anchors=limit):
            if one.severity == "error":
                return f"{change.path} has errors ({one.code} {one.message}): mend it, then commit it"
    return None
