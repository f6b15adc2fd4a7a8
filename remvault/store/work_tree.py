"""What can be known of git by reading a few files: where the work tree is, where HEAD points, what git is busy with.

Owns: finding the work tree, HEAD, the settings of git, the environment of child processes.
Leaves alone: objects, commits and the staged index (git). Nothing here imports pygit2, so hooks stay quick.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from remvault.errors import GitError
from remvault.store.own_lock import OwnLock

# Settings of git that anything of ours asks for; read in one process.
_ASKED = (
    r"^(remvault\..*|remote\..*\.url|(user|author|committer)\.(name|email)|user\.signingkey|user\.useconfigonly"
    r"|commit\.gpgsign|gpg\..*|core\.(autocrlf|editor|hookspath|attributesfile|logallrefupdates|fsync|fsyncobjectfiles)|extensions\..*|gc\.auto)$"
)
# What ties a process to one repository (`git rev-parse --local-env-vars`), less the settings given by `git -c`.
_REPOSITORY_VARIABLES = frozenset(
    (
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_CONFIG",
        "GIT_OBJECT_DIRECTORY",
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_REPLACE_REF_BASE",
        "GIT_PREFIX",
        "GIT_SHALLOW_FILE",
        "GIT_COMMON_DIR",
        "GIT_NAMESPACE",
        "GIT_QUARANTINE_PATH",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_INDEX_VERSION",
        "GIT_LITERAL_PATHSPECS",
        "GIT_GLOB_PATHSPECS",
        "GIT_NOGLOB_PATHSPECS",
        "GIT_ICASE_PATHSPECS",
    )
)
_BUSY_FILES = (
    ("MERGE_HEAD", "a merge is in progress"),
    ("rebase-merge", "a rebase is in progress"),
    ("rebase-apply", "a rebase is in progress"),
    ("CHERRY_PICK_HEAD", "a cherry-pick is in progress"),
    ("REVERT_HEAD", "a revert is in progress"),
    ("sequencer", "a cherry-pick or revert is in progress"),
    ("BISECT_LOG", "a bisect is in progress"),
)
BRANCH_PART = "branch.remvault-"  # begins the names of the files that stand beside our locks on branches
TIMEOUT_S = 60  # for one command of git; what may wait for a person, as signing does, says so itself
_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A checked-out working tree of a repository; all paths absolute, links resolved."""

    root: Path
    git_dir: Path  # this work tree's own; differs from `common_dir` in linked work trees
    common_dir: Path  # objects, branches and settings shared by all work trees

    @property
    def name(self) -> str:
        """The git directory from the common one, "." in the main work tree; stays the same when all of it is moved."""
        return Path(os.path.relpath(self.git_dir, self.common_dir)).as_posix()


@dataclass(frozen=True, slots=True)
class Head:
    """Where HEAD points."""

    branch: str | None  # without refs/heads/; None when detached or not on a branch
    commit: str | None  # hex id; None before the first commit
    detached: bool


def find_work_tree(start: Path) -> WorkTree | None:
    """Find the work tree that holds `start`, walking up; None outside any, inside a git directory or when it is broken.

    Reads files only and ignores GIT_* variables: in a hook they name the repository of the commit, not of `start`.
    As git does, stops where another file system begins, and at a `.git` file that points nowhere.
    """
    folder = Path(os.path.realpath(start))
    device = _device(folder)
    for candidate in (folder, *folder.parents):
        if device is None or _device(candidate) != device:
            return None
        marker = candidate / ".git"
        if marker.is_file():
            git_dir = _follow(marker)
            return None if git_dir is None else _work_tree(candidate, git_dir)
        if _is_git_dir(marker):
            return _work_tree(candidate, Path(os.path.realpath(marker)))
        if _is_git_dir(candidate):  # asked last, as git does: a work tree may hold files of such names
            return None
    return None


def head(tree: WorkTree, environ: Mapping[str, str] = MappingProxyType({})) -> Head:
    """Read HEAD. Only where branches are kept in a reftable is git itself asked, under `environ`.

    Raises:
        GitError: HEAD cannot be read or makes no sense.
    """
    if (tree.common_dir / "reftable").is_dir():
        return _head_by_git(tree, environ)
    path = tree.git_dir / "HEAD"
    try:
        text = f"ref: {path.readlink()}" if path.is_symlink() else path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as err:
        raise GitError(f"HEAD of {tree.root} cannot be read: {err}", hint="run 'git status' there") from err
    if not text.startswith("ref:"):
        if not _OBJECT_ID.match(text):
            raise GitError(f"HEAD of {tree.root} is damaged", hint="run 'git status' there")
        return Head(None, text, True)
    name = text[4:].strip()
    branch = name.removeprefix("refs/heads/") if name.startswith("refs/heads/") else None
    return Head(branch, _resolve_ref(tree, name), False)


