"""Reported faults of several writers at once: a change that vanishes although its writer was told it was saved."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

import remvault
from remvault.domain.actors import Author
from remvault.domain.draft import Draft
from remvault.domain.note import parse_note
from remvault.errors import ConflictError
from remvault.store.files import FileChanged
from remvault.store.vault import Vault
from remvault.store.written import Act
from remvault.surfaces.editing import edit_in_editor
from tests.vaults import git, note_text

# `make soak` takes the numbers of the report; everyday runs do enough to meet every race several times.
IS_SOAK = os.environ.get("REMVAULT_TEST_SOAK") == "1"
WRITERS, NOTES, APPENDERS, LINES = (16, 500, 8, 100) if IS_SOAK else (4, 8, 3, 6)

WRITER = """
import sys, remvault
from remvault.errors import ConflictError
root, number, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
for step in range(count):
    while True:
        vault = remvault.open_vault(root, actor=f"agent:w{number}")
        try:
            written = remvault.new(vault, f"Note {number}.{step}", scope="global", body=f"{number} {step}")
            break
        except ConflictError:
            pass  # others had the lock for too long, and we were told that nothing was written
    assert written.outcome.committed, written.outcome
    print(written.id)
"""
APPENDER = """
import sys, remvault
from pathlib import Path
from remvault.errors import ConflictError
root, number, count, path = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
for step in range(count):
    while True:
        vault = remvault.open_vault(root, actor=f"agent:a{number}")
        note, data = vault.vault.load(path)
        try:
            written = vault.vault.save(path, data + f"- {number}.{step}\\n".encode(), vault.act(), base=note)
        except ConflictError:
            print("refused")  # somebody was quicker: read again
            continue
        assert written.outcome.committed, written.outcome
        print(f"{number}.{step}")
        break
"""


def run(code: str, *arguments: object) -> list[str]:
    """Run a writer in a process of its own and return what it was told was saved."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture
def vault(repo: Path) -> remvault.OpenVault:
    remvault.init(str(repo))
    return remvault.open_vault(str(repo))


def test_r50_every_acknowledged_write_is_in_files_and_history(vault: remvault.OpenVault) -> None:
    shared = remvault.new(vault, "A list", scope="global", body="Items:\n")
    # The slow one: it took its picture before everybody else began, and writes after.
    note, data = vault.vault.load(shared.path)

    with ThreadPoolExecutor(WRITERS + APPENDERS) as pool:
        new = [pool.submit(run, WRITER, vault.root, number, NOTES) for number in range(WRITERS)]
        appended = [pool.submit(run, APPENDER, vault.root, number, LINES, shared.path) for number in range(APPENDERS)]
        ids = [one for done in new for one in done.result()]
        said = Counter(one for done in appended for one in done.result())

    lines = {f"{number}.{step}" for number in range(APPENDERS) for step in range(LINES)}
    assert set(said) - {"refused"} == lines
    with pytest.raises(FileChanged):
        vault.vault.save(shared.path, data + b"- slow\n", vault.act(), base=note)
    on_disk = [parse_note(path.name, path.read_bytes()).memory.id for path in vault.root.rglob("*.md")]
    assert Counter(on_disk) == Counter([*ids, shared.id])
    body = (vault.root / shared.path).read_text().splitlines()
    assert sorted(line.removeprefix("- ") for line in body if line.startswith("- ") and "." in line) == sorted(lines)
    commits = git(vault.root, "log", "--format=%(trailers:key=Remvault-Memory,valueonly,separator=%x2C)").split()
    assert Counter(commits) == Counter(ids) + Counter({shared.id: 1 + len(lines)})
    assert git(vault.root, "status", "--porcelain") == ""
    assert git(vault.root, "fsck", "--strict", "--no-dangling") == ""


def test_r51_a_version_saved_by_another_tool_is_never_written_over(vault: remvault.OpenVault) -> None:
    made = remvault.new(vault, "Deploys", scope="global", body="On Tuesday.\n")
    note, data = vault.vault.load(made.path)
    path = vault.root / made.path
    path.write_bytes(data + b"By hand.\n")

    with pytest.raises(FileChanged) as caught:
        vault.vault.update(made.path, data + b"From memory.\n", vault.act(), base=note)

    assert "changed meanwhile" in caught.value.message
    assert path.read_bytes() == data + b"By hand.\n"
    # Having read it again, both are kept: the person's version has a commit of its own.
    note, data = vault.vault.load(made.path)
    written = vault.vault.update(made.path, data + b"From memory.\n", vault.act(), base=note)
    assert written.outcome is not None
    assert len(written.outcome.edits) == 1
    assert path.read_text().endswith("By hand.\nFrom memory.\n")


def test_r51_an_edit_that_came_too_late_keeps_both_texts(
    vault: remvault.OpenVault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = remvault.new(vault, "Deploys", scope="global", body="On Tuesday.\n")
    path = vault.root / made.path
    # Another tool saves the note while the editor is open.
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\necho "By another tool." >>"{path}"\necho "In the editor." >>"$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))

    with pytest.raises(ConflictError) as caught:
        edit_in_editor(vault, made.id)

    assert path.read_text().endswith("By another tool.\n")
    kept = Path((caught.value.hint or "").rpartition("your text is kept in ")[2])
    assert kept.read_text().endswith("In the editor.\n")


def test_r51_a_file_that_nobody_knew_of_is_never_replaced_by_a_new_note(vault: remvault.OpenVault) -> None:
    writer = Vault(
        vault.root, vault.ledger, is_embedded=False, private=vault.private_folder, entropy=lambda size: b"\1" * size
    )
    act = Act(Author("user:dana", None), datetime.now(UTC))
    draft = Draft("Deploys", "Ours.\n", {"scope": "global"})
    rehearsed = writer.new(draft, Act(act.author, act.now, dry_run=True))
    there = vault.root / rehearsed.path
    there.parent.mkdir(exist_ok=True)
    there.write_text(note_text("Of another tool", id=rehearsed.id))

    written = writer.new(draft, act)

    assert there.read_text() == note_text("Of another tool", id=rehearsed.id)
    assert written.path != rehearsed.path
    assert "Ours." in (vault.root / written.path).read_text()
