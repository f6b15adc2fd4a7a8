"""Edits of single fields as a person types them: `KEY=V`, `KEY+=V`, `KEY-=V`.

Owns: reading what was typed as a value of its field, applying it to a note's text, which fields other verbs keep whole.
Leaves alone: the bytes (`domain.edits`), what a value may be (`domain.fields`), files (`store`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from remvault.domain.edits import add_item, remove_item, set_key
from remvault.domain.fields import FIELDS
from remvault.domain.frontmatter import Unreadable, read, split
from remvault.domain.suggestions import suggest
from remvault.domain.yaml_values import Plain, Value
from remvault.errors import UsageError

# Fields that other verbs keep whole; each with the verb to use.
GUARDED = {
    "id": "an id is never changed",
    "provenance": "provenance is appended by the verbs that write",
    "supersedes": "use 'remvault supersede'",
    "superseded-by": "use 'remvault supersede'",
}
_NAMED_BY = {"anchors": "at", "entities": "name"}
_LISTS = ("list", "ids", "anchors", "relations", "entities")


@dataclass(frozen=True, slots=True)
class FieldEdit:
    """One `KEY=V`, `KEY+=V` or `KEY-=V`."""

    key: str
    how: Literal["=", "+=", "-="]
    text: str


def parse_field_edit(text: str) -> FieldEdit:
    """Read `KEY=V`, `KEY+=V` or `KEY-=V`.

    Raises:
        UsageError: for anything else.
    """
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"{text!r} is not KEY=VALUE", hint="write tags+=deploy or importance=0.8")
    # `-` is part of kebab-case keys, so only the sign just before `=` counts.
    if key.endswith(("+", "-")):
        return FieldEdit(key[:-1].strip(), "+=" if key.endswith("+") else "-=", value)
    return FieldEdit(key.strip(), "=", value)


def apply_edit(text: str, edit: FieldEdit) -> str:
    """Apply one field edit to a note's text; pure.

    Raises:
        UsageError: for a guarded key, `+=` or `-=` on a field that is no list, or a list that is not one.
        EditRefused: if the frontmatter cannot be edited by machine.
    """
    refuse_guarded(edit.key)
    row = FIELDS.get(edit.key)
    is_list = row is not None and row.kind in _LISTS
    if edit.how != "=" and row is not None and not is_list:
        raise UsageError(f"{edit.key} holds one value: {edit.how} does not apply", hint=f"write {edit.key}=VALUE")
    if row is None:
        close = suggest(edit.key, list(FIELDS), likeness=0.8)
        if close is not None:
            raise UsageError(f"no field {edit.key!r}", hint=f"did you mean {close}?")
    value = parse_value(edit.key, edit.text)
    if is_list and edit.text.strip() == "":
        value = []
    if edit.how == "=":
        return set_key(text, edit.key, [value] if is_list and not isinstance(value, (list, tuple)) else value)
    items = value if isinstance(value, list) else [value]
    if edit.how == "-=":
        return remove_item(text, edit.key, lambda present: any(_is_item(present, item) for item in items))
    for item in items:
        if _name_of(edit.key, item) not in _names(text, edit.key):
            text = add_item(text, edit.key, item)
    return text


def parse_value(key: str, typed: str) -> Value:
    """Read a value from a command line: text as typed, `[a, b]` and `{k: v}` as YAML where the field holds such.

    Raises:
        UsageError: if what looks like a list is not one.
    """
    row = FIELDS.get(key)
    if row is not None and row.kind in ("number", "time", "flag"):
        return Plain(typed)
    holds_lists = row is None or row.kind in _LISTS
    if not (holds_lists and typed[:1] in ("[", "{")):
        return typed
    try:
        block = read(split(f"---\nvalue: {typed}\n---\n"))
    except Unreadable as err:
        raise UsageError(
            f"{key}: {typed!r} is not a list: {err.message}", hint="write [a, b], quote items with signs"
        ) from err
    if "\n" in typed or "\r" in typed or block.entries.keys() != {"value"}:
        raise UsageError(f"{key}: {typed!r} is more than one list", hint="write [a, b] on one line")
    value = block.entries["value"].node.plain_value()
    return value if value is not None else typed


def refuse_guarded(key: str) -> None:
    """Refuse a field that another verb keeps whole, naming the verb; raises UsageError."""
    if key in GUARDED:
        raise UsageError(f"{key} is not set by hand here: {GUARDED[key]}")


def _names(text: str, key: str) -> set[str]:
    """What the items of a list are called that are more than their name, so that none is there twice."""
    try:
        entry = read(split(text)).entries.get(key)
    except Unreadable:
        return set()  # the edit itself refuses with the reason
    value = entry.node.plain_value() if entry is not None else None
    return {name for item in (value if isinstance(value, list) else [value]) if (name := _name_of(key, item))}


def _name_of(key: str, item: object) -> str | None:
    name = item.get(_NAMED_BY.get(key)) if isinstance(item, Mapping) else item if key in _NAMED_BY else None
    return name if isinstance(name, str) else None


def _is_item(present: object, item: Value) -> bool:
    """Whether an item is meant: it is equal, or a mapping called so by its `at`, `name` or `target`."""
    return present == item or (
        isinstance(present, dict) and any(present.get(key) == item for key in ("at", "name", "target"))
    )
