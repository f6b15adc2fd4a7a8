"""Disagreement between memories: what a conflict is, what settles one, and whose word may stand over whose.

Pure values. A conflict is settled for the very texts that were looked at, until one of them changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from remvault.domain.memory import EXPLICIT_WRITE

Kind = Literal["contradiction", "contest"]
Key = frozenset[tuple[str, str]]  # (id, text key) of every side
# Ways to settle a conflict without changing a memory: both hold, or it is none.
SETTLED: tuple[str, ...] = ("both", "dismissed")


@dataclass(frozen=True, slots=True)
class Dispute:
    """Memories that cannot all be relied on. Never one is chosen silently."""

    ids: tuple[str, ...]  # sorted
    kind: Kind
    detail: str
    since: str | None = None  # a time; None: unknown
    proposed: bool = False  # found by the detector; nobody has said so yet


@dataclass(frozen=True, slots=True)
class Settlement:
    """A conflict that somebody looked at and let stand."""

    time: str
    ids: tuple[str, ...]
    text_keys: tuple[str, ...]  # of `ids`, in their order
    how: str  # one of SETTLED
    actor: str | None = None
    session: str | None = None
    reason: str | None = None

    @property
    def key(self) -> Key:
        """What it is about, to the letter."""
        return frozenset(zip(self.ids, self.text_keys, strict=True))


def settlements(lines: Iterable[Mapping[str, Any]]) -> list[Settlement]:
    """Read settlements from ledger lines, in their order; lines that are none are left out."""
    found = []
    for line in lines:
        ids, keys, how = _texts(line.get("ids")), _texts(line.get("text_keys")), line.get("how")
        if how in SETTLED and len(ids) == len(keys) > 1:
            told = {name: line.get(name) for name in ("actor", "session", "reason")}
            found.append(Settlement(str(line.get("time")), ids, keys, how, **told))
    return found


def is_inferred(record: Mapping[str, Any]) -> bool:
    """Whether a memory was concluded by a machine rather than stated: an inference, or made by consolidation."""
    origins = {entry.get("origin") for entry in record["provenance"]}
    return record["epistemic"] == "inference" or "consolidation" in origins


def is_explicit(record: Mapping[str, Any]) -> bool:
    """Whether a person or operator stated it: such a memory never gives way to an inferred one."""
    return not is_inferred(record) and any(
        entry.get("trust") in ("user", "operator")
        and (entry.get("origin") in ("explicit", "editor") or entry.get("source") == EXPLICIT_WRITE)
        for entry in record["provenance"]
    )


def _texts(value: object) -> tuple[str, ...]:
    """A list of texts as a tuple; () for anything else."""
    is_list = isinstance(value, list) and all(isinstance(one, str) for one in value)
    return tuple(value) if is_list else ()  # type: ignore[arg-type]