def git_config(where: WorkTree | Path, environ: Mapping[str, str], *, asked: str = _ASKED) -> Mapping[str, str]:
    """Read the settings of git that concern us, as they hold at `where`; one process, the last value of a key wins.

    Keys as git prints them: section and name in lower case. Includes, conditional ones too, are followed. A repository
    git does not trust gives only the user's own settings.

    Raises:
        GitError: git is not installed, or its settings cannot be parsed.
    """
    folder = where.root if isinstance(where, WorkTree) else where
    done = run_git(folder, ["config", "-z", "--get-regexp", asked], environ, check=False, with_hooks=True)
    if done.returncode not in (0, 1):
        raise GitError(f"git's settings cannot be read: {first_line(done.stderr)}", hint="run 'git config --list'")
    found: dict[str, str] = {}
    for item in done.stdout.decode("utf-8", "surrogateescape").split("\0"):
        key, newline, value = item.partition("\n")
        if key:
            found[key] = value if newline else "true"  # a key without "=" is a switch that is on
    return found


def is_true(value: str | None) -> bool:
    """Read a switch as git does; None is off."""
    text = (value or "").strip().lower()
    return text in ("true", "yes", "on") or (text.lstrip("+-").isdigit() and int(text) != 0)


def syncs_objects(config: Mapping[str, str]) -> bool:
    """Whether git is set to wait for the disk with every object (`core.fsync`); by default it does not on Linux.

    A commit of ours is as safe from a power cut as the person's own; notes themselves are always waited for.
    """
    named = {name.strip() for name in config.get("core.fsync", "").split(",")}
    if named & {"none", "-loose-object"}:
        return False
    return bool(named & {"all", "added", "committed", "objects", "loose-object"}) or is_true(
        config.get("core.fsyncobjectfiles")
    )


def busy_with(tree: WorkTree, *, now: datetime | None = None) -> str | None:
    """Say what git is in the middle of, so that a commit of ours would be out of place; None when it is idle.

    A detached HEAD is not named here (`head` tells). `now` turns the time of a left-over lock into its age.
    """
    return operation_in_progress(tree) or index_lock(tree, now=now)


def operation_in_progress(tree: WorkTree) -> str | None:
    """Name the merge, rebase, cherry-pick, revert or bisect that a person has begun and not ended."""
    return next((what for name, what in _BUSY_FILES if (tree.git_dir / name).exists()), None)


def index_lock(tree: WorkTree, *, now: datetime | None = None) -> str | None:
    """Name the lock on the staged index and its age; None when there is none, or a killed process of ours left it."""
    path = tree.git_dir / "index.lock"
    if index_swap(tree.git_dir).is_left_over():
        return None
    try:
        made = datetime.fromtimestamp(path.lstat().st_mtime, UTC)
    except OSError:
        return None
    age = "" if now is None else f", age {max(0, int((now - made).total_seconds()))} s"
    return f"index.lock exists ({path}{age})"


def index_swap(git_dir: Path) -> OwnLock:
    """The lock on the staged index of a work tree, as ours takes it."""
    return OwnLock(git_dir / "index", git_dir / "index.remvault")


