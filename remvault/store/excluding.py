"""Keeping the folders of local-only notes out of git where they lie inside a work tree.

Owns: whether git ignores them, the line in the repository's own `info/exclude` where nobody else says so.
Leaves alone: `.gitignore`, which is a file of the person's like any other.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from remvault.domain.problems import Problem, problem
from remvault.store.files import SaveFailed
from remvault.store.ledger import FileChange, Ledger
from remvault.store.note_paths import is_local_only
from remvault.store.repository import GitRepository

_FOLDER = "private"
_PATTERN_SIGNS = re.compile(r"([\\*?\[])")


def exclude_new(ledger: Ledger, changes: Sequence[FileChange]) -> tuple[str, ...]:
    """See to it that git ignores new local-only files in its work tree before they are there.

    Returns:
        What to tell of it, a sentence each; nothing where they were ignored already.

    Raises:
        SaveFailed: git does not ignore one, and `info/exclude` cannot be written.
        GitError: git cannot be asked.
    """
    if ledger.tree is None or ledger.private is not None:
        return ()
    new = [one.path for one in changes if one.base is None and is_local_only(one.path)]
    said = [_exclude(ledger.committer().repository, ledger.prefix, path) for path in new]
    return tuple(one for one in said if one is not None)


def has_private(root: Path) -> bool:
    """Whether the vault's own folder has a `private/` in it, of whatever kind."""
    return os.path.lexists(root / _FOLDER)


def private_problems(repository: GitRepository, prefix: str) -> list[Problem]:
    """Say that git has, or would take, what lies in the vault's `private/` (RV603); raises GitError."""
    held = len(repository.staged_blob_ids(prefix + _FOLDER))
    if held:
        files = "1 file" if held == 1 else f"{held} files"
        message, hint = f"git tracks {files} of private/", "run 'git rm -r --cached private'; history keeps them"
        return [problem("RV603", _FOLDER, None, message, hint)]
    if repository.ignored_by(f"{prefix}{_FOLDER}/note.md") is not None:
        return []
    hint = "add the line /private/ to the vault's .gitignore"
    return [problem("RV603", _FOLDER, None, "git does not ignore private/", hint)]


def _exclude(repository: GitRepository, prefix: str, path: str) -> str | None:
    if repository.ignored_by(prefix + path) is not None:
        return None
    folder = path.split("/", 1)[0]
    line = f"/{_literal(prefix + folder)}/"
    _add_line(repository.tree.common_dir / "info" / "exclude", line)
    if repository.ignored_by(prefix + path) is None:
        return f"git does not ignore {folder}/, a rule of yours takes it back in: mind what you add and commit"
    return f"git did not ignore {folder}/: {line} now stands in this repository's info/exclude"


def _literal(path: str) -> str:
    """A path as a pattern that means only this path."""
    return _PATTERN_SIGNS.sub(r"\\\1", path)


def _add_line(file: Path, line: str) -> None:
    try:
        file.parent.mkdir(exist_ok=True)
        before = file.read_bytes() if file.exists() else b""
        if line.encode("utf-8", "surrogateescape") in before.splitlines():
            return
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        with file.open("ab") as stream:
            stream.write(gap + line.encode("utf-8", "surrogateescape") + b"\n")
    except OSError as err:
        raise SaveFailed(str(file), err.strerror or str(err)) from err
