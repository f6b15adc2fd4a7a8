"""SIGKILL at random moments: `python -m tests.bench kills`. After each the next search is right, and nothing is locked.

In turns a writer (verbs one after another) and a watcher (beside somebody who edits files) are killed. What a search
should find is read from the files, without the index.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from filelock import FileLock, Timeout

from remvault.index.reconcile import reconcile
from remvault.surfaces.app import open_vault
from tests.bench import process_bench
from tests.bench.figures import Figure
from tests.index.answers import answers
from tests.vaults import git, note_text

KILLS, NOTES = 300, 60
WORDS = ("deploy", "server", "relational", "alpha", "beta", "gamma", "delta")
_LONGEST_S = 0.5  # after it is ready; a verb takes about a tenth of that
_LOCK_S = 5.0  # what git began may end by itself

# A writer that imported everything, and then does one verb after another, until it is killed.
_WRITER = """
import random, sys
from remvault.surfaces.cli.program import run
from tests.bench.kills_bench import WORDS
chance, number = random.Random(int(sys.argv[1])), 0
run(["search", "warm up"])
print("ready", flush=True)
ids = sys.argv[2:]
while True:
    number += 1
    name = chance.choice(ids)
    body = f"written {sys.argv[1]}w{number} " + " ".join(chance.choices(WORDS, k=20))
    run(chance.choice([
        ["new", f"Title {sys.argv[1]} {number}", "--scope", "global", "--body", body],
        ["set", name, f"importance=0.{number % 10}"],
        ["set", name, f"title=Renamed {sys.argv[1]} {number}"],
        ["supersede", name, f"Newer {sys.argv[1]} {number}", "--body", body],
        ["delete", name],
        ["search", "deploy server"],
    ]))
