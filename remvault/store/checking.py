"""Check a tree of notes: load it, run every rule, find what can be repaired.

Owns: rules over file names and folders, and putting all problems together.
Leaves alone: rules over fields and graph (`domain.rules`), printing (`surfaces`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePosixPath
from typing import TypeAlias

from remvault.domain.anchor_rules import is_held_to_code, state_problems
from remvault.domain.anchors import MAX_ANCHORS, Reading
from remvault.domain.edits import quote_value
from remvault.domain.fixes import repair
from remvault.domain.lineage import build_lineage
from remvault.domain.memory import Anchor
from remvault.domain.note import Note, parse_note
from remvault.domain.problems import Problem, problem, with_severities
from remvault.domain.rules import linked, links, note_problems, vault_problems
from remvault.domain.scope import SCOPES, has_code
from remvault.store.layout import folder_for
from remvault.store.note_paths import PathRefused, name_key
from remvault.store.trees import NoteMissing, NoteUnreadable, Tree

# What the code says of anchors of one owner, in the same order; None when it is not at hand.
CodeLook: TypeAlias = "Callable[[str | None, Sequence[Anchor]], Sequence[Reading] | None]"


@dataclass(frozen=True, slots=True)
class Checked:
    """The notes of a tree and every problem found, in report order."""

    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]
    unchecked: int = 0  # anchors whose code is not at hand


@dataclass(frozen=True, slots=True)
class Repair:
    """What `check --fix` would do to one note: another text, another place, or both."""

    path: str
    base: str  # blob id the repair was computed from
    text: str
    new_path: str | None = None


def load_notes(tree: Tree) -> tuple[list[Note], list[Problem]]:
    """Parse every note of a tree, by path, with what was skipped; a note that vanished meanwhile is left out."""
    notes, problems = [], list(tree.skipped())
    for path in tree.paths():
        try:
            notes.append(parse_note(path, tree.read(path)))
        except NoteUnreadable as err:
            problems.append(problem("RV601", path, None, f"skipped: {err.reason}", "make the file readable"))
        except NoteMissing:
            continue
    return notes, problems


def check_tree(
    tree: Tree,
    *,
    is_embedded: bool,
    severities: Mapping[str, str],
    only: Callable[[str], bool] = lambda path: True,
    sees: Callable[[Note], bool] | None = None,
    head: Mapping[str, str] | None = None,
    code: CodeLook | None = None,
    max_anchors: int = MAX_ANCHORS,
) -> Checked:
    """Run every rule over a tree.

    Args:
        tree: what to judge: the folder, the staged entries or a commit.
        severities: the vault's `[rules]`.
        only: which paths to report on; rules over the whole vault still see every note.
        sees: which notes may be told of at all, None for all; nothing that is found names another.
        head: path to blob id of HEAD's notes, to tell an original from its copies; None where it is not known.
        code: asked about the anchors of memories in force; None where the code of now says nothing of the tree.
        max_anchors: the vault's own limit for one note.
    """
    notes, problems = load_notes(tree)
    head = head or {}
    across = _across(notes, head)
    if sees is not None:
        # Found among the notes in sight alone, so no message names another; and kept only where it holds in the whole
        # vault too, as a link that leads out of sight is not a link to nowhere.
        true = {(one.code, one.path) for one in across}
        notes, problems = [note for note in notes if sees(note)], []
        across = [one for one in _across(notes, head) if (one.code, one.path) in true]
    reported = [note for note in notes if only(note.path)]
    for note in reported:
        found = note_problems(note, is_embedded=is_embedded, max_anchors=max_anchors)
        problems += [_with_repair(one, tree) for one in found]
        problems += folder_problems(note.path, note.owner, note.line_of("scope"))
    of_code, unchecked = code_problems(reported, code) if code is not None else ([], 0)
    kept = [one for one in (*problems, *across, *of_code) if only(one.path)]
    ordered = sorted(with_severities(kept, severities), key=Problem.sort_key)
    return Checked(tuple(notes), tuple(ordered), unchecked)


def code_problems(notes: Iterable[Note], code: CodeLook) -> tuple[list[Problem], int]:
    """What the code says of the anchors of memories in force, and of how many anchors it is not at hand."""
    by_owner: dict[str | None, list[Note]] = defaultdict(list)
    for note in notes:
        memory = note.memory
        if memory.anchors and has_code(memory.scope) and is_held_to_code(memory.status, memory.freshness):
            by_owner[note.owner].append(note)
    found: list[Problem] = []
    unchecked = 0
    for owner, same in by_owner.items():
        anchors = [anchor for note in same for anchor in note.memory.anchors]
        readings = code(owner, anchors)  # all at once, so that every file is read once
        if readings is None:
            unchecked += len(anchors)
            continue
        left = iter(readings)
        for note in same:
            found += state_problems(note, list(islice(left, len(note.memory.anchors))))
    return found, unchecked


def repairs(
    tree: Tree,
    checked: Checked,
    *,
    new_id: Callable[[], str],
    mended: Callable[[Note, Collection[str]], Mapping[Anchor, Anchor]] = lambda note, rules: {},
) -> list[Repair]:
    """Compute the mechanical repairs of everything fixable in a report, by path.

    `mended` tells what to write in place of the anchors of a note that fall under one of the rules.
    """
    by_path: dict[str, list[Problem]] = defaultdict(list)
    for found in checked.problems:
        if found.fixable:
            by_path[found.path].append(found)
    successors = build_lineage(links([linked(note) for note in checked.notes])).successors
    found_repairs = []
    for note in checked.notes:
        problems = by_path.get(note.path)
        if not problems or not note.is_text:
            continue
        text = tree.read(note.path).decode("utf-8")
        anchors = mended(note, {one.code for one in problems})
        after = repair(text, problems, memory_id=note.memory.id, successors=successors, new_id=new_id, anchors=anchors)
        new_path = _home(note) if any(one.code == "RV406" for one in problems) else None
        if after != text or new_path:
            found_repairs.append(Repair(note.path, note.blob, after, new_path))
    return found_repairs


def _across(notes: Sequence[Note], head: Mapping[str, str]) -> list[Problem]:
    """What is wrong between notes."""
    found = vault_problems([linked(note, head.get(note.path)) for note in notes])
    return [*found, *name_clashes([note.path for note in notes])]


def _with_repair(found: Problem, tree: Tree) -> Problem:
    """Mark an unreadable block that one pair of quotes would mend."""
    if found.code != "RV101" or found.line is None:
        return found
    text = tree.read(found.path).decode("utf-8", "replace")
    if quote_value(text, found.line) is None:
        return found
    return replace(found, fixable=True, hint="quote the value ('remvault check --fix' does it)")


def folder_problems(path: str, owner: str | None, line: int) -> Iterator[Problem]:
    """A note in another owner's folder. A note outside all scope folders is where its writer wants it."""
    parts = PurePosixPath(path).parts
    home = _home_folder(owner)
    if len(parts) < 2 or parts[0] not in SCOPES or home is None:
        return
    folder = "/".join(parts[:-1])
    if folder == home or folder.startswith(f"{home}/"):
        return
    message = f"the folder says {folder}, the frontmatter {home}"
    hint = "'remvault check --fix' moves it, or change scope and scope-id"
    yield problem("RV406", path, line, message, hint, fixable=True)


def _home_folder(owner: str | None) -> str | None:
    if owner is None:
        return None
    scope, _, scope_id = owner.partition(":")
    try:
        return folder_for(scope, scope_id or None)
    except PathRefused:
        return None


def _home(note: Note) -> str:
    return f"{_home_folder(note.owner)}/{PurePosixPath(note.path).name}"


def name_clashes(paths: Iterable[str]) -> Iterator[Problem]:
    """Paths that are one file where letter case or accent composition does not count (R14, R15)."""
    by_key: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        by_key[name_key(path)].append(path)
    for same in by_key.values():
        for path in same if len(same) > 1 else ():
            others = ", ".join(repr(other) for other in same if other != path)
            yield problem("RV112", path, None, f"the name clashes with {others} on other systems", "rename one of them")
