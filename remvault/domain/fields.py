"""The fields of frontmatter: one table, and how each kind of value is read.

Owns: the table `FIELDS`, turning parsed YAML into a `Memory` and the flaws found on the way.
Leaves alone: required fields and relations between notes (`domain.rules`), fences and YAML (`domain.frontmatter`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from remvault.domain.memory import (
    ACTOR,
    DECISION_STATUSES,
    EPISTEMICS,
    FRESHNESS,
    ID,
    ORIGINS,
    SENSITIVITIES,
    STATUSES,
    TASK_STATUSES,
    TIERS,
    TRUSTS,
    TYPES,
    Anchor,
    Entity,
    Memory,
    Provenance,
    Relation,
)
from remvault.domain.moments import parse_moment
from remvault.domain.problems import shown
from remvault.domain.scope import SCOPES
from remvault.domain.suggestions import suggest

if TYPE_CHECKING:
    from remvault.domain.frontmatter import Block, Node


@dataclass(frozen=True, slots=True)
class Flaw:
    """A value that does not fit its field. `kind` is "value", "time" or "shape"."""

    kind: str
    key: str
    line: int
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """One row of the field table.

    `kind`: line text choice id ids list number flag time provenance anchors relations entities.
    """

    key: str  # kebab-case, as in the file
    kind: str
    choices: Sequence[str] = ()
    closed: Any = None  # the value an invalid entry is read as, where None would open something

    @property
    def attribute(self) -> str:
        """The name on `Memory` and in JSON."""
        return self.key.replace("-", "_")


# In the order in which keys are written.
FIELDS: dict[str, Field] = {
    row.key: row
    for row in (
        Field("id", "id"),
        Field("title", "line"),
        Field("type", "choice", TYPES),
        Field("scope", "choice", SCOPES),
        Field("scope-id", "line"),
        Field("freshness", "choice", FRESHNESS),
        Field("status", "choice", STATUSES, closed="archived"),
        Field("provenance", "provenance"),
        Field("anchors", "anchors"),
        Field("summary", "text"),
        Field("aliases", "list"),
        Field("tags", "list"),
        Field("entities", "entities"),
        Field("parent", "line"),
        Field("tier", "choice", TIERS, closed="archival"),
        Field("pinned", "flag", closed=False),
        Field("importance", "number"),
        Field("confidence", "number"),
        Field("salience", "number"),
        Field("epistemic", "choice", EPISTEMICS),
        Field("task-status", "choice", TASK_STATUSES),
        Field("decision-status", "choice", DECISION_STATUSES),
        Field("created", "time"),
        Field("observed", "time"),
        Field("confirmed", "time"),
        Field("expires", "time"),
        Field("valid-from", "time"),
        Field("valid-until", "time"),
        Field("supersedes", "ids"),
        Field("superseded-by", "id"),
        Field("relations", "relations"),
        Field("sensitivity", "choice", SENSITIVITIES, closed="local-only"),
        Field("no-infer", "list"),
    )
}


def read_memory(block: Block) -> tuple[Memory, list[Flaw]]:
    """Read the fields of a block; invalid values become flaws, unknown keys become `metadata`.

    A repeated `sensitivity` or `status` is read as its closed value: a guess could publish what must stay here.
    """
    values: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    flaws: list[Flaw] = []
    for entry in block.entries.values():
        row = FIELDS.get(entry.key)
        if row is None:
            metadata[entry.key] = entry.node.plain_value()
            continue
        if entry.node.value is None:
            continue
        try:
            values[row.attribute] = _READERS[row.kind](row, entry.node)
        except _Invalid as err:
            flaws.append(Flaw(err.kind, row.key, err.line, err.message, err.hint))
            if row.closed is not None:
                values[row.attribute] = row.closed
    for key in block.repeated:
        if key in FIELDS and FIELDS[key].closed is not None:
            values[FIELDS[key].attribute] = FIELDS[key].closed
    return Memory(**values, metadata=metadata), flaws


class _Invalid(ValueError):
    def __init__(self, node: Node, message: str, hint: str | None = None, kind: str = "value") -> None:
        self.line, self.message, self.hint, self.kind = node.line, message, hint, kind
        super().__init__(message)


def _scalar(row: Field, node: Node) -> str:
    if not isinstance(node.value, str):
        raise _Invalid(node, f"{row.key} is not plain text", f"write {row.key}: text", "shape")
    return node.value


def _line(row: Field, node: Node) -> str:
    text = _scalar(row, node)
    if "\n" in text or "\r" in text:
        raise _Invalid(node, f"{row.key} is more than one line", "put the rest into the body")
    return text


def _choice(row: Field, node: Node) -> str:
    text = _scalar(row, node)
    if text not in row.choices:
        close = suggest(text, row.choices)
        meant = f" (did you mean {close!r}?)" if close else ""
        raise _Invalid(node, f"unknown {row.key} {shown(text)}{meant}", "one of: " + ", ".join(row.choices))
    return text


def _id(row: Field, node: Node) -> str:
    text = _scalar(row, node)
    if not ID.match(text):
        hint = "lower-case letters, digits and dashes, at most 64"
        raise _Invalid(node, f"{row.key} {shown(text)} is not an id", hint)
    return text


def _items(row: Field, node: Node) -> list[Node]:
    """The items of a list; one lone scalar counts as a list of one, as Obsidian and people write it."""
    if isinstance(node.value, list):
        return [item for item in node.value if item.value is not None]
    if isinstance(node.value, str):
        return [node]
    raise _Invalid(node, f"{row.key} is not a list", f"write {row.key}: [a, b]", "shape")


def _list(row: Field, node: Node) -> tuple[str, ...]:
    return tuple(_scalar(row, item) for item in _items(row, node))


def _ids(row: Field, node: Node) -> tuple[str, ...]:
    return tuple(_id(row, item) for item in _items(row, node))


def _number(row: Field, node: Node) -> float:
    text = _scalar(row, node)
    if re.fullmatch(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+", text, re.ASCII) is None or not 0 <= float(text) <= 1:
        raise _Invalid(node, f"{row.key} {shown(text)} is not a number from 0 to 1", f"write {row.key}: 0.5")
    return float(text)


def _flag(row: Field, node: Node) -> bool:
    text = _scalar(row, node)
    if text not in ("true", "false"):
        raise _Invalid(node, f"{row.key} {shown(text)} is neither true nor false", f"write {row.key}: true")
    return text == "true"


def _time(row: Field, node: Node) -> str:
    text = _scalar(row, node)
    if parse_moment(text) is None:
        raise _Invalid(
            node, f"{row.key} {shown(text)} is not a date or time", "write 2026-12-01 or 2026-12-01T09:30:00Z", "time"
        )
    return text


def _mappings(row: Field, node: Node, *, text_key: str | None = None) -> list[tuple[Node, dict[str, Node]]]:
    found = []
    for item in _items(row, node):
        if isinstance(item.value, dict):
            found.append((item, {k: v for k, v in item.value.items() if v.value is not None}))
        elif text_key and isinstance(item.value, str):
            found.append((item, {text_key: item}))
        else:
            raise _Invalid(
                item, f"an item of {row.key} is not a mapping", f"write '- key: value' below {row.key}", "shape"
            )
    return found


def _sub(row: Field, fields: dict[str, Node], key: str, kind: str, choices: Sequence[str] = ()) -> Any:
    if key not in fields:
        return None
    return _READERS[kind](Field(f"{row.key} {key}", kind, choices), fields[key])


def _provenance(row: Field, node: Node) -> tuple[Provenance, ...]:
    entries = []
    for _, fields in _mappings(row, node, text_key="source"):
        actor = _sub(row, fields, "actor", "line")
        if actor is not None and not ACTOR.match(actor):
            message = f"provenance actor {shown(actor)} has no kind"
            raise _Invalid(fields["actor"], message, "write user:NAME, agent:NAME or tool:NAME")
        entries.append(
            Provenance(
                source=_sub(row, fields, "source", "line") or None,
                actor=actor,
                trust=_sub(row, fields, "trust", "choice", TRUSTS),
                captured=_sub(row, fields, "captured", "time"),
                session=_sub(row, fields, "session", "line"),
                messages=_sub(row, fields, "messages", "list") or (),
                origin=_sub(row, fields, "origin", "choice", ORIGINS),
                confidence=_sub(row, fields, "confidence", "number"),
            )
        )
    return tuple(entries)


def _anchors(row: Field, node: Node) -> tuple[Anchor, ...]:
    anchors = []
    for item, fields in _mappings(row, node, text_key="at"):
        at = _sub(row, fields, "at", "line")
        if not at:
            raise _Invalid(item, "an anchor has no 'at'", "write '- at: path/to/file.py#symbol'", "shape")
        anchors.append(
            Anchor(at=at, digest=_sub(row, fields, "digest", "line"), commit=_sub(row, fields, "commit", "line"))
        )
    return tuple(anchors)


def _relations(row: Field, node: Node) -> tuple[Relation, ...]:
    relations = []
    for item, fields in _mappings(row, node):
        kind, target = _sub(row, fields, "type", "line"), _sub(row, fields, "target", "line")
        if not kind or not target:
            raise _Invalid(
                item, "a relation needs 'type' and 'target'", "write '- type: supports' and 'target: ID'", "shape"
            )
        relations.append(
            Relation(
                type=kind,
                target=target,
                weight=_sub(row, fields, "weight", "number"),
                confidence=_sub(row, fields, "confidence", "number"),
                source=_sub(row, fields, "source", "line"),
            )
        )
    return tuple(relations)


def _entities(row: Field, node: Node) -> tuple[Entity, ...]:
    entities = []
    for item, fields in _mappings(row, node, text_key="name"):
        name = _sub(row, fields, "name", "line")
        if not name:
            raise _Invalid(item, "an entity has no name", "write 'text' or '{name: text, type: kind}'", "shape")
        entities.append(Entity(name=name, type=_sub(row, fields, "type", "line")))
    return tuple(entities)


_READERS: dict[str, Any] = {
    "line": _line,
    "text": _scalar,
    "choice": _choice,
    "id": _id,
    "ids": _ids,
    "list": _list,
    "number": _number,
    "flag": _flag,
    "time": _time,
    "provenance": _provenance,
    "anchors": _anchors,
    "relations": _relations,
    "entities": _entities,
}
