"""The write side of a vault: new notes, edits of fields, supersession.

Owns: turning a wish into note texts that pass the rules, and handing them to the ledger in one change.
Leaves alone: how bytes reach disk and history (`ledger`), finding a note by id (`retrieval`), who may see it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from remvault.domain.actors import Author
from remvault.domain.commit_message import Operation, one_line
from remvault.domain.compose import new_note
from remvault.domain.draft import Draft, draft_fields, successor_fields
from remvault.domain.edits import Plain, Value, add_item, remove_item, set_key, unset_key
from remvault.domain.fields import FIELDS
from remvault.domain.frontmatter import Unreadable, read, split
from remvault.domain.ids import memory_id
from remvault.domain.lineage import may_supersede
from remvault.domain.moments import format_moment
from remvault.domain.note import MAX_NOTE_BYTES, Note, parse_note
from remvault.domain.problems import Problem
from remvault.domain.rules import note_problems
from remvault.domain.suggestions import suggest
from remvault.errors import UsageError, UserError
from remvault.store.checking import Repair, folder_problems
from remvault.store.layout import contained, folder_for, note_filename, shard
from remvault.store.ledger import FileChange, Ledger, Outcome
from remvault.store.trees import DirectoryTree

# Fields that other verbs keep whole; each with the verb to use.
GUARDED = {
    "id": "an id is never changed",
    "provenance": "provenance is appended by the verbs that write",
    "supersedes": "use 'remvault supersede'",
    "superseded-by": "use 'remvault supersede'",
}
NOT_COMMITTED_YET = "your own version was not committed yet: commit both when the note is ready"
_LISTS = ("list", "ids", "anchors", "relations", "entities")


class InvalidNote(UserError):
    """What was to be written breaks the rules; nothing was saved."""

    code = "invalid_note"

    def __init__(self, problems: Sequence[Problem]) -> None:
        first = problems[0]
        self.problems = [f"{one.code} {one.message}" for one in problems]
        super().__init__(f"{first.code} {first.message}", hint=first.hint)


@dataclass(frozen=True, slots=True)
class FieldEdit:
    """One `KEY=V`, `KEY+=V` or `KEY-=V`."""

    key: str
    how: Literal["=", "+=", "-="]
    text: str


@dataclass(frozen=True, slots=True)
class Written:
    """What a writing verb did. `outcome` is None for a dry run."""

    op: str
    id: str
    path: str  # relative to the vault
    text: str  # the note as written
    outcome: Outcome | None
    supersedes: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    marked: tuple[str, ...] = ()  # further notes changed, by path
    is_changed: bool = True  # False: the note was like that already, nothing was written

    def answer(self) -> dict[str, Any]:
        """What a writing verb answers as JSON."""
        outcome = self.outcome
        return {
            "op": self.op,
            "id": self.id,
            "path": self.path,
            "saved": outcome is not None and outcome.saved,
            "committed": outcome is not None and outcome.committed,
            "commit": outcome.commit if outcome is not None else None,
            "pending": outcome.pending if outcome is not None else None,
            "supersedes": list(self.supersedes),
            "edits": list(outcome.edits) if outcome is not None else [],
            "changed": self.is_changed,
            "dry_run": outcome is None,
        }


@dataclass(frozen=True, slots=True)
class Act:
    """Who writes, when, why, and whether it is only a rehearsal."""

    author: Author
    now: datetime
    reason: str | None = None
    dry_run: bool = False


class Vault:
    """One vault's folder, opened for writing. Every method is one change and, where git allows, one commit.

    Args:
        root: the folder with `remvault.toml`.
        private: where local-only notes live; inside the root for a standalone vault, in git's folder otherwise.
        entropy: returns n random bytes (ids).
    """

    def __init__(
        self, root: Path, ledger: Ledger, *, is_embedded: bool, private: Path, entropy: Callable[[int], bytes]
    ) -> None:
        self.root, self.ledger, self.is_embedded, self.private = root, ledger, is_embedded, private
        self._entropy = entropy
        self._tree = DirectoryTree(root)

    def load(self, path: str) -> tuple[Note, bytes]:
        """Read one note fresh from disk."""
        data = self._tree.read(path)
        return parse_note(path, data), data

    def new(self, draft: Draft, act: Act) -> Written:
        """Write a memory.

        Raises:
            InvalidNote: if it would break a rule.
        """
        text, note = self._compose(draft, act)
        path = self._place(note, act)
        return self._write("new", note, [FileChange(path, text.encode(), None)], act, text=text)

    def add(self, data: bytes, act: Act) -> Written:
        """Write a memory whose whole text was composed elsewhere, as in an editor. Raises as `new`."""
        note = parse_note("new.md", data)
        is_private = note.memory.is_local_only
        self._refuse_errors(parse_note("private/new.md", data) if is_private else note)
        return self._write(
            "new", note, [FileChange(self._place(note, act), data, None)], act, text=data.decode("utf-8")
        )

    def supersede(self, old_path: str, draft: Draft, act: Act, *, successors: Sequence[str]) -> Written:
        """Write a successor and mark the old note, in one change.

        Args:
            successors: ids that effectively supersede the old note already.

        Raises:
            InvalidNote: if the successor would break a rule.
            UserError: if the old note is already superseded or has no id.
        """
        old, data = self.load(old_path)
        if old.memory.id is None:
            raise UserError(f"{old_path} has no id to supersede", hint="'remvault check --fix' gives it one")
        if successors:
            newer = " and ".join(successors)
            raise UserError(f"{old.memory.id} is already superseded by {newer}", hint=f"supersede {newer} instead")
        text, note = self._compose(replace(draft, fields=successor_fields(old.memory, draft.fields)), act)
        assert note.memory.id is not None
        _check_reach(note, old)
        marked = set_key(data.decode("utf-8"), "freshness", "superseded")
        marked = set_key(marked, "superseded-by", note.memory.id)
        changes = [
            FileChange(self._place(note, act), text.encode(), None),
            FileChange(old_path, marked.encode(), old.blob),
        ]
        return self._write("supersede", note, changes, act, text=text, supersedes=(old.memory.id,))

    def set(self, path: str, edits: Sequence[FieldEdit], act: Act) -> Written:
        """Change fields in place; identity and creation stay.

        Raises:
            UsageError: for a guarded key or a value its field cannot hold.
            InvalidNote: if the edit would bring a new error.
            EditRefused: if the frontmatter cannot be edited by machine.
        """
        note, data = self.load(path)
        text = _text(note, data)
        for edit in edits:
            text = apply_edit(text, edit)
        return self.save(path, text.encode(), act, base=note)

    def unset(self, path: str, keys: Sequence[str], act: Act) -> Written:
        """Remove fields in place. Raises as `set`."""
        note, data = self.load(path)
        text = _text(note, data)
        for key in keys:
            _refuse_guarded(key)
            text = unset_key(text, key)
        return self.save(path, text.encode(), act, base=note)

    def save(self, path: str, data: bytes, act: Act, *, base: Note) -> Written:
        """Replace a note's whole text, if no rule is newly broken and nobody changed it since `base` was read."""
        note = parse_note(path, data)
        if note.memory.id != base.memory.id and base.memory.id is not None:
            message = f"the id {base.memory.id} would become {note.memory.id or 'nothing'}"
            raise UserError(message, hint="an id is never changed: links and history hold on to it")
        before = {(one.code, one.message) for one in note_problems(base, is_embedded=self.is_embedded)}
        found = note_problems(note, is_embedded=self.is_embedded)
        if data == self._tree.read(path):
            same = Outcome(True, False, None, None)
            text = data.decode("utf-8", "replace")
            return Written("update", note.memory.id or "", path, text, same, is_changed=False)
        new_errors = [one for one in found if one.severity == "error" and (one.code, one.message) not in before]
        if new_errors:
            raise InvalidNote(new_errors)
        return self._write(
            "update", note, [FileChange(path, data, base.blob)], act, text=data.decode("utf-8", "replace")
        )

    def fix(self, repairs: Sequence[Repair], act: Act, *, committed: Collection[str]) -> list[Written]:
        """Carry out mechanical repairs, one change each (`Remvault-Op: fix`).

        Only notes whose path is in `committed`, those that HEAD holds as they were, are committed; whoever is still
        writing the others does it.
        """
        written = []
        for one in repairs:
            data = one.text.encode()
            changes = [FileChange(one.path, data, one.base)]
            if one.new_path is not None:
                changes = [FileChange(one.new_path, data, None), FileChange(one.path, None, one.base)]
            note = parse_note(changes[0].path, data)
            hold = None if one.path in committed else NOT_COMMITTED_YET
            written.append(self._write("fix", note, changes, act, text=one.text, hold=hold))
        return written

    def _compose(self, draft: Draft, act: Act) -> tuple[str, Note]:
        fields = draft_fields(
            draft, memory_id=memory_id(self._entropy(8)), author=act.author, now=format_moment(act.now)
        )
        text = new_note(fields, draft.body)
        if len(text.encode()) > MAX_NOTE_BYTES:
            raise UserError("the note is over 1 MiB", hint="keep the memory short and point to the long text")
        is_private = fields.get("sensitivity") == "local-only"
        note = parse_note("private/new.md" if is_private else "new.md", text.encode())
        self._refuse_errors(note)
        return text, note

    def _refuse_errors(self, note: Note) -> None:
        errors = [one for one in note_problems(note, is_embedded=self.is_embedded) if one.severity == "error"]
        if errors:
            raise InvalidNote(errors)

    def _place(self, note: Note, act: Act) -> str:
        """Choose a free path for a new note."""
        memory = note.memory
        assert memory.id is not None
        assert memory.title is not None
        if memory.is_local_only:
            return f"private/{note_filename(memory.title, memory.id, taken=_names(self.private))}"
        assert memory.scope is not None
        folder = shard(self.root, folder_for(memory.scope, memory.scope_id), act.now.year, act.now.month)
        return f"{folder}/{note_filename(memory.title, memory.id, taken=_names(contained(self.root, folder)))}"

    def _write(
        self,
        op: str,
        note: Note,
        changes: list[FileChange],
        act: Act,
        *,
        text: str,
        supersedes: tuple[str, ...] = (),
        hold: str | None = None,
    ) -> Written:
        """Hand one change to the ledger. A note with errors is saved but stays out of history, as with the hook."""
        memory = note.memory
        placed = replace(note, path=changes[0].path)
        found = [
            *note_problems(placed, is_embedded=self.is_embedded),
            *folder_problems(placed.path, placed.owner, placed.line_of("scope")),
        ]
        problems = tuple(replace(one, path=placed.path) for one in found if one.severity != "info")
        errors = [one for one in problems if one.severity == "error"]
        if errors:
            hold = f"the note has errors ({errors[0].code} {errors[0].message}): mend it, then commit it"
        title = memory.title or note.path
        operation = Operation(
            op=op,
            title=title if op in ("new", "supersede") else one_line(title),
            ids=(memory.id,) if memory.id else (),
            supersedes=supersedes,
            scope=memory.owner,
            actor=act.author.actor,
            session=act.author.session,
            reason=act.reason,
        )
        outcome = None if act.dry_run else self.ledger.write(operation, changes, hold=hold)
        marked = tuple(change.path for change in changes[1:])
        return Written(op, memory.id or "", changes[0].path, text, outcome, supersedes, problems, marked)


