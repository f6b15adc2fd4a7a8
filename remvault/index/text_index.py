"""Postings and stored text on disk, through Whoosh. The only module that imports it, so import this one late.

Owns: the Whoosh schema, opening one generation, writing the next, telling damage from bugs.
Leaves alone: what is live (manifest), analysis, scores. Nothing is deleted or merged in Whoosh's sense: which documents
count is the manifest's business, and a segment is kept whole or left out of the next generation.

A generation is only to be opened after its files were found as the manifest describes them, in a folder known to be
ours: Whoosh reads pickles.
"""

from __future__ import annotations

import pickle
import shutil
import struct
import warnings
import zlib
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

with warnings.catch_warnings():
    # Whoosh 2.7.4 has invalid escapes in its text, which Python tells of whenever it compiles the modules.
    warnings.simplefilter("ignore", SyntaxWarning)
    warnings.simplefilter("ignore", DeprecationWarning)
    import whoosh
    from whoosh.codec.whoosh3 import W3Codec
    from whoosh.columns import FixedBytesColumn
    from whoosh.fields import COLUMN, STORED, FieldType, Schema
    from whoosh.filedb.filestore import FileStorage
    from whoosh.formats import Format
    from whoosh.index import TOC, FileIndex, LockError
    from whoosh.reading import SegmentReader

from remvault.errors import IndexBusy
from remvault.index.postings import DamagedIndex, Document, Segment
from remvault.index.schema import FIELDS, NOTES, SECTIONS, Lengths

WHOOSH_VERSION = ".".join(str(part) for part in whoosh.__version__)
_NAME = "MAIN"
_HEAD = struct.Struct(f">{1 + len(FIELDS)}I")  # number and lengths of a document
MAX_NUMBER = 2**32 - 1
_WRITER_MB = 256  # of postings in memory before Whoosh sorts them through temporary files
# Everything that Whoosh was seen to raise, or its code can raise, on files that are cut, garbled, missing or foreign.
_ODD = (
    OSError, EOFError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, AssertionError, ImportError,
    MemoryError, RecursionError, NotImplementedError, struct.error, pickle.PickleError, zlib.error,
)  # fmt: skip


class _PackedTerms(FieldType):  # type: ignore[misc]
    """A field whose terms and postings come ready made, as a mapping of term to posting."""

    def __init__(self) -> None:
        super().__init__(format=Format(), analyzer=None)

    def index(self, value: dict[str, bytes], **_: Any) -> Iterator[tuple[bytes, int, float, bytes]]:
        for term, posting in value.items():
            yield term.encode(), 1, 1.0, posting


# Also what index files are read by: the pickled copy of a schema in them is skipped.
_SCHEMA = Schema(
    **{NOTES: _PackedTerms(), SECTIONS: _PackedTerms(), "head": COLUMN(FixedBytesColumn(_HEAD.size)), "text": STORED()}
)


class TextIndex:
    """One generation, open for reading. Not shared between threads."""

    def __init__(self, folder: Path, generation: int) -> None:
        """Open a generation; raises DamagedIndex."""
        with _Telling(f"generation {generation}"):
            storage = FileStorage(str(folder))
            toc = TOC.read(storage, _NAME, gen=generation, schema=_SCHEMA)
            self._readers = [SegmentReader(storage, _SCHEMA, segment) for segment in toc.segments]
            self._heads = [reader.column_reader("head") for reader in self._readers]
            # The documents of a segment are numbered in a row.
            self._firsts = [_HEAD.unpack(column[0])[0] for column in self._heads]
            self._sizes = [reader.doc_count_all() for reader in self._readers]
            for reader in self._readers:
                reader.stored_fields(0)  # opens the last of its files: from here on a writer may delete them all

    def segments(self) -> list[Segment]:
        """The parts of this generation."""
        return [
            Segment(reader.segment().segment_id(), range(first, first + size))
            for reader, first, size in zip(self._readers, self._firsts, self._sizes, strict=True)
        ]

    def document_count(self, kind: str, term: str) -> int:
        """How many documents of a kind hold a term, dead ones included."""
        with _Telling("terms"):
            return sum(reader.doc_frequency(kind, term) for reader in self._readers)

    def postings(self, kind: str, term: str) -> list[tuple[int, bytes]]:
        """(document number, posting) of every document of a kind that holds a term, dead ones included."""
        found: list[tuple[int, bytes]] = []
        with _Telling("postings"):
            for reader, first in zip(self._readers, self._firsts, strict=True):
                if not reader.doc_frequency(kind, term):
                    continue
                matcher = reader.postings(kind, term)
                while matcher.is_active():
                    found.append((first + matcher.id(), matcher.value()))
                    matcher.next()
        return found

    def lengths(self, numbers: Sequence[int]) -> list[Lengths]:
        """Tokens in each field of documents, in their order; raises DamagedIndex when there is no such document."""
        found: list[Lengths] = []
        with _Telling("lengths"):
            for number in numbers:
                at, document = self._place(number)
                said, *lengths = _HEAD.unpack(self._heads[at][document])
                if said != number:
                    raise DamagedIndex(f"document {number} says that it is {said}")
                found.append(tuple(lengths))
        return found

    def stored(self, number: int) -> str:
        """The stored text of a document; raises DamagedIndex when there is no such document."""
        with _Telling(f"document {number}"):
            at, document = self._place(number)
            text: str = self._readers[at].stored_fields(document)["text"]
            return text

    def close(self) -> None:
        """Let go of the files; answers already given stay valid."""
        with _Telling("closing"):
            for reader in self._readers:
                reader.close()

    def _place(self, number: int) -> tuple[int, int]:
        for at, (first, size) in enumerate(zip(self._firsts, self._sizes, strict=True)):
            if first <= number < first + size:
                return at, number - first
        raise KeyError(number)


