"""The memory: what a note's frontmatter says, as typed values.

Owns: the value types and the words their fields may hold.
Leaves alone: reading them from YAML (`domain.fields`), judging them (`domain.rules`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from remvault.domain.scope import owner_key

# Memory types: one row here and one template of the same name in `templates/`.
TYPES = ("semantic", "episodic", "decision", "preference", "procedure", "task", "other")
FRESHNESS = ("current", "stale", "superseded", "unknown")
STATUSES = ("active", "candidate", "retracted", "archived")
TIERS = ("core", "archival", "temporary")
SENSITIVITIES = ("normal", "local-only")
TRUSTS = ("operator", "user", "system", "tool", "source", "low")
ORIGINS = ("explicit", "import", "capture", "consolidation", "agent-investigation", "editor")
EPISTEMICS = (
    "observation",
    "fact",
    "memory",
    "claim",
    "hypothesis",
    "belief",
    "prediction",
    "assumption",
    "inference",
    "opinion",
)
TASK_STATUSES = ("open", "done")
DECISION_STATUSES = ("proposed", "accepted", "rejected")
RELATION_TYPES = ("related-to", "supports", "contradicts", "derived-from", "similar-to", "caused-by")
EXPLICIT_WRITE = "remvault://explicit-write"

ID = re.compile(r"[a-z0-9-]{1,64}\Z")
ACTOR = re.compile(r"(?:user|agent|tool):\S(?:.*\S)?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """One entry of where a memory came from; appended to, never rewritten."""

    source: str | None = None  # URI, path, commit or EXPLICIT_WRITE
    actor: str | None = None  # "user:", "agent:" or "tool:" and a name
    trust: str | None = None
    captured: str | None = None  # time as typed
    session: str | None = None
    messages: tuple[str, ...] = ()
    origin: str | None = None
    confidence: float | None = None


def trust_of(entries: Iterable[tuple[str | None, str | None]]) -> str | None:
    """How far a memory's sources are trusted, from trust and origin of each; None when none of them is known.

    The best of them counts. What was consolidated is worth no more than the worst of what it was made of.
    """
    known = [(trust, origin) for trust, origin in entries if trust in TRUSTS]
    worth = max if any(origin == "consolidation" for _, origin in known) else min
    return worth((trust for trust, _ in known if trust), key=TRUSTS.index, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A pointer to code, with the digest of what was there."""

    at: str  # path, path#symbol or path#L10-L20, relative to the code root
    digest: str | None = None  # recipe and 32 hex, as "t1:6f1c…"
    commit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A typed edge to another memory or to an entity."""

    type: str
    target: str
    weight: float | None = None  # 0..1
    confidence: float | None = None  # 0..1
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A thing the memory is about."""

    name: str
    type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What a note says. None means unknown; times are text as typed; nothing is invented.

    A field with an invalid value is None here (or, where a default would open something, the closed value) and has a
    `Flaw` beside it.
    """

    id: str | None = None
    title: str | None = None
    type: str | None = None
    scope: str | None = None
    scope_id: str | None = None
    freshness: str | None = None
    status: str = "active"
    provenance: tuple[Provenance, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    task_status: str | None = None
    decision_status: str | None = None
    relations: tuple[Relation, ...] = ()
    summary: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    parent: str | None = None
    tier: str = "archival"
    pinned: bool = False
    importance: float | None = None
    confidence: float | None = None
    salience: float | None = None
    epistemic: str | None = None
    created: str | None = None
    observed: str | None = None
    confirmed: str | None = None
    expires: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    sensitivity: str = "normal"
    no_infer: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)  # the person's own keys

    @property
    def owner(self) -> str | None:
        """The owner key (`project:acme-api`), None when scope or owner cannot be read."""
        return owner_key(self.scope, self.scope_id)

    @property
    def is_local_only(self) -> bool:
        """Whether the memory must stay on this disk."""
        return self.sensitivity == "local-only"
