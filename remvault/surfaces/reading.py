"""The reading verbs, for every front door: command line, library, later MCP. None of them changes a note.

Each takes an open vault and returns a value with `answer()`, the JSON that the command line prints.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from remvault.domain.hostile_text import plain_words
from remvault.domain.memory import ID, TIERS, TYPES
from remvault.domain.problems import Problem
from remvault.domain.records import to_record
from remvault.domain.scope import SCOPES
from remvault.domain.suggestions import suggest
from remvault.errors import UsageError, UserError
from remvault.retrieval.answers import memory_answer
from remvault.retrieval.frame import DELIMITER_BYTES, Form, make_delimiter
from remvault.retrieval.lifecycle import STAGES, Stage
from remvault.retrieval.listing import Listing, ListOptions, Sort
from remvault.retrieval.listing import list_memories as _list
from remvault.retrieval.lookup import NamedNote, find
from remvault.retrieval.packing import CHARS_PER_TOKEN
from remvault.retrieval.search import SearchAnswer, SearchOptions
from remvault.retrieval.search import search as _search
from remvault.retrieval.surfacing import Surfaced
from remvault.retrieval.surfacing import surface as _surface
from remvault.retrieval.view import View
from remvault.store.trees import DirectoryTree, Tree
from remvault.surfaces.app import OpenVault
from remvault.surfaces.exposing import last_surfaced, record_exposures, record_search, record_show, shown_earlier

if TYPE_CHECKING:
    from remvault.domain.note import Note
    from remvault.index.rows import NoteRow

_COMPLETION_CHARS = 60


@dataclass(frozen=True, slots=True)
class Shown:
    """One memory in full, and the file as it is."""

    memory: Mapping[str, Any]
    data: bytes
    labels: tuple[str, ...]
    problems: tuple[Problem, ...]

    def answer(self) -> dict[str, Any]:
        """The memory as JSON has it."""
        return {"memory": dict(self.memory)}

    def raw_answer(self) -> dict[str, Any]:
        """The same with the file's text as `raw`; null beside `raw_base64` when it is not UTF-8."""
        try:
            return self.answer() | {"raw": self.data.decode("utf-8")}
        except UnicodeDecodeError:
            from base64 import b64encode

            return self.answer() | {"raw": None, "raw_base64": b64encode(self.data).decode("ascii")}


def search(
    vault: OpenVault,
    query: str,
    *,
    limit: int | None = None,
    status: Stage = "active",
    types: Collection[str] = (),
    tags: Collection[str] = (),
    all_terms: bool = False,
    literal: bool = False,
    files: Collection[str] = (),
    as_of: str | None = None,
) -> SearchAnswer:
    """Find the memories of this context that answer `query`, best first.

    Args:
        limit: hits at most; None takes the setting.
        status: the stage to look in.
        all_terms: every word must be there as a whole token.
        literal: the query must be there as one run of characters, ignoring case.
        files: paths from the current folder: only memories anchored to one of them; the query may be empty then.
        as_of: a revision, date or time: look in the vault as it was then; see `store.as_of.past_moment`.

    Raises:
        UsageError: for unknown words, and for a file outside the code that these memories point into.
    """
    options = search_options(
        vault, limit=limit, status=status, types=types, tags=tags, all_terms=all_terms, literal=literal, files=files
    )
    found = _search(vault.view(as_of), query, options, analyzer=vault.analyzer, provider=vault.provider)
    if as_of is None:
        record_search(vault, found)
    return replace(found, notices=(*found.notices, *vault.synonyms.notices()))


def search_options(
    vault: OpenVault,
    *,
    limit: int | None = None,
    status: Stage = "active",
    types: Collection[str] = (),
    tags: Collection[str] = (),
    all_terms: bool = False,
    literal: bool = False,
    files: Collection[str] = (),
) -> SearchOptions:
    """The options of `search`, with the settings for what is not given; raises as it does."""
    _refuse_unknown("status", [status], STAGES)
    _refuse_unknown("type", types, TYPES)
    return SearchOptions(
        limit=limit if limit is not None else vault.settings.count("search.limit"),
        stages=(status,),
        types=types,
        tags=tags,
        all_terms=all_terms,
        literal=literal,
        only_valid=not vault.is_person,
        files=files_in(vault, files),
    )


