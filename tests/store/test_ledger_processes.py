"""Many writers at once, and writers killed at any moment."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from remvault.domain.blobs import blob_id
from tests.store.conftest import Desk, MakeDesk
from tests.vaults import note_text

WRITER = """
import os, sys, random
from datetime import UTC, datetime
from pathlib import Path
from remvault.domain.blobs import blob_id
from remvault.domain.commit_message import Operation
from remvault.store.ledger import FileChange, Ledger
from remvault.store.state import open_state
from remvault.store.work_tree import find_work_tree
from tests.vaults import note_text
root, name, count, updates = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4] == "updates"
tree = find_work_tree(root)
state = open_state(tree, vault_id="v", prefix="", user_state=Path(os.environ["XDG_STATE_HOME"]))
ledger = Ledger(root, tree=tree, state=state, mode="auto", environ=os.environ, clock=lambda: datetime.now(UTC),
                lock_timeout_s=60)
print("ready", flush=True)
for number in range(count):
    path = root / f"global/{name}-{number % 5 if updates else number}.md"
    before = path.read_bytes() if path.exists() else None
    text = note_text(f"{name} {number}", body=f"{number}\\n" * (number % 300 + 1)).encode()
    outcome = ledger.write(
        Operation("update" if before else "new", f"{name} {number}", ids=(f"m-{name}-{number}",)),
        [FileChange(f"global/{path.name}", text, None if before is None else blob_id(before))],
    )
    assert outcome.committed or (outcome.saved and "index.lock" in outcome.pending), outcome
    print(number, flush=True)
"""


def start(root: Path, name: str, count: int, kind: str = "new") -> subprocess.Popen[str]:
    args = [sys.executable, "-c", WRITER, str(root), name, str(count), kind]
    return subprocess.Popen(
        args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )


def test_8_processes_writing_50_notes_each_make_400_commits(desk: Desk) -> None:
    writers = [start(desk.root, f"w{number}", 50) for number in range(8)]
    for writer in writers:
        _, complaint = writer.communicate(timeout=120)
        assert writer.returncode == 0, complaint

    assert len(list((desk.root / "global").iterdir())) == 400
    assert desk.git("rev-list", "--count", "HEAD").strip() == "400"
    assert desk.git("fsck", "--strict") == ""
    assert desk.git("status", "--porcelain") == ""
    assert desk.git("diff", "--cached", "--name-only") == ""
    assert desk.ledger.pending() == []
    subjects = desk.git("log", "--format=%s").splitlines()
    assert len(set(subjects)) == 400


def test_a_person_committing_meanwhile_loses_nothing(desk: Desk) -> None:
    desk.commit_by_hand("code.py", "0")
    writer = start(desk.root, "w", 30)
    assert writer.stdout is not None
    writer.stdout.readline()
    mine = 0
    while writer.poll() is None:
        mine += 1
        (desk.root / "code.py").write_text(str(mine))
        for _ in range(200):  # git too finds our lock held now and then, as it would another git's
            done = subprocess.run(["git", "commit", "-qam", f"mine {mine}"], cwd=desk.root, capture_output=True)
            if done.returncode == 0:
                break
    _, complaint = writer.communicate()

    assert writer.returncode == 0, complaint
    desk.ledger.settle()
    subjects = desk.git("log", "--format=%s").splitlines()
    assert sum(subject.startswith("new:") for subject in subjects) <= 30, "the person's commit may have taken one along"
    assert len(desk.git("ls-tree", "--name-only", "HEAD", "global/").splitlines()) == 30
    assert sum(subject.startswith("mine") for subject in subjects) == mine
    assert desk.git("status", "--porcelain") == ""
    assert desk.git("fsck", "--strict", "--no-dangling") == ""


def test_writers_killed_at_any_moment_leave_whole_notes_and_a_usable_repository(
    desk: Desk, make_desk: MakeDesk
) -> None:
    desk.commit_by_hand("code.py", "x")
    chance = random.Random(20)
    for round_ in range(16):
        (desk.root / "code.py").write_text(f"staged {round_}")
        desk.git("add", "code.py")
        staged = desk.git("diff", "--cached", "--", "code.py")
        writer = start(desk.root, "w", 10_000, "updates")
        assert writer.stdout is not None
        for _ in range(chance.randrange(1, 4)):
            writer.stdout.readline()
        deadline = time.monotonic() + chance.random() * 0.04
        while time.monotonic() < deadline:
            pass
        writer.send_signal(signal.SIGKILL)
        writer.communicate()

        for path in (desk.root / "global").glob("w-*.md"):
            lines = path.read_text().split("---\n")[-1].splitlines()
            assert len(set(lines)) == 1, "half a note"
            assert len(lines) == int(lines[0]) % 300 + 1
        again = make_desk()
        outcome = again.write(f"global/after-{round_}.md", note_text(f"after {round_}"))
        assert outcome.committed, outcome
        assert again.ledger.pending() == []
        assert desk.git("diff", "--cached", "--", "code.py") == staged
        assert desk.git("status", "--porcelain") == "M  code.py\n"
        assert desk.git("fsck", "--strict", "--no-dangling") == ""
    assert not list((desk.root / ".git").glob("*.lock"))
    assert blob_id(note_text("after 15").encode()) == desk.git("rev-parse", "HEAD:global/after-15.md").strip()
