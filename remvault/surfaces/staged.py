"""What a commit is about to hold: the work of git's hooks.

Owns: checking the staged notes of every vault, refusing what must stay on this disk, adding the staged operations to
the person's message. Only git's own choice of index counts (`git commit -a` and `--only` use another than the usual
one), and no file of the work tree is touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from remvault.config import Settings, load_settings
from remvault.domain.commit_message import Operation
from remvault.domain.note import Note, parse_note
from remvault.domain.problems import Problem, problem
from remvault.store.checking import check_tree
from remvault.store.git import Repository
from remvault.store.layout import VAULT_FILE
from remvault.store.note_paths import NOTE_SUFFIX, is_local_only, is_note_path
from remvault.store.repository import GitRepository
from remvault.store.trees import DirectoryTree, NoteMissing, StagedTree
from remvault.store.work_tree import WorkTree, git_config, head, operation_in_progress
from remvault.surfaces.upkeep import Report

_REGULAR = frozenset({0o100644, 0o100755, 0o100664})
_STAYS = "it must not leave this disk: 'git rm --cached' takes it out of the commit, the file stays"
_MESSAGE_OF_OTHERS = ("merge", "squash")


def check_staged(tree: WorkTree, environ: Mapping[str, str]) -> Iterator[tuple[str, Report]]:
    """Yield the prefix and the report of every vault in which this commit changes something, then of what lies outside.

    Raises:
        SettingError: for staged settings that cannot be read.
    """
    repository = Repository.open(tree, environ, index_file=environ.get("GIT_INDEX_FILE"))
    staged = repository.staged_entries("")
    vaults = [marker.removesuffix(VAULT_FILE) for marker in _markers(staged)]
    if not vaults:
        return
    changed = _changed(tree, environ, repository, staged)
    outside = dict(changed)
    for prefix in sorted(vaults, key=len, reverse=True):  # of a vault inside another, the inner one's first
        inside = {path: outside.pop(path) for path in list(outside) if path.startswith(prefix)}
        if not inside:
            continue
        settings = _settings(repository, staged, prefix, environ)
        # What is staged and not changed is what HEAD holds.
        held = {path: blob for path, (_, blob) in staged.items() if path not in inside}
        problems, notes = _check_notes(repository, prefix, inside, held, settings)
        kept = _kept_here(repository, prefix, inside, settings, is_vault=True)
        found = [*(one for one in problems if one.code != "RV407"), *kept]
        yield prefix.rstrip("/"), Report(tuple(sorted(found, key=Problem.sort_key)), notes)
    kept = _kept_here(repository, "", outside, None, is_vault=False, private=_private_ids(tree, vaults))
    if kept:
        yield "", Report(tuple(kept), 0)


def add_trailers(tree: WorkTree, file: Path, source: str | None, environ: Mapping[str, str]) -> None:
    """Add to the message of a person's commit the operations of ours that it is about to hold.

    Args:
        file: the message, as git hands it to `prepare-commit-msg` and `commit-msg`.
        source: where the message comes from, as git tells; None when it does not.

    Raises:
        GitError, OSError, UnicodeDecodeError: the commit can do without.
    """
    if source in _MESSAGE_OF_OTHERS or operation_in_progress(tree) or (tree.git_dir / "SQUASH_MSG").exists():
        return
    operations = _operations(tree, environ)
    if not operations:
        return
    from remvault.domain.message_file import with_operations

    config = git_config(tree, environ, asked=r"^(core\.comment(char|string)|commit\.template)$")
    text = file.read_text(encoding="utf-8")
    comment = config.get("core.commentstring") or config.get("core.commentchar") or "#"
    comment = "#" if comment == "auto" else comment
    if source == "template" or _is_template(text, config.get("commit.template"), tree, comment):
        return  # a person gives a commit up by leaving the template as it is
    # Where no editor is opened, which git says so, no line is a comment.
    wanted = with_operations(text, operations, comment=None if environ.get("GIT_EDITOR") == ":" else comment)
    if wanted != text:
        file.write_text(wanted, encoding="utf-8")


def _operations(tree: WorkTree, environ: Mapping[str, str]) -> list[Operation]:
    from remvault.store.awaited import awaited_in_commit

    entries = awaited_in_commit(tree, environ, index_file=environ.get("GIT_INDEX_FILE"))
    return [entry.operation for entry in entries]


def _is_template(text: str, template: str | None, tree: WorkTree, comment: str) -> bool:
    if not template:
        return False
    try:
        held = (tree.root / Path(template).expanduser()).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return _words(text, comment) == _words(held, comment)


def _words(text: str, comment: str) -> list[str]:
    lines = (line.rstrip() for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith(comment)]


def _markers(entries: Mapping[str, tuple[int, str]]) -> list[str]:
    return sorted(path for path in entries if path == VAULT_FILE or path.endswith(f"/{VAULT_FILE}"))


def _changed(
    tree: WorkTree, environ: Mapping[str, str], repository: GitRepository, staged: Mapping[str, tuple[int, str]]
) -> dict[str, str]:
    """The regular files that the commit adds or changes, from the repository's root, with their blobs."""
    before = {} if head(tree, environ).commit is None else repository.entries("HEAD", "")
    return {
        path: blob
        for path, (mode, blob) in staged.items()
        if mode in _REGULAR and (path not in before or before[path][1] != blob)
    }


