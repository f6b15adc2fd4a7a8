"""Our git hooks beside those that are there already.

Owns: putting our script in place, keeping the hook it found, giving it back byte for byte.
Leaves alone: what the script runs (`surfaces.hooks`), the settings of git: `core.hooksPath` is honoured, never changed.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from typing import Literal

from remvault.errors import ConflictError, UserError
from remvault.resources import hook_script
from remvault.store.work_tree import WorkTree, run_git

EVENTS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-checkout", "post-merge", "post-rewrite")
_SCRIPT = "pre-commit"  # one script serves every event: it goes by the name it is called under
_MARK = b"# remvault-hook: "
_KEPT = ".before-remvault"
# The pre-commit framework keeps a hook it finds under this name and runs it first, ours too.
_LEGACY = ".legacy"
_DIGEST, _PYTHON, _ORIGINAL = "digest", "python", "original"


class HooksOutside(UserError):
    """`core.hooksPath` names a folder outside the repository, which other repositories may share."""

    code = "hooks_outside"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(
            f"core.hooksPath points outside this repository: {folder}",
            hint="add the line 'remvault-hook pre-commit || exit 1' to the pre-commit hook there yourself",
        )


class HooksNotWritable(UserError):
    """The folder of hooks cannot be written."""

    code = "hooks_not_writable"

    def __init__(self, path: Path, err: OSError) -> None:
        self.path, self.reason = path, err.strerror or str(err)
        super().__init__(
            f"hook {path} cannot be written: {self.reason}", hint="make the folder writable; nothing was changed"
        )


class HookChanged(ConflictError):
    """Our script was edited by hand, so replacing or removing it would lose somebody's work."""

    code = "hook_changed"

    def __init__(self, path: Path) -> None:
        self.path, self.kept = path, _kept_beside(path) or path.with_name(path.name + _KEPT)
        hint = f"move your lines to {self.kept}, which runs first, delete {path} and try again: what is kept comes back"
        super().__init__(f"hook {path} was changed by hand", hint=hint)


@dataclass(frozen=True, slots=True)
class HookState:
    """What stands where git looks for the hook of one event."""

    event: str
    path: Path  # the file that is ours, else where git looks
    kind: Literal["absent", "foreign", "installed"]
    original: Path | None = None  # the hook kept beside ours, also when ours is gone
    interpreter: str | None = None  # installed: recorded at the time


def install(
    tree: WorkTree, environ: Mapping[str, str], *, interpreter: str, events: Sequence[str] = EVENTS
) -> list[HookState]:
    """Put our script where git looks for the hook of each event; repeatable.

    A hook that is there is kept beside it, runs first and still decides; so does one that was kept when somebody
    deleted our script. Only the recorded interpreter is renewed when ours is there already.

    Args:
        interpreter: absolute path of a Python that can import remvault.

    Raises:
        HooksOutside: if git looks outside the repository.
        HooksNotWritable: if the folder cannot be written; nothing was changed.
        HookChanged: if our script was edited by hand.
        GitError: if git does not trust or cannot read the repository.
    """
    folder = _own_folder(tree, environ)
    for event in events:
        _install(folder, event, interpreter)
    return [_state(folder, event) for event in events]


def uninstall(tree: WorkTree, environ: Mapping[str, str], *, events: Sequence[str] = EVENTS) -> list[HookState]:
    """Take our scripts away and put the hooks that were there back: same bytes, same mode. Repeatable.

    Returns what was installed before, and of kind "absent" what had been kept for a script that somebody deleted; none
    when there was neither. Raises as `install`.
    """
    folder = _own_folder(tree, environ)
    states = [_state(folder, event) for event in events]
    found = [one for one in states if one.kind == "installed" or one.original is not None]
    for one in found:
        _refuse_changed(one.path)
    for one in found:
        try:
            if one.original is not None:
                one.original.replace(one.path)
            else:
                one.path.unlink()
        except OSError as err:
            raise HooksNotWritable(one.path, err) from err
    return found


def state(tree: WorkTree, environ: Mapping[str, str], *, event: str = "pre-commit") -> HookState:
    """Look at the hook of one event. Raises GitError when git does not trust or cannot read the repository."""
    return _state(hooks_folder(tree, environ), event)


