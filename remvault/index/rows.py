"""The rows of the manifest: what is known of every note without opening it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from remvault.domain.memory import Anchor, Memory
from remvault.domain.moments import parse_moment
from remvault.index.abouts import About, about, unpack

if TYPE_CHECKING:
    from remvault.domain.note import Note
    from remvault.domain.rules import Linked
    from remvault.store.trees import FileStat


LINKED, FLAWED, RELATED, ANCHORED, CORE = 1, 2, 4, 8, 16
# Relations that say something of the note at the other end: of it in dispute, or of this one resting on it.
RELATION_TYPES = ("contradicts", "supports", "derived-from")
_TAB = b"\t"  # between a row and what a catalog shows of it; JSON of ours has none inside
_HEAD_AT = 44  # in an entry's rest, which begins with a bracket, the blob id in quotes and a comma


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
    tier: str
    relations: tuple[tuple[str, str], ...]  # (type, target) of RELATION_TYPES, which reach beyond the note itself
    anchors: tuple[Anchor, ...]  # none of a local-only note
    text_key: str  # equal for the same title and body, letter case and white space apart
    is_valid: bool  # no error by any rule for a single note
    is_sound: bool  # could be read without error
    problems: int

    def linked(self) -> Linked:
        """What the rules over the whole vault need of the note."""
        from remvault.domain.rules import Linked

        return Linked(
            self.path,
            self.id,
            self.owner,
            self.supersedes,
            self.superseded_by,
            self.freshness,
            self.status,
            self.is_valid,
            self.head_blob,
            self.is_committed,
        )

    @property
    def is_committed(self) -> bool:
        """Whether HEAD holds the very same bytes."""
        return self.blob == self.head_blob

    @property
    def is_local_only(self) -> bool:
        """Whether the note must stay on this disk."""
        return self.sensitivity == "local-only"


class Entry(NamedTuple):
    """A row as the manifest keeps it: what every read needs of every note, and the rest as text, read when asked for.

    The first four are the file's stat when it was read.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    is_racy: int  # 1: the stat proves nothing, see `changes.is_racy`
    number: int  # of the note's document; 0: not in the text index
    section_count: int  # documents of sections, numbered next
    marks: int  # bits: LINKED, FLAWED, RELATED, ANCHORED, CORE
    group: int  # equal for the notes of one owner below one parent; 0: no parent
    at: int  # when it was observed, else made, in seconds since 1970: the order within a group; 0: unknown
    owner: str | None
    id: str | None
    path: str
    rest: bytes  # JSON list: blob, HEAD's blob (1: the same), title, type, the fields from status on; a tab; its About

    @property
    def is_linked(self) -> bool:
        """Whether it supersedes something."""
        return bool(self.marks & LINKED)

    @property
    def is_flawed(self) -> bool:
        """Whether a rule found a problem in it."""
        return bool(self.marks & FLAWED)

    @property
    def is_related(self) -> bool:
        """Whether it has relations of `RELATION_TYPES`."""
        return bool(self.marks & RELATED)

    @property
    def is_anchored(self) -> bool:
        """Whether it points into code."""
        return bool(self.marks & ANCHORED)

    @property
    def is_core(self) -> bool:
        """Whether it is of the tier `core`."""
        return bool(self.marks & CORE)

    @property
    def numbers(self) -> range:
        """The numbers of its documents: the note's, then its sections'."""
        return range(self.number, self.number + 1 + self.section_count)


