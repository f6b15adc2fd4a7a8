"""Writing in the person's own editor: on a copy, so that nothing half-written is ever a note.

A copy that cannot be saved is kept and named.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from remvault.domain.frontmatter import split
from remvault.errors import RemvaultError, UserError
from remvault.resources import template
from remvault.store.work_tree import child_environment
from remvault.store.written import Written
from remvault.surfaces import writing
from remvault.surfaces.addressing import address
from remvault.surfaces.app import OpenVault


class EditorFailed(UserError):
    """The editor could not be run, or said it failed."""

    code = "editor_failed"

    def __init__(self, editor: str, copy: Path) -> None:
        self.editor, self.copy = editor, copy
        super().__init__(f"the editor failed: {editor}", hint=f"your text is kept in {copy}")


class NothingWritten(UserError):
    """The person closed the editor without writing anything."""

    code = "nothing_written"

    def __init__(self) -> None:
        super().__init__("the text is still the template's: nothing was saved", hint="write the memory, then save")


class NoEditor(UserError):
    """There is no terminal for an editor, and nobody named one that needs none."""

    code = "no_editor"

    def __init__(self) -> None:
        super().__init__("there is no terminal to edit in", hint="set EDITOR, or use 'remvault set' and '--body -'")


def edit_in_editor(
    vault: OpenVault, name: str, *, private: bool = False, reason: str | None = None, dry_run: bool = False
) -> Written | None:
    """Let a person edit one note, with `private` a local-only one, and save it; None when nothing changed.

    Raises:
        InvalidNote: if a rule is newly broken; the copy with the text is kept and named in the hint.
        FileChanged: if the note changed meanwhile; likewise.
    """
    path = address(vault, name, private=private)
    note, data = vault.vault.load(path)
    copy = _copy(vault, Path(path).name, data)
    edited = _run_editor(vault, copy)
    if edited == data:
        _discard(copy)
        return None
    act = vault.act(reason=reason, dry_run=dry_run)
    return _keeping(copy, lambda: vault.vault.update(path, edited, act, base=note))


def new_in_editor(vault: OpenVault, title: str, *, dry_run: bool = False, **draft: Any) -> Written:
    """Compose a new memory, let the person finish it in their editor, and write it."""
    is_template = not draft.get("body")
    if is_template:
        draft["body"] = split(template(draft.get("type") or "semantic")).body
    rehearsed = writing.new(vault, title, dry_run=True, is_rehearsal=True, **draft)
    copy = _copy(vault, Path(rehearsed.path).name, rehearsed.text.encode())
    edited = _run_editor(vault, copy)
    if is_template and edited == rehearsed.text.encode():
        _discard(copy)
        raise NothingWritten
    return _keeping(copy, lambda: writing.add(vault, edited, reason=draft.get("reason"), dry_run=dry_run))


def _copy(vault: OpenVault, name: str, data: bytes) -> Path:
    """Put the text where the editor will find it; a copy kept from an earlier try is never written over."""
    base = vault.state.shared if vault.state is not None else vault.surroundings.user_state
    (base / "edit").mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="", dir=base / "edit"))
    copy = folder / name
    copy.write_bytes(data)
    return copy


def _discard(copy: Path) -> None:
    shutil.rmtree(copy.parent, ignore_errors=True)


def _run_editor(vault: OpenVault, copy: Path) -> bytes:
    """Run the editor that git would run, as git runs it: through the shell, with the file as argument."""
    environ = child_environment(vault.surroundings.environ)
    named = any(environ.get(name) for name in ("GIT_EDITOR", "VISUAL", "EDITOR")) or "core.editor" in vault.git_values
    if not named and not sys.stdin.isatty():
        _discard(copy)
        raise NoEditor
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
    _discard(copy)
    return written