def files_in(vault: OpenVault, files: Collection[str]) -> tuple[str, ...] | None:
    """Paths from the current folder, as the anchors of a vault's memories would name them; None for none.

    Raises:
        UsageError: no code is at hand, or a path is outside of it.
    """
    return tuple(vault.anchors.relative(path) for path in files) or None


def search_private(vault: OpenVault, query: str) -> list[dict[str, Any]]:
    """Find this context's local-only notes by a scan, most matching words first; for persons only.

    Raises:
        UserError: when an agent or tool asks.
    """
    from remvault.index.query import build_query
    from remvault.retrieval.private_notes import matching, private_notes

    _persons_only(vault)
    words = build_query(query, vault.analyzer)
    found = matching(private_notes(vault.private_folder), words, vault.context.owners())
    return [_private_answer(vault, note) for note in found]


def surface(
    vault: OpenVault,
    prompt: str,
    *,
    budget_chars: int | None = None,
    budget_tokens: int | None = None,
    form: Form = "xml",
    files: Collection[str] = (),
    as_of: str | None = None,
    again: bool = False,
    delimiter: str | None = None,
) -> Surfaced:
    """Choose and render the memories that matter for a prompt, within the budget; see `retrieval.surfacing`.

    Without a budget the settings' `surface.max-chars` holds. Tokens are estimated at three characters each.

    Args:
        files: paths from the current folder, which are in hand: memories anchored to them come first.
        again: what this session was shown already is shown once more.
        delimiter: see `retrieval.frame`; None makes a new one.

    Raises:
        UsageError: a file is outside the code that these memories point into.
    """
    surfaced = _surface(
        vault.view(as_of),
        prompt,
        budget_chars=surface_budget(vault, budget_chars, budget_tokens),
        max_items=vault.settings.count("surface.max-items"),
        core_slots=vault.settings.count("surface.core-slots"),
        form=form,
        analyzer=vault.analyzer,
        provider=vault.provider,
        delimiter=delimiter or new_delimiter(vault),
        files=files_in(vault, files),
        earlier={} if again or as_of is not None else shown_earlier(vault),
    )
    if as_of is None:
        record_exposures(vault, surfaced, prompt)
    return replace(surfaced, notices=(*surfaced.notices, *vault.synonyms.notices()))


def new_delimiter(vault: OpenVault) -> str:
    """What bounds the block of one call."""
    return make_delimiter(vault.surroundings.entropy(DELIMITER_BYTES))


def surface_budget(vault: OpenVault, chars: int | None, tokens: int | None) -> int:
    """Characters a block may have: what is given, the smaller of both, else the setting."""
    given = [one for one in (chars, None if tokens is None else tokens * CHARS_PER_TOKEN) if one is not None]
    return min(given) if given else vault.settings.count("surface.max-chars")


def list_memories(
    vault: OpenVault,
    *,
    sort: Sort = "recent",
    status: Stage = "active",
    types: Collection[str] = (),
    tags: Collection[str] = (),
    scopes: Collection[str] = (),
    tiers: Collection[str] = (),
    as_of: str | None = None,
) -> Listing:
    """List every memory of this context: newest knowledge first, or by title; `as_of` as for `search`.

    Raises:
        UsageError: for a status, type, scope or tier that does not exist.
    """
    _refuse_unknown("status", [status], STAGES)
    _refuse_unknown("type", types, TYPES)
    _refuse_unknown("scope", scopes, SCOPES)
    _refuse_unknown("tier", tiers, TIERS)
    options = ListOptions(
        sort=sort,
        stages=(status,),
        types=types,
        tags=tags,
        scopes=scopes,
        tiers=tiers,
        surfaced=last_surfaced(vault) if sort == "surfaced" else {},
    )
    return _list(vault.view(as_of), options, provider=vault.provider)


