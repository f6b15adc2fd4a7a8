"""The threshold of the gate: as the settings say, else as it was worked out from the vault's own notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remvault.index.snapshot import Snapshot
from remvault.retrieval.calibration import CALIBRATION_VERSION, DEFAULT_THRESHOLD, FEWEST_NOTES, calibrate
from remvault.store.gate_file import Calibrated, read_calibrated, write_calibrated

if TYPE_CHECKING:
    from remvault.surfaces.app import OpenVault


def gate_threshold(vault: OpenVault, snapshot: Snapshot, *, is_past: bool = False) -> float:
    """The setting; for `auto` what was worked out when the vault was about as large as now.

    It is worked out anew, in some seconds and once, when the vault has become half as large again or was never
    measured. Where nothing can be kept, and in small vaults, the default holds.

    Args:
        snapshot: of the vault as it is seen.
        is_past: it is seen as it was: nothing is worked out, what is known of today holds.
    """
    value = vault.settings.get("gate.threshold")
    if isinstance(value, int | float):
        return float(value)
    state, notes = vault.state, len(snapshot.rows)
    if state is None or not state.caches_usable or notes < FEWEST_NOTES:
        return DEFAULT_THRESHOLD
    flavour = f"{CALIBRATION_VERSION}/{vault.analyzer.signature}"
    known = read_calibrated(state)
    if is_past:
        return DEFAULT_THRESHOLD if known is None or known.flavour != flavour else known.threshold
    if known is None or not known.holds_for(notes, flavour):
        found = calibrate(snapshot, vault.analyzer)
        known = Calibrated(DEFAULT_THRESHOLD if found is None else found, notes, flavour)
        write_calibrated(state, known)
    return known.threshold