def hooks_folder(tree: WorkTree, environ: Mapping[str, str]) -> Path:
    """Where git looks for hooks here, links resolved, there or not."""
    done = run_git(tree.root, ["rev-parse", "--git-path", "hooks"], environ, with_hooks=True)
    return Path(os.path.realpath(tree.root / os.fsdecode(done.stdout.rstrip(b"\r\n"))))


def _own_folder(tree: WorkTree, environ: Mapping[str, str]) -> Path:
    folder = hooks_folder(tree, environ)
    if not any(folder.is_relative_to(inside) for inside in (tree.root, tree.common_dir, tree.git_dir)):
        raise HooksOutside(folder)
    return folder


def _state(folder: Path, event: str) -> HookState:
    path = folder / event
    for candidate in (path, path.with_name(event + _LEGACY)):
        text = _our_text(candidate)
        if text is not None:
            name = _recorded(text, _ORIGINAL)
            original = folder / name if name and os.path.lexists(folder / name) else None
            return HookState(event, candidate, "installed", original, _recorded(text, _PYTHON))
    if os.path.lexists(path):
        return HookState(event, path, "foreign")
    return HookState(event, path, "absent", _kept_beside(path))


def _install(folder: Path, event: str, interpreter: str) -> None:
    now = _state(folder, event)
    if now.kind == "installed":
        _refuse_changed(now.path)
        _put(now.path, _rendered(interpreter, now.original.name if now.original else ""))
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise HooksNotWritable(folder, err) from err
    if now.kind == "absent":
        _put(now.path, _rendered(interpreter, now.original.name if now.original else ""))
        return
    kept = _free_name(now.path)
    _put(now.path, _rendered(interpreter, kept.name), keep=kept)


def _put(path: Path, text: str, *, keep: Path | None = None) -> None:
    """Write an executable script in one step; at no moment is there no hook. `keep` names what was there."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o755)) as file:
            file.write(text.encode("utf-8", "surrogateescape"))
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o755)
        if keep is not None:
            _keep(path, keep)
        temporary.replace(path)
    except OSError as err:
        temporary.unlink(missing_ok=True)
        if keep is not None and os.path.lexists(keep):
            keep.replace(path)
        raise HooksNotWritable(path, err) from err


def _keep(path: Path, keep: Path) -> None:
    """Give what is at `path` a second name; where the disk has no hard links, another one."""
    try:
        os.link(path, keep, follow_symlinks=False)
    except (OSError, NotImplementedError):
        path.rename(keep)


def _free_name(path: Path) -> Path:
    return next(kept for kept in _kept_names(path) if not os.path.lexists(kept))


def _kept_beside(path: Path) -> Path | None:
    """The hook that was kept last beside ours; None when none was."""
    kept = list(takewhile(os.path.lexists, _kept_names(path)))
    return kept[-1] if kept else None


def _kept_names(path: Path) -> Iterator[Path]:
    yield path.with_name(path.name + _KEPT)
    yield from (path.with_name(f"{path.name}{_KEPT}-{number}") for number in count(2))


# The script carries what was found at installation; nothing else remembers it.


def _rendered(interpreter: str, original: str) -> str:
    text = _with_value(_with_value(hook_script(_SCRIPT), _PYTHON, interpreter), _ORIGINAL, original)
    return _with_value(text, _DIGEST, _digest(text))


def _with_value(text: str, name: str, value: str) -> str:
    quoted = "'" + value.replace("'", "'\\''") + "'"
    return re.sub(rf"{name}='(?:[^'\n]|'\\'')*'", lambda _: f"{name}={quoted}", text, count=1)


def _recorded(text: str, name: str) -> str | None:
    match = re.search(rf"{name}='((?:[^'\n]|'\\'')*)'", text)
    return match[1].replace("'\\''", "'") or None if match else None


def _digest(text: str) -> str:
    return hashlib.sha256(_with_value(text, _DIGEST, "").encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _our_text(path: Path) -> str | None:
    try:
        data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    except OSError:
        return None
    lines = data[:4096].split(b"\n", 2)
    is_ours = len(lines) > 1 and lines[1].startswith(_MARK)
    return data.decode("utf-8", "surrogateescape") if is_ours else None


def _refuse_changed(path: Path) -> None:
    text = _our_text(path)
    recorded = None if text is None else _recorded(text, _DIGEST)
    # A copy made by hand has no digest and holds nothing but our script.
    if text is not None and recorded is not None and recorded != _digest(text):
        raise HookChanged(path)
