"""The last head seen of each branch, kept in the user's own state folder, away from the repository it tells of.

Whoever puts an older copy of a repository in place of the present one cannot roll this back with it. A record only
moves forward: a write on top of a history that lost something does not cover the loss up.

Owns: the records, and adding to them after each write. Leaves alone: what a lost head means (verifying).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from remvault.errors import GitError
from remvault.store.ledger import Ledger
from remvault.store.state import make_private, write_whole
from remvault.store.work_tree import WorkTree, head


class Witness:
    """The records of one vault in one work tree."""

    def __init__(self, user_state: Path, tree: WorkTree, *, vault_id: str) -> None:
        key = os.fsencode(os.path.realpath(tree.git_dir)) + b"\0" + vault_id.encode("utf-8", "surrogateescape")
        self._folder = user_state / "heads" / hashlib.sha256(key).hexdigest()[:32]

    def heads(self) -> dict[str, str]:
        """Branch to the commit last seen at its tip."""
        found = {}
        with suppress(OSError):
            for file in sorted(self._folder.iterdir()):
                commit, _, branch = _read(file).partition(" ")
                if branch and file.name == _name(branch):
                    found[branch] = commit
        return found

    def set(self, branch: str, commit: str) -> None:
        """Record a tip; raises OSError."""
        make_private(self._folder)
        write_whole(
            self._folder / _name(branch), f"{commit} {branch}\n".encode("utf-8", "surrogateescape"), durable=False
        )

    def forget(self, branch: str) -> None:
        """Drop a record; raises OSError."""
        (self._folder / _name(branch)).unlink(missing_ok=True)

    def advance(self, branch: str, commit: str, contains: Callable[[str], bool]) -> None:
        """Record a tip if it follows from the one recorded, as `contains` says of that one; raises OSError."""
        known = _read(self._folder / _name(branch)).partition(" ")[0]
        if known != commit and (not known or contains(known)):
            self.set(branch, commit)


def _name(branch: str) -> str:
    return hashlib.sha256(branch.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape").rstrip("\n")
    except OSError:
        return ""


class WitnessedLedger(Ledger):
    """A ledger that records, before it lets go of the lock, the head that it leaves behind."""

    witness: Witness | None = None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """See `Ledger`."""
        with super().locked():
            yield
            self._record()

    def _record(self) -> None:
        if self.witness is None or self.tree is None:
            return
        where = head(self.tree, self._environ)
        if where.branch is None or where.commit is None:
            return
        tip = where.commit
        with suppress(OSError, GitError):  # a record that cannot be written spoils no write
            self.witness.advance(where.branch, tip, lambda known: self.committer().repository.is_ancestor(known, tip))