class Rows(Mapping[str, NoteRow]):
    """Every note's row by path, made when first asked for; ten thousand notes are seldom all looked at."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = entries
        self._made: dict[str, NoteRow] = {}

    def __getitem__(self, path: str) -> NoteRow:
        row = self._made.get(path)
        if row is None:
            row = self._made[path] = as_row(self._entries[path])
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def as_row(entry: Entry) -> NoteRow:
    """Read an entry in full."""
    text = entry.rest[: entry.rest.index(_TAB)].decode("utf-8", "surrogatepass")
    blob, head_blob, title, kind, *fields = json.loads(text)
    fields[3] = tuple(fields[3])
    fields[7] = tuple((kind_, target) for kind_, target in fields[7])
    fields[8] = tuple(Anchor(at=at, digest=digest, commit=commit) for at, digest, commit in fields[8])
    return NoteRow(entry.path, blob, blob if head_blob == 1 else head_blob, entry.id, title, kind, entry.owner, *fields)


def make_entry(note: Note, stat: FileStat, *, is_embedded: bool) -> Entry:
    """Make the entry of a freshly read note; documents and HEAD are filled in later."""
    from remvault.domain.problems import has_errors
    from remvault.domain.rules import note_problems

    memory, problems = note.memory, note_problems(note, is_embedded=is_embedded)
    relations = [(one.type, one.target) for one in memory.relations if one.type in RELATION_TYPES]
    anchors = [(one.at, one.digest, one.commit) for one in memory.anchors if not memory.is_local_only]
    rest = [
        note.blob,
        None,
        None if memory.is_local_only else memory.title,
        memory.type,
        memory.status,
        memory.freshness,
        memory.sensitivity,
        memory.supersedes,
        memory.superseded_by,
        memory.expires,
        memory.tier,
        relations,
        anchors,
        text_key(memory.title or "", note.body),
        not has_errors(problems),
        note.is_sound,
        len(problems),
    ]
    marks = LINKED * bool(memory.supersedes) | FLAWED * bool(problems)
    marks |= RELATED * bool(relations) | ANCHORED * bool(anchors) | CORE * (memory.tier == "core")
    kept = to_json(rest) + _TAB + to_json(about(memory))
    return Entry(*stat, 0, 0, 0, marks, _group(memory), _at(memory), memory.owner, memory.id, note.path, kept)


def _group(memory: Memory) -> int:
    """A number for owner and parent; 63 bits of SHA-1, so that columns of numbers hold it."""
    if memory.parent is None or memory.is_local_only:
        return 0
    key = f"{memory.owner}\0{memory.parent}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha1(key, usedforsecurity=False).digest()[:8], "big") >> 1


def _at(memory: Memory) -> int:
    text = memory.observed or memory.created
    moment = parse_moment(text) if text and not memory.is_local_only else None
    return int(moment.timestamp()) if moment is not None else 0


def abouts(entries: Sequence[Entry]) -> Iterator[About]:
    """What a catalog shows of notes, in the same order."""
    return unpack([entry.rest[entry.rest.index(_TAB) + 1 :] for entry in entries])


def text_key(title: str, body: str) -> str:
    """Name a memory's text: 16 hex, equal when title and body are, letter case and white space apart.

    Punctuation and signs count: `a-b` is not `a b`, and C is not C++.
    """
    folded = f"{folded_text(title)}\n{folded_text(body)}"
    return hashlib.sha1(folded.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16]


def folded_text(text: str) -> str:
    """Text without regard to letter case and the amount of white space."""
    return " ".join(text.casefold().split())


def blob_of(entry: Entry) -> str:
    """The blob id of the file."""
    return entry.rest[2 : _HEAD_AT - 2].decode()  # it stands first, and ten thousand may be asked


def head_blob_of(entry: Entry) -> str | None:
    """What HEAD holds at the entry's path; asked of ten thousand entries, so the row is not opened."""
    said = entry.rest[_HEAD_AT : entry.rest.index(b",", _HEAD_AT)]
    return blob_of(entry) if said == b"1" else None if said == b"null" else said[1:-1].decode()


def is_committed(entry: Entry) -> bool:
    """Whether HEAD holds the very same bytes; asked of ten thousand entries, so the row is not opened."""
    return entry.rest[_HEAD_AT : _HEAD_AT + 2] == b"1,"


def with_head_blob(entry: Entry, head_blob: str | None) -> Entry:
    """The entry with what HEAD holds at its path."""
    if head_blob == head_blob_of(entry):
        return entry
    said = to_json(1 if head_blob == blob_of(entry) else head_blob)
    end = entry.rest.index(b",", _HEAD_AT)
    return entry._replace(rest=entry.rest[:_HEAD_AT] + said + entry.rest[end:])


def to_json(value: object) -> bytes:
    """Compact JSON. Lone surrogates, which YAML can write as escapes where libyaml is missing, do no harm."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
