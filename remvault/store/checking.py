"""Check a tree of notes: load it, run every rule, find what can be repaired.

Owns: rules over file names and folders, and putting all problems together.
Leaves alone: rules over fields and graph (`domain.rules`), printing (`surfaces`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from remvault.domain.edits import quote_value
from remvault.domain.fixes import repair
from remvault.domain.lineage import build_lineage
from remvault.domain.note import Note, parse_note
from remvault.domain.problems import Problem, problem, with_severities
from remvault.domain.rules import linked, links, note_problems, vault_problems
from remvault.domain.scope import SCOPES
from remvault.store.layout import folder_for
from remvault.store.note_paths import PathRefused, name_key
from remvault.store.trees import NoteMissing, NoteUnreadable, Tree


@dataclass(frozen=True, slots=True)
class Checked:
    """The notes of a tree and every problem found, in report order."""

    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]


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
) -> Checked:
    """Run every rule over a tree.

    Args:
        tree: what to judge: the folder, the staged entries or a commit.
        severities: the vault's `[rules]`.
        only: which paths to report on; rules over the whole vault still see every note.
        sees: which notes may be told of at all, None for all; nothing that is found names another.
        head: path to blob id of HEAD's notes, to tell an original from its copies; None where it is not known.
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
    for note in notes:
        if only(note.path):
            problems += [_with_repair(one, tree) for one in note_problems(note, is_embedded=is_embedded)]
            problems += folder_problems(note.path, note.owner, note.line_of("scope"))
    problems += across
    kept = [one for one in problems if only(one.path)]
    return Checked(tuple(notes), tuple(sorted(with_severities(kept, severities), key=Problem.sort_key)))


def repairs(tree: Tree, checked: Checked, *, new_id: Callable[[], str]) -> list[Repair]:
    """Compute the mechanical repairs of everything fixable in a report, by path."""
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
        mended = repair(text, problems, memory_id=note.memory.id, successors=successors, new_id=new_id)
        new_path = _home(note) if any(one.code == "RV406" for one in problems) else None
        if mended != text or new_path:
            found_repairs.append(Repair(note.path, note.blob, mended, new_path))
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
