"""The anchors in a note's text: which a writer named, and writing digests and places without touching other lines.

Owns: what an explicit write and a confirmation take from the code, replacing single anchors in place.
Leaves alone: what the code says (`AnchorTaker`), whether an anchor is allowed (`domain.rules`), files (`store`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from remvault.domain.anchors import AnchorTaker, Taken, parse_place
from remvault.domain.edits import EditRefused, change_item, remove_item, set_key
from remvault.domain.frontmatter import Unreadable, read, split
from remvault.domain.memory import Anchor, Memory
from remvault.domain.scope import has_code

_PARTS = ("at", "digest", "commit")


def taking(
    text: str, memory: Memory, taker: AnchorTaker, *, known: Sequence[Anchor] = ()
) -> tuple[str, tuple[str, ...]]:
    """Give the anchors that a writer named the digests of what is there now; return the text and what to say of it.

    An anchor was named when `known` holds none for its place, or it stands there without its digest. Anchors that the
    rules refuse are left as they are.

    Args:
        memory: what the text says.
        known: the anchors that were there before.

    Raises:
        UserError: where one points at nothing, see `AnchorTaker.take`.
        EditRefused: if the frontmatter cannot be edited by machine.
    """
    places = {anchor.at for anchor in known}
    named = [one for one in memory.anchors if one not in known and (one.digest is None or one.at not in places)]
    named = [one for one in named if _is_allowed(memory, one)]
    return _written(text, named, [taker.take(memory.owner, one) for one in named])


def retaking(
    text: str, memory: Memory, taker: AnchorTaker, *, besides: Sequence[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """Give every anchor the digest and the place of what is there now, as far as that is known; see `taking`.

    Args:
        besides: places whose anchors are left as they are.
    """
    anchors = [one for one in memory.anchors if one.at not in besides and _is_allowed(memory, one)]
    return _written(text, anchors, taker.retaken(memory.owner, anchors) if anchors else [])


def with_anchors(text: str, changes: Mapping[Anchor, Anchor]) -> str:
    """Write other anchors in place of some; no line but theirs changes.

    One that would come to name the place of another goes.

    Raises:
        EditRefused: if the frontmatter cannot be edited by machine.
    """
    changes = {old: new for old, new in changes.items() if old != new}
    before = [_anchor(item) for item in _items(text)] if changes else []
    after = [changes.get(anchor, anchor) for anchor in before]
    # From the back, so that the numbers of what comes before stay true.
    for number, (old, new) in reversed(list(enumerate(zip(before, after, strict=True)))):
        if old == new:
            continue
        others = [one.at for at, one in enumerate(after) if at < number or (at > number and one.at == before[at].at)]
        text = _without(text, number) if new.at != old.at and new.at in others else _replaced(text, number, old, new)
    return text


def _written(text: str, anchors: Sequence[Anchor], taken: Sequence[Taken]) -> tuple[str, tuple[str, ...]]:
    changes = {old: new.anchor for old, new in zip(anchors, taken, strict=True)}
    return with_anchors(text, changes), tuple(dict.fromkeys(one.notice for one in taken if one.notice))


def _is_allowed(memory: Memory, anchor: Anchor) -> bool:
    if not has_code(memory.scope):
        return False
    try:
        parse_place(anchor.at)
    except ValueError:
        return False
    return True


def _replaced(text: str, number: int, old: Anchor, new: Anchor) -> str:
    fields = {name: value for name in _PARTS if (value := getattr(new, name)) is not None}
    is_kept = all(getattr(new, name) is not None for name in _PARTS if getattr(old, name) is not None)
    if is_kept:
        try:
            return change_item(text, "anchors", number, fields)
        except EditRefused:
            pass  # written in a way that holds no further value in place: the whole list is written anew
    items = [item if isinstance(item, dict) else {"at": item} for item in _items(text)]
    others = {name: value for name, value in items[number].items() if name not in _PARTS}
    items[number] = fields | others
    return set_key(text, "anchors", items)


def _items(text: str) -> list[str | dict[str, str]]:
    """The anchors as the block has them, a mapping or a mere text each."""
    try:
        entry = read(split(text)).entries.get("anchors")
    except Unreadable:
        return []  # nothing of it was read, so there is nothing to write either
    value = entry.node.plain_value() if entry is not None else None
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _anchor(item: str | dict[str, str]) -> Anchor:
    fields = item if isinstance(item, dict) else {"at": item}
    return Anchor(at=fields.get("at") or "", digest=fields.get("digest"), commit=fields.get("commit"))


def _without(text: str, number: int) -> str:
    item = _items(text)[number]
    return remove_item(text, "anchors", lambda present: present == item)
