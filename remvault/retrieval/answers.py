"""The machine-readable answers about memories, as the contract of the command line names their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from remvault.domain.anchors import Reading

if TYPE_CHECKING:
    from remvault.index.rows import NoteRow
    from remvault.retrieval.view import View

_ORDER = (
    "provider", "id", "title", "type", "scope", "scope_id", "status", "freshness", "path", "source", "provenance",
    "anchors", "supersedes", "superseded_by", "relations", "tags", "tier", "pinned", "importance", "confidence",
    "salience", "epistemic", "summary", "aliases", "entities", "parent", "task_status", "decision_status", "created",
    "observed", "confirmed", "updated", "expires", "valid_from", "valid_until", "no_infer", "sensitivity", "metadata",
    "committed",
)  # fmt: skip


def memory_answer(
    record: Mapping[str, Any],
    *,
    provider: str,
    path: str,
    committed: bool | None,
    anchors: Sequence[Reading],
    successors: Sequence[str] = (),
    updated: str | None = None,
    body: str | None = None,
) -> dict[str, Any]:
    """Return one memory as every answer shows it; unknown values are None.

    Args:
        record: as `domain.records.to_record` makes it.
        path: relative to the vault.
        anchors: what the code says of its anchors.
        successors: ids that supersede it; the link decides, whatever the note's own mark says.
        body: given only where the whole memory is asked for.
    """
    values = dict(record)
    values.update(provider=provider, path=path, committed=committed, updated=updated, source=source_of(record))
    values["anchors"] = [one.answer() for one in anchors]
    if successors:
        values["freshness"], values["superseded_by"] = "superseded", successors[0]
    answer = {key: values.get(key) for key in _ORDER}
    return answer if body is None else answer | {"body": body}


def row_answer(
    view: View, row: NoteRow, record: Mapping[str, Any], *, provider: str, anchors: Sequence[Reading]
) -> dict[str, Any]:
    """Return the memory of a visible row as every answer shows it, without body; see `memory_answer`."""
    return memory_answer(
        record,
        provider=provider,
        path=row.path,
        committed=row.is_committed,
        anchors=anchors,
        successors=view.successors(row),
    )


def source_of(record: Mapping[str, Any]) -> str | None:
    """The first source of a memory, which is where it was first learned."""
    return next((entry["source"] for entry in record.get("provenance", ()) if entry.get("source")), None)


def owner_label(record: Mapping[str, Any]) -> str:
    """Scope and owner for people: "project:acme-api", "global", or "unknown scope"."""
    scope, scope_id = record.get("scope"), record.get("scope_id")
    if scope is None:
        return "unknown scope"
    return f"{scope}:{scope_id}" if scope_id else str(scope)
