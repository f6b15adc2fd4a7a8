"""Any sequence of changes, looks, crashes and clocks leaves an index that equals a fresh build of the files.

`REMVAULT_TEST_SOAK=1` runs many times as many and longer sequences, other ones on each run.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO
from unittest import mock

from filelock import FileLock
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from remvault.domain.blobs import blob_id
from remvault.domain.problems import Problem
from remvault.index import changes, manifest, reconcile
from remvault.index.reconcile import NoteSource
from remvault.index.snapshot import Snapshot
from remvault.store import trees
from remvault.store.limits import read_limited
from remvault.store.state import State
from remvault.store.trees import DirectoryTree, NoteUnreadable, Scan
from tests.index.answers import answers
from tests.vaults import git, note_text

IS_SOAK = bool(os.environ.get("REMVAULT_TEST_SOAK"))
FOLDERS = ("", "a/", "b/", "a/c/", "b/d/e/")
NAMES = ("one.md", "two.md", "été.md", "one (1).md", "two.sync-conflict-20261130-101500-ABCDEFG.md")
JUNK = ("one~.md", ".one.md.swp", "#one.md#", "4913", "private/one.md")
CHANGES = ("rewritten", "grown", "cut", "replaced", "gone", "restless")
WORD_TEXT = "deploy deploys server with_lock withLock café 数据库 C++ relational relation alpha beta gamma of"
WORDS = WORD_TEXT.split()

path_names = st.builds(lambda folder, name: folder + name, st.sampled_from(FOLDERS), st.sampled_from(NAMES))
seeds = st.integers(0, 2**16)
picks = st.integers(0, 100)


class Barred(DirectoryTree):
    """The files on disk, some of which this process may not read, as when permissions are wrong."""

    def __init__(self, root: Path, files: set[str], folders: set[str]) -> None:
        super().__init__(root)
        self._files, self._folders = files, folders

    def scan(self) -> Scan:
        """The files outside the barred folders."""
        found = super().scan()
        skipped = [
            Problem("RV601", "warning", folder, None, "skipped: folder cannot be read (Permission denied)")
            for folder in sorted(self._folders)
            if (self.root / folder).is_dir()
        ]
        files = {path: stat for path, stat in found.files.items() if not self.is_inside(path)}
        return Scan(files, sorted([*found.skipped, *skipped], key=Problem.sort_key))

    def read(self, path: str) -> bytes:
        """As ever, unless the file is barred."""
        if path in self._files:
            raise NoteUnreadable(path, "Permission denied")
        return super().read(path)

    def is_inside(self, path: str) -> bool:
        """Whether a path lies in a barred folder."""
        return any(path.startswith(f"{folder}/") for folder in self._folders)


class Reconciling(RuleBasedStateMachine):
    """Changes behind the index's back, and looks of every kind in between."""

    @initialize()
    def begin(self) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="remvault-machine-"))
        self.root, self.outside = self.base / "vault", self.base / "outside"
        for folder in (self.root, self.outside, self.base / "caches"):
            folder.mkdir()
        self.state = State(self.base / "caches", self.base / "caches")
        self.barred: set[str] = set()
        self.barred_folders: set[str] = set()
        self.whole: set[str] = set()  # blob id of every content that was ever written to its end
        self.counter = 0
        git(self.root, "init", "-q", "-b", "main")
        self.head: str | None = None
        for number, path in enumerate(("one.md", "a/one.md", "a/c/two.md", "b/d/e/one.md")):
            self.write(self.root / path, self.content(number))

    def teardown(self) -> None:
        if not hasattr(self, "base"):
            return
        try:
            self.barred.clear()
            self.barred_folders.clear()
            self.expect_truth(self.look())
            with FileLock(self.state.caches / "text-index.lock").acquire(timeout=0):
                fresh = self.base / "fresh"
                assert answers(reconcile.reconcile(self.source(), State(fresh, fresh))) == answers(self.look())
        finally:
            shutil.rmtree(self.base, ignore_errors=True)

    # What happens to files.

    @rule(
        path=path_names, seed=seeds, how=st.sampled_from(["in place", "beside", "no note"]), junk=st.sampled_from(JUNK)
    )
    def write_a_file(self, path: str, seed: int, how: str, junk: str) -> None:
        target = self.root / (junk if how == "no note" else path)
        beside = self.root / "4913"
        self.write(beside if how == "beside" else target, self.content(seed))
        if how == "beside" and not target.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
            beside.replace(target)

    @rule(
        pick=picks,
        seed=seeds,
        shift=st.sampled_from([0, 0, 1, -3600, 3600]),
        when=st.sampled_from([None, 1, 4 * 10**9]),
    )
    def set_the_clock_back(self, pick: int, seed: int, shift: int, when: int | None) -> None:
        """Touch a file, or rewrite it to the same size and set its time back to what it was, or near."""
        for path in self.pick(pick):
            before, data = path.stat(), bytearray(path.read_bytes())
            if when is not None:
                os.utime(path, (when, when))
                continue
            data[-8:] = f"{seed:07}\n".encode()
            self.whole.add(blob_id(bytes(data)))
            with path.open("r+b") as stream:
                stream.write(data)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + shift * 10**9))

    @rule(pick=picks, other=picks, to=path_names, how=st.sampled_from(["rename", "swap", "delete"]))
    def move_a_file(self, pick: int, other: int, to: str, how: str) -> None:
        for path, second in zip(self.pick(pick), self.pick(other), strict=True):
            target = self.root / to
            if how == "delete":
                path.unlink()
            elif how == "rename" and not target.is_dir():
                target.parent.mkdir(parents=True, exist_ok=True)
                path.replace(target)
            elif how == "swap" and path != second:
                aside = self.base / "aside"
                path.rename(aside)
                second.rename(path)
                aside.rename(second)

    @rule(
        source=st.sampled_from(["a", "b", "a/c", "b/d"]),
        to=st.sampled_from(["a", "b", "b/d", "moved"]),
        how=st.sampled_from(["move", "out or in", "out or in", "delete"]),
    )
    def move_a_folder(self, source: str, to: str, how: str) -> None:
        inside, outside, target = self.root / source, self.outside / source.replace("/", "-"), self.root / to
        if how == "delete":
            shutil.rmtree(inside, ignore_errors=True)
        elif how == "out or in" and outside.exists() and not inside.exists():
            inside.parent.mkdir(parents=True, exist_ok=True)
            outside.rename(inside)
        elif how == "out or in" and inside.is_dir() and not outside.exists():
            inside.rename(outside)
        elif how == "move" and inside.is_dir() and not target.exists() and not to.startswith(source):
            target.parent.mkdir(parents=True, exist_ok=True)
            inside.rename(target)

    @rule(name=st.sampled_from(NAMES), kind=st.sampled_from(["link", "pipe", "folder"]))
    def put_something_else_in_the_way(self, name: str, kind: str) -> None:
        path = self.root / name
        if path.exists() or path.is_symlink():
            return
        if kind == "link":
            path.symlink_to("nowhere.md")
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.mkdir()

    @rule(pick=picks, what=st.sampled_from(["note", "a", "b/d", "lift", "lift"]))
    def change_permissions(self, pick: int, what: str) -> None:
        if what == "lift":
            self.barred.clear()
            self.barred_folders.clear()
        elif what != "note":
            self.barred_folders.add(what)
        for path in self.pick(pick) if what == "note" else ():
            self.barred.add(path.relative_to(self.root).as_posix())
            path.chmod(0o600)  # as any change of permissions, this one leaves its stamp

    @rule(branch=st.sampled_from(["main", "topic"]))
    def commit_and_check_out(self, branch: str) -> None:
        git(self.root, "add", "-A", "--", "*.md", ":!private", check=False)
        git(self.root, "commit", "-qm", "notes", "--allow-empty")
        if not git(self.root, "branch", "--list", branch):
            git(self.root, "branch", branch)
        git(self.root, "checkout", "-qf", branch)
        self.head = git(self.root, "rev-parse", "HEAD").strip()
        self.whole.update(blob_id(path.read_bytes()) for path in self.files())

    # What happens to the index.

    @rule(is_later=st.booleans(), is_busy=st.booleans())
    def look_at_all(self, is_later: bool, is_busy: bool) -> None:
        """`is_busy`: another process is just writing."""
        with ExitStack() as stack:
            if is_busy:
                stack.enter_context(FileLock(self.state.caches / "text-index.lock"))
                stack.enter_context(mock.patch.object(reconcile, "_WRITER_S", 0))
            self.expect_truth(self.look(is_later=is_later))

    @rule(kind=st.sampled_from(["step", "line"]), share=st.floats(0, 1), is_later=st.booleans())
    def crash_while_looking(self, kind: str, share: float, is_later: bool) -> None:
        pid = os.fork()
        if pid == 0:
            try:
                die_at(kind, int(share * (150 if kind == "step" else 20_000)))
                self.look(is_later=is_later)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)

    @rule(pick=picks, seed=seeds, how=st.sampled_from(CHANGES), reading=st.integers(1, 2))
    def look_while_a_note_changes(self, pick: int, seed: int, how: str, reading: int) -> None:
        """Half of the file is read before the change and half after; that mixture must not be taken for the note."""
        for path in self.pick(pick):
            if reading == 2:  # what is known and unchanged is read once only
                self.write(path, self.content(seed + 1))
            at = range(reading, 10 if how == "restless" else reading + 1)
            with changed_while_read(path, lambda: self.change(path, how, seed), at=at):  # noqa: B023
                snapshot = self.look()
            assert {row.blob for row in snapshot.rows.values()} <= self.whole
            self.expect_truth(self.look())

    def change(self, path: Path, how: str, seed: int) -> None:
        """What befalls a file at the worst moment."""
        if how == "gone":
            path.unlink()
        elif how == "replaced":
            self.write(path.with_name("4913"), self.content(seed))
            path.with_name("4913").replace(path)
        elif how == "cut":
            os.truncate(path, path.stat().st_size // 2)
        elif how == "grown":
            with path.open("ab") as stream:
                stream.write(b"grown\n")
        else:
            self.write(path, self.content(seed + self.counter))
        if path.exists():
            self.whole.add(blob_id(path.read_bytes()))

    # How the truth is known.

    def look(self, *, is_later: bool = False) -> Snapshot:
        """Bring the index up to date; `is_later`: ten seconds after the last change, so that stats are trusted."""
        shift = 10**10 if is_later else 0
        clock = manifest.disk_clock
        if is_later:
            self.wait_a_tick()
        with (
            mock.patch.object(manifest, "disk_clock", lambda caches: clock(caches) + shift),
            mock.patch.object(changes, "_HELD_BYTES", 300),  # longer notes are read twice
        ):
            return reconcile.reconcile(self.source(), self.state)

    def expect_truth(self, snapshot: Snapshot) -> None:
        """The files as found here, by other means, are the rows; and all evidence is as in a fresh build."""
        blobs = {
            path.relative_to(self.root).as_posix(): blob_id(path.read_bytes())
            for path in self.files()
            if path.relative_to(self.root).as_posix() not in self.barred
        }
        blobs = {path: blob for path, blob in blobs.items() if not self.source_tree().is_inside(path)}
        assert {path: row.blob for path, row in snapshot.rows.items()} == blobs
        assert answers(snapshot) == answers(reconcile.reconcile(self.source(), None))

    def source_tree(self) -> Barred:
        return Barred(self.root, self.barred, self.barred_folders)

    def source(self) -> NoteSource:
        return NoteSource(self.root, self.head, self.head_blobs, tree=self.source_tree())

    def head_blobs(self) -> Mapping[str, str]:
        lines = git(self.root, "ls-tree", "-rz", "HEAD").split("\0")
        return {path: entry.split()[2] for entry, _, path in (line.partition("\t") for line in lines if line)}

    def files(self) -> list[Path]:
        """Every note there is, in order."""
        found = [path for path in self.root.rglob("*.md") if path.is_file() and not path.is_symlink()]
        return sorted(path for path in found if not path.name.startswith(("one~", ".")) and "private" not in path.parts)

    def pick(self, number: int) -> list[Path]:
        """One of the notes there are, if any."""
        files = self.files()
        return [files[number % len(files)]] if files else []

    def content(self, seed: int) -> bytes:
        chance = random.Random(seed)
        body = " ".join(chance.choices(WORDS, k=chance.randint(3, 30)))
        if chance.random() < 0.2:
            body = f"# One\n\n{body}\n\n## Two {chance.choice(WORDS)}\n\n" + "filler words here. " * 90
        owner = chance.choice(("a", "b", ""))
        scope = {"scope": "project", "scope_id": owner} if owner else {}
        status = chance.choice(("active", "active", "active", "archived", "candidate"))
        number = chance.randrange(6)
        if number == 5:
            scope["supersedes"] = "[m-0]"
        text = note_text(chance.choice(WORDS).title(), id=f"m-{number}", status=status, body=body + "\n", **scope)
        return (text[: len(text) // 3] if chance.random() < 0.1 else text).encode() + b"padding\n"

    def write(self, path: Path, data: bytes) -> None:
        self.counter += 1
        self.whole.add(blob_id(data))
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or path.is_fifo() or path.is_dir():
            return
        path.write_bytes(data)

    def wait_a_tick(self) -> None:
        """Until a file changed now has other times than one changed before: no stamp tells within one tick."""
        probe = self.base / "probe"
        probe.touch()
        before = probe.stat().st_ctime_ns
        while probe.stat().st_ctime_ns == before:
            os.utime(probe)


def die_at(kind: str, number: int) -> None:
    """Kill this process at the so-manieth step into the file system, or line of Python."""
    left = number

    def count() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def trace(frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
        count()
        return trace

    if kind == "line":
        sys.settrace(trace)
    else:
        wanted = ("open", "os.", "shutil.", "fcntl.")
        sys.addaudithook(lambda event, arguments: count() if event.startswith(wanted) else None)


@contextmanager
def changed_while_read(path: Path, change: Callable[[], None], *, at: range) -> Iterator[None]:
    """While entered, readings of `path` meet a change half way: those whose number is in `at`, counted from 1."""
    readings = 0

    def read(stream: BinaryIO) -> bytes | None:
        nonlocal readings
        found = os.fstat(stream.fileno())
        if not path.exists() or path.stat().st_ino != found.st_ino:
            return read_limited(stream)
        readings += 1
        if readings not in at:
            return read_limited(stream)
        half = stream.read(found.st_size // 2)
        probe = path.parent / ".probe"
        probe.touch()
        while probe.stat().st_ctime_ns <= found.st_ctime_ns:  # another tick, or no stamp could tell
            os.utime(probe)
        change()
        return half + stream.read()

    with mock.patch.object(trees, "read_limited", read):
        yield


Reconciling.TestCase.settings = settings(
    max_examples=400 if IS_SOAK else 12,
    stateful_step_count=60 if IS_SOAK else 30,
    derandomize=not IS_SOAK,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestReconciling = Reconciling.TestCase
