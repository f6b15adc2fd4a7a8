"""A vault with a watcher in front of it, things that happen to its files, and how soon the index on disk is right.

The index is right when a look at the files finds nothing to be done; whatever a search then answers is compared with a
build from nothing.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from remvault.index import manifest
from remvault.index.changes import look
from remvault.index.reconcile import flavour, reconcile
from remvault.surfaces.app import OpenVault, open_vault
from tests.bench import process_bench
from tests.index.answers import answers
from tests.vaults import git, note_text

_START_S = 120.0
_WORD_TEXT = "deploy server with_lock café 数据库 relational alpha beta gamma delta of the retry queue"
_WORDS = _WORD_TEXT.split()
# What lies about beside notes while people and tools work.
_JUNK = (".tmp", ".txt", ".md.swp", ".png", ".md~", ".json", ".part")


@dataclass
class Scene:
    """An embedded vault in a repository, watched.

    Args:
        repo: made if absent.
        env: for processes; this one has to have the same.
        scale: how many files count as many, against the full measure.
    """

    repo: Path
    env: Mapping[str, str]
    chance: random.Random
    scale: float = 1.0
    watcher: subprocess.Popen[bytes] | None = None
    _numbers: list[int] = field(default_factory=lambda: [0])

    @property
    def root(self) -> Path:
        """The vault's folder."""
        return self.repo / "vault"

    @property
    def outside(self) -> Path:
        """A folder on the same disk that is no part of the vault."""
        return self.repo / "outside"

    def make(self, notes: int) -> None:
        """Make the vault with so many notes, committed, and start watching."""
        self.repo.mkdir(parents=True)
        git(self.repo, "init", "-q", "-b", "main")
        self.outside.mkdir()
        process_bench.run([sys.executable, "-m", "remvault", "init", "--embedded"], self.repo, self.env)
        for number in range(notes):
            self.write(f"global/f{number % 12}/n{number}.md")
        self.commit()
        self.start()

    def start(self) -> None:
        """Start a watcher, and wait until it is at work."""
        self.watcher = subprocess.Popen(
            [sys.executable, "-m", "remvault", "watch"],
            cwd=self.repo, env=dict(self.env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline and self.watcher.poll() is None:
            with suppress(StopIteration, OSError):
                log = next((self.repo / ".git/remvault").glob("*-*/watcher/log")).read_text("utf-8")
                if "(start)" in log.rpartition(f"process {self.watcher.pid}")[2] and str(self.watcher.pid) in log:
                    return
            time.sleep(0.02)
        raise RuntimeError(f"no watcher came to work: {self.watcher.poll()}")

    def kill(self) -> None:
        """Kill the watcher, whatever it is doing."""
        assert self.watcher is not None
        self.watcher.send_signal(signal.SIGKILL)
        self.watcher.wait()
        self.watcher = None

    def close(self) -> None:
        """End the watcher as a person would."""
        if self.watcher is not None:
            self.watcher.terminate()
            self.watcher.wait()

    def many(self, count: int) -> int:
        """So many, on the scale of this run."""
        return max(3, round(count * self.scale))

    def note(self, memory_id: str | None = None) -> str:
        """The text of a valid note, with an id of its own unless one is given."""
        self._numbers[0] += 1
        body = " ".join(self.chance.choices(_WORDS, k=self.chance.randint(3, 30)))
        title = f"{self.chance.choice(_WORDS)} {self._numbers[0]}"
        return note_text(title, id=memory_id or f"m-{self._numbers[0]:010}", body=f"{body}\n")

    def write(self, path: str, *, memory_id: str | None = None) -> Path:
        """Write a note in place."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(self.note(memory_id))
        return target

    def junk(self, folder: str, number: int) -> None:
        """Write a file that is no note."""
        target = self.root / folder / f"other{number}{_JUNK[number % len(_JUNK)]}"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("not a note\n")

    def notes(self) -> list[Path]:
        """Every note there is."""
        return sorted(self.root.rglob("*.md"))

    def commit(self) -> None:
        """Commit all there is."""
        git(self.repo, "add", "-A", "--", ".", ":!outside")
        git(self.repo, "commit", "-qm", "notes", "--allow-empty", "--no-verify")

    def seconds_until_right(self, deadline_s: float) -> float | None:
        """How long from now until the index on disk is that of the files; None when it is not by the deadline."""
        started = time.monotonic()
        while (passed := time.monotonic() - started) < deadline_s:
            if self.is_right():
                return passed
            time.sleep(max(0.02, (time.monotonic() - started - passed) / 2))  # leave the machine to the watcher
        return None

    def is_right(self) -> bool:
        """Whether the index on disk lacks nothing and holds nothing else; nothing is changed by asking."""
        with suppress(manifest.BadManifest, FileNotFoundError):  # just being written
            return not look(self.open().notes, self._manifest()).changed
        return False

    def differs(self) -> bool:
        """Whether the index on disk answers anything else than a build from nothing, or had to be mended for it."""
        before, vault = self._manifest(), self.open()
        found = vault.snapshot()
        is_kept = found.generation == before.generation and not found.notices
        return not is_kept or answers(found) != answers(reconcile(vault.notes, None))

    def _manifest(self) -> manifest.Manifest:
        vault = self.open()
        assert vault.state is not None
        wanted = flavour(vault.analyzer, is_embedded=vault.is_embedded)
        return manifest.load(vault.state.caches, wanted, vault.state.key)

    def open(self) -> OpenVault:
        """The vault as every verb opens it."""
        return open_vault(str(self.root))


Act = Callable[[Scene], None]


def burst_of_files(scene: Scene) -> None:
    """20,000 files, one in forty a note: more events than the system keeps."""
    for number in range(scene.many(20_000)):
        folder = f"burst{scene.chance.randrange(30)}"
        if number % 40 == 0:
            scene.write(f"{folder}/burst{number}.md")
        else:
            scene.junk(folder, number)
    for folder in scene.root.glob("burst*"):
        if scene.chance.random() < 0.5:
            shutil.rmtree(folder)


def burst_of_writes(scene: Scene) -> None:
    """20,000 writes of the same hundred notes."""
    notes = scene.notes()[:100]
    texts = [scene.note(f"m-w{number:09}") for number in range(len(notes))]
    for number in range(scene.many(20_000)):
        at = number % len(notes)
        notes[at].write_text(f"{texts[at]}{number}\n")


def same_bytes(scene: Scene) -> None:
    """All notes written again with what they hold, as sync tools do."""
    for path in scene.notes():
        path.write_bytes(path.read_bytes())


def tree_renamed(scene: Scene) -> None:
    """The folder that holds nearly all notes gets another name."""
    old = next(path for path in (scene.root / "global", scene.root / "elsewhere") if path.is_dir())
    old.rename(scene.root / ("elsewhere" if old.name == "global" else "global"))


def tree_out(scene: Scene) -> None:
    """Folders are moved out of the vault."""
    for folder in _folders(scene)[: scene.many(4)]:
        folder.rename(scene.outside / f"{folder.name}-{scene.chance.randrange(10**9)}")


def tree_in(scene: Scene) -> None:
    """Folders with notes, some deep, are moved into the vault."""
    for number in range(scene.many(3)):
        folder = scene.outside / f"in-{scene.chance.randrange(10**9)}"
        for at in range(scene.many(100)):
            path = folder / f"deep{at % 5}/deeper/n{at}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(scene.note())
        folder.rename(scene.root / f"global/{folder.name}-{number}")


def tree_to_and_fro(scene: Scene) -> None:
    """A folder is moved out and in again and again; one note inside changes meanwhile."""
    for folder in _folders(scene)[:3]:
        for _ in range(4):
            away = scene.outside / "away"
            folder.rename(away)
            with suppress(StopIteration):
                next(away.rglob("*.md")).write_text(scene.note())
            away.rename(folder)


def trees_within(scene: Scene) -> None:
    """Folders change places and depth."""
    for folder in _folders(scene)[:5]:
        to = scene.root / f"global/moved{scene.chance.randrange(10**6)}/{folder.name}"
        to.parent.mkdir(parents=True)
        folder.rename(to)
        scene.write(f"{to.relative_to(scene.root).as_posix()}/new.md")


def root_made_anew(scene: Scene) -> None:
    """The vault's folder is moved away, and another stands in its place."""
    away = scene.outside / f"old-{scene.chance.randrange(10**9)}"
    scene.root.rename(away)
    time.sleep(scene.chance.choice([0, 0.05, 1.0]))
    scene.root.mkdir()
    for path in away.iterdir():
        if path.is_file():
            shutil.copy(path, scene.root)
    folders = [path for path in away.iterdir() if path.is_dir()]
    for folder in scene.chance.sample(folders, len(folders) - len(folders) // 4):
        shutil.copytree(folder, scene.root / folder.name)
    scene.write("global/anew.md")


def branches(scene: Scene) -> None:
    """r37: two hundred notes rewritten on another branch and twenty that only it has; there and back."""
    scene.commit()
    git(scene.repo, "checkout", "-q", "-B", "topic")
    for path in scene.notes()[: scene.many(200)]:
        path.write_text(scene.note())
    for number in range(scene.many(20)):
        scene.write(f"global/topic/t{number}.md")
    scene.commit()
    for branch in ("main", "topic") * scene.chance.randint(1, 3) + ("main",) * scene.chance.randint(0, 1):
        git(scene.repo, "checkout", "-q", branch)
    git(scene.repo, "checkout", "-q", "-B", "main")


def edits(scene: Scene) -> None:
    """What editors, people and clocks do to single notes."""
    for _ in range(scene.many(150)):
        path, kind = scene.chance.choice(scene.notes()), scene.chance.randrange(7)
        if kind == 0:
            path.unlink()
        elif kind == 1:
            part = path.with_name("4913")
            part.write_text(scene.note())
            part.replace(path)
        elif kind == 2:
            part = scene.outside / "part"
            part.write_text(scene.note())
            part.replace(path)
        elif kind == 3:
            path.rename(path.with_name(f"{path.name}~"))
            path.write_text(scene.note())
        elif kind == 4:
            stat, data = path.stat(), bytearray(path.read_bytes())
            data[-5:] = b"%04d\n" % scene.chance.randrange(10**4)
            path.write_bytes(data)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        elif kind == 5:
            path.rename(path.with_name(f"r{scene.chance.randrange(10**9)}.md"))
        else:
            scene.write(f"global/f{scene.chance.randrange(12)}/e{scene.chance.randrange(10**9)}.md")


def killed(act: Act) -> Act:
    """The same, the watcher being killed at a random moment and another started at once or afterwards."""

    def killed_meanwhile(scene: Scene) -> None:
        assert scene.watcher is not None
        # Whatever it is at when so much time has passed; a shell kills it, as this process is busy.
        wait = scene.chance.uniform(0, 1.5)
        command = f"sleep {wait:.2f}; kill -9 {scene.watcher.pid}"
        with subprocess.Popen(["sh", "-c", command]) as killer:
            act(scene)
            killer.wait()
        scene.watcher.wait()
        scene.start()
        if scene.chance.random() < 0.5:
            edits(scene)

    killed_meanwhile.__doc__ = f"Watcher killed. {act.__doc__}"
    killed_meanwhile.__name__ = f"killed_{act.__name__}"
    return killed_meanwhile


def _folders(scene: Scene) -> list[Path]:
    """Folders with notes, in random order, none below another."""
    found = [path for path in (scene.root / "global").iterdir() if path.is_dir()]
    scene.chance.shuffle(found)
    return found


# Sixty in all, with how often each is played.
SCENES: tuple[tuple[Act, int], ...] = (
    (burst_of_files, 6),
    (burst_of_writes, 4),
    (tree_out, 4),
    (tree_in, 5),
    (tree_to_and_fro, 5),
    (trees_within, 4),
    (root_made_anew, 7),
    (branches, 6),
    (edits, 3),
    (killed(edits), 4),
    (killed(tree_to_and_fro), 3),
    (killed(branches), 3),
    (killed(burst_of_files), 2),
)
# Played with 20,000 notes.
LARGE_SCENES: tuple[tuple[Act, int], ...] = ((same_bytes, 2), (tree_renamed, 2))