def write_generation(
    folder: Path, documents: Iterable[Document], *, generation: int | None, keep: Container[str] = ()
) -> int:
    """Write the next generation: the segments named in `keep`, and one new segment with `documents`.

    Args:
        folder: made if absent; emptied first when `generation` is None.
        documents: numbered in a row, consumed once.
        keep: names of the segments of `generation` to take over.
        generation: the one to build on, None to begin anew.

    Returns:
        The number of the generation written.

    Raises:
        DamagedIndex: what is there cannot be built on, or the disk failed (full, read-only).
        IndexBusy: another Whoosh writer holds the folder.
    """
    with _Telling(f"writing to {folder}"):
        index = _begin(folder) if generation is None else _reopen(folder, generation)
        try:
            writer = index.writer(compound=False, limitmb=_WRITER_MB, codec=_codec())
        except LockError as err:
            raise IndexBusy(f"another process writes {folder}", hint="try again") from err
        try:
            for document in documents:
                writer.add_document(**_values(document))
            writer.commit(mergetype=lambda _, segments: [one for one in segments if one.segment_id() in keep])
        except BaseException:
            if not writer.is_closed:
                writer.cancel()
            raise
        return int(index.latest_generation())


def join_folders(
    folder: Path, parts: Sequence[Path], *, generation: int | None = None, keep: Container[str] = ()
) -> int:
    """Write the next generation of the indexes in `parts`, whose files are moved; the others as `write_generation`."""
    with _Telling(f"joining into {folder}"):
        index = _begin(folder) if generation is None else _reopen(folder, generation)
        known = [] if generation is None else TOC.read(FileStorage(str(folder)), _NAME, gen=generation).segments
        segments = [segment for segment in known if segment.segment_id() in keep]
        for part in parts:
            toc = TOC.read(FileStorage(str(part)), _NAME, schema=_SCHEMA)
            for segment in toc.segments:
                prefix = segment.segment_id()
                for path in list(part.iterdir()):
                    if path.name.startswith(prefix):
                        path.replace(folder / path.name)
                segments.append(segment)
        before = int(index.latest_generation())
        TOC(_SCHEMA, segments, before + 1).write(FileStorage(str(folder)), _NAME)
        (folder / f"_{_NAME}_{before}.toc").unlink()
        for left in {segment.segment_id() for segment in known} - {segment.segment_id() for segment in segments}:
            for path in folder.glob(f"{left}.*"):
                with suppress(OSError):  # open elsewhere, where that forbids it
                    path.unlink()
        return before + 1


class _Telling:
    """Turns the many ways in which Whoosh fails on bad files into `DamagedIndex`."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Whoosh raises bare Exception for a wrong block tag, and errors of its own that share no base class.
        is_bare = kind is Exception or (kind is not None and kind.__module__.partition(".")[0] == "whoosh")
        if isinstance(err, _ODD) or is_bare:
            raise DamagedIndex(f"{self._what}: {type(err).__name__}: {err}") from err


def _codec() -> W3Codec:
    codec = W3Codec()
    codec.length_stats = False  # we keep lengths ourselves; looking for Whoosh's costs a stat for each posting
    return codec


def _begin(folder: Path) -> Any:
    if folder.is_dir():
        shutil.rmtree(folder)
    else:
        folder.unlink(missing_ok=True)
    folder.mkdir(parents=True, mode=0o700)
    return FileIndex.create(FileStorage(str(folder)), _SCHEMA, _NAME)


def _reopen(folder: Path, generation: int) -> Any:
    for path in folder.glob(f"_{_NAME}_*.toc"):
        if path.name != f"_{_NAME}_{generation}.toc":
            path.unlink()  # left by a writer that died between its commit and the manifest
    return FileIndex(FileStorage(str(folder)), _SCHEMA, _NAME)


def _values(document: Document) -> dict[str, Any]:
    values: dict[str, Any] = {
        "head": _HEAD.pack(document.number, *document.content.lengths),
        document.kind: document.content.terms,
    }
    return values | {"text": document.stored} if document.stored else values
