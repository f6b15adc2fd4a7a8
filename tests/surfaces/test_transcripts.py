"""Golden transcripts of the journeys: real commands, their output compared line by line.

A transcript is `$ command` lines, each followed by its output, standard error behind standard output. Ids, commits and
folders are replaced by names; the clock stands still. `UPDATE_TRANSCRIPTS=1` writes what is seen: read the difference.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from remvault.surfaces.app import Surroundings
from tests.surfaces.conftest import Cli

FOLDER = Path(__file__).parent / "transcripts"
NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


def _entropy() -> Callable[[int], bytes]:
    numbers = count(1)
    return lambda size: next(numbers).to_bytes(7, "big") + b"\0" * (size - 7)


def _normal(text: str, home: Path) -> str:
    text = text.replace(str(home), "/home/dana")
    text = re.sub(r"\b[0-9a-f]{40}\b|(?<!m-)\b[0-9a-f]{10}\b(?=  |$|,|\))", "<commit>", text, flags=re.MULTILINE)
    return re.sub(r"\bw-[0-9a-z]{10}\b", "w-<workspace>", text)


def _commands(text: str) -> Iterator[str]:
    return (line[2:] for line in text.splitlines() if line.startswith("$ "))


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.txt")))
def test_the_journey_reads_as_written(name: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surroundings, entropy = Surroundings.of_process, _entropy()
    monkeypatch.setattr(Surroundings, "of_process", lambda: replace(surroundings(), now=lambda: NOW, entropy=entropy))
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_DATE", "2026-12-01T09:30:00Z")
    golden = FOLDER / f"{name}.txt"
    here = tmp_path
    seen = []
    for command in _commands(golden.read_text(encoding="utf-8")):
        if command.startswith("cd "):
            here, output = here / command[3:], ""
        elif command.startswith("remvault "):
            done = cli(*shlex.split(command)[1:], cwd=here, code=None)
            output = done.out + done.err + (f"[exit {done.code}]\n" if done.code else "")
        else:
            shell = subprocess.run(["sh", "-c", command], cwd=here, capture_output=True, text=True)
            output = shell.stdout + shell.stderr + (f"[exit {shell.returncode}]\n" if shell.returncode else "")
        seen.append(f"$ {command}\n{_normal(output, tmp_path)}")
    transcript = "".join(seen)
    if os.environ.get("UPDATE_TRANSCRIPTS") == "1":
        golden.write_text(transcript, encoding="utf-8")

    assert transcript == golden.read_text(encoding="utf-8")
