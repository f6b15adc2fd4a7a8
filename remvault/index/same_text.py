"""Whether a vault may hold a memory with the same text already: a cheap look before a write, without the text index.

A yes is only a reason to look properly; a no is certain, as far as files can be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remvault.domain.frontmatter import split
from remvault.errors import UserError
from remvault.index import manifest as manifests
from remvault.index.analysis import Analyzer
from remvault.index.changes import NoteSource
from remvault.index.reconcile import flavour
from remvault.index.rows import Entry, folded_text, text_key
from remvault.store.trees import DirectoryTree

if TYPE_CHECKING:
    from remvault.store.state import State


def may_hold_text(
    source: NoteSource, state: State | None, *, language: str, title: str, body: str, owner: str, home: str
) -> bool:
    """Whether some note of an owner may have this title and body, letter case and white space apart (`text_key`).

    What the manifest knows is looked up there. Notes it does not know as they are now are opened, and parsed only when
    their bodies are the same; they are looked for in the folders where this owner's notes are known to lie and in its
    own (`home`), since looking at every file of a large vault would cost more than the rest of the write. A new note
    elsewhere is known from the next read on.
    """
    entries = _known(source, state, language)
    mine = {path: entry for path, entry in entries.items() if entry.owner == owner}
    files = DirectoryTree(source.root).scan_folders({home, *(path.rpartition("/")[0] for path in mine)}).files
    unknown = [path for path, stat in files.items() if not _is_as_known(entries.get(path), stat)]
    key = f'"{text_key(title, body)}"'.encode()
    if any(key in entry.rest and path in files for path, entry in mine.items()):
        return True
    wanted = folded_text(body)
    for path in unknown:
        try:
            text = source.files.read(path).decode("utf-8", "replace")
        except UserError:
            continue
        if folded_text(split(text).body) == wanted and _has_title(path, text, title):
            return True
    return False


def _known(source: NoteSource, state: State | None, language: str) -> dict[str, Entry]:
    if state is None or not state.caches_usable:
        return {}
    try:
        known = manifests.load(state.caches, flavour(Analyzer(language), is_embedded=source.is_embedded), state.key)
    except (FileNotFoundError, manifests.BadManifest):
        return {}
    return known.rows


def _is_as_known(entry: Entry | None, stat: tuple[int, ...]) -> bool:
    return entry is not None and not entry.is_racy and entry[:4] == stat


def _has_title(path: str, text: str, title: str) -> bool:
    from remvault.domain.note import parse_note

    return folded_text(parse_note(path, text.encode("utf-8", "replace")).memory.title or "") == folded_text(title)
