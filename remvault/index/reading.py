"""Read notes and turn them into rows and documents: the one way from a file to what the index keeps of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from remvault.domain.problems import Problem
from remvault.errors import UserError
from remvault.index.analysis import Analyzer
from remvault.index.postings import Document, numbered
from remvault.index.rows import Entry, make_entry
from remvault.index.schema import NOTES, SECTIONS, Lengths, is_indexed, note_documents
from remvault.store.trees import FileStat

if TYPE_CHECKING:
    from remvault.index.changes import NoteSource, Seen

Progress = Callable[[int, int], None]  # (notes done, notes in all)


class Readable(Protocol):
    """What notes are read from."""

    def read(self, path: str) -> bytes:
        """All bytes of a note; raises UserError when it cannot be read."""
        ...


@dataclass(slots=True)
class Batch:
    """What came of reading notes: rows by path, tokens counted, and what could not be read."""

    rows: dict[str, Entry] = field(default_factory=dict)
    lengths: dict[str, list[Lengths]] = field(default_factory=lambda: {NOTES: [], SECTIONS: []})
    unreadable: list[Problem] = field(default_factory=list)
    next_number: int = 1


@dataclass(frozen=True, slots=True)
class Reader:
    """How notes are read, whichever they are."""

    source: NoteSource
    analyzer: Analyzer
    progress: Progress | None

    def read(self, seen: Seen, batch: Batch) -> Iterator[Document]:
        """Read in this process what a look found to be read; see `read_notes`."""
        return read_notes(
            self.source.files,
            dict(sorted(seen.read.items())),
            batch,
            self.analyzer,
            is_embedded=self.source.is_embedded,
            known=seen.data,
            progress=self.progress,
        )


def read_notes(
    tree: Readable,
    files: Mapping[str, FileStat],
    batch: Batch,
    analyzer: Analyzer,
    *,
    is_embedded: bool,
    known: Mapping[str, bytes] | None = None,
    progress: Progress | None = None,
) -> Iterator[Document]:
    """Read, parse and analyse notes in the order given; yield their documents, numbered from `batch.next_number`.

    Rows, lengths and unreadable files go into `batch` as the documents are taken. `known` holds bytes already read.
    """
    from remvault.domain.note import parse_note  # yaml: only when there is something to parse

    for done, (path, stat) in enumerate(files.items(), 1):
        try:
            data = known[path] if known and path in known else tree.read(path)
        except UserError as err:
            batch.unreadable.append(unreadable(path, err))
            continue
        note = parse_note(path, data)
        entry = make_entry(note, stat, is_embedded=is_embedded)
        if is_indexed(note):
            documents = numbered(note_documents(note.memory, note.body, note.body_line, analyzer), batch.next_number)
            entry = entry._replace(number=batch.next_number, section_count=len(documents) - 1)
            batch.next_number += len(documents)
            for document in documents:
                batch.lengths[document.kind].append(document.content.lengths)
            batch.rows[path] = entry
            yield from documents
        batch.rows[path] = entry
        if progress:
            progress(done, len(files))


def unreadable(path: str, err: UserError) -> Problem:
    """A note that could not be read this time, as a problem."""
    return Problem("RV601", "warning", path, None, f"skipped: {err.message}")
