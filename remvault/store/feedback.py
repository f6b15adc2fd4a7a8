"""What people and agents said of memories that were shown to them: lines of the tracked ledger.

Owns: the line, reading and counting lines.
Leaves alone: who may rate what (surfaces.feedback), the files (ledger_lines).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from remvault.store.ledger_lines import read_lines

KIND = "feedback"
OPS = ("useful", "irrelevant")


@dataclass(frozen=True, slots=True)
class Said:
    """One line: somebody found a memory useful or irrelevant."""

    time: str
    op: str  # one of OPS
    id: str
    actor: str | None = None
    session: str | None = None
    query: str | None = None
    reason: str | None = None

    def answer(self) -> dict[str, Any]:
        """The line as JSON has it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Feedback:
    """What was said of one memory."""

    lines: tuple[Said, ...] = ()  # by time

    def count(self, op: str) -> int:
        """How often it was found so."""
        return sum(one.op == op for one in self.lines)

    def answer(self) -> dict[str, Any]:
        """Counts and lines as JSON has them."""
        return {op: self.count(op) for op in OPS} | {"lines": [one.answer() for one in self.lines]}


def read_feedback(root: Path) -> tuple[Mapping[str, Feedback], tuple[str, ...]]:
    """Everything said, by memory id, and what was passed over; never fails.

    Lines name memories of every scope: show a context only those it sees.
    """
    read = read_lines(root, KIND)
    found: dict[str, list[Said]] = defaultdict(list)
    for entry in read.entries:
        said = _said(entry)
        if said is not None:
            found[said.id].append(said)
    by_id = {one: Feedback(tuple(sorted(lines, key=lambda line: line.time))) for one, lines in found.items()}
    return by_id, read.skipped


def of_memory(root: Path, memory_id: str) -> Feedback:
    """What was said of one memory."""
    return read_feedback(root)[0].get(memory_id, Feedback())


def _said(entry: Mapping[str, Any]) -> Said | None:
    time, op, memory_id = (_text(entry, name) for name in ("time", "op", "id"))
    if time is None or op not in OPS or not memory_id:
        return None
    return Said(time, op, memory_id, *(_text(entry, name) for name in ("actor", "session", "query", "reason")))


def _text(entry: Mapping[str, Any], name: str) -> str | None:
    value = entry.get(name)
    return value if isinstance(value, str) else None
