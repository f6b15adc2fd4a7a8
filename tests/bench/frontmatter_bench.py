"""How byte-true and how fast edits of one key are, on many generated notes and on the input files."""

from __future__ import annotations

import random
import statistics
import time

from remvault.domain.edits import EditRefused, set_key
from remvault.domain.note import parse_note
from tests.domain.generated import generated_note, real_bytes

EDITS = 100
VALUES = ("plain", "a: b", "12:30", "it's", "no", 'say "hi"', "é 🚀", "x\ny", "# no comment", "last words")


def measure(*, notes: int = 10_000, seed: int = 0) -> dict[str, int | float]:
    """Edit one key of every note `EDITS` times; count the notes where anything else changed.

    Returns:
        notes, edits, refused and wrong as counts (wrong must be 0), medians of one edit and one reading in µs.
    """
    refused = wrong = 0
    edit_us: list[float] = []
    read_us: list[float] = []
    for number in range(notes):
        rng = random.Random(seed + number)
        note = generated_note(rng)
        key = rng.choice(note.keys)
        started = time.perf_counter()
        try:
            edited = edit(note.text, key)
        except EditRefused:
            refused += 1
            continue
        edit_us.append((time.perf_counter() - started) / EDITS * 1e6)
        before, after = note.around(key)
        if not (edited.startswith(before) and edited.endswith(after) and len(edited) >= len(before) + len(after)):
            wrong += 1
        data = edited.encode()
        started = time.perf_counter()
        parse_note("a.md", data)
        read_us.append((time.perf_counter() - started) * 1e6)
    return {
        "notes": notes,
        "edits": EDITS * (notes - refused),
        "refused": refused,
        "wrong": wrong + sum(_changes_elsewhere(data.decode()) for data in real_bytes()),
        "edit_us": round(statistics.median(edit_us), 1),
        "read_us": round(statistics.median(read_us), 1),
    }


def edit(text: str, key: str) -> str:
    """Set a key `EDITS` times, to values that need quotes and values that do not."""
    for number in range(EDITS):
        text = set_key(text, key, f"{VALUES[number % len(VALUES)]} {number}")
    return text


def _changes_elsewhere(text: str) -> bool:
    """Whether edits of an input file's title touch another line; a refused edit touches none."""
    try:
        edited = edit(text, "title")
    except EditRefused:
        return False
    pairs = zip(text.split("\n"), edited.split("\n"), strict=True)
    return [old.split(":")[0] for old, new in pairs if old != new] != ["title"]


if __name__ == "__main__":
    for name, figure in measure().items():
        print(f"{name:8} {figure}")
