"""What an operation may change: what its name promises, held against the difference it made.

Pure. Operations that may change anything (`update`, `edit`, `undo`, `import`, `merge`, ...) have no row.
"""

from __future__ import annotations

from collections.abc import Iterable

from remvault.domain.differences import Change, Difference

# Kinds of change, and fields as "field:<key>", that an operation may bring to the memories it names.
PROMISES: dict[str, frozenset[str]] = {
    "new": frozenset({"added", "supersedes"}),
    "confirm": frozenset(
        {"confirmed", *(f"field:{key}" for key in ("anchors", "tier", "expires", "pinned", "sensitivity"))}
    ),
    "supersede": frozenset(
        {"added", "supersedes", "superseded", *(f"field:{key}" for key in ("freshness", "superseded-by", "no-infer"))}
    ),
    "retract": frozenset({"retracted", "field:no-infer"}),
    "archive": frozenset({"archived"}),
    "restore": frozenset({"restored", "field:no-infer", "field:status"}),
    "delete": frozenset({"removed"}),
    "clear": frozenset({"removed"}),
    "link": frozenset({"link-added", "field:relation", "layout"}),
    "unlink": frozenset({"link-removed"}),
    "feedback": frozenset({"confirmed", "field:anchors"}),
}


def broken_promises(op: str, found: Iterable[Difference]) -> list[tuple[Difference, str]]:
    """Each memory that an operation changed in another way than its name says, with what was changed."""
    promised = PROMISES.get(op)
    if promised is None:
        return []
    broken = []
    for one in found:
        other = [named(change) for change in one.changes if _key(change) not in promised]
        if other:
            broken.append((one, ", ".join(dict.fromkeys(other))))
    return broken


def named(change: Change) -> str:
    """A change in a word or two."""
    return change.field or change.kind if change.kind == "field" else change.kind


def _key(change: Change) -> str:
    if change.kind != "field":
        return change.kind
    return f"field:{'relation' if (change.field or '').startswith('relation ') else change.field}"
