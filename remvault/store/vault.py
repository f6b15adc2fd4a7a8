"""The write side of a vault: new notes, edits of fields, supersession.

Owns: turning a wish into note texts that pass the rules, and handing them to the ledger in one change.
Leaves alone: how bytes reach disk and history (`ledger`), finding a note by id (`retrieval`), who may see it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from remvault.domain.anchor_edits import taking
from remvault.domain.anchors import MAX_ANCHORS, AnchorTaker, NoCode
from remvault.domain.blobs import blob_id
from remvault.domain.commit_message import Operation, one_line
from remvault.domain.compose import new_note
from remvault.domain.corrections import confirmed, superseded, widening
from remvault.domain.draft import Draft, draft_fields, successor_fields
from remvault.domain.edits import EditRefused, unset_key
from remvault.domain.field_edits import FieldEdit, apply_edit, refuse_guarded
from remvault.domain.ids import memory_id
from remvault.domain.lineage import may_supersede
from remvault.domain.memory import Anchor, Memory
from remvault.domain.moments import format_moment
from remvault.domain.note import MAX_NOTE_BYTES, Note, parse_note
from remvault.domain.problems import Problem, has_errors
from remvault.domain.rules import note_problems
from remvault.domain.scope import SCOPES, has_code
from remvault.errors import UserError
from remvault.store.checking import Repair, folder_problems
from remvault.store.excluding import exclude_new
from remvault.store.layout import contained, folder_for, note_filename, shard
from remvault.store.ledger import FileChange, Ledger, Outcome
from remvault.store.note_paths import is_local_only
from remvault.store.trees import DirectoryTree
from remvault.store.written import Act, Written

NOT_COMMITTED_YET = "your own version was not committed yet: commit both when the note is ready"
LOCAL_TITLE = "a memory that is kept on this disk only"


class InvalidNote(UserError):
    """What was to be written breaks the rules; nothing was saved."""

    code = "invalid_note"

    def __init__(self, problems: Sequence[Problem]) -> None:
        first = problems[0]
        self.problems = [f"{one.code} {one.message}" for one in problems]
        super().__init__(f"{first.code} {first.message}", hint=first.hint)


class Vault:
    """One vault's folder, opened for writing. Every method is one change and, where git allows, one commit.

    Args:
        root: the folder with `remvault.toml`.
        private: where local-only notes live; inside the root for a standalone vault, in git's folder otherwise.
        entropy: returns n random bytes (ids).
        code: gives the anchors that are written their digests.
        max_anchors: the vault's own limit for one note.
    """

    def __init__(
        self,
        root: Path,
        ledger: Ledger,
        *,
        is_embedded: bool,
        private: Path,
        entropy: Callable[[int], bytes],
        code: AnchorTaker | None = None,
        max_anchors: int = MAX_ANCHORS,
    ) -> None:
        self.root, self.ledger, self.is_embedded, self.private = root, ledger, is_embedded, private
        self.code = code or NoCode()
        self._entropy, self._max_anchors = entropy, max_anchors
        self._tree = DirectoryTree(root)

    def load(self, path: str) -> tuple[Note, bytes]:
        """Read one note fresh from disk; a path below `private/` means the folder of local-only notes."""
        data = self._read(path)
        return parse_note(path, data), data

    def new(self, draft: Draft, act: Act) -> Written:
        """Write a memory; its anchors get the digests of what is there now.

        Raises:
            InvalidNote: if it would break a rule.
            UserError: if an anchor points at nothing.
        """
        text, note, told = self._compose(draft, act)
        change = FileChange(self._place(note, act), text.encode(), None)
        return _telling(self.write("new", note, [change], act, text=text), told)

    def add(self, data: bytes, act: Act) -> Written:
        """Write a memory whose whole text was composed elsewhere, as in an editor. Raises as `new`."""
        note = parse_note("new.md", data)
        is_private = note.memory.is_local_only
        self._refuse_errors(parse_note("private/new.md", data) if is_private else note)
        text, told = taking(data.decode("utf-8"), note.memory, self.code)
        note = parse_note(note.path, text.encode())
        change = FileChange(self._place(note, act), text.encode(), None)
        return _telling(self.write("new", note, [change], act, text=text), told)

    def supersede(
        self, old_path: str, draft: Draft, act: Act, *, heads: Sequence[str], no_infer: Sequence[str] = ()
    ) -> Written:
        """Write a successor and mark the old note, in one change. Anchors that it takes over keep their digests.

        Args:
            heads: ids of what holds in the old note's place already.
            no_infer: what must not be concluded again; kept with the old note.

        Raises:
            InvalidNote: if the successor would break a rule.
            UserError: if the old note is already superseded or has no id, or an anchor that is new points at nothing.
        """
        old, data = self.load(old_path)
        if old.memory.id is None:
            raise UserError(f"{old_path} has no id to supersede", hint="'remvault check --fix' gives it one")
        if heads:
            newer = " and ".join(heads)
            raise UserError(f"{old.memory.id} is already superseded by {newer}", hint=f"supersede {newer} instead")
        succeeding = replace(draft, fields=successor_fields(old.memory, draft.fields))
        text, note, told = self._compose(succeeding, act, known=old.memory.anchors)
        assert note.memory.id is not None
        _check_reach(note, old)
        if old.memory.anchors and not has_code(note.memory.scope):
            told += (f"its anchors stay with {old.memory.id}: a {note.memory.scope} memory has no code",)
        marked = superseded(text_of(old, data), note.memory.id, no_infer)
        changes = [
            FileChange(self._place(note, act), text.encode(), None),
            FileChange(old_path, marked.encode(), old.blob),
        ]
        return _telling(self.write("supersede", note, changes, act, text=text, supersedes=(old.memory.id,)), told)

    def set(self, path: str, edits: Sequence[FieldEdit], act: Act, *, dropped: Sequence[str] = ()) -> Written:
        """Change fields in place; identity and creation stay. What makes a note another owner's moves its file too.

        `dropped` names fields that go because of the edits.

        Raises:
            UsageError: for a guarded key or a value its field cannot hold.
            InvalidNote: if the edit would bring a new error.
            EditRefused: if the frontmatter cannot be edited by machine.
        """
        note, data = self.load(path)
        text = text_of(note, data)
        for edit in edits:
            text = apply_edit(text, edit)
        for key in dropped:
            text = unset_key(text, key)
        return self.update(path, text.encode(), act, base=note)

    def unset(self, path: str, keys: Sequence[str], act: Act) -> Written:
        """Remove fields in place. Raises as `set`."""
        note, data = self.load(path)
        text = text_of(note, data)
        for key in keys:
            refuse_guarded(key)
            text = unset_key(text, key)
        return self.update(path, text.encode(), act, base=note)

    def update(self, path: str, data: bytes, act: Act, *, base: Note) -> Written:
        """Save a new version that somebody made on purpose, which confirms the memory; raises as `save`.

        Anchors that it names anew get the digests of what is there now; the others keep theirs, since nobody said that
        they were looked at.
        """
        note, told = parse_note(path, data), tuple[str, ...]()
        memory = note.memory
        if memory.anchors != base.memory.anchors and note.is_text:
            text, told = taking(data.decode("utf-8"), memory, self.code, known=base.memory.anchors)
            data = text.encode()
        is_standing = memory.status == "active" and memory.freshness not in ("superseded", "stale")
        if blob_id(data) != base.blob and is_standing and memory.confirmed == base.memory.confirmed:
            with suppress(EditRefused, UnicodeDecodeError):
                data = confirmed(data.decode("utf-8"), format_moment(act.now)).encode()
        return _telling(self.save(path, data, act, base=base), told)

    def save(self, path: str, data: bytes, act: Act, *, base: Note, op: str = "update") -> Written:
        """Replace a note's whole text, if no rule is newly broken and nobody changed it since `base` was read."""
        note = parse_note(path, data)
        text = data.decode("utf-8", "replace")
        if note.memory.id != base.memory.id and base.memory.id is not None:
            message = f"the id {base.memory.id} would become {note.memory.id or 'nothing'}"
            raise UserError(message, hint="an id is never changed: links and history hold on to it")
        if note.blob == base.blob:
            return Written(op, note.memory.id or "", path, text, Outcome(True, False, None, None), is_changed=False)
        note = replace(note, path=self._home(base, note, act))
        before = {(one.code, one.message) for one in self._broken_rules(base)}
        found = [one for one in self._broken_rules(note) if (one.code, one.message) not in before]
        if has_errors(found):
            raise InvalidNote([one for one in found if one.severity == "error"])
        changes = [FileChange(path, data, base.blob)]
        if note.path != path:
            changes = [FileChange(note.path, data, None), FileChange(path, None, base.blob)]
        notices = self._notices(base, note)
        written = self.write(op, note, changes, act, text=text)
        return replace(written, notices=(*written.notices, *notices))

    def remove(self, path: str, act: Act) -> Written:
        """Take a note's file away; history keeps it."""
        note, data = self.load(path)
        text = data.decode("utf-8", "replace")
        return self.write("delete", note, [FileChange(path, None, note.blob)], act, text=text)

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
            written.append(self.write("fix", note, changes, act, text=one.text, hold=hold))
        return written

    def write(
        self,
        op: str,
        note: Note,
        changes: Sequence[FileChange],
        act: Act,
        *,
        text: str,
        supersedes: tuple[str, ...] = (),
        hold: str | None = None,
    ) -> Written:
        """Hand one change of a note to the ledger; `changes` begin with the note itself.

        A note with errors is saved but stays out of history, as with the hook. Of a local-only note nothing is said.
        """
        memory, is_kept = note.memory, changes[0].data is not None
        placed = replace(note, path=changes[0].path)
        problems = self._problems(placed) if is_kept else ()
        errors = [one for one in problems if one.severity == "error"]
        if errors:
            hold = f"the note has errors ({errors[0].code} {errors[0].message}): mend it, then commit it"
        is_local = memory.is_local_only
        title = LOCAL_TITLE if is_local else memory.title or note.path
        operation = Operation(
            op=op,
            title=title if op in ("new", "supersede") else one_line(title),
            ids=(memory.id,) if memory.id and not is_local else (),
            supersedes=supersedes,
            scope=memory.owner,
            actor=act.author.actor,
            session=act.author.session,
            reason=act.reason,
        )
        notices = () if act.dry_run else exclude_new(self.ledger, changes)
        outcome = None if act.dry_run else self.ledger.write(operation, changes, hold=hold)
        marked = tuple(change.path for change in changes[1:] if change.data is not None)
        removed = tuple(change.path for change in changes if change.data is None)
        done = Written(op, memory.id or "", placed.path, text, outcome, supersedes, problems, marked, removed=removed)
        return replace(done, notices=notices)

    def _problems(self, note: Note) -> tuple[Problem, ...]:
        """What there is to say about a note at its place, lines and paths as written."""
        found = [
            *self._broken_rules(note),
            *folder_problems(note.path, note.owner, note.line_of("scope")),
        ]
        return tuple(replace(one, path=note.path) for one in found if one.severity != "info")

    def _notices(self, base: Note, note: Note) -> tuple[str, ...]:
        """What a move means for who sees the memory, before it is made."""
        was, now = is_local_only(base.path), is_local_only(note.path)
        if was and not now:
            owner = (note.owner or "nobody").rstrip(":")
            return (f"this widens who sees the memory: only this disk until now, git and {owner} from now on",)
        if now and not was:
            return history_notices(self.ledger, base)
        said = widening(base.owner, note.owner)
        return (said,) if said is not None else ()

    def _read(self, path: str) -> bytes:
        if is_local_only(path):
            return DirectoryTree(self.private, is_inner=True).read(path.partition("/")[2])
        self.ledger.await_hooks()
        return self._tree.read(path)

    def _compose(self, draft: Draft, act: Act, *, known: Sequence[Anchor] = ()) -> tuple[str, Note, tuple[str, ...]]:
        """The text of a new note, the note, and what to say of its anchors."""
        fields = draft_fields(
            draft, memory_id=memory_id(self._entropy(8)), author=act.author, now=format_moment(act.now)
        )
        text = new_note(fields, draft.body)
        if len(text.encode()) > MAX_NOTE_BYTES:
            raise UserError("the note is over 1 MiB", hint="keep the memory short and point to the long text")
        path = "private/new.md" if fields.get("sensitivity") == "local-only" else "new.md"
        note = parse_note(path, text.encode())
        self._refuse_errors(note)
        text, told = taking(text, note.memory, self.code, known=known)
        return text, parse_note(path, text.encode()), told

    def _refuse_errors(self, note: Note) -> None:
        found = self._broken_rules(note)
        if has_errors(found):
            raise InvalidNote([one for one in found if one.severity == "error"])

    def _broken_rules(self, note: Note) -> list[Problem]:
        return note_problems(note, is_embedded=self.is_embedded, max_anchors=self._max_anchors)

    def _place(self, note: Note, act: Act) -> str:
        """Choose a free path for a new note."""
        memory = note.memory
        assert memory.id is not None
        assert memory.title is not None
        folder, there = self._folder(memory, act)
        return f"{folder}/{note_filename(memory.title, memory.id, taken=_names(there))}"

    def _home(self, base: Note, note: Note, act: Act) -> str:
        """Where a changed note belongs: elsewhere when its owner changed, or it became local-only or ceased to be."""
        path, memory = base.path, note.memory
        is_apart = is_local_only(path)
        moves = memory.is_local_only != is_apart or (
            not is_apart and note.owner != base.owner and path.partition("/")[0] in SCOPES
        )
        if not moves or (note.owner is None and not memory.is_local_only):
            return path
        folder, there = self._folder(memory, act)
        name = PurePosixPath(path).name
        if name in _names(there):
            name = note_filename(memory.title or "", memory.id or "note", taken=_names(there))
        return f"{folder}/{name}"

    def _folder(self, memory: Memory, act: Act) -> tuple[str, Path]:
        """The folder of a memory, relative to the vault, and where that is on disk."""
        if memory.is_local_only:
            return "private", self.private
        assert memory.scope is not None
        folder = shard(self.root, folder_for(memory.scope, memory.scope_id), act.now.year, act.now.month)
        return folder, contained(self.root, folder)


