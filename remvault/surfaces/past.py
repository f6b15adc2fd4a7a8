"""What the history and the ledger of an open vault say about conflicts and retractions.

Owns: asking git only where a conflict or a retraction is in question, and keeping what it said in the caches.
Leaves alone: which conflicts are open (retrieval.conflicts).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from remvault.domain.disputes import Key, settlements
from remvault.domain.moments import parse_moment
from remvault.errors import GitError
from remvault.index.rows import NoteRow, text_key
from remvault.retrieval.conflicts import Opening
from remvault.store.ledger_lines import read_lines
from remvault.store.work_tree import head

if TYPE_CHECKING:
    from remvault.domain.note import Note
    from remvault.surfaces.app import OpenVault

RESOLUTIONS = "resolutions"
_CACHE = "tenures"
_KEPT = 500  # answers kept; a vault with more open conflicts asks git more often
_LOOKED_THROUGH = 500  # commits since an answer was found; with more of them it is found anew


class VaultPast:
    """The past of one open vault, as of now."""

    def __init__(self, vault: OpenVault) -> None:
        self._vault = vault

    def settled(self) -> frozenset[Key]:
        """Conflicts that somebody let stand."""
        return self._settled

    def opening(self, holder: NoteRow, other: NoteRow) -> Opening:
        """When `holder` first said that it contradicts `other`, and whether a text is another by now."""
        name = f"opening {holder.blob} {other.id} {other.blob}"
        found = self._known(name, (holder, other), lambda: self._find_opening(holder, other))
        return Opening(*found) if found is not None else Opening(None)

    def is_confirmed_since(self, upper: NoteRow, confirmed: datetime, lower: NoteRow) -> bool:
        """Whether `upper` was confirmed after `lower` was retracted."""
        name = f"confirmed {upper.path} {upper.blob} {lower.path} {lower.blob}"
        found = self._known(name, (upper, lower), lambda: self._find_confirmation(upper, confirmed, lower))
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
        from remvault.store.tenure import follows, tenure

        repository, prefix = self._vault.repository, self._vault.prefix
        if repository is None:
            return None
        retracted = tenure(repository, prefix, lower.path, lambda note: note.memory.status == "retracted")
        if retracted is None:
            return None
        if confirmed.timestamp() < int(retracted.time.timestamp()):
            return False
        # Times are whole seconds, and another branch may not have known: the confirmation must stand on the retraction.
        said = tenure(
            repository, prefix, upper.path, lambda note: parse_moment(note.memory.confirmed or "") == confirmed
        )
        return said is None or follows(repository, said.commit, retracted.commit)

    def _known(self, name: str, rows: Sequence[NoteRow], find: Callable[[], Any]) -> Any:
        """An answer from the caches, or found and kept; what is not committed yet is found anew each time.

        The name holds the contents of the notes. They may have been others in between, so commits made since the
        answer was found are looked through.
        """
        head_then, value = self._cache.pop(name, (None, None))
        try:
            if head_then is None or (head_then != self._head and not self._is_untouched(rows, head_then)):
                value = find()
        except GitError:
            return None  # a repository that cannot be read to its end is no reason to show no memory
        if value is not None and self._head is not None:
            self._cache[name] = (self._head, value)
            if head_then != self._head:
                self._keep()
        return value

    def _is_untouched(self, rows: Sequence[NoteRow], since: str) -> bool:
        repository = self._vault.repository
        if repository is None or since not in self._commits:
            return False
        commits = self._commits[: self._commits.index(since) + 1]
        paths = [self._vault.prefix + row.path for row in rows]
        return all(len({repository.blob_at(one, path) for one in commits}) == 1 for path in paths)

    @cached_property
    def _commits(self) -> list[str]:
        """The latest commits, newest first."""
        repository = self._vault.repository
        if repository is None or self._head is None:
            return []
        return [facts.id for facts in islice(repository.log(self._head), _LOOKED_THROUGH)]

    @cached_property
    def _head(self) -> str | None:
        tree = self._vault.work_tree
        return head(tree, self._vault.surroundings.environ).commit if tree is not None else None

    @cached_property
    def _settled(self) -> frozenset[Key]:
        return frozenset(one.key for one in settlements(read_lines(self._vault.root, RESOLUTIONS).entries))

    @cached_property
    def _cache(self) -> dict[str, tuple[str, Any]]:
        """Answers by name, each with the HEAD it was found at; the latest used last."""
        state = self._vault.state
        if state is None or not state.caches_usable:
            return {}
        try:
            found = json.loads((state.caches / _CACHE).read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        known = found.items() if isinstance(found, dict) else ()
        return {name: (value[0], value[1]) for name, value in known if _is_sound(name, value)}

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
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        return False
    answer = value[1]
    if not name.startswith("opening "):
        return isinstance(answer, bool)
    return isinstance(answer, list) and [type(one) for one in answer] == [str, bool]
