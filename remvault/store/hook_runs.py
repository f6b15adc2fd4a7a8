"""Whether the hooks of a commit are running in a work tree, so that nobody writes under them.

While they run, a hook manager may have the person's unstaged changes put aside. A tracked file that changes meanwhile
makes putting them back fail, and a branch that moves makes the person's commit fail.

Owns: the marks of hook runs, and which of them count.
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

# By this time the number of a process that was killed may be another's. `hooks/pre-commit` makes marks here too.
_MARKS = "remvault/hook-runs"
_MAX_AGE = timedelta(hours=1)
# The pre-commit framework keeps here what it puts aside: `patch<seconds>-<process>`; the file stays afterwards.
_PATCH = re.compile(r"patch(\d{1,12})-(\d{1,9})\Z")
_PROC = Path("/proc")


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
    """Name the hooks of a commit that run in this work tree; None when none do.

    Args:
        environ: says where the pre-commit framework keeps what it puts aside; its runs are seen without a mark too.
        now: marks that are over an hour old do not count then, whoever has the number of their process by now.
    """
    for pid in sorted(_marks(tree, now)):
        return f"the hooks of a commit are running (process {pid})"
    for pid in sorted(_framework_runs(tree, environ, now)):
        return f"pre-commit is running (process {pid})"
    return None


@contextmanager
def marked_hook_run(tree: WorkTree, environ: Mapping[str, str]) -> Iterator[None]:
    """Mark that hooks run, for the time in which the hook manager that called us may have changes put aside.

    That is until the process directly below git ends; called by nobody, until we do. A mark that cannot be made stops
    no commit.
    """
    callers = _callers(os.getpid())
    folder = tree.git_dir / _MARKS
    held = _marks(tree, None) & {pid for pid, _ in callers}
    holder = _holder(callers, environ)
    if not held:
        with suppress(OSError):
            make_private(folder.parent)
            make_private(folder)
            (folder / str(holder)).touch()
    _sweep(folder)
    try:
        yield
    finally:
        if not held and holder == os.getpid():
            with suppress(OSError):
                (folder / str(holder)).unlink()


def _marks(tree: WorkTree, now: datetime | None) -> set[int]:
    """The processes of marks that count."""
    folder = tree.git_dir / _MARKS
    found = set()
    for name in _names(folder):
        with suppress(OSError, ValueError):
            pid, made = int(name), (folder / name).stat().st_mtime
            if _is_alive(pid) and not _is_old(made, now):
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


def _sweep(folder: Path) -> None:
    """Remove the marks of processes that are gone."""
    for name in _names(folder):
        if not name.isdigit() or not _is_alive(int(name)):
            with suppress(OSError):
                (folder / name).unlink()


def _holder(callers: list[tuple[int, str]], environ: Mapping[str, str]) -> int:
    """The process whose end is the end of the run: the one directly below git."""
    for (pid, _), (_, above) in pairwise(callers):
        if above == "git":
            return pid
    # The pre-commit framework started by hand, or a system that does not tell who called whom.
    return os.getppid() if environ.get("PRE_COMMIT") else os.getpid()


def _callers(pid: int) -> list[tuple[int, str]]:
    """This process and those that called it, nearest first, with their names; without /proc just two of them."""
    found: list[tuple[int, str]] = []
    while pid > 0:
        try:
            stat = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
        except OSError:
            break
        name, _, rest = stat.partition("(")[2].rpartition(")")  # a name may hold anything, brackets too
        found.append((pid, name))
        pid = int(rest.split()[1])
    return found or [(os.getpid(), ""), (os.getppid(), "")]


def _folder_of(pid: int) -> Path | None:
    """The current folder of a process; None where that cannot be asked."""
    try:
        return (_PROC / str(pid) / "cwd").readlink()
    except OSError:
        return None
