"""What the gate asks for in one vault, worked out from its own notes.

Words that belong together are found together; words drawn from several notes are a question that nothing answers, and
what the best note reaches on it is chance. The threshold stands where few such questions would pass. How high that is
differs: in a vault where all notes speak of the same few things, chance reaches far.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from remvault.index.analysis import Analyzer
from remvault.index.query import build_query
from remvault.index.rows import NoteRow
from remvault.index.snapshot import Snapshot
from remvault.retrieval.gate import judge
from remvault.retrieval.ranking import rank

# Raise it when the same notes would give another threshold.
CALIBRATION_VERSION = 2
# With fewer notes chance cannot be told from what the vault is about; then this holds.
FEWEST_NOTES, DEFAULT_THRESHOLD = 100, 0.2
_WORDS = 9  # what is left of two spoken sentences without their stop words
# A question costs the more the larger the vault; 200 of them take 16 s at 10,000 notes, and nobody waits for that.
_FEWEST, _MOST, _WORK = 20, 200, 250_000
_PASSED_OVER = 0.6  # share of the questions by chance that stay below
_LOWEST, _HIGHEST = 0.1, 0.4
_CHARS = 2_000  # of a note's text that words are drawn from


def calibrate(snapshot: Snapshot, analyzer: Analyzer) -> float | None:
    """Work out the threshold; None with fewer than `FEWEST_NOTES` notes that a search could find.

    The same notes give the same number, however they were indexed. It tells nothing of any note.
    """
    rows = sorted((row for row in snapshot.rows.values() if _counts(row)), key=lambda row: (row.id or "", row.path))
    if len(rows) < FEWEST_NOTES:
        return None
    questions = max(_FEWEST, min(_MOST, _WORK // len(rows)))
    reached = sorted(_chance(snapshot, analyzer, rows, number) for number in range(questions))
    return min(max(reached[int(_PASSED_OVER * questions)], _LOWEST), _HIGHEST)


def _chance(snapshot: Snapshot, analyzer: Analyzer, rows: Sequence[NoteRow], number: int) -> float:
    """What the best note reaches on a question by chance, among the notes of one owner and the global ones."""
    drawn = [rows[_draw(len(rows), number, word)] for word in range(_WORDS)]
    records = snapshot.records([row.path for row in drawn])
    typed = []
    for word, row in enumerate(drawn):
        record = records.get(row.path)
        known = [] if record is None else build_query(f"{record['title'] or ''} {record['body'][:_CHARS]}", analyzer)
        if known:
            typed.append(known[_draw(len(known), number, word, 1)].text)
    words = build_query(" ".join(typed), analyzer)
    owners = frozenset({drawn[0].owner or "", "global:"})
    matches = snapshot.match(words, owners=owners, accept=_counts)
    return judge(rank(matches, words, scope_of=lambda path: "global"), threshold=0.0).score


def _counts(row: NoteRow) -> bool:
    return row.is_valid and row.status == "active" and not row.is_local_only


def _draw(count: int, *numbers: int) -> int:
    """A number below `count`, the same each time for the same numbers."""
    return int.from_bytes(hashlib.sha256(repr(numbers).encode()).digest()[:8], "big") % count
