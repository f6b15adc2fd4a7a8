"""The rows of the manifest: what is known of every note without opening it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from remvault.domain.note import Note
    from remvault.store.trees import FileStat

# A row as stored, a plain JSON list: the path, four numbers of the stat, whether it may hide a change (see `changes`),
# the number of the note's document (0: not in the text index), how many sections it has, then the fields of `NoteRow`.
RawRow = list[Any]
PATH, SIZE, MTIME, CTIME, INODE, RACY, NUMBER, SECTION_COUNT, BLOB, HEAD_BLOB = range(10)
_FIRST_FIELD = BLOB
OWNER = _FIRST_FIELD + 5


class NoteRow(NamedTuple):
    """A note as lists, filters and supersession need it."""

    path: str
    blob: str  # of the file as it is on disk
    head_blob: str | None  # of the same path in HEAD's commit
    id: str | None
    title: str | None  # None also for local-only notes, of which nothing is kept
    type: str | None
    owner: str | None  # "project:acme"; None when scope or owner cannot be read
    status: str
    freshness: str | None
    sensitivity: str
    supersedes: tuple[str, ...]
    superseded_by: str | None
    expires: str | None  # time as typed
    is_valid: bool  # no error by any rule for a single note
    is_sound: bool  # could be read without error
    problems: int

    @property
    def is_committed(self) -> bool:
        """Whether HEAD holds the very same bytes."""
        return self.blob == self.head_blob

    @property
    def is_local_only(self) -> bool:
        """Whether the note must stay on this disk."""
        return self.sensitivity == "local-only"


class Rows(Mapping[str, NoteRow]):
    """Every note's row by path, made when asked for; ten thousand notes are seldom all looked at."""

    def __init__(self, raw: Mapping[str, RawRow]) -> None:
        self._raw = raw

    def __getitem__(self, path: str) -> NoteRow:
        return as_row(self._raw[path])

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)


def as_row(raw: RawRow) -> NoteRow:
    """Read a stored row."""
    blob, head_blob, *fields = raw[_FIRST_FIELD:]
    fields[7] = tuple(fields[7])
    return NoteRow(raw[PATH], blob, blob if head_blob == 1 else head_blob, *fields)


def make_row(note: Note, stat: FileStat, *, is_embedded: bool) -> RawRow:
    """Make the row of a freshly read note; documents and HEAD are filled in later."""
    from remvault.domain.problems import has_errors
    from remvault.domain.rules import note_problems

    memory, problems = note.memory, note_problems(note, is_embedded=is_embedded)
    return [
        note.path,
        *stat,
        0,
        0,
        0,
        note.blob,
        None,
        memory.id,
        None if memory.is_local_only else memory.title,
        memory.type,
        memory.owner,
        memory.status,
        memory.freshness,
        memory.sensitivity,
        list(memory.supersedes),
        memory.superseded_by,
        memory.expires,
        not has_errors(problems),
        note.is_sound,
        len(problems),
    ]


def head_blob_of(raw: RawRow) -> str | None:
    """What HEAD holds at the row's path."""
    head_blob: str | None = raw[BLOB] if raw[HEAD_BLOB] == 1 else raw[HEAD_BLOB]
    return head_blob


def with_head_blob(raw: RawRow, head_blob: str | None) -> RawRow:
    """The row with what HEAD holds at its path; 1 stands for the same bytes, which keeps the manifest small."""
    return [*raw[:HEAD_BLOB], 1 if head_blob == raw[BLOB] else head_blob, *raw[HEAD_BLOB + 1 :]]
