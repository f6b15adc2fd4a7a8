"""Corrections of memories that are there: each one change of one note, or one removal of many.

Owns: which text edit, which operation, in what order several notes go.
Leaves alone: the edits themselves (`domain.corrections`), who may see what and what stage it is in (`surfaces`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any

from remvault.domain import corrections
from remvault.domain.anchor_edits import retaking, taking
from remvault.domain.commit_message import Operation
from remvault.domain.memory import Memory
from remvault.domain.moments import format_moment
from remvault.domain.note import Note, parse_note
from remvault.domain.yaml_values import Value
from remvault.store.ledger import FileChange, Outcome
from remvault.store.note_paths import is_local_only
from remvault.store.vault import Vault, text_of
from remvault.store.written import Act, Written, outcome_answer

_Edit = Callable[[str, Memory], str]  # the note's text and what it says: the text after


@dataclass(frozen=True, slots=True)
class Cleared:
    """What was removed at once. `outcome` is None for a dry run."""

    ids: tuple[str, ...]
    paths: tuple[str, ...]  # relative to the vault, those below `private/` last
    titles: tuple[str, ...]  # one a path
    outcome: Outcome | None

    def answer(self) -> dict[str, Any]:
        """What the removal answers as JSON."""
        told = outcome_answer(self.outcome, is_changed=bool(self.paths))
        return {"op": "clear", "ids": list(self.ids), "paths": list(self.paths)} | told


def confirm(vault: Vault, path: str, act: Act) -> Written:
    """Say that a memory was found to be still true now; its anchors are taken anew, see `confirm_same`."""
    return confirm_same(vault, path, {}, act)


def confirm_same(vault: Vault, path: str, fields: Mapping[str, Value], act: Act) -> Written:
    """Confirm a memory whose text was written again, and apply what the new writing brings (`corrections.BROUGHT`).

    All anchors are taken anew: whoever says that a memory is still true says so of the code as it is now.

    Raises:
        UserError: if an anchor that the new writing brings points at nothing.
    """
    note, data = vault.load(path)
    memory, now = note.memory, format_moment(act.now)
    if memory.confirmed == now:  # somebody did so within the same second: each of them is on record
        now = act.now.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    text = corrections.brought(text_of(note, data), memory, fields)
    named = corrections.places(fields)
    text, told = taking(text, _memory(text), vault.code, known=[one for one in memory.anchors if one.at not in named])
    text, also_told = retaking(text, _memory(text), vault.code, besides=named)
    text = corrections.confirmed(text, now)
    written = vault.save(path, text.encode(), act, base=note, op="confirm")
    return replace(written, notices=(*told, *also_told, *written.notices))


def retract(vault: Vault, path: str, act: Act, *, no_infer: Sequence[str] = ()) -> Written:
    """Mark a memory as found to be inaccurate; it stays, readable and linked. The reason is the commit's."""
    return _edit(vault, path, act, "retract", lambda text, _: corrections.retracted(text, no_infer))


def archive(vault: Vault, path: str, act: Act) -> Written:
    """Take a memory out of normal recall."""
    return _edit(vault, path, act, "archive", lambda text, _: corrections.archived(text))


def restore(vault: Vault, path: str, act: Act) -> Written:
    """Take a retraction or an archiving back."""

    def edit(text: str, memory: Memory) -> str:
        return corrections.restored(text, was_retracted=memory.status == "retracted")

    return _edit(vault, path, act, "restore", edit)


def link(vault: Vault, path: str, kind: str, target: str, act: Act, *, weight: str | None = None) -> Written:
    """Add a relation to a memory, or weigh one that is there anew."""
    return _edit(vault, path, act, "link", lambda text, _: corrections.linked(text, kind, target, weight))


def unlink(vault: Vault, path: str, kind: str, targets: Collection[str], act: Act) -> Written:
    """Remove the relations of one type to any of `targets` from a memory."""
    return _edit(vault, path, act, "unlink", lambda text, _: corrections.unlinked(text, kind, targets))


def clear(vault: Vault, paths: Sequence[str], act: Act, *, what: str) -> Cleared:
    """Remove many notes in one commit; `what` names them in its subject. Local-only ones go too, without a word."""
    notes = [vault.load(path)[0] for path in sorted(paths, key=lambda path: (is_local_only(path), path))]
    tracked = [note for note in notes if not is_local_only(note.path)]
    private = [note for note in notes if is_local_only(note.path)]
    outcome = None if act.dry_run else Outcome(True, False, None, None)
    owners = {note.owner for note in tracked}
    told = [note for note in tracked if not note.memory.is_local_only]
    operation = Operation(
        op="clear",
        title=what,
        ids=tuple(dict.fromkeys(note.memory.id for note in told if note.memory.id)),
        scope=owners.pop() if len(owners) == 1 else None,
        actor=act.author.actor,
        session=act.author.session,
        reason=act.reason,
    )
    if tracked and not act.dry_run:
        outcome = vault.ledger.write(operation, [_removal(note) for note in tracked])
    if private and not act.dry_run:
        # Apart from the others: what a person changed in those is taken into history first, of these nothing ever is.
        vault.ledger.write(replace(operation, ids=()), [_removal(note) for note in private])
    ids = tuple(dict.fromkeys(note.memory.id for note in notes if note.memory.id))
    return Cleared(
        ids, tuple(note.path for note in notes), tuple(note.memory.title or "(no title)" for note in notes), outcome
    )


def _memory(text: str) -> Memory:
    return parse_note("note.md", text.encode()).memory


def _removal(note: Note) -> FileChange:
    return FileChange(note.path, None, note.blob)


def _edit(vault: Vault, path: str, act: Act, op: str, edit: _Edit) -> Written:
    note, data = vault.load(path)
    return vault.save(path, edit(text_of(note, data), note.memory).encode(), act, base=note, op=op)
