"""This project's own memories point into its own code, and its own checks hold them to it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from remvault.domain.note import Note, parse_note
from remvault.surfaces import demo
from tests.surfaces.conftest import ROOT, Cli
from tests.vaults import git

CHECK = ("--vault", "vault", "check")  # as `make test` does
RENAMED = ("remvault/domain/lineage.py", "build_lineage", "lineage_of")


def own_notes(folder: Path = ROOT) -> list[Note]:
    return [parse_note(str(file), file.read_bytes()) for file in sorted((folder / "vault").rglob("*.md"))]


@pytest.fixture
def copy(repo: Path) -> Path:
    """A copy of this repository: its memories, and the files they are anchored to."""
    shutil.copytree(ROOT / "vault", repo / "vault", ignore=shutil.ignore_patterns("private", "handoffs"))
    for note in own_notes():
        for anchor in note.memory.anchors:
            path = anchor.at.partition("#")[0]
            (repo / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, repo / path)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "copy")
    return repo


def rename(folder: Path) -> str:
    """Rename a function that a memory is anchored to; that memory's path in the repository."""
    path, old, new = RENAMED
    [note] = [one for one in own_notes(folder) if any(anchor.at == f"{path}#{old}" for anchor in one.memory.anchors)]
    text = (folder / path).read_text(encoding="utf-8")
    assert f"def {old}(" in text
    (folder / path).write_text(re.sub(rf"\b{old}\b", new, text), encoding="utf-8")
    return Path(note.path).relative_to(folder).as_posix()


def test_nothing_that_our_memories_rest_on_is_gone(copy: Path, cli: Cli) -> None:
    found = cli(*CHECK, "--json", cwd=copy).json["problems"]

    assert [one for one in found if one["code"] not in ("RV305", "RV307")] == []


@pytest.mark.parametrize("mend", [("check", "--fix"), ("confirm",)])
def test_renaming_a_function_that_a_memory_rests_on_fails_the_build_until_it_is_mended(
    copy: Path, cli: Cli, mend: tuple[str, ...]
) -> None:
    memory = next(note for note in own_notes(copy) if str(note.path).endswith("m-pnpyrnt3ez.md")).memory.id
    assert memory is not None
    cli("--vault", "vault", "confirm", memory, cwd=copy)  # its digest may be older than the code
    git(copy, "commit", "-qam", "confirmed")

    note = rename(copy)
    done = cli(*CHECK, cwd=copy, code=1)
    path, old, new = RENAMED
    assert f"{note}:13: RV304 anchor '{path}#{old}': no {old} in the file; {new} is the same code" in done.out

    cli("--vault", "vault", *mend, *([memory] if mend == ("confirm",) else []), cwd=copy)
    cli(*CHECK, cwd=copy)
    assert f"  - at: {path}#{new}\n" in (copy / note).read_text(encoding="utf-8")


def test_the_tour_shows_how_a_renamed_function_is_told_and_mended(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    shown: list[str] = []
    monkeypatch.setattr(demo, "STEPS", demo.STEPS[-3:])

    demo.run_demo(shown.append, environ=os.environ, colours=False)

    text = "\n".join(shown)
    assert "$ sed -i s/build_lineage/lineage_of/ remvault/domain/lineage.py\n$ remvault stale\ncode is gone: 1" in text
    assert "lineage_of is the same code" in text
    assert "remvault: fixed project/remvault/the-newer-note-s-supersedes" in text
    assert "RV304" not in text
    assert "not checked" not in text