def apply_edit(text: str, edit: FieldEdit) -> str:
    """Apply one field edit to a note's text; pure.

    Raises:
        UsageError: for a guarded key, `+=` or `-=` on a field that is no list, or a list that is not one.
        EditRefused: if the frontmatter cannot be edited by machine.
    """
    _refuse_guarded(edit.key)
    row = FIELDS.get(edit.key)
    is_list = row is not None and row.kind in _LISTS
    if edit.how != "=" and row is not None and not is_list:
        raise UsageError(f"{edit.key} holds one value: {edit.how} does not apply", hint=f"write {edit.key}=VALUE")
    if row is None:
        close = suggest(edit.key, list(FIELDS), likeness=0.8)
        if close is not None:
            raise UsageError(f"no field {edit.key!r}", hint=f"did you mean {close}?")
    value = parse_value(edit.key, edit.text)
    if is_list and edit.text.strip() == "":
        value = []
    if edit.how == "=":
        return set_key(text, edit.key, [value] if is_list and not isinstance(value, (list, tuple)) else value)
    items = value if isinstance(value, list) else [value]
    if edit.how == "-=":
        return remove_item(text, edit.key, lambda present: any(_is_item(present, item) for item in items))
    for item in items:
        text = add_item(text, edit.key, item)
    return text


