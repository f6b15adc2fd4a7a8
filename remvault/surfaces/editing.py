"""Writing in the person's own editor: on a copy, so that nothing half-written is ever a note.

A copy that cannot be saved is kept and named.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from remvault.domain.frontmatter import split
from remvault.errors import RemvaultError, UserError
from remvault.resources import template
from remvault.store.vault import Written
from remvault.store.work_tree import child_environment
from remvault.surfaces import writing
from remvault.surfaces.app import OpenVault


class EditorFailed(UserError):
    """The editor could not be run, or said it failed."""

    code = "editor_failed"

    def __init__(self, editor: str, copy: Path) -> None:
        self.editor, self.copy = editor, copy
        super().__init__(f"the editor failed: {editor}", hint=f"your text is kept in {copy}")


def edit_in_editor(vault: OpenVault, name: str, *, reason: str | None = None) -> Written | None:
    """Let a person edit one note and save it as one change; None when nothing changed.

    Raises:
        InvalidNote: if a rule is newly broken; the copy with the text is kept and named in the hint.
        FileChanged: if the note changed meanwhile; likewise.
    """
    row = vault.view().find(name)
    note, data = vault.vault.load(row.path)
    copy = _copy(vault, Path(row.path).name, data)
    edited = _run_editor(vault, copy)
    if edited == data:
        copy.unlink()
        return None
    return _keeping(copy, lambda: vault.vault.save(row.path, edited, vault.act(reason=reason), base=note))


def new_in_editor(vault: OpenVault, title: str, *, dry_run: bool = False, **draft: Any) -> Written:
    """Compose a new memory, let the person finish it in their editor, and write it."""
    if not draft.get("body"):
        draft["body"] = split(template(draft.get("type") or "semantic")).body
    rehearsed = writing.new(vault, title, dry_run=True, **draft)
    copy = _copy(vault, Path(rehearsed.path).name, rehearsed.text.encode())
    edited = _run_editor(vault, copy)
    return _keeping(copy, lambda: vault.vault.add(edited, vault.act(reason=draft.get("reason"), dry_run=dry_run)))


def _copy(vault: OpenVault, name: str, data: bytes) -> Path:
    folder = (vault.state.caches if vault.state is not None else vault.surroundings.user_state) / "edit"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    copy = folder / name
    copy.write_bytes(data)
    return copy


def _run_editor(vault: OpenVault, copy: Path) -> bytes:
    """Run the editor that git would run, as git runs it: through the shell, with the file as argument."""
    environ = child_environment(vault.surroundings.environ)
    asked = subprocess.run(["git", "var", "GIT_EDITOR"], capture_output=True, text=True, env=environ, cwd=copy.parent)
    editor = asked.stdout.strip() or "vi"
    try:
        done = subprocess.run(["sh", "-c", f'{editor} "$@"', editor, str(copy)], env=environ)
    except OSError as err:
        raise EditorFailed(editor, copy) from err
    if done.returncode != 0:
        raise EditorFailed(editor, copy)
    return copy.read_bytes()


def _keeping(copy: Path, save: Any) -> Written:
    """Save, and remove the copy only when that worked."""
    try:
        written: Written = save()
    except RemvaultError as err:
        err.hint = f"{err.hint}; your text is kept in {copy}" if err.hint else f"your text is kept in {copy}"
        raise
    copy.unlink()
    return written
