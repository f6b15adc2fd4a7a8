"""One consistent view of a vault, to look words up in.

Owns: matching words under a posting budget, the owner filter, records without opening a note.
Leaves alone: bringing the view up to date (reconcile), scores and order (retrieval).

What is returned was filtered by owner, and by the caller's own test, before anything could be ranked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from remvault.domain.lineage import Lineage, Link, build_lineage
from remvault.domain.problems import Problem
from remvault.index.abouts import About
from remvault.index.manifest import Dead, Manifest
from remvault.index.planning import POSTING_BUDGET, Plan, make_plan
from remvault.index.postings import DamagedIndex, MemoryPostings, Postings
from remvault.index.query import PRIMARY, QueryWord
from remvault.index.rows import Entry, NoteRow, Rows, abouts, as_row, is_committed
from remvault.index.schema import FIELDS, NOTES, SECTIONS, Lengths, counts, positions, stored_record
from remvault.index.siblings import Siblings, find_siblings

__all__ = ["POSTING_BUDGET", "MatchedDocument", "Matches", "Snapshot", "View"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MatchedDocument:
    """What a note, or a section of one, holds of the words looked for."""

    path: str
    section: int | None  # counted as in the record's `sections`; None for the note as a whole
    frequencies: Mapping[tuple[str, str], int]  # (field, term): occurrences, 1..255
    lengths: Mapping[str, int]  # field: tokens; fields without any are left out
    postings: Mapping[str, bytes] = field(default_factory=dict, repr=False)  # term: packed

    def positions(self, field_name: str, term: str) -> tuple[int, ...]:
        """Where a term stands in title or body, in tokens from 0, ascending, at most the first 32."""
        posting = self.postings.get(term)
        return positions(posting, FIELDS.index(field_name)) if posting else ()


@dataclass(frozen=True, slots=True)
class Matches:
    """The evidence for a query: all a score may be made of. The same vault gives the same, however it was indexed."""

    documents: list[MatchedDocument]  # by path, the note before its sections
    note_count: int  # live notes in the index, of all owners
    document_frequency: Mapping[str, int]  # term: live notes of all owners that hold it; of every term looked up
    word_frequency: Mapping[str, int]  # word: live notes of all owners that hold any of its primary terms
    average_length: Mapping[str, float]  # field: tokens a note, over all live notes
    section_average_length: Mapping[str, float]  # the same over sections
    dropped: tuple[str, ...]  # words left out by the budget, in the order typed
    postings: int  # read for notes


@dataclass(frozen=True, slots=True)
class View:
    """The parts of a snapshot that change together when a damaged index is replaced."""

    manifest: Manifest
    disk: Callable[[], Postings] | None  # opens the index on disk when first needed; may raise DamagedIndex
    memory: MemoryPostings
    dead: Mapping[str, Dead] | None  # instead of what the manifest says; None: as it says
    skipped: Sequence[Problem]
    is_stale: bool
    notices: Sequence[str]


class Snapshot:
    """A vault as it was when `reconcile` looked. Not shared between threads."""

    def __init__(self, view: View, recover: Callable[[str, int], View]) -> None:
        """`recover` makes a view anew when the index proves unusable; it is told why, and how often it was asked."""
        self._recover = recover
        self._set(view)

    def _set(self, view: View) -> None:
        self._view = view
        self._stores: list[Postings] | None = None
        for name in ("rows", "copies", "lineage", "_live", "_dead_counts"):
            self.__dict__.pop(name, None)

    @property
    def generation(self) -> int:
        """The generation of the index on disk, 0 where there is none."""
        return self._view.manifest.generation or 0

    @property
    def is_stale(self) -> bool:
        """Whether the index on disk lacks something, so that this answer was completed in memory."""
        return self._view.is_stale

    @property
    def skipped(self) -> list[Problem]:
        """What looks like a note but was not read, with the reason."""
        return list(self._view.skipped)

    @property
    def notices(self) -> list[str]:
        """One line each for what happened on the way that a person may want to know."""
        return list(self._view.notices)

    @cached_property
    def rows(self) -> Mapping[str, NoteRow]:
        """Every note by path, in no particular order; local-only notes and candidates too."""
        return Rows(self._view.manifest.rows)

    def counts(self, owners: frozenset[str]) -> Mapping[str, int]:
        """Indexed notes of each of these owners that has any; local-only notes and candidates are never counted."""
        entries = self._view.manifest.rows.values()
        held = (entry.owner or "" for entry in entries if entry.number)
        return Counter(owner for owner in held if owner in owners)

    def flawed_rows(self) -> list[NoteRow]:
        """The rows of notes with problems; few, so the others are not opened."""
        entries = self._view.manifest.rows.values()
        return [as_row(entry) for entry in entries if entry.is_flawed]

    @cached_property
    def copies(self) -> Mapping[str, str | None]:
        """The notes set aside because another has their id, by path, each with what it is a copy of; None: unclear."""
        entries = self._view.manifest.rows.values()
        ids = [entry.id for entry in entries if entry.id is not None]
        if len(set(ids)) == len(ids):
            return {}
        from remvault.domain.copies import Claim, find_copies

        twice = {one for one, count in Counter(ids).items() if count > 1}
        rows = [as_row(entry) for entry in entries if entry.id in twice]
        return find_copies(
            Claim(row.path, row.id or "", row.owner, row.head_blob is not None, row.is_committed) for row in rows
        )

    def uncommitted_rows(self) -> list[NoteRow]:
        """The rows of notes that HEAD does not hold as they are, by path; the others are not opened."""
        entries = self._view.manifest.rows.values()
        return sorted((as_row(entry) for entry in entries if not is_committed(entry)), key=lambda row: row.path)

    @property
    def removed(self) -> Mapping[str, str]:
        """Paths of notes that HEAD holds and the disk does not, each with its blob in HEAD."""
        return self._view.manifest.head_only

    def related_rows(self) -> list[NoteRow]:
        """The rows of notes with relations that reach beyond themselves, by path; the others are not opened."""
        entries = [entry for entry in self._view.manifest.rows.values() if entry.is_related]
        return sorted((as_row(one) for one in entries if one.path not in self.copies), key=lambda row: row.path)

    def anchored_rows(self) -> list[NoteRow]:
        """The rows of notes that point into code, by path; the others are not opened, local-only ones not told of."""
        entries = self._view.manifest.rows.values()
        return sorted((as_row(entry) for entry in entries if entry.is_anchored), key=lambda row: row.path)

    def core_rows(self) -> list[NoteRow]:
        """The rows of core memories, by path; the others are not opened."""
        entries = self._view.manifest.rows.values()
        return sorted((as_row(entry) for entry in entries if entry.is_core), key=lambda row: row.path)

    def noted(self, owners: frozenset[str]) -> list[tuple[NoteRow, About]]:
        """The rows of these owners' notes with what a catalog shows of them, by path; the others are not opened."""
        entries = [entry for entry in self._view.manifest.rows.values() if (entry.owner or "") in owners]
        entries.sort(key=lambda entry: entry.path)
        return list(zip(map(as_row, entries), abouts(entries), strict=True))

    def abouts(self, paths: Collection[str]) -> dict[str, About]:
        """What a catalog shows of the notes at these paths."""
        entries = [self._view.manifest.rows[path] for path in paths]
        return dict(zip(paths, abouts(entries), strict=True))

    def local_only_ids(self) -> frozenset[str]:
        """Ids of the local-only notes among the others, where they should not be."""
        entries = self._view.manifest.rows.values()
        rows = (as_row(entry) for entry in entries if not entry.number)
        return frozenset(row.id for row in rows if row.id is not None and row.is_local_only)

    def rows_of(self, ids: Collection[str]) -> list[NoteRow]:
        """The rows of notes that have one of these ids, by path, copies last."""
        rows = [as_row(entry) for entry in self._view.manifest.rows.values() if entry.id in ids]
        return sorted(rows, key=lambda row: (row.path in self.copies, row.path))

    @cached_property
    def lineage(self) -> Lineage:
        """Which memories hold in place of which. Of notes with one id the first by path counts, copies last."""
        entries = self._view.manifest.rows.values()
        # Few notes supersede anything; only they and what they name are read.
        named = {entry.id for entry in entries if entry.is_linked}
        for entry in [entry for entry in entries if entry.is_linked]:
            named.update(as_row(entry).supersedes)
        by_id: dict[str, Link] = {}
        ordered = [entry for entry in entries if entry.id in named]
        for entry in sorted(ordered, key=lambda one: (one.path in self.copies, one.path)):
            if entry.id is not None and entry.id not in by_id:
                row = as_row(entry)
                by_id[entry.id] = Link(entry.id, row.supersedes, row.owner, row.is_valid and row.status == "active")
        return build_lineage(by_id.values())

    def owner_counts(self) -> Mapping[str, int]:
        """Notes of each owner, "" for those whose owner cannot be read; candidates and local-only ones too."""
        return Counter(entry.owner or "" for entry in self._view.manifest.rows.values())

    def match(
        self,
        words: Sequence[QueryWord],
        *,
        owners: frozenset[str] | None,
        accept: Callable[[NoteRow], bool] = lambda row: True,
        posting_budget: int | None = POSTING_BUDGET,
    ) -> Matches:
        """Look words up.

        Args:
            words: from `build_query`.
            owners: owner keys that may be seen; a note whose owner cannot be read belongs to "". An empty set sees
                nothing; None sees everything and is for a person's own tools only.
            accept: asked once for each matching note that passed the owner filter.
            posting_budget: postings to read at most, the first word's apart; None for no limit. Identifiers come first,
                then rare words.
        """
        return self._whole(lambda: self._match(words, owners, accept, posting_budget))

    def siblings(
        self, paths: Collection[str], *, owners: frozenset[str] | None, accept: Callable[[NoteRow], bool]
    ) -> Siblings:
        """How matched notes stand among the others below their parents; owners and `accept` as for `match`."""

        def is_seen(entry: Entry) -> bool:
            return (owners is None or (entry.owner or "") in owners) and accept(self.rows[entry.path])

        return find_siblings(self._view.manifest.rows, paths, is_seen=is_seen)

    def records(self, paths: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The stored records of notes (see `schema.stored_record`), without opening a file.

        Paths that are unknown, local-only or candidates are left out.
        """
        wanted = list(paths)
        return self._whole(lambda: self._records(wanted))

    def _whole(self, look: Callable[[], T]) -> T:
        """Answer from an index that holds together, whatever it takes: the last attempt needs no disk."""
        for attempt in range(3):
            try:
                return look()
            except DamagedIndex as err:
                self._set(self._recover(str(err), attempt))
        return look()

    def _match(
        self,
        words: Sequence[QueryWord],
        owners: frozenset[str] | None,
        accept: Callable[[NoteRow], bool],
        budget: int | None,
    ) -> Matches:
        plan = make_plan(words, self._frequency, budget)
        found: dict[int, dict[str, bytes]] = {}
        holders: dict[str, set[int]] = {}
        verdicts: dict[int, bool] = {}
        for word, terms in plan.chosen:
            seen = holders.setdefault(word.text, set())
            for term in terms:
                for number, posting in self._postings(NOTES, term.text):
                    entry = self._live.get(number)
                    if entry is None:
                        continue
                    if term.kind in PRIMARY:
                        seen.add(number)
                    verdict = verdicts.get(number)
                    if verdict is None:
                        is_seen = owners is None or (entry.owner or "") in owners
                        verdict = verdicts[number] = is_seen and accept(self.rows[entry.path])
                    if verdict:
                        found.setdefault(number, {})[term.text] = posting
        documents = self._documents(found) + self._sections(found, plan)
        documents.sort(key=lambda one: (one.path, -1 if one.section is None else one.section))
        totals = self._view.manifest.totals
        return Matches(
            documents=documents,
            note_count=totals[NOTES].documents,
            document_frequency=plan.frequencies,
            word_frequency={
                word.text: len(holders[word.text]) if word.text in holders else plan.least(word) for word in words
            },
            average_length=totals[NOTES].averages(),
            section_average_length=totals[SECTIONS].averages(),
            dropped=tuple(word.text for word in words if word.text in plan.dropped),
            postings=plan.spent,
        )

    def _documents(self, found: Mapping[int, Mapping[str, bytes]]) -> list[MatchedDocument]:
        return [
            _matched(self._live[number].path, None, found[number], lengths)
            for number, lengths in self._lengths(list(found))
        ]

    def _sections(self, found: Mapping[int, object], plan: Plan) -> list[MatchedDocument]:
        """The sections of the notes found, each with what it holds itself."""
        places = {
            number + 1 + at: (self._live[number].path, at)
            for number in found
            for at in range(self._live[number].section_count)
        }
        if not places:
            return []
        held: dict[int, dict[str, bytes]] = {}
        for term in dict.fromkeys(term.text for _, terms in plan.chosen for term in terms):
            for number, posting in self._postings(SECTIONS, term):
                if number in places:
                    held.setdefault(number, {})[term] = posting
        return [_matched(*places[number], held[number], lengths) for number, lengths in self._lengths(list(held))]

    def _records(self, paths: Sequence[str]) -> dict[str, dict[str, Any]]:
        entries = self._view.manifest.rows
        numbers = {path: entries[path].number for path in paths if path in entries and entries[path].number}
        return {path: stored_record(self._store_of(number).stored(number)) for path, number in numbers.items()}

    @cached_property
    def _live(self) -> dict[int, Entry]:
        return {entry.number: entry for entry in self._view.manifest.rows.values() if entry.number}

    @cached_property
    def _dead_counts(self) -> list[dict[str, int]]:
        dead = self._view.manifest.dead() if self._view.dead is None else self._view.dead
        return [one.terms for one in dead.values()]

    def _open(self) -> list[Postings]:
        if self._stores is None:
            self._stores = [self._view.memory]
            if self._view.disk is not None:
                self._stores.append(self._view.disk())
        return self._stores

    def _frequency(self, term: str) -> int:
        """Live notes that hold a term, exactly: the same whether the index was built at once or piece by piece."""
        dead = sum(terms.get(term, 0) for terms in self._dead_counts)
        return sum(store.document_count(NOTES, term) for store in self._open()) - dead

    def _postings(self, kind: str, term: str) -> list[tuple[int, bytes]]:
        return [row for store in self._open() for row in store.postings(kind, term)]

    def _lengths(self, numbers: Sequence[int]) -> list[tuple[int, Lengths]]:
        found: list[tuple[int, Lengths]] = []
        for store in self._open():
            share = [number for number in numbers if self._store_of(number) is store]
            found += zip(share, store.lengths(share), strict=True)
        return found

    def _store_of(self, number: int) -> Postings:
        return self._view.memory if number in self._view.memory else self._open()[-1]


def _matched(path: str, section: int | None, held: Mapping[str, bytes], lengths: Lengths) -> MatchedDocument:
    frequencies = {(FIELDS[number], term): count for term, posting in held.items() for number, count in counts(posting)}
    named = {name: length for name, length in zip(FIELDS, lengths, strict=True) if length}
    return MatchedDocument(path, section, frequencies, named, held)
