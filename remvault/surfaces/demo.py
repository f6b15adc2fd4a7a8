"""The guided tour: real commands on a throw-away copy of this project's own vault."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from remvault.domain.edits import remove_item
from remvault.domain.note import parse_note
from remvault.errors import RemvaultError
from remvault.resources import PACKAGE, ResourceMissing, demo_vault, resource
from remvault.store.work_tree import child_environment


class DemoFailed(RemvaultError):
    """A command of the tour did not end well."""

    code = "demo_failed"

    def __init__(self, command: str, output: str) -> None:
        self.command = command
        super().__init__(f"the tour stopped at: {command}", hint=output.strip() or None)


@dataclass(frozen=True, slots=True)
class Step:
    """One stop of the tour: what is said, and the command with its options."""

    said: str
    command: tuple[str, ...]
    rename: tuple[str, str, str] | None = None  # done before: a file of the code, a name in it, its new name


NEW_TITLE = "Bench runs: one warm-up run first"
STEPS = (
    Step("Notes are files in git. Ask in plain words; each hit says why it is there.",
         ("search", "why do we use whoosh", "-n", "3", "--explain")),
    Step("The same for an agent: one bounded block, every memory with id, source and scope.",
         ("surface", "I want to add a validation rule to check", "--budget-chars", "2400", "--explain")),
    Step("Write a memory. It is one file and one commit, made with your git identity.",
         ("new", NEW_TITLE, "--type", "procedure", "--tag", "bench",
          "--body", "Throw the first run away: it fills the disk cache.", "--reason", "figures jumped between runs")),
    Step("It turned out to be wrong. Nothing is overwritten: a newer memory takes its place.",
         ("supersede", NEW_TITLE, "Bench runs: three warm-up runs, then the median",
          "--body", "One warm-up run was not enough on shared machines.", "--reason", "second runs were still slow")),
    Step("Only the newer one is found ...", ("search", "bench warm-up")),
    Step("... and the old one tells who replaced it, when and why.", ("log", NEW_TITLE)),
    Step("A memory of another project is not there at all.", ("--context", "project=other", "search", "bench warm-up")),
    Step("Memories can point into code. A function is renamed, and what rests on it is told ...", ("stale",),
         rename=("remvault/domain/lineage.py", "build_lineage", "lineage_of")),
    Step("... and what needs no guess is mended, in the line of the anchor.", ("check", "--fix")),
    Step("Everything is checked, by you, by a commit hook and in CI.", ("check",)),
)  # fmt: skip


def run_demo(show: Callable[[str], None], *, environ: Mapping[str, str], colours: bool) -> None:
    """Walk through the tour, handing every line to `show`; the copy is gone afterwards.

    Raises:
        DemoFailed: if a command ends with an error.
    """
    with _copy(environ) as (folder, env):
        for number, step in enumerate(STEPS, 1):
            typed = "remvault " + " ".join(shlex.quote(word) for word in step.command)
            show(f"\n# {number}. {step.said}")
            if step.rename is not None:
                path, old, new = step.rename
                show(_typed(f"sed -i s/{old}/{new}/ {path}", colours=colours))
                (folder / path).write_text((folder / path).read_text("utf-8").replace(old, new), "utf-8")
            show(_typed(typed, colours=colours))
            done = subprocess.run(
                [sys.executable, "-P", "-m", "remvault", *step.command],
                cwd=folder, env=env, capture_output=True, text=True,
            )  # fmt: skip
            output = done.stdout + _without_progress(done.stderr)
            if done.returncode != 0:
                raise DemoFailed(typed, output)
            show(output.rstrip("\n"))
    show("\nThe copy is gone. Make your own with 'remvault init'.")


@contextmanager
def _copy(environ: Mapping[str, str]) -> Iterator[tuple[Path, dict[str, str]]]:
    """A repository with a copy of the vault, in a home of its own: nothing of the person's is read or changed."""
    with tempfile.TemporaryDirectory(prefix="remvault-demo-") as name:
        base = Path(name)
        folder = base / "remvault"
        shutil.copytree(demo_vault(), folder / "vault", ignore=shutil.ignore_patterns("private", "handoffs"))
        _bring_code(folder)
        env = {key: value for key, value in child_environment(environ).items() if not key.startswith("REMVAULT_")}
        home = {f"XDG_{kind}_HOME": str(base / kind.lower()) for kind in ("CONFIG", "STATE", "DATA", "CACHE")}
        identity = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "HOME": str(base)}
        for role in ("AUTHOR", "COMMITTER"):
            identity |= {f"GIT_{role}_NAME": "Dana", f"GIT_{role}_EMAIL": "dana@example.org"}
        env |= home | identity | {"REMVAULT_GIT_COMMIT": "auto", "REMVAULT_ACTOR": "user:Dana"}
        for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "the project's vault"]):
            subprocess.run(["git", *command], cwd=folder, env=env, check=True, capture_output=True)
        yield folder, env


def _bring_code(folder: Path) -> None:
    """Put the code that the notes are anchored to beside them; anchors to what did not come along are left out."""
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__", "_data"))
    for file in (folder / "vault").rglob("*.md"):
        text = file.read_bytes().decode("utf-8")
        for anchor in parse_note(file.name, text.encode()).memory.anchors:
            path = anchor.at.partition("#")[0]
            if not (folder / path).exists():
                with suppress(ResourceMissing):
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(resource(path), folder / path)
            if not (folder / path).exists():
                text = remove_item(text, "anchors", partial(_points_at, anchor.at))
        file.write_bytes(text.encode())


def _points_at(at: str, item: object) -> bool:
    return item == at or (isinstance(item, dict) and item.get("at") == at)


def _typed(command: str, *, colours: bool) -> str:
    return f"\x1b[1m$ {command}\x1b[0m" if colours else f"$ {command}"


def _without_progress(text: str) -> str:
    return re.sub(r"\r[^\r\n]*(?=\r|\Z)", "", text)
