"""The threshold of the gate as it was worked out last: a cache of one line, thrown away without loss."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass

from remvault.store.files import SaveFailed, read_regular
from remvault.store.state import State

_NAME = "gate"
_MAX_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A threshold, and what it was worked out from."""

    threshold: float  # 0..1
    notes: int
    flavour: str  # of the analysis and of the calibration

    def holds_for(self, notes: int, flavour: str) -> bool:
        """Whether the vault is still about as large, and read in the same way."""
        return self.flavour == flavour and self.notes <= 1.5 * notes and notes <= 1.5 * self.notes


def read_calibrated(state: State) -> Calibrated | None:
    """What was worked out last; None for nothing that can be used."""
    if not state.caches_usable:
        return None
    try:
        data = read_regular(state.caches / _NAME) or b""
    except SaveFailed:
        return None
    try:
        found = Calibrated(**json.loads(data[:_MAX_BYTES]))
    except (ValueError, TypeError, RecursionError):
        return None
    is_sound = isinstance(found.threshold, float) and 0 < found.threshold < 1 and isinstance(found.notes, int)
    return found if is_sound and isinstance(found.flavour, str) else None


def write_calibrated(state: State, found: Calibrated) -> None:
    """Keep it, if the disk takes it."""
    if not state.caches_usable:
        return
    temporary = state.caches / f"{_NAME}.{os.getpid()}.tmp"
    with suppress(OSError):
        temporary.write_text(json.dumps(asdict(found)) + "\n", encoding="ascii")
        temporary.replace(state.caches / _NAME)
