"""Lines of the tracked ledger: small facts about memories that no note should carry, one JSON object a line.

Owns: where a line goes, how it is written, reading every file of one kind however torn or hostile it is.
Leaves alone: what the lines say (feedback, disputes), bringing them into git (ledger).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from remvault.store.files import SaveFailed, read_regular

FOLDER = "ledger"
MAX_LINE_BYTES = 16_384
MAX_TEXT = 2_000  # characters of a query or reason
# The name is ours, made of a month and the random name of a machine; other files in the folder are not read.
_NAME = r"-\d{4}-\d{2}-[a-z0-9]{1,32}\.jsonl\Z"


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of one kind, by file name and line, each once; and what was passed over, with the reason."""

    entries: tuple[Mapping[str, Any], ...] = ()
    skipped: tuple[str, ...] = ()


def line_path(kind: str, now: datetime, machine: str) -> str:
    """The file that a new line goes to, relative to the vault: one a month and machine, so that merges are unions."""
    moment = now.astimezone(UTC)
    return f"{FOLDER}/{kind}-{moment.year:04}-{moment.month:02}-{machine}.jsonl"


def to_line(entry: Mapping[str, Any]) -> bytes:
    """Write an entry as one line, with its line break; long texts are cut."""
    kept = {key: value[:MAX_TEXT] if isinstance(value, str) else value for key, value in entry.items()}
    # ASCII, so that no reader takes a separator of Unicode for the end of a line and half characters do no harm.
    return json.dumps(kept, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def read_lines(root: Path, kind: str) -> Lines:
    """Read every line of a kind. Never fails: what cannot be read is named and passed over."""
    shape = re.compile(re.escape(kind) + _NAME)
    try:
        names = sorted(file.name for file in (root / FOLDER).iterdir() if shape.match(file.name))
    except OSError:
        return Lines()
    entries: dict[bytes, Mapping[str, Any]] = {}
    skipped: list[str] = []
    for name in names:
        try:
            data = read_regular(root / FOLDER / name) or b""
        except SaveFailed as err:
            skipped.append(f"{FOLDER}/{name}: {err.reason}")
            continue
        _read(f"{FOLDER}/{name}", data.split(b"\n"), entries, skipped)
    return Lines(tuple(entries.values()), tuple(skipped))


def _read(path: str, lines: Iterable[bytes], entries: dict[bytes, Mapping[str, Any]], skipped: list[str]) -> None:
    for number, line in enumerate(lines, 1):
        line = line.strip()
        # A union of two clones that copied from each other may hold a line twice.
        if not line or line in entries:
            continue
        try:
            if len(line) > MAX_LINE_BYTES:
                raise ValueError("too long")
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if isinstance(entry, dict):
            entries[line] = entry
        else:
            skipped.append(f"{path}:{number}: no line of ours, passed over")
