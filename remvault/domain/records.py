"""A memory as a plain JSON-ready record: the shape of every machine-readable answer and of what the index stores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from remvault.domain.fields import FIELDS
from remvault.domain.memory import Anchor, Entity, Memory, Provenance, Relation

_NESTED: dict[str, Any] = {"provenance": Provenance, "anchors": Anchor, "relations": Relation, "entities": Entity}
_KEYS: tuple[str, ...] = tuple(row.attribute for row in FIELDS.values())


def to_record(memory: Memory) -> dict[str, Any]:
    """Return every field under its snake_case name; unknown is None, tuples are lists, `metadata` is kept."""
    record: dict[str, Any] = {}
    for key in _KEYS:
        value = getattr(memory, key)
        if key in _NESTED:
            value = [_nested(item) for item in value]
        elif isinstance(value, tuple):
            value = list(value)
        record[key] = value
    record["metadata"] = dict(memory.metadata)
    return record


def from_record(record: Mapping[str, Any]) -> Memory:
    """Undo `to_record`; keys that are not fields are ignored."""
    values: dict[str, Any] = {"metadata": dict(record.get("metadata", {}))}
    for key in _KEYS:
        if key not in record:
            continue
        value = record[key]
        if key in _NESTED:
            value = tuple(
                _NESTED[key](**{k: tuple(v) if isinstance(v, list) else v for k, v in item.items()}) for item in value
            )
        elif isinstance(value, list):
            value = tuple(value)
        values[key] = value
    return Memory(**values)


def _nested(item: Any) -> dict[str, Any]:
    fields = {name: getattr(item, name) for name in item.__slots__}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}
