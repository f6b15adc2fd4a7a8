"""A lock file of git that, left by a killed process of ours, can be told from anybody else's.

A file of our own is written first; taking the lock gives that file a second name. Whoever finds the lock and our file
to be one file knows whose lock it is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


class LockHeld(Exception):
    """Somebody else holds the lock."""


@dataclass(frozen=True, slots=True)
class OwnLock:
    """Git's lock on `target`. Call every method but `is_left_over` with our write lock held."""

    target: Path
    part: Path  # our own file; on the same file system, in a folder where git looks for nothing

    @property
    def lock(self) -> Path:
        """Git's lock on the target."""
        return self.target.with_name(f"{self.target.name}.lock")

    def is_left_over(self) -> bool:
        """Whether the lock was left by a killed process of ours, or is being used by one this very moment."""
        try:
            return os.path.samestat(self.lock.lstat(), self.part.lstat())
        except OSError:
            return False

    def clear(self) -> None:
        """Remove what a killed process of ours left; any other lock stays."""
        if self.is_left_over():
            self.lock.unlink()
        self.part.unlink(missing_ok=True)

    def take(self) -> None:
        """Take the lock; `part` must be written. Raises LockHeld (and forgets the part) or OSError."""
        try:
            os.link(self.part, self.lock)
            return
        except FileExistsError as err:
            self.part.unlink()
            raise LockHeld(str(self.lock)) from err
        except OSError:
            pass  # no hard links here: then a lock left by a killed process cannot be told from others
        try:
            with self.lock.open("xb") as stream:
                stream.write(self.part.read_bytes())
        except FileExistsError as err:
            self.part.unlink()
            raise LockHeld(str(self.lock)) from err

    def free(self) -> None:
        """Free the lock; the target stays as it is."""
        self.lock.unlink()
        self.part.unlink()

    def finish(self) -> None:
        """Make what `part` held the target and free the lock, in one step."""
        self.lock.replace(self.target)
        self.part.unlink(missing_ok=True)
