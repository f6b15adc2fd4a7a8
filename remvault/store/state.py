"""Where a vault keeps what git does not carry: caches, the lock, pending operations, names of machine and work tree.

Owns: the folders and their ownership, the one advisory lock, state files that were torn.
Leaves alone: what the caches hold (index), what a pending operation says (pending).
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from remvault.domain.ids import ALPHABET
from remvault.errors import ConflictError, GitError
from remvault.store.work_tree import WorkTree

_NAME = re.compile(rf"[{ALPHABET}]{{10}}\Z")
_WORKSPACE = re.compile(rf"w-[{ALPHABET}]{{10}}\Z")
_STAMP = "stamp"
_SECRET_SIZE = 32


class LockTimeout(ConflictError):
    """Another process of ours held the vault's lock for longer than we waited; nothing was written."""

    code = "lock_timeout"

    def __init__(self, path: Path, timeout_s: float) -> None:
        self.path, self.timeout_s = str(path), timeout_s
        super().__init__(
            f"the vault is locked by another process (waited {timeout_s:g} s for {path})",
            hint="try again; the lock ends with the process that holds it",
        )


@dataclass(frozen=True, slots=True)
class State:
    """The two state folders of a vault in one work tree."""

    caches: Path  # text-index, manifest, anchor-cache, usage: of this vault and work tree; may be deleted at any time
    shared: Path  # lock, machine, pending operations: of the repository
    caches_usable: bool = True  # False: not ours or not writable, callers work in memory
    key: bytes = b""  # signs what is in the caches; from the user's own folder, never from the repository
    set_aside: list[Path] = field(default_factory=list)  # torn files renamed on the way, for the surface to name


def open_state(tree: WorkTree, *, vault_id: str, prefix: str, user_state: Path) -> State:
    """Open (or make) the state folders, and empty the caches unless they are known to be ours.

    The caches hold pickles, so they are opened only when the folder belongs to us, nobody else may write to it, and
    the stamp inside is the digest of the secret kept for it in `user_state`, which no clone or archive can write. The
    secret is also the key to sign their content with: whoever writes to the git directory alone does not know it.

    Args:
        tree: the work tree that holds the vault.
        vault_id: `[vault] id`; only letters, digits, "-" and "_" of it become part of a path.
        prefix: the vault's path in the repository, "" at its root.
        user_state: the platform's folder for this user's state.
    """
    name = re.sub(r"[^A-Za-z0-9_-]", "_", vault_id)[:64]
    where = hashlib.sha256(prefix.strip("/").encode("utf-8", "surrogateescape")).hexdigest()[:8]
    caches = tree.git_dir / "remvault" / f"{name}-{where}"
    shared = tree.common_dir / "remvault"
    stamps = user_state / "stamps"
    kept = stamps / hashlib.sha256(os.fsencode(caches)).hexdigest()[:32]
    try:
        if not _is_ours(caches, kept):
            _claim(caches, kept, stamps)
        usable, key = os.access(caches, os.W_OK), kept.read_bytes()
    except OSError:
        usable, key = False, b""
    return State(caches, shared, usable, key)


@contextmanager
def write_lock(state: State, timeout_s: float) -> Iterator[None]:
    """Hold the repository's one write lock; it is freed by the system when the process ends, however it ends.

    Raises:
        LockTimeout: somebody else held it for `timeout_s` seconds.
        GitError: the lock file cannot be made.
    """
    # Imported here: 45 ms, and reads never lock.
    from filelock import FileLock, Timeout

    path = state.shared / "lock"
    try:
        make_private(state.shared)
        lock = FileLock(path, timeout=timeout_s, mode=0o600, poll_interval=0.01)
        lock.acquire()
    except Timeout as err:
        raise LockTimeout(path, timeout_s) from err
    except OSError as err:
        raise GitError(
            f"the lock {path} cannot be taken: {err.strerror}", hint="check who owns the git directory"
        ) from err
    try:
        yield
    finally:
        lock.release()


