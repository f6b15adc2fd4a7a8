"""The verbs that keep a vault in order: check and fix, reindex."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remvault.domain.ids import memory_id
from remvault.domain.problems import Problem, with_severities
from remvault.domain.rules import note_problems
from remvault.errors import UsageError, UserError
from remvault.store.checking import Checked, check_tree, code_problems, repairs
from remvault.store.excluding import has_private, private_problems
from remvault.store.trees import CommitTree, DirectoryTree, StagedTree, Tree
from remvault.surfaces.anchoring import Anchoring
from remvault.surfaces.app import OpenVault
from remvault.surfaces.auditing import row_of

if TYPE_CHECKING:
    from remvault.domain.note import Note
    from remvault.index.snapshot import Snapshot
    from remvault.store.written import Written


_FIX_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found."""

    problems: tuple[Problem, ...]
    notes: int
    fixed: tuple[Written, ...] = ()
    unchecked: int = 0  # anchors whose code is not at hand

    @property
    def errors(self) -> int:
        """How many are errors."""
        return sum(one.severity == "error" for one in self.problems)

    @property
    def warnings(self) -> int:
        """How many are warnings."""
        return sum(one.severity == "warning" for one in self.problems)

    def answer(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return {
            "problems": [problem_answer(one) for one in self.problems],
            "notes": self.notes,
            "errors": self.errors,
            "warnings": self.warnings,
            "fixed": [{"path": one.path, "id": one.id} for one in self.fixed],
            "unchecked_anchors": self.unchecked,
        }


def check(
    vault: OpenVault,
    paths: Sequence[Path] = (),
    *,
    staged: bool = False,
    rev: str | None = None,
    code: bool = False,
    private: bool = False,
    fix: bool = False,
    dry_run: bool = False,
) -> Report:
    """Run every rule over the notes on disk, the staged ones, or those of a commit.

    Of the notes on disk the code at hand is asked too what became of what they are anchored to.

    A person is the keeper of the whole vault and hears of every note; an agent or tool only of what it may see.

    Args:
        paths: files or folders to report on; empty means the whole vault.
        staged: judge what the next commit would hold, and report on what it changes.
        rev: judge a commit.
        code: name the memories of this context that rest on the staged code instead.
        private: judge the local-only notes of this context instead; for persons only.
        fix: first repair what is mechanical, one commit a note.

    Raises:
        UsageError: for a fix of anything but the files on disk, or two things to judge at once.
    """
    if sum(map(bool, (staged, rev, code, private))) > 1 or (fix and (staged or rev or code or private)):
        raise UsageError("--staged, --rev, --code, --private and --fix go alone", hint="check one thing at a time")
    if code:
        return _check_code(vault, paths)
    if private:
        return _check_private(vault)
    only = _chosen(vault, paths)
    if staged:
        return _report(_checked(vault, StagedTree(_git(vault), vault.prefix), _both(only, _staged_changes(vault))))
    if rev is not None:
        return _report(_checked(vault, CommitTree(_git(vault), rev, vault.prefix), only))
    tree = DirectoryTree(vault.root)
    checked = _checked(vault, tree, only)
    beside = [one for one in beside_notes(vault) if only(one.path)]
    if not fix:
        return _report(checked, beside=beside)
    written: list[Written] = []
    anchoring = Anchoring(vault.anchors)
    # One repair may uncover another: a block that can be read at last may lack its id.
    for _ in range(1 if dry_run else _FIX_ROUNDS):
        found = repairs(tree, checked, new_id=lambda: memory_id(vault.surroundings.entropy(8)), mended=anchoring.mended)
        if not found:
            break
        head = vault.head_blobs()
        committed = {one.path for one in found if head.get(one.path) == one.base}
        written += vault.vault.fix(found, vault.act(dry_run=dry_run), committed=committed)
        checked = _checked(vault, tree, only)
    return _report(checked, written, beside=beside)


def reindex(vault: OpenVault) -> Snapshot:
    """Throw the text index away and build it anew."""
    return vault.snapshot(rebuild=True)


def beside_notes(vault: OpenVault) -> list[Problem]:
    """What is wrong with the vault's folder rather than with a note in it."""
    found = [] if vault.synonyms.problem is None else [vault.synonyms.problem]
    if vault.work_tree is not None and has_private(vault.root):  # git is opened only where there is something to ask
        found += private_problems(vault.history, vault.prefix)
    return with_severities(found, vault.settings.rules)


def problem_answer(problem: Problem) -> dict[str, Any]:
    """One problem as JSON has it."""
    return {
        "code": problem.code,
        "severity": problem.severity,
        "path": problem.path,
        "line": problem.line,
        "message": problem.message,
        "hint": problem.hint,
        "fixable": problem.fixable,
    }


def _checked(vault: OpenVault, tree: Tree, only: Callable[[str], bool]) -> Checked:
    sees: Callable[[Note], bool] | None = None
    if not vault.is_person:
        view = vault.view(with_past=True)
        sees = lambda note: view.sees(row_of(vault, note))  # noqa: E731
    head = {} if isinstance(tree, CommitTree) else vault.head_blobs()
    return check_tree(
        tree,
        is_embedded=vault.is_embedded,
        severities=vault.settings.rules,
        only=only,
        sees=sees,
        head=head,
        code=Anchoring(vault.anchors).readings if isinstance(tree, DirectoryTree) else None,
        max_anchors=vault.settings.count("anchors.max-per-note"),
    )


def _report(checked: Checked, fixed: Sequence[Written] = (), *, beside: Sequence[Problem] = ()) -> Report:
    problems = sorted([*checked.problems, *beside], key=Problem.sort_key)
    return Report(tuple(problems), len(checked.notes), tuple(fixed), checked.unchecked)


def _check_private(vault: OpenVault) -> Report:
    """The rules for single notes, over the local-only notes of this context and those whose owner cannot be read."""
    from remvault.retrieval.private_notes import FOLDER, private_notes
    from remvault.surfaces.addressing import persons_only

    persons_only(vault)
    seen = vault.context.owners() | {None}
    notes = [note for note in private_notes(vault.private_folder) if note.owner in seen]
    limit = vault.settings.count("anchors.max-per-note")
    found, unchecked = code_problems(notes, Anchoring(vault.anchors).readings)
    for note in notes:
        found += note_problems(note, is_embedded=vault.is_embedded, max_anchors=limit)

    def from_vault(path: str) -> str:
        place = vault.private_folder / path.removeprefix(f"{FOLDER}/")
        return path if place.is_relative_to(vault.root) else str(place)

    told = [replace(one, path=from_vault(one.path)) for one in with_severities(found, vault.settings.rules)]
    return Report(tuple(sorted(told, key=Problem.sort_key)), len(notes), unchecked=unchecked)


def _check_code(vault: OpenVault, paths: Sequence[Path]) -> Report:
    from remvault.surfaces.code_check import check_code

    if paths:
        raise UsageError("--code looks at all of the staged code", hint="leave the paths out")
    return check_code(vault)


def _git(vault: OpenVault) -> Any:
    if vault.repository is None:
        raise UserError("the vault is not in a git repository", hint="run 'git init' there")
    return vault.repository


def _staged_changes(vault: OpenVault) -> Callable[[str], bool]:
    repository = _git(vault)
    before = vault.head_blobs()
    after = repository.staged_blob_ids(vault.prefix)
    changed = {path for path, blob in after.items() if before.get(path) != blob}
    return lambda path: path in changed


def _both(first: Callable[[str], bool], second: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda path: first(path) and second(path)


def _chosen(vault: OpenVault, paths: Sequence[Path]) -> Callable[[str], bool]:
    """A predicate over vault-relative paths for files and folders given from the current folder."""
    if not paths:
        return lambda path: True
    wanted = []
    for given in paths:
        place = (vault.surroundings.cwd / given).resolve()
        inside = (vault.root / given).resolve() if not place.is_relative_to(vault.root) else place
        if not inside.is_relative_to(vault.root):
            raise UsageError(f"{given} is not in the vault {vault.root}")
        if not inside.exists():
            raise UsageError(f"{given} does not exist", hint="give a note or a folder of the vault")
        wanted.append(inside.relative_to(vault.root).as_posix())
    return lambda path: any(one == "." or path == one or path.startswith(f"{one}/") for one in wanted)
