"""Which memory a verb means, and what stands around it, as far as this context may see.

Owns: names of local-only notes for persons, ids that hold in a memory's place, ids that rest on it.
Leaves alone: the boundary itself (`retrieval.view`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from remvault.domain.corrections import resting_on
from remvault.errors import UserError
from remvault.retrieval.lookup import NamedNote, find
from remvault.retrieval.private_notes import private_notes

if TYPE_CHECKING:
    from remvault.domain.note import Note
    from remvault.index.rows import NoteRow
    from remvault.retrieval.view import View
    from remvault.surfaces.app import OpenVault


class PersonsOnly(UserError):
    """Local-only notes are a person's; to an agent or a tool they do not exist."""

    code = "persons_only"

    def __init__(self) -> None:
        super().__init__("local-only notes are for a person only", hint="ask the person to do it")


def persons_only(vault: OpenVault) -> None:
    """Refuse an agent or a tool; raises PersonsOnly."""
    if not vault.is_person:
        raise PersonsOnly


def address(vault: OpenVault, name: str, *, private: bool = False, view: View | None = None) -> str:
    """The vault-relative path of the one memory that `name` means, among the local-only ones with `private`.

    Raises:
        MemoryNotFound, AmbiguousName: out of scope answers exactly like not there.
        PersonsOnly: when an agent or tool asks for a local-only note.
    """
    return private_note(vault, name).path if private else vault.find(name, view).path


def private_note(vault: OpenVault, name: str) -> Note:
    """The one local-only note of this context that `name` means; raises as `address`."""
    persons_only(vault)
    notes = {note.path: note for note in own_private_notes(vault)}
    return notes[find(name, [NamedNote(note) for note in notes.values()]).path]


def own_private_notes(vault: OpenVault) -> list[Note]:
    """The local-only notes of this context, by path."""
    owners = vault.context.owners()
    return [note for note in private_notes(vault.private_folder) if note.owner in owners]


def heads(view: View, row: NoteRow) -> list[str]:
    """Ids of what holds today in a memory's place and may be seen, sorted; none when nothing supersedes it."""
    found = set(view.snapshot.lineage.heads(row.id or "")) - {row.id}
    return sorted(seen_ids(view, found)) if found else []


def rests(view: View, row: NoteRow) -> tuple[str, ...]:
    """Ids of visible memories that rest on one, sorted."""
    seen: Iterable[NoteRow] = [one for one in view.snapshot.related_rows() if view.sees(one)]
    supported = {target for _, target in row.relations}
    others = {one.path: one for one in [*seen, *(view.snapshot.rows_of(supported) if supported else ())]}
    return tuple(resting_on(row.id or "", row.relations, [one for one in others.values() if view.sees(one)]))


def seen_ids(view: View, ids: Iterable[str]) -> set[str]:
    """Those of the ids that belong to a visible memory."""
    return {row.id for row in view.snapshot.rows_of(set(ids)) if row.id is not None and view.sees(row)}