def branch_swap(common_dir: Path, branch: str) -> OwnLock:
    """The lock on a branch kept as a file, as ours takes it."""
    # Not below refs/, where git would take it for a branch.
    name = hashlib.sha256(branch.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return OwnLock(common_dir / "refs" / "heads" / branch, common_dir / f"{BRANCH_PART}{name}")


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for a git process of ours: bound to no repository, never asking or fetching, messages in English.

    `GIT_OPTIONAL_LOCKS=0`: what only looks must not take the lock of a person's running command.
    """
    kept = {name: value for name, value in environ.items() if name not in _REPOSITORY_VARIABLES}
    ours = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}
    return kept | {"LC_ALL": "C"} | ours


def run_git(
    folder: Path,
    args: Sequence[str],
    environ: Mapping[str, str],
    *,
    stdin: bytes = b"",
    check: bool = True,
    extra: Mapping[str, str] | None = None,
    timeout_s: float = TIMEOUT_S,
    with_hooks: bool = False,
) -> subprocess.CompletedProcess[bytes]:
    """Run git in `folder` with a clean environment (`extra` added on purpose); output is bytes.

    No file system monitor is started, whatever the repository's settings say, and without `with_hooks` no hook is run
    and `core.hooksPath` cannot be asked for.

    Raises:
        GitError: git is missing, took longer than `timeout_s`, or failed and `check` is set.
    """
    quiet = ("-c", "core.fsmonitor=false", *(() if with_hooks else ("-c", "core.hooksPath=/dev/null")))
    try:
        done = subprocess.run(
            ["git", *quiet, *args],
            cwd=folder,
            input=stdin,
            capture_output=True,
            check=False,
            env=child_environment(environ) | dict(extra or {}),
            timeout=timeout_s,
        )
    except subprocess.TimeoutExpired as err:
        raise GitError(f"git {_verb(args)} took longer than {timeout_s:g} s") from err
    except FileNotFoundError as err:
        if not folder.is_dir():
            raise GitError(f"folder {folder} is gone") from err
        raise GitError("git is not installed", hint="install git and put it on PATH") from err
    if check and done.returncode != 0:
        raise GitError(f"git {_verb(args)} failed: {first_line(done.stderr)}")
    return done


def first_line(output: bytes) -> str:
    """The line of git's complaint that says most: the first fatal or error, else the first."""
    lines = output.decode("utf-8", "replace").splitlines()
    telling = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return (telling or lines or ["no message"])[0]


def _verb(args: Sequence[str]) -> str:
    """The command among the arguments of git, behind its own options."""
    own = iter(args)
    for arg in own:
        if arg == "-c":
            next(own, None)
        elif not arg.startswith("-"):
            return arg
    return ""


def _work_tree(root: Path, git_dir: Path) -> WorkTree | None:
    common = git_dir / "commondir"
    try:
        common_dir = (
            Path(os.path.realpath(git_dir / common.read_text("utf-8").strip())) if common.is_file() else git_dir
        )
    except (OSError, UnicodeDecodeError):
        return None
    return WorkTree(root, git_dir, common_dir)


def _device(folder: Path) -> int | None:
    try:
        return folder.stat().st_dev
    except OSError:
        return None


def _follow(marker: Path) -> Path | None:
    try:
        text = marker.read_text("utf-8", "surrogateescape")
    except OSError:
        return None
    if not text.startswith("gitdir:"):
        return None
    git_dir = Path(os.path.realpath(marker.parent / text[7:].strip()))
    return git_dir if _is_git_dir(git_dir) else None


def _is_git_dir(folder: Path) -> bool:
    if not os.path.lexists(folder / "HEAD"):
        return False
    return (folder / "commondir").is_file() or ((folder / "objects").is_dir() and (folder / "refs").is_dir())


def _resolve_ref(tree: WorkTree, name: str, depth: int = 5) -> str | None:
    """Follow a ref to its commit: its own file first, then packed-refs, the order in which git moves them."""
    if ".." in name.split("/") or depth == 0:
        return None
    for base in dict.fromkeys((tree.common_dir, tree.git_dir)):
        try:
            text = (base / name).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            continue
        if text.startswith("ref:"):
            return _resolve_ref(tree, text[4:].strip(), depth - 1)
        if _OBJECT_ID.match(text):
            return text
    try:
        packed = (tree.common_dir / "packed-refs").read_bytes()
    except OSError:
        return None
    match = re.search(rb"^([0-9a-f]{40,64}) " + re.escape(name.encode()) + rb"\r?$", packed, re.MULTILINE)
    return match[1].decode() if match else None


def _head_by_git(tree: WorkTree, environ: Mapping[str, str]) -> Head:
    pointed = run_git(tree.root, ["symbolic-ref", "-q", "HEAD"], environ, check=False)
    name = pointed.stdout.decode("utf-8", "surrogateescape").strip()
    found = run_git(tree.root, ["rev-parse", "-q", "--verify", "HEAD"], environ, check=False)
    commit = found.stdout.decode().strip() or None
    if not name:
        return Head(None, commit, True)
    return Head(name.removeprefix("refs/heads/") if name.startswith("refs/heads/") else None, commit, False)
