"""What the detector proposes among the memories of a context: only when `conflicts` or `resolve` asks.

Owns: which memories it may look at, and what it must leave alone.
"""

from __future__ import annotations

from typing import Any

from remvault.domain.contradictions import Claim, propose
from remvault.domain.disputes import Dispute
from remvault.index.rows import NoteRow
from remvault.retrieval.conflicts import Conflicts
from remvault.retrieval.view import View


def proposals(view: View) -> list[Dispute]:
    """Contradictions nobody has named yet, by ids; advisory.

    Left alone: what a `no-infer` list of a visible memory names, pairs that supersession or a relation joins already,
    pairs that somebody let stand, and facts that held at different times.
    """
    rows = [row for row in view.visible() if row.owner and row.id and row.is_valid]
    active = {row.id or "": row for row in reversed(rows) if view.stage(row) == "active"}
    records = view.snapshot.records([row.path for row in rows])
    terms = [term for record in records.values() for term in record["no_infer"]]
    claims = [_claim(row, records[row.path]) for row in active.values() if row.path in records]
    found = []
    for one in propose(claims, no_infer=terms, known=view.conflicts.declared):
        first, second = (active[memory_id] for memory_id in one.ids)
        is_chain = one.ids[1] in view.snapshot.lineage.chain(one.ids[0])
        is_past = _are_apart(records[first.path], records[second.path])
        if not is_chain and not is_past and Conflicts.key([first, second]) not in view.past.settled():
            found.append(Dispute(one.ids, "contradiction", one.reason, proposed=True))
    return found


def _claim(row: NoteRow, record: dict[str, Any]) -> Claim:
    return Claim(row.id or "", row.owner or "", record["title"] or "", record["body"], record["type"] or "other")


def _are_apart(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether one fact ceased to hold before the other began."""
    from remvault.domain.moments import parse_moment

    for earlier, later in ((one, other), (other, one)):
        end = parse_moment(earlier["valid_until"] or "")
        start = parse_moment(later["valid_from"] or "")
        if end is not None and start is not None and end <= start:
            return True
    return False
