"""Everything a snapshot can be asked, so that two can be compared."""

from __future__ import annotations

from remvault.index.snapshot import Snapshot
from tests.index.conftest import ask

QUERIES = (
    "deploy server",
    "with_lock",
    "cafe",
    "数据库",
    "c++ ->",
    "the of",
    "alpha beta gamma delta",
    "relational",
    "zz9",
)


def answers(snapshot: Snapshot) -> dict[str, object]:
    """All rows, all evidence with and without a budget and with an owner filter, all records."""
    return {
        "rows": dict(sorted(snapshot.rows.items())),
        "all": [ask(snapshot, query, posting_budget=None) for query in QUERIES],
        "tight": [ask(snapshot, query, posting_budget=3) for query in QUERIES],
        "one owner": [ask(snapshot, query, owners=frozenset({"project:a"})) for query in QUERIES],
        "records": snapshot.records(sorted(snapshot.rows)),
        "skipped": snapshot.skipped,
        "copies": snapshot.copies,
    }
