"""What goes into a writing verb beside the wish itself, and what it answers, as values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from remvault.domain.actors import Author
from remvault.domain.problems import Problem
from remvault.store.ledger import Outcome


@dataclass(frozen=True, slots=True)
class Act:
    """Who writes, when, why, and whether it is only a rehearsal."""

    author: Author
    now: datetime
    reason: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """What a writing verb did. `outcome` is None for a dry run."""

    op: str
    id: str
    path: str  # relative to the vault
    text: str  # the note as written
    outcome: Outcome | None
    supersedes: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    marked: tuple[str, ...] = ()  # further notes changed, by path
    is_changed: bool = True  # False: the note was like that already, nothing was written
    removed: tuple[str, ...] = ()  # files taken away: where the note was before, or the note itself
    notices: tuple[str, ...] = ()  # what to know about the change, a sentence each
    rests: tuple[str, ...] | None = None  # memories to look at again; None where that is not the question

    def answer(self) -> dict[str, Any]:
        """What a writing verb answers as JSON."""
        told = outcome_answer(self.outcome, is_changed=self.is_changed)
        answer = {"op": self.op, "id": self.id, "path": self.path} | told | {"supersedes": list(self.supersedes)}
        answer["warnings"] = [*(f"{one.code} {one.message}" for one in self.warnings), *self.notices]
        return answer if self.rests is None else answer | {"rests": list(self.rests)}


def outcome_answer(outcome: Outcome | None, *, is_changed: bool = True) -> dict[str, Any]:
    """The part of an answer that tells what became of a change; None stands for a dry run."""
    return {
        "saved": outcome is not None and outcome.saved,
        "committed": outcome is not None and outcome.committed,
        "commit": outcome.commit if outcome is not None else None,
        "pending": outcome.pending if outcome is not None else None,
        "edits": list(outcome.edits) if outcome is not None else [],
        "changed": is_changed,
        "dry_run": outcome is None,
    }