"""


@dataclass
class Killing:
    """A vault in which processes are killed, and what was wrong afterwards.

    Args:
        vault: standalone, committed.
        env: for processes; this one has to have the same.
    """

    vault: Path
    env: Mapping[str, str]
    chance: random.Random
    faults: list[str] = field(default_factory=list)
    acknowledged: int = 0  # notes that a writer had said to be saved before it was killed
    kills: int = 0

    def run(self, kills: int) -> None:
        """Kill so many processes, and look around after each."""
        for number in range(kills):
            self.kills += 1
            (self.kill_a_writer if number % 2 else self.kill_a_watcher)()
            self.look_around()

    def kill_a_writer(self) -> None:
        """Kill a process in the midst of its verbs."""
        ids = [path.stem for path in self.chance.sample(self._notes(), 20)]
        command = [sys.executable, "-u", "-c", _WRITER, str(self.kills), *ids]
        victim = subprocess.Popen(
            command, cwd=self.vault, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert victim.stdout is not None
        while victim.stdout.readline() not in ("ready\n", ""):
            pass
        self._kill(victim)
        saved = [line.split()[2] for line in victim.stdout.read().splitlines() if line.startswith("new ")]
        victim.stdout.close()
        self.acknowledged += len(saved)
        self._remvault("status")
        for path in saved:
            if not git(self.vault, "log", "--format=%h", "--", path):
                self._blame(f"{path} was said to be saved and is not in the history")
        if left := git(self.vault, "status", "--porcelain"):
            self._blame(f"not settled: {left!r}")

    def kill_a_watcher(self) -> None:
        """Kill a watcher while files change under it."""
        victim = subprocess.Popen(
            [sys.executable, "-m", "remvault", "watch"],
            cwd=self.vault, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        log = self._state() / "watcher/log"
        deadline = time.monotonic() + 60
        while f"process {victim.pid}" not in (log.read_text("utf-8") if log.exists() else ""):
            if time.monotonic() > deadline or victim.poll() is not None:
                self._blame(f"no watcher came to work, code {victim.poll()}")
                break
            time.sleep(0.01)
        self._edit()
        self._kill(victim)

    def look_around(self) -> None:
        """Hold the next search against the files, and see whether anything is locked."""
        word = self.chance.choice(WORDS)
        asked = ["search", word, "--limit", "5000", "--json"]
        found = {hit["path"] for hit in json.loads(self._remvault(*asked))["hits"]}
        expected = self._scan(word)
        if found != expected:
            self._blame(f"a search for {word} differs from the files in {sorted(found ^ expected)}")
        vault = open_vault(str(self.vault))
        if answers(vault.snapshot()) != answers(reconcile(vault.notes, None)):
            self._blame("the index is not that of a fresh build")
        for lock in (self.vault / ".git/remvault/lock", self._state() / "text-index.lock"):
            try:
                FileLock(lock).acquire(timeout=0).lock.release()
            except Timeout:
                self._blame(f"{lock.name} is held")
        deadline = time.monotonic() + _LOCK_S
        while (left := self._git_locks()) and time.monotonic() < deadline:
            time.sleep(0.05)
        for lock in left:
            self._blame(f"{lock.relative_to(self.vault)} was left behind")
            lock.unlink()
        git(self.vault, "add", "-A")
        git(self.vault, "commit", "-qm", "by hand", "--allow-empty")

    def _scan(self, word: str) -> set[str]:
        """The notes that hold a word and are not superseded, as anybody could read them from the files."""
        texts = {path.relative_to(self.vault).as_posix(): path.read_text() for path in self._notes()}
        blocks = {path: yaml.safe_load(text.split("---\n")[1]) for path, text in texts.items()}
        older = {one for block in blocks.values() for one in block.get("supersedes", ())}
        older |= {block["id"] for block in blocks.values() if block["freshness"] == "superseded"}
        return {path for path, text in texts.items() if word in text.casefold() and blocks[path]["id"] not in older}

    def _edit(self) -> None:
        """What a person, an editor and git do to files."""
        for number in range(self.chance.randint(1, 30)):
            path = self.chance.choice(self._notes())
            kind = self.chance.random()
            if kind < 0.1:
                path.unlink()
            elif kind < 0.2:
                path.rename(path.with_name(f"{path.stem}.md"))
            elif kind < 0.25:
                folder = self.vault / f"moved-{self.kills}-{number}"
                path.parent.rename(folder) if path.parent != self.vault else None
            elif kind < 0.6:
                path.with_name("4913").write_text(_note(f"m-{self.kills:04}{number:06}", self.chance))
                path.with_name("4913").replace(path.with_name(f"m-{self.kills:04}{number:06}.md"))
            else:
                path.write_text(_note(path.stem, self.chance))

    def _kill(self, victim: subprocess.Popen[str]) -> None:
        time.sleep(self.chance.uniform(0, _LONGEST_S))
        victim.send_signal(signal.SIGKILL)
        victim.wait()

    def _remvault(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "remvault", *arguments]
        return subprocess.run(command, cwd=self.vault, env=self.env, check=True, capture_output=True, text=True).stdout

    def _notes(self) -> list[Path]:
        return sorted(path for path in self.vault.rglob("*.md") if ".git" not in path.parts)

    def _state(self) -> Path:
        return next((self.vault / ".git/remvault").glob("*-*"))

    def _git_locks(self) -> list[Path]:
        found = (self.vault / ".git").rglob("*.lock")
        return [path for path in found if self.vault / ".git/remvault" not in path.parents]

    def _blame(self, fault: str) -> None:
        self.faults.append(f"kill {self.kills}: {fault}")
        print(self.faults[-1], flush=True)


def make_vault(folder: Path, notes: int, env: Mapping[str, str], chance: random.Random) -> Path:
    """A committed vault of so many notes, each named after its id."""
    folder.mkdir(parents=True)
    process_bench.run([sys.executable, "-m", "remvault", "init"], folder, env)
    for number in range(notes):
        path = folder / f"global/f{number % 4}/m-{number:010}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_note(path.stem, chance))
    git(folder, "add", ".", env=dict(env))
    git(folder, "commit", "-qm", "notes", env=dict(env))
    return folder


def figure(base: Path, *, kills: int, seed: int) -> Figure:
    """Kill so many processes in a fresh vault below `base`."""
    env = process_bench.environment(base / "home")
    os.environ.update(env)
    chance = random.Random(seed)
    killing = Killing(make_vault(base / "vault", NOTES, env, chance), env, chance)
    killing.run(kills)
    return Figure(
        "SIGKILL of watcher and writer in turns, then search",
        f"{kills} kills, {len(killing.faults)} faults; {killing.acknowledged} acknowledged notes kept",
        "0 faults",
        not killing.faults,
    )


def main(arguments: list[str]) -> int:
    """Print the report."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    process_bench.clean_process_environment()
    with tempfile.TemporaryDirectory(prefix="remvault-bench-") as folder:
        found = figure(Path(folder), kills=asked.kills, seed=asked.seed)
    print(found.line())
    return 0 if found.is_met else 1


def _note(memory_id: str, chance: random.Random) -> str:
    body = " ".join(chance.choices(WORDS, k=chance.randint(3, 30)))
    return note_text(chance.choice(WORDS).title(), id=memory_id, body=body + "\n")