def _settings(
    repository: GitRepository, staged: Mapping[str, tuple[int, str]], prefix: str, environ: Mapping[str, str]
) -> Settings:
    marker = f"{prefix}{VAULT_FILE}"
    return load_settings(
        vault_toml=repository.read_blob(staged[marker][1]).decode("utf-8", "replace"),
        vault_source=f"{marker} (staged)",
        user_toml=None,
        user_source="",
        environ=environ,
    )


def _check_notes(
    repository: GitRepository, prefix: str, inside: Mapping[str, str], held: Mapping[str, str], settings: Settings
) -> tuple[list[Problem], int]:
    """What the rules find in the notes of one vault that the commit changes, and how many notes there are."""
    changed = {path.removeprefix(prefix) for path in inside if path.endswith(NOTE_SUFFIX)}
    if not changed:
        return [], 0
    is_embedded = settings.text("vault.kind") == "embedded"
    checked = check_tree(
        StagedTree(repository, prefix),
        is_embedded=is_embedded,
        severities=settings.rules,
        only=changed.__contains__,
        max_anchors=settings.count("anchors.max-per-note"),
        head={path.removeprefix(prefix): blob for path, blob in held.items() if path.startswith(prefix)},
    )
    return list(checked.problems), len(checked.notes)


def _kept_here(
    repository: GitRepository,
    prefix: str,
    changed: Mapping[str, str],
    settings: Settings | None,
    *,
    is_vault: bool,
    private: frozenset[str] = frozenset(),
) -> list[Problem]:
    """What of the commit must stay on this disk, whatever its name; no setting lowers this.

    In a vault: all below `private/` and `handoffs/` (unless settings keep those in git) and every file that says of
    itself that it is local-only. Elsewhere: Markdown files that say so, and whatever carries a private note's id.
    """
    found = []
    may_hand_off = settings is not None and settings.flag("handoff.commit")
    for path, blob in sorted(changed.items()):
        name = path.removeprefix(prefix)
        folder = name.split("/", 1)[0]
        if is_vault and is_local_only(name) and not (folder == "handoffs" and may_hand_off):
            found.append(problem("RV407", name, None, f"{folder}/ is not for git", _STAYS))
            continue
        note = _note(repository, name, blob)
        if note is None or not note.memory.is_local_only:
            continue
        if is_vault or name.endswith(NOTE_SUFFIX) or note.memory.id in private:
            line = note.line_of("sensitivity")
            found.append(problem("RV407", name, line, "local-only note in a commit", _STAYS))
    return found


def _note(repository: GitRepository, path: str, blob: str) -> Note | None:
    """The file as a note, if it can be one that is local-only; other files are not parsed."""
    data = repository.read_blob(blob)
    if b"sensitivity" not in data or not data.removeprefix(b"\xef\xbb\xbf").startswith(b"---"):
        return None
    return parse_note(path if is_note_path(path) else "note.md", data)


def _private_ids(tree: WorkTree, vaults: Sequence[str]) -> frozenset[str]:
    """The ids of every local-only note on this disk."""
    folders = [tree.root / prefix / "private" for prefix in vaults]
    folders += sorted((tree.common_dir / "remvault").glob("*/private"))
    ids = set()
    for folder in folders:
        files = DirectoryTree(folder)
        for path in files.paths() if folder.is_dir() else ():
            try:
                ids.add(parse_note(path, files.read(path)).memory.id)
            except NoteMissing:
                continue
    return frozenset(one for one in ids if one)