def show(vault: OpenVault, name: str, *, private: bool = False, as_of: str | None = None) -> Shown:
    """Show one memory by id, beginning of an id, path or title.

    Args:
        private: look among the local-only notes.
        as_of: a revision, date or time: show it as it was then.

    Raises:
        MemoryNotFound, AmbiguousName: out of scope answers exactly like not there.
    """
    from remvault.domain.note import parse_note

    if private and as_of is not None:
        raise UsageError("--private and --as-of go alone", hint="local-only notes have no history")
    if private:
        return _show_private(vault, name)
    view = vault.view(as_of)
    row = vault.find(name, view)
    past = None if as_of is None else vault.past(as_of)
    tree: Tree = DirectoryTree(vault.root) if past is None else vault.tree_of(past.commit)
    data = tree.read(row.path)
    note = parse_note(row.path, data)
    memory = _full(vault, view, row, note, start="HEAD" if past is None else past.commit)
    if past is None:
        record_show(vault, row.id)
    return Shown(memory, data, tuple(view.labels(row)), note.problems)


def memory_of(vault: OpenVault, view: View, row: NoteRow) -> dict[str, Any]:
    """One memory of a view of the files in full, as answers have it."""
    from remvault.domain.note import parse_note

    return _full(vault, view, row, parse_note(row.path, DirectoryTree(vault.root).read(row.path)), start="HEAD")


def _full(vault: OpenVault, view: View, row: NoteRow, note: Note, *, start: str) -> dict[str, Any]:
    return memory_answer(
        to_record(note.memory),
        provider=vault.provider,
        path=row.path,
        committed=row.head_blob == note.blob,
        anchors=view.readings(row),
        successors=view.successors(row),
        updated=_updated(vault, row.path, start),
        body=note.body,
    )


def completions(vault: OpenVault, incomplete: str) -> list[tuple[str, str]]:
    """Ids that begin so, with the plain words of their titles, for a shell to offer; only what this context may see.

    zsh runs what it finds in the text of a completion, so nothing that a shell could read as its own is in either.
    """
    rows = [row for row in vault.view().visible() if row.id and ID.match(row.id)]
    return [
        (row.id, plain_words(row.title or "", limit=_COMPLETION_CHARS))
        for row in rows
        if row.id is not None and row.id.startswith(incomplete)
    ]


def _refuse_unknown(what: str, given: Collection[str], known: Sequence[str]) -> None:
    for word in given:
        if word not in known:
            close = suggest(word, known)
            meant = f" (did you mean {close!r}?)" if close else ""
            raise UsageError(f"unknown {what} {word!r}{meant}", hint="one of " + ", ".join(known))


def _updated(vault: OpenVault, path: str, start: str) -> str | None:
    """When the note last changed, as git tells; None outside git or for a note not committed yet."""
    from remvault.store.history import history

    if vault.repository is None:
        return None
    entries = history(vault.repository, vault.prefix, path=path, limit=1, start=start)
    return entries[0].time if entries else None


def _persons_only(vault: OpenVault) -> None:
    if not vault.is_person:
        raise UserError("local-only notes are shown to a person only", hint="ask the person to look")


def _show_private(vault: OpenVault, name: str) -> Shown:
    from remvault.retrieval.private_notes import FOLDER, private_notes, private_tree

    _persons_only(vault)
    notes = {note.path: note for note in private_notes(vault.private_folder) if note.owner in vault.context.owners()}
    found = find(name, [NamedNote(note) for note in notes.values()])
    note = notes[found.path]
    data = private_tree(vault.private_folder).read(note.path.removeprefix(f"{FOLDER}/"))
    return Shown(_private_answer(vault, note) | {"body": note.body}, data, ("local-only",), note.problems)


def _private_answer(vault: OpenVault, note: Note) -> dict[str, Any]:
    place = vault.private_folder / note.path.removeprefix("private/")
    path = note.path if place.is_relative_to(vault.root) else str(place)
    anchors = vault.anchors.readings(note.owner, note.memory.anchors)
    return memory_answer(to_record(note.memory), provider=vault.provider, path=path, committed=False, anchors=anchors)
