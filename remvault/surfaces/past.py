"""What the history and the ledger of an open vault say about conflicts and retractions.

Owns: asking git only where a conflict or a retraction is in question, and keeping what it said in the caches.
Leaves alone: which conflicts are open (retrieval.conflicts).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from remvault.domain.disputes import Key, settlements
from remvault.domain.moments import parse_moment
from remvault.index.rows import NoteRow, text_key
from remvault.retrieval.conflicts import Opening
from remvault.store.ledger_lines import read_lines

if TYPE_CHECKING:
    from remvault.domain.note import Note
    from remvault.surfaces.app import OpenVault

RESOLUTIONS = "resolutions"
_CACHE = "tenures"
_KEPT = 500  # answers kept; a vault with more open conflicts asks git more often


class VaultPast:
    """The past of one open vault. Answers are kept by content, so the same notes are asked about once."""

    def __init__(self, vault: OpenVault) -> None:
        self._vault = vault

    def settled(self) -> frozenset[Key]:
        """Conflicts that somebody let stand."""
        return self._settled

    def opening(self, holder: NoteRow, other: NoteRow) -> Opening:
        """When `holder` first said that it contradicts `other`, and whether a text is another by now."""
        name = f"opening {holder.blob} {other.id} {other.blob}"
        since, is_outdated = self._known(name, lambda: self._find_opening(holder, other)) or (None, False)
        return Opening(since, is_outdated)

    def is_confirmed_since(self, upper: NoteRow, confirmed: datetime, lower: NoteRow) -> bool:
        """Whether `upper` was confirmed after `lower` was retracted."""
        name = f"confirmed {upper.path} {upper.blob} {lower.path} {lower.blob}"
        found = self._known(name, lambda: self._find_confirmation(upper, confirmed, lower))
        if found is not None:
            return bool(found)
        # Not committed yet: the file's own time is all there is.
        try:
            changed = (self._vault.root / lower.path).stat().st_mtime
        except OSError:
            return False
        return confirmed.timestamp() >= int(changed)

    def _find_opening(self, holder: NoteRow, other: NoteRow) -> tuple[str, bool] | None:
        from remvault.store.tenure import note_at, tenure

        repository, prefix = self._vault.repository, self._vault.prefix
        if repository is None:
            return None
        said = tenure(repository, prefix, holder.path, lambda note: _contradicts(note, other.id))
        if said is None:
            return None
        changed = [
            then is not None and text_key(then.memory.title or "", then.body) != row.text_key
            for row in (holder, other)
            for then in [note_at(repository, prefix, row.path, said.commit)]
        ]
        return said.time.isoformat(), any(changed)

    def _find_confirmation(self, upper: NoteRow, confirmed: datetime, lower: NoteRow) -> bool | None:
        from remvault.store.tenure import note_at, tenure

        repository, prefix = self._vault.repository, self._vault.prefix
        if repository is None:
            return None
        retracted = tenure(repository, prefix, lower.path, lambda note: note.memory.status == "retracted")
        if retracted is None:
            return None
        # Times are whole seconds, so what the note said at the retraction tells apart what its time cannot.
        then = note_at(repository, prefix, upper.path, retracted.commit)
        said = parse_moment(then.memory.confirmed) if then is not None and then.memory.confirmed else None
        return said != confirmed and confirmed.timestamp() >= int(retracted.time.timestamp())

    def _known(self, name: str, find: Callable[[], Any]) -> Any:
        """An answer from the caches, or found and kept; what is not committed yet is found anew each time."""
        if name not in self._cache:
            found = find()
            if found is None:
                return None
            self._cache[name] = found
            self._keep()
        return self._cache[name]

    @cached_property
    def _settled(self) -> frozenset[Key]:
        return frozenset(one.key for one in settlements(read_lines(self._vault.root, RESOLUTIONS).entries))

    @cached_property
    def _cache(self) -> dict[str, Any]:
        state = self._vault.state
        if state is None or not state.caches_usable:
            return {}
        try:
            found = json.loads((state.caches / _CACHE).read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        known = found.items() if isinstance(found, dict) else ()
        return {name: value for name, value in known if _is_sound(name, value)}

    def _keep(self) -> None:
        from contextlib import suppress

        from remvault.store.state import write_whole

        state = self._vault.state
        if state is None or not state.caches_usable:
            return
        kept = dict(list(self._cache.items())[-_KEPT:])
        with suppress(OSError):  # a cache
            write_whole(state.caches / _CACHE, json.dumps(kept).encode(), durable=False)


def _contradicts(note: Note, target: str | None) -> bool:
    return any(one.type == "contradicts" and one.target == target for one in note.memory.relations)


def _is_sound(name: str, value: object) -> bool:
    if name.startswith("opening "):
        return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], bool)
    return isinstance(value, bool)