def hold_alone(path: Path, *, wait_s: float = 0) -> Callable[[], None] | None:
    """Hold a lock file until what is returned is called or this process ends; None when another holds it.

    Raises:
        OSError: the file cannot be made.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=wait_s, mode=0o600, poll_interval=0.01)
    try:
        lock.acquire()
    except Timeout:
        return None
    return lock.release


def machine_id(state: State) -> str:
    """The random name of this clone, made when first asked for; raises GitError when that cannot be."""
    return _kept_name(state.shared / "machine", _NAME, "", state.set_aside)


def workspace_id(tree: WorkTree, create: bool, set_aside: list[Path] | None = None) -> str | None:
    """The id of this work tree, `w-` and 10 characters; None when it has none and `create` is not set.

    A torn file is never read as "none": it is renamed, added to `set_aside`, and a new id is made if asked for.
    """
    path = tree.git_dir / "remvault" / "workspace"
    if not create and not path.exists():
        return None
    aside: list[Path] = [] if set_aside is None else set_aside
    if not create:
        found = _read_name(path, _WORKSPACE)
        if found is None:
            put_aside(path, aside)
        return found
    return _kept_name(path, _WORKSPACE, "w-", aside)


def make_private(folder: Path) -> None:
    """Make a state folder that only its owner may enter, and its parents as git's own; raises OSError, also for a link.

    Whoever packs a repository into an archive may have put a link there, and we would write where it leads.
    """
    if folder.is_symlink():
        raise OSError(errno.ELOOP, "a link lies there", str(folder))
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def put_aside(path: Path, set_aside: list[Path]) -> None:
    """Rename a torn state file so that nothing in it is lost, and remember it; an unmovable one is left where it is."""
    aside = path.with_name(f"{path.name}.torn-{secrets.token_hex(4)}")
    try:
        path.rename(aside)
    except FileNotFoundError:
        return
    except OSError:
        aside = path
    set_aside.append(aside)


def write_whole(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace a state file in one step; `durable` also waits for the disk, which only a power cut would notice."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            if durable:
                stream.flush()
                os.fsync(handle)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _is_ours(caches: Path, kept: Path) -> bool:
    try:
        found = caches.lstat()
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o022:
        return False
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        return False
    try:
        stamp = (caches / _STAMP).read_bytes()
        secret = kept.read_bytes()
        return len(secret) == _SECRET_SIZE and stamp == _stamp_of(secret)
    except OSError:
        return False


def _stamp_of(secret: bytes) -> bytes:
    return hashlib.sha256(secret).hexdigest()[:32].encode()


def _claim(caches: Path, kept: Path, stamps: Path) -> None:
    """Throw away what is there and start empty caches with a fresh stamp; raises OSError."""
    from filelock import FileLock

    stamps.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Two processes may both find no stamp; the second must not throw away what the first has just begun.
    with FileLock(stamps / "lock", timeout=5, mode=0o600):
        if _is_ours(caches, kept):
            return
        make_private(caches.parent)
        if caches.is_symlink() or caches.is_file():
            caches.unlink()
        elif caches.is_dir():
            shutil.rmtree(caches)
        caches.mkdir(mode=0o700)
        secret = secrets.token_bytes(_SECRET_SIZE)
        write_whole(kept, secret, durable=False)
        write_whole(caches / _STAMP, _stamp_of(secret), durable=False)


def _kept_name(path: Path, shape: re.Pattern[str], prefix: str, set_aside: list[Path]) -> str:
    """Read a random name, or make it; of two processes that make it at once, both get the first one's."""
    for _ in range(3):
        if path.exists():
            found = _read_name(path, shape)
            if found is not None:
                return found
            put_aside(path, set_aside)
        name = prefix + "".join(secrets.choice(ALPHABET) for _ in range(10))
        try:
            make_private(path.parent)
            part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
            write_whole(part, f"{name}\n".encode())
            try:
                os.link(part, path)  # never replaces, and the name appears with its content
                return name
            finally:
                part.unlink(missing_ok=True)
        except FileExistsError:
            continue
        except OSError as err:
            raise GitError(
                f"{path} cannot be written: {err.strerror}", hint="check who owns the git directory"
            ) from err
    raise GitError(f"{path} cannot be read or replaced", hint="move it away")


def _read_name(path: Path, shape: re.Pattern[str]) -> str | None:
    with suppress(OSError, UnicodeDecodeError):
        text = path.read_text("utf-8").strip()
        if shape.match(text):
            return text
    return None
