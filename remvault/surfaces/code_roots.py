"""Which code the memories of a vault may point into, seen from the current folder.

Owns: the code root of an owner, and why there is none.
Leaves alone: what the code says (store.anchor_states).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from remvault.domain.anchors import NoCode, Reading
from remvault.domain.memory import Anchor
from remvault.domain.scope import has_code
from remvault.errors import UsageError

if TYPE_CHECKING:
    from remvault.store.anchor_states import CodeAnchors
    from remvault.store.work_tree import WorkTree
    from remvault.surfaces.app import OpenVault

_NOT_HERE = "the code is not at hand here"


class CodeRoots:
    """The code at hand for one vault: the work tree that holds an embedded one; else the one of the current folder.

    A standalone vault's memories may point into the current work tree when its own ids, whatever `--context` says,
    are the memory's owner: else a note could have the files of one project compared for another.
    """

    def __init__(self, opened: OpenVault) -> None:
        self._opened = opened

    def readings(self, owner: str | None, anchors: Sequence[Anchor]) -> list[Reading]:
        """What the code says of each anchor of a memory of `owner` ("project:acme"), in the same order; never fails."""
        if not anchors:
            return []
        code = self.of(owner)
        return NoCode(self.why_not(owner)).readings(owner, anchors) if code is None else code.readings(anchors)

    def commits_since(self, owner: str | None, reading: Reading) -> int | None:
        """How many code commits changed what a drifted anchor points at since its digest was taken.

        None when nobody can tell; 0 for a change that is not committed yet.
        """
        code = self.of(owner)
        anchor = Anchor(at=reading.at, digest=reading.digest, commit=reading.commit)
        return None if code is None else code.commits_since(anchor, reading)

    def of(self, owner: str | None) -> CodeAnchors | None:
        """The code that memories of this owner point into; None when it is not at hand."""
        return self._code if self._why_not(owner) is None else None

    def why_not(self, owner: str | None) -> str:
        """Why `of` has no answer, as a person is told; "" when it has one."""
        return self._why_not(owner) or ""

    def relative(self, path: str) -> str:
        """A path from the current folder, as it is from the code root.

        Raises:
            UsageError: no code is at hand, or the path is outside of it.
        """
        if self.tree is None:
            raise UsageError(f"{path!r}: {_NOT_HERE}", hint="run it in the work tree of the code")
        root = os.path.realpath(self.tree.root)
        cwd = os.path.realpath(self._opened.surroundings.cwd)
        as_said = os.path.normpath(os.path.join(cwd, path))  # noqa: PTH118  ".." by words, as shells complete it
        for place in (as_said, os.path.realpath(as_said)):
            if place.startswith(os.path.join(root, "")):  # noqa: PTH118
                return Path(place).relative_to(root).as_posix()
        raise UsageError(f"{path!r} is outside the code at {root}", hint="name a file of the code")

    @cached_property
    def tree(self) -> WorkTree | None:
        """The work tree whose files may be read at all."""
        bearings = self._opened.bearings
        if self._opened.is_embedded:
            return bearings.tree
        return bearings.here if bearings.here != bearings.tree else None

    @cached_property
    def _owners(self) -> frozenset[str]:
        return self._opened.bearings.own_context().owners()

    @cached_property
    def _code(self) -> CodeAnchors | None:
        from remvault.store.anchor_states import CodeAnchors
        from remvault.store.code import CodeRoot

        if self.tree is None:
            return None
        around = self._opened.surroundings
        root = CodeRoot(self.tree, around.environ)
        return CodeAnchors(root, self._opened.state, clock_ns=lambda: int(around.now().timestamp() * 1e9))

    def _why_not(self, owner: str | None) -> str | None:
        scope = (owner or "").partition(":")[0]
        if owner is None:
            return "the memory has no clear owner, so no code is its own"
        if not has_code(scope):
            return f"{scope} memories have no code"
        if self.tree is None or not (self._opened.is_embedded or owner in self._owners):
            return _NOT_HERE
        return None