def text_of(note: Note, data: bytes) -> str:
    """The note's text, to be edited; raises UserError for what is not text."""
    if not note.is_text:
        raise UserError(f"{note.path} is not UTF-8 text and is never rewritten", hint="save the file as UTF-8 first")
    return data.decode("utf-8")


def _telling(written: Written, notices: Sequence[str]) -> Written:
    return replace(written, notices=(*notices, *written.notices))


def history_notices(ledger: Ledger, note: Note) -> tuple[str, ...]:
    """Say that history keeps a note taken out of git, and how to purge it; nothing where HEAD does not hold it."""
    path = ledger.prefix + note.path
    if ledger.tree is None or ledger.committer().look([path])[path] is None:
        return ()
    # A name that ends in the id is the same wherever the note has been.
    is_named = note.memory.id is not None and note.path.endswith(f"-{note.memory.id}.md")
    chosen = f"--path-glob '*-{note.memory.id}.md'" if is_named else f"--path {shlex.quote(path)}"
    return (
        "git's history still has what was committed of it, here and in every clone",
        f"to purge it, run 'git filter-repo --invert-paths {chosen}' in a fresh clone, push with force, clone anew",
    )


def _check_reach(newer: Note, older: Note) -> None:
    if not may_supersede(newer.owner, older.owner):
        message = f"a {newer.memory.scope} memory cannot supersede one of {older.owner or 'unknown owner'}"
        raise UserError(message, hint="use the same scope and scope-id, or a wider scope")


def _names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(entry.name for entry in folder.iterdir())
    except FileNotFoundError:
        return frozenset()
