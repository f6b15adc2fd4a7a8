"""What a correction changes in a note's text: one or two keys, and no other byte.

Owns: confirming, retracting, archiving, restoring, marking as superseded, linking; what rests on a memory; what a new
owner means for who sees it.
Leaves alone: which memory is meant and who may see it (`retrieval`), files and history (`store`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from remvault.domain.edits import add_item, remove_item, set_key, unset_key
from remvault.domain.frontmatter import Unreadable, read, split
from remvault.domain.memory import Memory
from remvault.domain.scope import SCOPES, breadth
from remvault.domain.yaml_values import Plain, Value

# A memory rests on another when it is derived from it, or stands in a relation of support with it.
SUPPORTS, DERIVED = "supports", "derived-from"
# What identical text may bring to the memory that is there already.
BROUGHT = ("tier", "expires", "pinned", "sensitivity", "anchors")


class Related(Protocol):
    """What must be known of a memory to say what rests on it."""

    @property
    def id(self) -> str | None:
        """The memory's id."""
        ...

    @property
    def relations(self) -> Sequence[tuple[str, str]]:
        """Its relations as (type, target)."""
        ...


def confirmed(text: str, now: str) -> str:
    """Say that the memory was found to be still true at `now`."""
    return set_key(text, "confirmed", Plain(now))


def retracted(text: str, no_infer: Iterable[str] = ()) -> str:
    """Say that the memory was found to be inaccurate; `no_infer` names what must not be concluded again."""
    return forbidding(set_key(text, "status", "retracted"), no_infer)


def superseded(text: str, by: str, no_infer: Iterable[str] = ()) -> str:
    """Mark the memory as replaced by the one with the id `by`."""
    marked = set_key(set_key(text, "freshness", "superseded"), "superseded-by", by)
    return forbidding(marked, no_infer)


def forbidding(text: str, no_infer: Iterable[str]) -> str:
    """Add terms to what must not be concluded again; those there already stay."""
    for term in no_infer:
        text = add_item(text, "no-infer", term)
    return text


def archived(text: str) -> str:
    """Take the memory out of normal recall without a word about its truth."""
    return set_key(text, "status", "archived")


def restored(text: str, *, was_retracted: bool) -> str:
    """Make the memory active again, as it was before; what its retraction forbade to conclude is free again."""
    text = unset_key(text, "status")
    return unset_key(text, "no-infer") if was_retracted else text


def linked(text: str, kind: str, target: str, weight: str | None = None) -> str:
    """Add a relation; one of the same type and target is kept and, when a weight is given, weighed anew."""
    there = [item for item in _relations(text) if _is_edge(item, kind, target)]
    if there and (weight is None or all(item.get("weight") == weight for item in there)):
        return text
    edge: dict[str, Value] = {"type": kind, "target": target}
    for item in there:
        edge |= {key: _value(key, value) for key, value in item.items()}
    if weight is not None:
        edge["weight"] = Plain(weight)
    if there:
        text = remove_item(text, "relations", lambda item: _is_edge(item, kind, target))
    return add_item(text, "relations", edge)


def unlinked(text: str, kind: str, targets: Collection[str]) -> str:
    """Remove the relations of a type to any of `targets`; none of them there changes nothing."""
    return remove_item(text, "relations", lambda item: any(_is_edge(item, kind, target) for target in targets))


def brought(text: str, memory: Memory, fields: Mapping[str, Value]) -> str:
    """Apply to a memory what identical text brings along (`BROUGHT`): values replace, anchors are added."""
    for key in BROUGHT:
        value = fields.get(key)
        if value is None or key == "anchors":
            continue
        if isinstance(value, str) and key in ("expires", "pinned"):
            value = Plain(value)
        text = set_key(text, key, value)
    known = {anchor.at for anchor in memory.anchors}
    for anchor in _anchors(fields):
        if anchor.get("at") not in known:
            text = add_item(text, "anchors", anchor)
    return text


def places(fields: Mapping[str, Value]) -> list[str]:
    """The places of the anchors that identical text brings along."""
    return [str(anchor.get("at")) for anchor in _anchors(fields)]


def _anchors(fields: Mapping[str, Value]) -> list[Mapping[str, Value]]:
    """The anchors among the fields as mappings, though people write mere text and one alone too."""
    value = fields.get("anchors")
    items = [value] if isinstance(value, (str, Mapping)) else value
    if not isinstance(items, Sequence):
        return []
    return [{"at": one} if isinstance(one, str) else one for one in items if isinstance(one, (str, Mapping))]


def resting_on(memory_id: str, own: Iterable[tuple[str, str]], others: Iterable[Related]) -> list[str]:
    """Ids of the memories to look at again when one is found inaccurate, sorted.

    Those that point at it with `supports` or `derived-from`, and those that it supports itself.

    Args:
        own: the relations of the memory itself, (type, target).
        others: the memories that may be named.
    """
    supported = {target for kind, target in own if kind == SUPPORTS}
    found = set()
    for other in others:
        if other.id is None or other.id == memory_id:
            continue
        points = any(target == memory_id and kind in (SUPPORTS, DERIVED) for kind, target in other.relations)
        if points or other.id in supported:
            found.add(other.id)
    return sorted(found)


def widening(old: str | None, new: str | None) -> str | None:
    """Say who sees a memory that did not when its owner changes; None when it only becomes narrower.

    Owners are keys such as `project:acme` and `global:`.
    """
    if new is None or new == old:
        return None
    before, after = _called(old), _called(new)
    if old is None:
        return f"this widens who sees the memory: nobody's context until now, {after} from now on"
    old_scope, new_scope = old.partition(":")[0], new.partition(":")[0]
    if old_scope not in SCOPES or breadth(new_scope) > breadth(old_scope):
        return f"this widens who sees the memory: only {before} until now, {after} from now on"
    if old_scope == new_scope:
        return f"this gives the memory to others: {before} sees it no longer, {after} does from now on"
    return None


def _called(owner: str | None) -> str:
    if owner is None:
        return "nobody"
    return "everybody, everywhere (global)" if owner == "global:" else owner.rstrip(":")


def _relations(text: str) -> list[dict[str, Any]]:
    try:
        entry = read(split(text)).entries.get("relations")
    except Unreadable:
        return []  # the edit itself refuses with the reason
    value = entry.node.plain_value() if entry is not None else None
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _is_edge(item: object, kind: str, target: str) -> bool:
    return isinstance(item, dict) and item.get("type") == kind and item.get("target") == target


def _value(key: str, value: Value) -> Value:
    return Plain(value) if key in ("weight", "confidence") and isinstance(value, str) else value
