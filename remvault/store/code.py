"""The code that memories point into: the files of one work tree, read so that nothing outside of it ever is.

Owns: which paths may be read, and reading them.
Leaves alone: what is in a file (code_source), the states of anchors (anchor_states), where code went (anchor_moves).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from remvault.errors import UserError
from remvault.store.limits import TOO_LARGE, read_limited
from remvault.store.trees import ROOT, FileStat, open_below
from remvault.store.work_tree import WorkTree


class CodeMissing(UserError):
    """The code has no file at this path."""

    code = "code_missing"

    def __init__(self, path: str, reason: str = "no such file") -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path!r} is not in the code: {reason}")


class CodeUnreadable(UserError):
    """There is something at this path, but not a file of the code that we may read."""

    code = "code_unreadable"

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path!r} cannot be read: {reason}")


class CodeRoot:
    """The files of a work tree. Paths are relative to its root, with "/", and have gone through `parse_place`.

    Args:
        environ: for git.
    """

    def __init__(self, tree: WorkTree, environ: Mapping[str, str]) -> None:
        self.tree, self.environ = tree, environ
        self._top = os.path.join(os.path.realpath(tree.root), "")  # noqa: PTH118  ends in a separator

    @property
    def root(self) -> Path:
        """The top of the work tree."""
        return self.tree.root

    def stat(self, path: str) -> os.stat_result | None:
        """The stat of a file, links followed; None when it has none. Only to tell whether it is as it was when read."""
        try:
            return os.stat(self._top + path)  # noqa: PTH116  a thousand a look
        except (OSError, ValueError):
            return None

    def read(self, path: str) -> tuple[bytes, FileStat]:
        """All bytes of a file, and its stat from before they were read. Links are followed inside the work tree only.

        Raises:
            CodeMissing: nothing is there, or a folder.
            CodeUnreadable: a link that leaves the work tree, a special file, no permission, or beyond the limit.
        """
        *folders, name = self._inside(path)
        try:
            # Once more without any link, so that one made meanwhile leads nowhere.
            handle = open_below(self.root, ROOT, folders, name)
        except (FileNotFoundError, NotADirectoryError) as err:
            raise CodeMissing(path) from err
        except OSError as err:
            raise CodeUnreadable(path, err.strerror or "it cannot be opened") from err
        try:
            found = os.fstat(handle)
            if stat.S_ISDIR(found.st_mode):
                raise CodeMissing(path, "it is a folder")
            if not stat.S_ISREG(found.st_mode):
                raise CodeUnreadable(path, "it is not a regular file")
            with open(handle, "rb", closefd=False) as stream:
                data = read_limited(stream)
        except OSError as err:
            raise CodeUnreadable(path, err.strerror or "it cannot be read") from err
        finally:
            os.close(handle)
        if data is None:
            raise CodeUnreadable(path, f"it is {TOO_LARGE}")
        return data, FileStat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)

    def _inside(self, path: str) -> list[str]:
        """The parts of the real place of a path; raises CodeUnreadable when a link on the way leaves the work tree."""
        try:
            real = os.path.realpath(self._top + path)
        except (OSError, ValueError) as err:
            raise CodeUnreadable(path, "its name is not allowed here") from err
        if not real.startswith(self._top):
            raise CodeUnreadable(path, "a link leaves the code root")
        parts = Path(real).relative_to(self._top).parts
        if ".git" in (part.lower() for part in parts):
            raise CodeUnreadable(path, "a link points into git's own folder")
        return list(parts)
