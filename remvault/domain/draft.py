"""A memory about to be written: what the person or agent said, before it has an id or a place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from remvault.domain.actors import Author
from remvault.domain.memory import EXPLICIT_WRITE, Memory
from remvault.domain.scope import has_code
from remvault.domain.yaml_values import Value

# What a successor takes over from the memory it replaces unless told otherwise.
INHERITED = ("type", "scope", "scope-id", "tags", "parent", "anchors")


@dataclass(frozen=True, slots=True)
class Draft:
    """Title, body and further fields by kebab-case key, as text.

    `source` and `trust` make the provenance entry; None means an explicit write and the author's own trust.
    """

    title: str
    body: str = ""
    fields: Mapping[str, Value] = field(default_factory=dict)
    source: str | None = None
    trust: str | None = None


def draft_fields(draft: Draft, *, memory_id: str, author: Author, now: str) -> dict[str, Value]:
    """Return every field of the new note by key: what the draft says, the required ones, and one provenance entry."""
    entry: dict[str, Value] = {"source": draft.source or EXPLICIT_WRITE, "actor": author.actor}
    entry["trust"] = draft.trust or author.trust
    entry["captured"] = now
    if author.session:
        entry["session"] = author.session
    fields: dict[str, Value] = {
        "id": memory_id,
        "title": draft.title,
        "type": "semantic",
        "freshness": "current",
        "created": now,
        **draft.fields,
    }
    fields["provenance"] = [entry]
    return fields


def successor_fields(old: Memory, fields: Mapping[str, Value]) -> dict[str, Value]:
    """Return a successor's fields: the old memory's where `INHERITED` and not given, and the link to it."""
    inherited: dict[str, Value] = {}
    for key in INHERITED:
        value = getattr(old, key.replace("-", "_"))
        if key == "anchors":
            value = [{name: text for name, text in _anchor(anchor).items() if text} for anchor in old.anchors]
        elif isinstance(value, tuple):
            value = list(value)
        if value:
            inherited[key] = value
    if "scope" in fields and fields["scope"] != old.scope:
        inherited.pop("scope-id", None)  # an id of another scope says nothing here
        if not has_code(str(fields["scope"])):
            inherited.pop("anchors", None)
    ids: Sequence[str] = [old.id] if old.id else []
    return inherited | dict(fields) | {"supersedes": list(ids)}


def _anchor(anchor: object) -> dict[str, str | None]:
    return {name: getattr(anchor, name) for name in ("at", "digest", "commit")}
