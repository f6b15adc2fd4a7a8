"""Whether a person's commit is on its way in a work tree, and its hooks at work, so that nobody writes under them.

While hooks run, a hook manager may have the person's unstaged changes put aside: a tracked file that changes meanwhile
makes putting them back fail. Until the commit is made, a branch that moves makes it fail, with the message typed.

Owns: the marks of hook runs and commits, and which of them count.
Leaves alone: what a writer does about it (ledger, committing, the watcher).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

from remvault.errors import ConflictError
from remvault.store.state import make_private
from remvault.store.work_tree import WorkTree

# Empty files, `hooks-<process>` and `commit-<process>`. `hooks/pre-commit` makes some too.
_MARKS = "remvault/hook-runs"
_MARK = re.compile(r"(hooks|commit)-([1-9]\d{0,8})\Z")
# By this time the number of a process that was killed may be another's.
_MAX_AGE = timedelta(hours=1)
# The pre-commit framework keeps here what it puts aside: `patch<seconds>-<process>`; the file stays afterwards.
_PATCH = re.compile(r"patch(\d{1,12})-([1-9]\d{0,8})\Z")
_PROC = Path("/proc")
_GIT = "git"


class HooksRunning(ConflictError):
    """The hooks of a commit ran for longer than we waited; nothing was written."""

    code = "hooks_running"

    def __init__(self, run: str, timeout_s: float) -> None:
        self.run, self.timeout_s = run, timeout_s
        super().__init__(
            f"{run}: they may have put changes aside, nothing was written (waited {timeout_s:g} s)",
            hint="try again when the commit is done",
        )


def hook_run(
    tree: WorkTree, environ: Mapping[str, str] = MappingProxyType({}), *, now: datetime | None = None
) -> str | None:
    """Name the hooks of a commit that run in this work tree; None when none do. No tracked file may change then.

    Args:
        environ: says where the pre-commit framework keeps what it puts aside; its runs are seen without a mark too.
        now: marks that are over an hour old do not count then, whoever has the number of their process by now.
    """
    for pid in sorted(_marked(tree, "hooks", now)):
        return f"the hooks of a commit are running (process {pid})"
    for pid in sorted(_framework_runs(tree, environ, now)):
        return f"pre-commit is running (process {pid})"
    return None


def commit_run(
    tree: WorkTree, environ: Mapping[str, str] = MappingProxyType({}), *, now: datetime | None = None
) -> str | None:
    """As `hook_run`, and also name a commit whose hooks are done but which is not made yet: its message is written."""
    for pid in sorted(_marked(tree, "commit", now)):
        if _name_of(pid) in (_GIT, None):
            return hook_run(tree, environ, now=now) or f"a commit is on its way (process {pid})"
    return hook_run(tree, environ, now=now)


@contextmanager
def marked_hook_run(tree: WorkTree, environ: Mapping[str, str]) -> Iterator[None]:
    """Mark that hooks run, for the time in which the hook manager that called us may have changes put aside.

    That is until the process directly below git ends; called by nobody, until we do. A mark that cannot be made stops
    no commit.
    """
    callers = _callers(os.getpid())
    holder, git = _holder(callers, environ)
    held = _marked(tree, "hooks", None) & {pid for pid, _ in callers}
    ours = set() if held else {f"hooks-{holder}"}
    with suppress(OSError):
        _put_marks(tree, ours if git is None else ours | {f"commit-{git}"})
    try:
        yield
    finally:
        if holder == os.getpid():
            for name in ours:
                with suppress(OSError):
                    (tree.git_dir / _MARKS / name).unlink()


def _put_marks(tree: WorkTree, names: set[str]) -> None:
    """Make marks, and remove those of processes that are gone; raises OSError."""
    folder = tree.git_dir / _MARKS
    make_private(folder.parent)
    make_private(folder)
    for name in names:
        (folder / name).touch()
    for name in _names(folder):
        match = _MARK.match(name)
        if match is None or not _is_alive(int(match[2])):
            (folder / name).unlink(missing_ok=True)


def _marked(tree: WorkTree, kind: str, now: datetime | None) -> set[int]:
    """The processes of the marks of one kind that count."""
    folder = tree.git_dir / _MARKS
    found = set()
    for match in filter(None, map(_MARK.match, _names(folder))):
        with suppress(OSError):
            made, pid = (folder / match[0]).stat().st_mtime, int(match[2])
            if match[1] == kind and _is_alive(pid) and not _is_old(made, now):
                found.add(pid)
    return found


def _framework_runs(tree: WorkTree, environ: Mapping[str, str], now: datetime | None) -> set[int]:
    """Runs of the pre-commit framework that have changes put aside; where it can be asked, of this work tree only."""
    found = set()
    for match in filter(None, map(_PATCH.match, _names(_framework_folder(environ)))):
        made, pid = int(match[1]), int(match[2])
        if _is_alive(pid) and not _is_old(made, now) and _folder_of(pid) in (tree.root, None):
            found.add(pid)
    return found


def _framework_folder(environ: Mapping[str, str]) -> Path | None:
    if environ.get("PRE_COMMIT_HOME"):
        return Path(environ["PRE_COMMIT_HOME"])
    if environ.get("XDG_CACHE_HOME"):
        return Path(environ["XDG_CACHE_HOME"], "pre-commit")
    home = environ.get("HOME") or environ.get("USERPROFILE")
    return Path(home, ".cache", "pre-commit") if home else None


def _names(folder: Path | None) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()] if folder is not None else []
    except OSError:
        return []


def _is_old(made_s: float, now: datetime | None) -> bool:
    return now is not None and now.timestamp() - made_s > _MAX_AGE.total_seconds()


def _is_alive(pid: int) -> bool:
    if os.name == "nt":
        return True  # there, asking in this way would end the process; its age has to tell
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _holder(callers: list[tuple[int, str]], environ: Mapping[str, str]) -> tuple[int, int | None]:
    """The process whose end is the end of the hooks, the one directly below git; and git's, None when not seen."""
    for (pid, _), (above, name) in pairwise(callers):
        if name == _GIT:
            return pid, above
    # The pre-commit framework started by hand, or a system that does not tell who called whom.
    return os.getppid() if environ.get("PRE_COMMIT") else os.getpid(), None


def _callers(pid: int) -> list[tuple[int, str]]:
    """This process and those that called it, nearest first, with their names; without /proc just two of them."""
    found: list[tuple[int, str]] = []
    while pid > 0 and (facts := _facts(pid)) is not None:
        found.append((pid, facts[0]))
        pid = facts[1]
    return found or [(os.getpid(), ""), (os.getppid(), "")]


def _name_of(pid: int) -> str | None:
    """The name of a process; None where that cannot be asked."""
    facts = _facts(pid)
    return None if facts is None else facts[0]


def _facts(pid: int) -> tuple[str, int] | None:
    """Name and caller of a process."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    name, _, rest = stat.partition("(")[2].rpartition(")")  # a name may hold anything, brackets too
    return name, int(rest.split()[1])


def _folder_of(pid: int) -> Path | None:
    """The current folder of a process; None where that cannot be asked."""
    try:
        return (_PROC / str(pid) / "cwd").readlink()
    except OSError:
        return None
