"""Local-only notes: read from their own folder on each asking, kept in no index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from remvault.domain.note import Note, parse_note
from remvault.index.analysis import tokens
from remvault.index.query import QueryWord
from remvault.store.trees import DirectoryTree, NoteMissing

FOLDER = "private"


def private_notes(folder: Path) -> Iterator[Note]:
    """Every note of the private folder, by path; paths begin with `private/`. Nothing when it is missing or a link."""
    if not folder.is_dir():
        return
    tree = private_tree(folder)
    for path in tree.paths():
        try:
            yield parse_note(f"{FOLDER}/{path}", tree.read(path))
        except NoteMissing:
            continue


def private_tree(folder: Path) -> DirectoryTree:
    """The private folder as a tree; a link in its place, which a clone could have brought, is not followed."""
    return DirectoryTree(folder, is_inner=True)


def matching(notes: Iterator[Note], words: Sequence[QueryWord], owners: frozenset[str]) -> list[Note]:
    """The private notes of these owners that hold at least one word, most words first, ties by path.

    A scan, not a ranking: there are few such notes, and no trace of them is kept to rank by.
    """
    found = []
    for note in notes:
        if note.owner not in owners:
            continue
        held = set(tokens(f"{note.memory.title or ''}\n{' '.join(note.memory.tags)}\n{note.body}".casefold()))
        count = sum(any(term.text in held for term in word.terms if term.kind != "stem") for word in words)
        if count:
            found.append((count, note))
    return [note for count, note in sorted(found, key=lambda pair: (-pair[0], pair[1].path))]
