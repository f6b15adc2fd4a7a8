"""What happened to a vault or to one note, as git tells it.

Owns: reading operations from commits, deriving them where no trailer tells, following a note through renames.
Leaves alone: who may see an entry (surfaces), the commits themselves (git).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from remvault.domain.commit_message import Operation, operations, parse
from remvault.domain.note import Note, parse_note
from remvault.store.note_paths import is_note_path
from remvault.store.repository import CommitFacts, GitRepository, RevisionNotFound
from remvault.store.work_tree import run_git

# A commit that touches more notes than this (an import, a merge) is told without naming each.
_NAMED_AT_MOST = 50

Changes = Mapping[str, tuple[str | None, str | None]]  # path: (blob before, blob after)


@dataclass(frozen=True, slots=True)
class Entry:
    """One commit in memory terms."""

    commit: str
    op: str
    ids: tuple[str, ...]  # memories changed; empty when none could be read
    actor: str  # the trailer's, else the author of the commit as a user
    reason: str | None
    time: str  # RFC 3339, the author's, with offset
    subject: str
    scope: str | None  # owner key when all of it is one owner's
    supersedes: tuple[str, ...] = ()
    session: str | None = None
    paths: tuple[str, ...] = ()  # notes changed, relative to the vault, sorted
    is_derived: bool = False  # no trailer: op from the difference, actor from the author
    author: str = ""  # the commit's author by name, whoever acted


def history(
    repository: GitRepository,
    prefix: str,
    *,
    path: str | None = None,
    memory_id: str | None = None,
    limit: int | None = None,
    start: str = "HEAD",
) -> list[Entry]:
    """List what happened, newest first.

    Args:
        repository: where the vault is kept.
        prefix: the vault's path in the repository, "" or ending in "/".
        path: only this note, followed back through renames; relative to the vault.
        memory_id: only this memory: commits that name it, besides those that touch `path`.
        limit: at most so many entries.
        start: where to begin.

    Returns:
        No entries before the first commit, or when `start` names none.
    """
    try:
        tip = repository.resolve(start)
    except RevisionNotFound:
        return []
    if path is None and memory_id is None:
        found = _of_vault(repository, prefix, tip)
    else:
        found = _of_note(repository, prefix, tip, path, memory_id)
    return list(islice(found, limit))


def entry_of(repository: GitRepository, facts: CommitFacts, prefix: str) -> Entry:
    """One commit in memory terms, whatever it changed."""
    changes, operation = changes_of(repository, facts, prefix), parse(facts.message)
    return _told(facts, operation, changes) if operation is not None else _derived(repository, facts, changes)


def removed_notes(repository: GitRepository, prefix: str, *, start: str = "HEAD") -> Iterator[Note]:
    """Notes that commits removed, as they were last, latest removal first; a note moved elsewhere is among them."""
    try:
        tip = repository.resolve(start)
    except RevisionNotFound:
        return
    for facts in repository.log(tip):
        for path, (before, after) in sorted(changes_of(repository, facts, prefix).items()):
            if before is not None and after is None and is_note_path(path):
                yield read_note(repository, path, before)


def notes_of(repository: GitRepository, prefix: str, commit: str, paths: Sequence[str]) -> Iterator[Note]:
    """The notes at these paths as a commit left them, as its parents had them where it removed them."""
    facts = next(iter(repository.log(commit))) if paths else None
    for path in paths:
        assert facts is not None
        blobs = (repository.blob_at(one, prefix + path) for one in (facts.id, *facts.parents))
        yield read_note(repository, path, next((blob for blob in blobs if blob is not None), None))


def signatures(repository: GitRepository, commits: Sequence[str]) -> dict[str, str]:
    """What git says of each commit's signature, as `%G?` of `git log` writes it; "N" for none. One call of git."""
    asked = "\n".join(commits).encode() + b"\n"
    arguments = ("log", "--no-walk=unsorted", "--stdin", "--format=%H %G?")
    done = run_git(repository.tree.root, arguments, repository.environ, stdin=asked, check=False)
    pairs = (line.split() for line in done.stdout.decode("ascii", "replace").splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _of_vault(repository: GitRepository, prefix: str, tip: str) -> Iterator[Entry]:
    for facts in repository.log(tip):
        changes = changes_of(repository, facts, prefix)
        told = operations(facts.message)
        if told and changes:
            # A person's commit may hold several operations that were staged for it; the latest comes first.
            yield from (_told(facts, operation, changes) for operation in reversed(told))
        elif any(is_note_path(path) for path in changes):
            yield _derived(repository, facts, changes)


def _of_note(
    repository: GitRepository, prefix: str, tip: str, path: str | None, memory_id: str | None
) -> Iterator[Entry]:
    blobs: dict[tuple[str, str], str | None] = {}

    def blob_at(commit: str, name: str) -> str | None:
        if (commit, name) not in blobs:
            blobs[commit, name] = repository.blob_at(commit, prefix + name)
        return blobs[commit, name]

    names = [] if path is None else [path]
    for facts in repository.log(tip):
        told = operations(facts.message)
        naming = [one for one in told if memory_id in (*one.ids, *one.supersedes)]
        touched = [name for name in names if _is_touched(facts, name, blob_at)]
        if not touched and not naming:
            continue
        changes = changes_of(repository, facts, prefix)
        for name in touched:
            source = renamed_from(repository, changes, name)
            if source is not None and source not in names:
                names.append(source)
        if told:
            yield from (_told(facts, operation, changes) for operation in reversed(naming or told))
        else:
            # Of this note alone, though its subject may speak of all that the commit touched.
            derived = _derived(repository, facts, {name: changes[name] for name in changes if name in names})
            yield replace(derived, paths=tuple(sorted(path for path in changes if is_note_path(path))))


def _is_touched(facts: CommitFacts, name: str, blob_at: Callable[[str, str], str | None]) -> bool:
    here = blob_at(facts.id, name)
    if not facts.parents:
        return here is not None
    # A merge that took one side as it is changed nothing; the commit of that side is told itself.
    return all(blob_at(parent, name) != here for parent in facts.parents)


def changes_of(repository: GitRepository, facts: CommitFacts, prefix: str) -> Changes:
    """What a commit changed against every parent."""
    first, *others = facts.parents or (None,)
    changes = dict(repository.changed_paths(first, facts.id, prefix))
    for parent in others:
        if not changes:
            break
        against = repository.changed_paths(parent, facts.id, prefix)
        changes = {path: pair for path, pair in changes.items() if path in against}
    return changes


def renamed_from(repository: GitRepository, changes: Changes, name: str) -> str | None:
    """The path a note had before this commit, if the commit moved it: the same content, or the same id."""
    before, after = changes.get(name, (None, None))
    if before is not None or after is None:
        return None
    removed = {path: old for path, (old, new) in changes.items() if old is not None and new is None}
    for path, blob in removed.items():
        if blob == after:
            return path
    memory_id = read_note(repository, name, after).memory.id
    for path, blob in islice(removed.items(), _NAMED_AT_MOST):
        if memory_id is not None and read_note(repository, path, blob).memory.id == memory_id:
            return path
    return None


def _told(facts: CommitFacts, operation: Operation, changes: Changes) -> Entry:
    return Entry(
        commit=facts.id,
        op=operation.op,
        ids=operation.ids,
        actor=operation.actor or f"user:{facts.author}",
        reason=operation.reason,
        time=facts.time.isoformat(),
        subject=_subject(facts),
        scope=operation.scope,
        supersedes=operation.supersedes,
        session=operation.session,
        paths=tuple(sorted(path for path in changes if is_note_path(path))),
        author=facts.author,
    )


def _derived(repository: GitRepository, facts: CommitFacts, changes: Changes) -> Entry:
    paths = sorted(path for path in changes if is_note_path(path))
    notes = [read_note(repository, path, changes[path][1] or changes[path][0]) for path in paths[:_NAMED_AT_MOST]]
    owners = {note.owner for note in notes}
    body = facts.message.strip("\n").partition("\n")[2].strip("\n")
    return Entry(
        commit=facts.id,
        op=_op_of([changes[path] for path in paths]),
        ids=tuple(dict.fromkeys(note.memory.id for note in notes if note.memory.id)),
        actor=f"user:{facts.author}",
        reason=body or None,
        time=facts.time.isoformat(),
        subject=_subject(facts),
        scope=owners.pop() if len(owners) == 1 and len(paths) == len(notes) else None,
        paths=tuple(paths),
        is_derived=True,
        author=facts.author,
    )


def _op_of(pairs: list[tuple[str | None, str | None]]) -> str:
    if pairs and all(before is None for before, _ in pairs):
        return "new"
    if pairs and all(after is None for _, after in pairs):
        return "delete"
    return "edit"


def read_note(repository: GitRepository, path: str, blob: str | None) -> Note:
    """Parse a note as git has it; an empty one where there is none."""
    return parse_note(path, b"" if blob is None else repository.read_blob(blob))


def _subject(facts: CommitFacts) -> str:
    return facts.message.strip("\n").partition("\n")[0]
