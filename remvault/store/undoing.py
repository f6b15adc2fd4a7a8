"""Taking a change of ours back by a new change; history only grows.

Owns: which change is the last, whether its notes are still as it left them, the reverse of it.
Leaves alone: who may see which note (the caller says), files and commits (ledger), staged changes (unstaging).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from remvault.domain.blobs import blob_id
from remvault.domain.commit_message import Operation, one_line, parse
from remvault.domain.note import Note, parse_note
from remvault.errors import ConflictError, UserError
from remvault.store.attributes import has_filter
from remvault.store.ledger import FileChange, Ledger, Outcome
from remvault.store.note_paths import is_note_name, is_note_path
from remvault.store.repository import CommitFacts, GitRepository, RevisionNotFound
from remvault.store.trees import DirectoryTree, NoteMissing
from remvault.store.written import Act, outcome_answer

# What is no change of memories: it is never what "the last change" means. An undo is undone only when it is named.
_NOT_CHANGES = frozenset({"init", "upgrade", "handoff", "undo"})
_UNDONE = re.compile(r"^This undoes commit ([0-9a-f]{40,64})\.$", re.MULTILINE)


class UndoRefused(ConflictError):
    """A note is not as the change left it, so taking the change back would take away what came after."""

    code = "undo_refused"

    def __init__(self, path: str, *, change: str, left: str | None, found: str | None, by: str | None) -> None:
        self.path, self.change, self.left, self.found, self.by = path, change, left, found, by
        now = "it is gone" if found is None else f"there is {found[:10]}"
        who = f" by {by[:10]}" if by is not None else ""
        was = "no note" if left is None else left[:10]
        super().__init__(
            f"{path} was changed since{who}: {_short(change)} left {was}, now {now}",
            hint="undo the later change first, or set the note right with 'remvault edit'",
        )


class NothingToUndo(UserError):
    """There is no change of ours that could be taken back."""

    code = "nothing_to_undo"

    def __init__(self) -> None:
        super().__init__("there is no change to undo", hint="'remvault log' shows what happened")


class NotUndoable(UserError):
    """The commit is there but is nothing that can be taken back so."""

    code = "not_undoable"

    def __init__(self, commit: str, reason: str, hint: str) -> None:
        self.commit, self.reason = commit, reason
        super().__init__(f"{commit[:10]} {reason}", hint=hint)


class KeptOnDisk(UserError):
    """The change took a note out of git because it is local-only: undoing it would publish the note."""

    code = "kept_on_disk"

    def __init__(self, commit: str) -> None:
        self.commit = commit
        super().__init__(
            f"{_short(commit)} took a note out of git that is local-only now",
            hint="'remvault set --private ID sensitivity=normal' brings it back",
        )


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back. `outcome` is None for a dry run."""

    undone: str | None  # the commit; None for a change that was only staged
    of: str  # its op
    title: str
    ids: tuple[str, ...]
    paths: tuple[str, ...]
    outcome: Outcome | None

    def answer(self) -> dict[str, Any]:
        """What `undo` answers as JSON."""
        first = {"op": "undo", "id": next(iter(self.ids), None), "path": next(iter(self.paths), None)}
        more = {"undone": self.undone, "undone_op": self.of, "ids": list(self.ids), "paths": list(self.paths)}
        return first | outcome_answer(self.outcome) | more


@dataclass(frozen=True, slots=True)
class Change:
    """A change of ours as history has it, limited to notes."""

    commit: str
    operation: Operation
    blobs: Mapping[str, tuple[str | None, str | None]]  # path in the vault: blob before, blob after
    notes: tuple[Note, ...]  # every version of them, before and after


@dataclass(frozen=True, slots=True)
class Eyes:
    """What the one who undoes may know of."""

    sees: Callable[[Note], bool]
    is_kept_on_disk: Callable[[str], bool]  # whether an id belongs to a local-only note now
    is_person: bool


def undo(ledger: Ledger, repository: GitRepository, act: Act, eyes: Eyes, *, rev: str | None = None) -> Undone:
    """Take back the last change that the eyes may see, or the one that `rev` names, by a change of its own.

    Changes that are undone already are passed over, so that the next call steps further back.

    Raises:
        NothingToUndo: there is none.
        RevisionNotFound: `rev` names no commit of this branch, or one out of sight.
        NotUndoable: `rev` names a merge, a person's own commit, or one that changed no note.
        UndoRefused: a note is another by now; nothing was changed.
        KeptOnDisk: it would publish a local-only note.
    """
    change = _last(repository, ledger.prefix, eyes) if rev is None else _named(repository, ledger.prefix, eyes, rev)
    if any(note.memory.id and eyes.is_kept_on_disk(note.memory.id) for note in change.notes):
        raise KeptOnDisk(change.commit)
    changes = [_reverse(ledger, repository, change, path) for path in sorted(change.blobs)]
    ids = tuple(dict.fromkeys(note.memory.id for note in change.notes if note.memory.id))
    title = f"{change.operation.op}: {change.operation.title}"
    outcome = None
    if not act.dry_run:
        owners = {note.owner for note in change.notes}
        operation = Operation(
            op="undo",
            title=one_line(title),
            ids=tuple(one_line(one) for one in ids),
            scope=owners.pop() if len(owners) == 1 else None,
            actor=act.author.actor,
            session=act.author.session,
            reason="\n\n".join(filter(None, [f"This undoes commit {change.commit}.", act.reason])),
        )
        outcome = ledger.write(operation, changes)
    return Undone(change.commit, change.operation.op, title, ids, tuple(one.path for one in changes), outcome)


