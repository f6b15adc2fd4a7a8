"""A ledger over a real repository, and the small things its tests repeat."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from remvault.domain.blobs import blob_id
from remvault.domain.commit_message import Operation
from remvault.store.ledger import FileChange, Ledger, Mode, Outcome
from remvault.store.state import open_state
from remvault.store.work_tree import find_work_tree
from tests.vaults import git, note_text


@dataclass(frozen=True)
class Desk:
    """One vault and its ledger."""

    root: Path
    ledger: Ledger

    def write(self, path: str, text: str | None, *, op: str = "new", title: str = "A memory") -> Outcome:
        """Write, replace or (None) remove one note, computed from what is on disk now."""
        target = self.root / path
        base = blob_id(target.read_bytes()) if target.exists() else None
        data = None if text is None else text.encode()
        operation = Operation(op, title, ids=("m-0000000000",), scope="global:", actor="user:dana")
        return self.ledger.write(operation, [FileChange(path, data, base)])

    def git(self, *args: str, check: bool = True) -> str:
        """Run git in the vault's folder."""
        return git(self.root, *args, check=check)

    def ops(self) -> list[str]:
        """`Remvault-Op` of every commit, newest first, "-" for none."""
        out = self.git("log", "--format=%(trailers:key=Remvault-Op,valueonly,separator=%x2C)|")
        return [line.strip() or "-" for line in out.replace("\n", "").split("|")[:-1]]

    def has_stored(self, word: bytes) -> bool:
        """Whether any object of the repository, reachable or not, holds the word."""
        args = ["git", "cat-file", "--batch-all-objects", "--batch"]
        return word in subprocess.run(args, cwd=self.root, check=True, capture_output=True).stdout

    def commit_by_hand(self, path: str, text: str, message: str = "by hand") -> None:
        """Commit a file as a person would."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
        self.git("add", path)
        self.git("commit", "-q", "-m", message)


MakeDesk = Callable[..., Desk]


@pytest.fixture
def make_desk(repo: Path, home: Path) -> MakeDesk:
    """Return a function that opens a ledger: `make_desk(root=…, mode=…, …)`."""

    def make(
        root: Path = repo, mode: Mode = "auto", environ: Mapping[str, str] | None = None, lock_timeout_s: float = 10.0
    ) -> Desk:
        root.mkdir(parents=True, exist_ok=True)
        tree = find_work_tree(root)
        prefix = "" if tree is None else os.path.relpath(root, tree.root).replace(".", "", 1)
        state = tree and open_state(tree, vault_id="v", prefix=prefix, user_state=home / "state")
        ledger = Ledger(
            root,
            tree=tree,
            state=state,
            mode=mode,
            environ=os.environ if environ is None else environ,
            clock=lambda: datetime.now(UTC),
            lock_timeout_s=lock_timeout_s,
        )
        return Desk(root, ledger)

    return make


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A standalone vault in a fresh repository."""
    return make_desk()


@pytest.fixture
def text() -> str:
    """A valid note."""
    return note_text()
