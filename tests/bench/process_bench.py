"""Whole commands against bare interpreters that import the same libraries, and commits against git's own."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from remvault.domain.commit_message import Operation
from remvault.store.committing import Committer, Tracked
from remvault.store.ledger import FileChange, Ledger
from remvault.store.state import open_state
from remvault.store.work_tree import find_work_tree, git_config
from tests.bench.figures import Figure, alternating_ms, median_ms, times_ms
from tests.bench.vault_generator import generate
from tests.vaults import clean_environment, git, note_text

ROOT = Path(__file__).parent.parent.parent


def environment(home: Path) -> dict[str, str]:
    """A home of its own with an identity, and this checkout importable."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "gitconfig").write_text("[user]\n\tname = Bench\n\temail = bench@example.org\n[gc]\n\tauto = 0\n")
    return clean_environment(home) | {"PYTHONPATH": str(ROOT)}


def make_vault(folder: Path, notes: int, env: Mapping[str, str]) -> Path:
    """A committed, indexed standalone vault of so many notes."""
    folder.mkdir(parents=True)
    run([sys.executable, "-m", "remvault", "init"], folder, env)
    generate(folder, notes)
    git(folder, "add", ".", env=dict(env))
    git(folder, "commit", "-qm", "notes", env=dict(env))
    run([sys.executable, "-m", "remvault", "search", "warm up"], folder, env)
    return folder


def run(command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
    """Run a command to its good end."""
    subprocess.run(command, cwd=cwd, env=dict(env), check=True, capture_output=True)


def whole_process(small: Path, large: Path, env: Mapping[str, str], *, runs: int) -> list[Figure]:
    """`new` and `search` as a person waits for them."""

    def python(code: str) -> Callable[[], None]:
        return lambda: run([sys.executable, "-c", code], large, env)

    def remvault(vault: Path, *arguments: str) -> Callable[[], None]:
        return lambda: run([sys.executable, "-m", "remvault", *arguments], vault, env)

    numbers = count()

    def write(vault: Path) -> Callable[[], None]:
        # Another text each time: the same text would confirm the note that is there.
        return lambda: remvault(vault, "new", f"Bench note {next(numbers)}", "--scope", "global", "--body", "text")()

    on_large, on_small = alternating_ms(write(large), write(small), runs=runs)
    again, imports = alternating_ms(write(large), python("import typer, pygit2"), runs=runs)
    find = remvault(large, "--context", "project=project-1", "search", "retry queue")
    found, peer = alternating_ms(find, python("import typer, whoosh.index"), runs=runs)
    return [
        _ratio("new, whole process, 10k notes : 10 notes", on_large, on_small, 2),
        _ratio("new, whole process, 10k notes : import typer, pygit2", again, imports, 3),
        _ratio("search, whole process, 10k notes : import typer, whoosh.index", found, peer, 4),
    ]


def commit_in_process(vault: Path, name: str, env: Mapping[str, str], *, runs: int) -> list[Figure]:
    """The commit of one saved note, staged entry included, beside `git commit -- path` on the same repository.

    Both sides begin with the note on disk and end with a clean status; `git add` is taken off git's side and storing
    the note's blob off ours. The whole write (lock, queue, synced files, commit) is reported beside.
    """
    tree = find_work_tree(vault)
    assert tree is not None
    state = open_state(tree, vault_id="bench", prefix="", user_state=vault.parent / "state")
    config = git_config(tree, env)

    def clock() -> datetime:
        return datetime.now(UTC)

    numbers = count()
    committing: list[float] = []

    def ours() -> None:
        number = next(numbers)
        path = f"global/ours-{number}.md"
        data = note_text(f"Ours {number}", id=f"m-ours-{number}").encode()
        (vault / path).write_bytes(data)
        committer = Committer(tree, "auto", env, clock, config)
        blob = committer.store(path, data, None)
        started = time.perf_counter()
        outcome = committer.take(_operation(number), [Tracked(path, blob, None)])
        committing.append((time.perf_counter() - started) * 1000)
        assert outcome.committed, outcome.pending

    def gits() -> None:
        number = next(numbers)
        path = f"global/git-{number}.md"
        (vault / path).write_text(note_text(f"Git {number}", id=f"m-git-{number}"))
        git(vault, "add", path, env=dict(env))
        started = time.perf_counter()
        git(vault, "commit", "-qm", f"new: {number}", "--", path, env=dict(env))
        theirs.append((time.perf_counter() - started) * 1000)

    theirs: list[float] = []
    # Each in a row, as a person's or an agent's commits come; the first of a row does not count.
    for act, taken in ((ours, committing), (gits, theirs)):
        times_ms(act, runs=runs)
        del taken[0]
    ledger = Ledger(
        vault, tree=tree, state=state, mode="auto", environ=env, clock=clock, config=config, lock_timeout_s=60
    )

    def whole() -> None:
        number = next(numbers)
        data = note_text(f"Whole {number}", id=f"m-whole-{number}").encode()
        outcome = ledger.write(_operation(number), [FileChange(f"global/whole-{number}.md", data, None)])
        assert outcome.committed, outcome.pending

    mine, peer = statistics.median(committing), statistics.median(theirs)
    return [
        Figure(
            f"commit of one note in process, {name} notes",
            f"{mine:.1f} ms, git commit -- path {peer:.0f} ms: {peer / mine:.1f}x faster",
            "3x or more",
            peer / mine >= 3,
        ),
        Figure(
            f"whole write of one note in process, {name} notes",
            f"{median_ms(whole, runs=runs):.1f} ms: lock, queue, synced files, commit",
            "",
            None,
        ),
    ]


def _operation(number: int) -> Operation:
    return Operation(op="new", title=f"Ours {number}", actor="user:Bench")


def _ratio(name: str, measured: float, peer: float, most: float) -> Figure:
    ratio = measured / peer
    return Figure(name, f"{measured:.0f} ms : {peer:.0f} ms = {ratio:.2f}", f"at most {most}x", ratio <= most)


def clean_process_environment() -> None:
    """Take git's and our own variables out of this process, as a test's home does."""
    for name in list(os.environ):
        if name.startswith(("GIT_", "REMVAULT_")):
            del os.environ[name]
