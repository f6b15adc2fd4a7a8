"""What of a note is indexed: its fields, its sections, the stored record.

Owns: the order of the fields, how a term's occurrences are packed into one posting, which notes are indexed at all.
Leaves alone: terms (analysis), where postings live (text_index, memory_index).

A term has one posting in a note, whatever fields it stands in, so the document frequency of a term is the number of
notes that hold it, and scores can saturate once over all fields (true BM25F). A posting is packed as one byte with a
bit for each field, one byte with the count for each of these fields (at most 255), then for title and body two bytes
for each of the first `MAX_POSITIONS` positions. They cost 6 % of a build.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from remvault.domain.markdown import Section
    from remvault.domain.memory import Memory
    from remvault.domain.note import Note
    from remvault.index.analysis import Analyzer

# Raise it when stored records, packing or the choice of fields change: indexes of another number are thrown away.
SCHEMA_VERSION = 3
FIELDS = ("title", "aliases", "tags", "summary", "headings", "body", "date", "who")
TITLE, ALIASES, TAGS, SUMMARY, HEADINGS, BODY, DATE, WHO = range(8)
NOTES, SECTIONS = "note", "section"  # the two kinds of document, each with postings of its own
MAX_POSITIONS = 32
_POSITIONED = (TITLE, BODY)
_MAX_POSITION = 0xFFFF
# A body shorter than this is its own best section.
_LONG_BODY = 1500  # characters
MAX_SECTIONS = 200
# Months are spelled as most notes in English do; in other languages the numbers of a date still match.
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip

Lengths = tuple[int, ...]  # tokens in each of FIELDS


class Indexed(NamedTuple):
    """One document as the index keeps it."""

    terms: dict[str, bytes]
    lengths: Lengths


@dataclass(frozen=True, slots=True)
class NoteDocuments:
    """A note as the index keeps it: itself, its sections in order, and the stored text (JSON)."""

    note: Indexed
    sections: tuple[Indexed, ...]
    stored: str


def is_indexed(note: Note) -> bool:
    """Whether a note may be in the text index: never one that is local-only, wherever it lies, or still a candidate."""
    return not note.memory.is_local_only and note.memory.status != "candidate"


def note_documents(memory: Memory, body: str, body_line: int, analyzer: Analyzer) -> NoteDocuments:
    """Analyse a note. Depends on nothing but its arguments, so a stored record gives the same documents again."""
    from remvault.domain.markdown import passages, sections

    parts = sections(body, body_line)
    cut = parts[:MAX_SECTIONS] if sum(1 for part in parts if part.level) >= 2 else passages(body, body_line)
    found = cut if len(body) > _LONG_BODY else []
    return NoteDocuments(
        _indexed(_texts(memory, body, parts), analyzer),
        tuple(_indexed({HEADINGS: part.heading, BODY: part.text}, analyzer) for part in found),
        _stored(memory, body, body_line, found),
    )


def stored_documents(stored: str, analyzer: Analyzer) -> NoteDocuments:
    """The documents of a note as they were indexed, from what was stored of it."""
    from remvault.domain.records import from_record  # brings yaml along, which a search has no use for

    values = json.loads(stored)
    return note_documents(from_record(values["record"]), values["body"], values["line"], analyzer)


def stored_terms(stored: str, analyzer: Analyzer) -> Collection[str]:
    """The terms of a note as it was indexed, those of its sections apart, from what was stored of it."""
    from remvault.domain.markdown import sections
    from remvault.domain.records import from_record

    values = json.loads(stored)
    parts = sections(values["body"], values["line"])
    texts = _texts(from_record(values["record"]), values["body"], parts)
    return {term for text in texts.values() if text for term in analyzer.positions(text)[0]}


def stored_record(stored: str) -> dict[str, Any]:
    """A stored note as a record: every field as `to_record` gives it, and `body`, `body_line`, `sections`.

    `sections` is a list of `{level, heading, path, line}`, in the order `MatchedDocument.section` counts them; empty
    for short notes.
    """
    values = json.loads(stored)
    keys = ("level", "heading", "path", "line")
    record: dict[str, Any] = values["record"]
    return record | {
        "body": values["body"],
        "body_line": values["line"],
        "sections": [dict(zip(keys, row, strict=True)) for row in values["sections"]],
    }


def counts(posting: bytes) -> tuple[tuple[int, int], ...]:
    """Unpack the counts of a posting: (field number, occurrences) for each field that holds the term."""
    return _counts(posting[: _PREFIX_LENGTH[posting[0]]])


def positions(posting: bytes, field: int) -> tuple[int, ...]:
    """Unpack the positions in title or body, ascending, the first `MAX_POSITIONS`; empty for other fields."""
    at = _PREFIX_LENGTH[posting[0]]
    for number, count in counts(posting):
        if number in _POSITIONED:
            size = min(count, MAX_POSITIONS)
            if number == field:
                return _positions(size).unpack_from(posting, at) if len(posting) > at else ()
            at += 2 * size
    return ()


def _texts(memory: Memory, body: str, parts: Sequence[Section]) -> dict[int, str]:
    """What is indexed of a note, by field in ascending order."""
    return {
        TITLE: "" if _is_repeated(memory.title, body) else memory.title or "",
        ALIASES: "\n".join(memory.aliases),
        TAGS: "\n".join((*memory.tags, *(entity.name for entity in memory.entities))),
        SUMMARY: memory.summary or "",
        HEADINGS: "\n".join(part.heading for part in parts if part.level),
        BODY: body,
        DATE: _date_words(memory),
        WHO: "\n".join(dict.fromkeys(_name(entry.actor) for entry in memory.provenance if entry.actor)),
    }


def _is_repeated(title: str | None, body: str) -> bool:
    """Whether a title is only the beginning of the text, as tools that capture one line write it: it says nothing more.

    A heading that repeats the title is no such text.
    """
    return title is not None and title != "" and body.lstrip().casefold().startswith(title.casefold())


def _date_words(memory: Memory) -> str:
    """The day that a memory is about, in words and in numbers; "" when it names none."""
    from remvault.domain.moments import parse_moment

    text = memory.observed or memory.created
    moment = parse_moment(text) if text else None
    if moment is None:
        return ""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year} {moment:%Y-%m-%d}"


def _name(actor: str) -> str:
    """Who acted, without what kind of actor it is."""
    return actor.partition(":")[2]


def _indexed(texts: Mapping[int, str], analyzer: Analyzer) -> Indexed:
    found: dict[str, list[tuple[int, list[int]]]] = {}
    lengths = [0] * len(FIELDS)
    for field, text in texts.items():  # ascending by field
        if not text:
            continue
        terms, lengths[field] = analyzer.positions(text)
        for term, places in terms.items():
            known = found.get(term)
            if known is None:
                found[term] = [(field, places)]
            else:
                known.append((field, places))
    return Indexed({term: _pack(rows) for term, rows in found.items()}, tuple(lengths))


def _pack(rows: Sequence[tuple[int, list[int]]]) -> bytes:
    mask, numbers, tail = 0, b"", b""
    for field, places in rows:
        mask |= 1 << field
        count = len(places)
        numbers += bytes((count if count < 255 else 255,))
        if field in _POSITIONED:
            if count > MAX_POSITIONS:
                places = places[:MAX_POSITIONS]
            if places[-1] > _MAX_POSITION:
                places = [min(place, _MAX_POSITION) for place in places]
            tail += _positions(len(places)).pack(*places)
    return bytes((mask,)) + numbers + tail


@lru_cache(maxsize=MAX_POSITIONS + 1)
def _positions(size: int) -> struct.Struct:
    return struct.Struct(f">{size}H")


@lru_cache(maxsize=4096)
def _counts(prefix: bytes) -> tuple[tuple[int, int], ...]:
    fields = [field for field in range(len(FIELDS)) if prefix[0] >> field & 1]
    return tuple(zip(fields, prefix[1:], strict=True))


_PREFIX_LENGTH = [1 + mask.bit_count() for mask in range(256)]


def _stored(memory: Memory, body: str, body_line: int, parts: Sequence[Section]) -> str:
    from remvault.domain.records import to_record

    rows = [(part.level, part.heading, part.path, part.line) for part in parts]
    values = {"record": to_record(memory), "body": body, "line": body_line, "sections": rows}
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"), default=str)
