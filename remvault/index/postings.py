"""What a store of postings is, and one that lives in memory.

Owns: the protocol between matching and the stores, the store for what the disk lacks.
Leaves alone: the store on disk (text_index), which documents are live (manifest).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from remvault.index.schema import NOTES, SECTIONS, Indexed, Lengths, NoteDocuments


class DamagedIndex(Exception):
    """The index on disk cannot be read or written as it should; it is to be thrown away."""


class Document(NamedTuple):
    """A document to be written. Numbers are never used twice as long as an index lives."""

    number: int
    kind: str  # NOTES or SECTIONS
    content: Indexed
    stored: str = ""


class Segment(NamedTuple):
    """A part of a generation on disk that is kept or dropped as a whole."""

    name: str
    numbers: range  # of its documents, live or not


class Postings(Protocol):
    """Where documents can be looked up by term. Answers contain dead documents; the caller knows which live."""

    def document_count(self, kind: str, term: str) -> int:
        """How many documents of a kind hold a term."""
        ...

    def postings(self, kind: str, term: str) -> Sequence[tuple[int, bytes]]:
        """(document number, posting as schema packs it), in no particular order."""
        ...

    def lengths(self, numbers: Sequence[int]) -> list[Lengths]:
        """Tokens in each field of documents, in their order."""
        ...

    def stored(self, number: int) -> str:
        """The stored text of a note."""
        ...


class MemoryPostings:
    """Documents held in memory: what the disk lacks while its writer is busy, or everything where there is no disk."""

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._postings: dict[tuple[str, str], list[tuple[int, bytes]]] = {}
        self._documents: dict[int, Document] = {}
        for document in documents:
            self._documents[document.number] = document
            for term, posting in document.content.terms.items():
                self._postings.setdefault((document.kind, term), []).append((document.number, posting))

    def __contains__(self, number: int) -> bool:
        return number in self._documents

    def document_count(self, kind: str, term: str) -> int:
        """How many documents of a kind hold a term."""
        return len(self._postings.get((kind, term), ()))

    def postings(self, kind: str, term: str) -> Sequence[tuple[int, bytes]]:
        """(document number, posting), in the order added."""
        return self._postings.get((kind, term), ())

    def lengths(self, numbers: Sequence[int]) -> list[Lengths]:
        """Tokens in each field of documents, in their order; raises KeyError."""
        return [self._documents[number].content.lengths for number in numbers]

    def stored(self, number: int) -> str:
        """The stored text of a note; raises KeyError."""
        return self._documents[number].stored


def numbered(documents: NoteDocuments, number: int) -> list[Document]:
    """Number a note and its sections in a row: the note first, then its sections in order."""
    return [
        Document(number, NOTES, documents.note, documents.stored),
        *(Document(number + 1 + at, SECTIONS, one) for at, one in enumerate(documents.sections)),
    ]