def read_note(repository: GitRepository, path: str, blob: str) -> Note:
    """One version of a note, from its blob."""
    return parse_note(path, repository.read_blob(blob))


def _last(repository: GitRepository, prefix: str, eyes: Eyes) -> Change:
    undone: set[str] = set()
    for facts in _commits(repository, "HEAD"):
        operation = parse(facts.message)
        if facts.id in undone or operation is None:
            continue
        undone.update(_undone_by(operation))
        if operation.op in _NOT_CHANGES or len(facts.parents) > 1:
            continue
        change = _change(repository, prefix, facts, operation)
        # An agent is not told that a local-only note is in the way: to it the change is not there.
        kept = not eyes.is_person and any(eyes.is_kept_on_disk(note.memory.id or "") for note in change.notes)
        if change.blobs and not kept and all(eyes.sees(note) for note in change.notes):
            return change
    raise NothingToUndo


def _named(repository: GitRepository, prefix: str, eyes: Eyes, rev: str) -> Change:
    commit = repository.resolve(rev)
    undoing: dict[str, str] = {}  # what is undone, and by which commit
    for facts in _commits(repository, "HEAD"):
        operation = parse(facts.message)
        if facts.id != commit:
            if operation is not None and facts.id not in undoing:
                undoing |= dict.fromkeys(_undone_by(operation), facts.id)
            continue
        change = _change(repository, prefix, facts, operation or Operation("edit", ""))
        kept = not eyes.is_person and any(eyes.is_kept_on_disk(note.memory.id or "") for note in change.notes)
        if kept or not all(eyes.sees(note) for note in change.notes):
            break
        if len(facts.parents) > 1:
            raise NotUndoable(commit, "is a merge", "name one of the changes it brought")
        if operation is None:
            raise NotUndoable(commit, "is not a change made by remvault", f"'git revert {commit[:10]}' undoes it")
        if not change.blobs:
            raise NotUndoable(commit, "changed no memory", "'remvault log' shows what did")
        if commit in undoing:
            by = undoing[commit]
            raise NotUndoable(commit, f"is undone already, by {by[:10]}", f"'remvault undo {by[:10]}' redoes it")
        return change
    raise RevisionNotFound(rev)


def _commits(repository: GitRepository, start: str) -> Iterator[CommitFacts]:
    try:
        tip = repository.resolve(start)
    except RevisionNotFound:
        return
    yield from repository.log(tip)


def _undone_by(operation: Operation) -> list[str]:
    return _UNDONE.findall(operation.reason or "") if operation.op == "undo" else []


def _change(repository: GitRepository, prefix: str, facts: CommitFacts, operation: Operation) -> Change:
    parent = facts.parents[0] if facts.parents else None
    blobs = {
        path: pair for path, pair in repository.changed_paths(parent, facts.id, prefix).items() if _holds_memory(path)
    }
    notes = [read_note(repository, path, blob) for path, pair in blobs.items() for blob in pair if blob is not None]
    return Change(facts.id, operation, blobs, tuple(notes))


def _holds_memory(path: str) -> bool:
    return is_note_path(path) or (path.startswith("inbox/") and is_note_name(path.rsplit("/", 1)[1]))


def _reverse(ledger: Ledger, repository: GitRepository, change: Change, path: str) -> FileChange:
    """The change of one file that takes it back; raises UndoRefused when the file is not as it was left."""
    before, after = change.blobs[path]
    name = ledger.prefix + path
    in_head = repository.blob_at("HEAD", name)
    try:
        data = DirectoryTree(ledger.root).read(path)
    except NoteMissing:
        data = None
    on_disk = None if data is None else repository.hash(data)
    if in_head != after:
        by = _changed_by(repository, name, after)
        raise UndoRefused(path, change=change.commit, left=after, found=in_head, by=by)
    if on_disk != after:
        raise UndoRefused(path, change=change.commit, left=after, found=on_disk, by=None)
    if before is not None and has_filter(repository.tree, name, repository.environ, {}):
        raise NotUndoable(change.commit, f"holds {path} as a filter of git left it", "'git revert' takes it back")
    restored = None if before is None else repository.read_blob(before)
    return FileChange(path, restored, None if data is None else blob_id(data))


def _changed_by(repository: GitRepository, name: str, left: str | None) -> str | None:
    """The newest commit that made a file another than it was left."""
    newer = None
    for facts in _commits(repository, "HEAD"):
        if repository.blob_at(facts.id, name) == left:
            return newer
        newer = facts.id
    return newer


def _short(change: str) -> str:
    """A commit by its beginning; words as they are."""
    return change if " " in change else change[:10]
