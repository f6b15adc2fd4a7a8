"""The threshold of the gate: as the settings say, else as it was worked out from the vault's own notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remvault.retrieval.calibration import CALIBRATION_VERSION, DEFAULT_THRESHOLD, FEWEST_NOTES, calibrate
from remvault.store.gate_file import Calibrated, read_calibrated, write_calibrated

if TYPE_CHECKING:
    from remvault.surfaces.app import OpenVault


def gate_threshold(vault: OpenVault) -> float:
    """The setting; for `auto` what was worked out when the vault was about as large as now.

    It is worked out anew, in a second or two and once, when the vault has become half as large again or was never
    measured. Where nothing can be kept, and in small vaults, the default holds.
    """
    value = vault.settings.get("gate.threshold")
    if isinstance(value, int | float):
        return float(value)
    snapshot, state = vault.snapshot(), vault.state
    notes = len(snapshot.rows)
    if state is None or not state.caches_usable or notes < FEWEST_NOTES:
        return DEFAULT_THRESHOLD
    flavour = f"{CALIBRATION_VERSION}/{vault.analyzer.signature}"
    known = read_calibrated(state)
    if known is None or not known.holds_for(notes, flavour):
        found = calibrate(snapshot, vault.analyzer)
        known = Calibrated(DEFAULT_THRESHOLD if found is None else found, notes, flavour)
        write_calibrated(state, known)
    return known.threshold