def parse_value(key: str, typed: str) -> Value:
    """Read a value from a command line: text as typed, `[a, b]` and `{k: v}` as YAML where the field holds such.

    Raises:
        UsageError: if what looks like a list is not one.
    """
    row = FIELDS.get(key)
    if row is not None and row.kind in ("number", "time", "flag"):
        return Plain(typed)
    holds_lists = row is None or row.kind in _LISTS
    if not (holds_lists and typed[:1] in ("[", "{")):
        return typed
    try:
        block = read(split(f"---\nvalue: {typed}\n---\n"))
    except Unreadable as err:
        raise UsageError(
            f"{key}: {typed!r} is not a list: {err.message}", hint="write [a, b], quote items with signs"
        ) from err
    if "\n" in typed or "\r" in typed or block.entries.keys() != {"value"}:
        raise UsageError(f"{key}: {typed!r} is more than one list", hint="write [a, b] on one line")
    value = block.entries["value"].node.plain_value()
    return value if value is not None else typed


def _is_item(present: object, item: Value) -> bool:
    """Whether an item is meant: it is equal, or a mapping called so by its `at`, `name` or `target`."""
    return present == item or (
        isinstance(present, dict) and any(present.get(key) == item for key in ("at", "name", "target"))
    )


def _refuse_guarded(key: str) -> None:
    if key in GUARDED:
        raise UsageError(f"{key} is not set by hand here: {GUARDED[key]}")


def _text(note: Note, data: bytes) -> str:
    if not note.is_text:
        raise UserError(f"{note.path} is not UTF-8 text and is never rewritten", hint="save the file as UTF-8 first")
    return data.decode("utf-8")


def _check_reach(newer: Note, older: Note) -> None:
    if not may_supersede(newer.owner, older.owner):
        message = f"a {newer.memory.scope} memory cannot supersede one of {older.owner or 'unknown owner'}"
        raise UserError(message, hint="use the same scope and scope-id, or a wider scope")


def _names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(entry.name for entry in folder.iterdir())
    except FileNotFoundError:
        return frozenset()
