"""What an open vault shows its context: as it is, or as it was."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from remvault.domain.anchors import NoCode
from remvault.index.snapshot import Snapshot
from remvault.retrieval.view import View
from remvault.surfaces.calibrating import gate_threshold
from remvault.surfaces.experience import VaultExperience
from remvault.surfaces.past import VaultPast

if TYPE_CHECKING:
    from remvault.surfaces.app import OpenVault


def present_view(vault: OpenVault, *, with_past: bool = False) -> View:
    """What the context may see right now; `with_past` as `OpenVault.view` has it."""
    snapshot = vault.snapshot()
    return View(
        snapshot,
        vault.context,
        vault.surroundings.now(),
        vault.is_person,
        vault.is_embedded,
        VaultPast(vault),
        _withheld(vault, snapshot) if with_past else frozenset(),
        code=vault.anchors,
        experience=VaultExperience(vault),
        threshold_for=partial(gate_threshold, vault),
    )


def past_view(vault: OpenVault, as_of: str) -> View:
    """What the context may see of the vault as it was; raises as `store.as_of.past_moment`."""
    from remvault.index.reconcile import snapshot_of

    then = vault.past(as_of)
    snapshot = snapshot_of(
        vault.tree_of(then.commit),
        vault.state,
        language=vault.analyzer.language,
        is_embedded=vault.is_embedded,
        progress=vault.progress,
    )
    return View(
        snapshot,
        vault.context,
        then.moment,
        vault.is_person,
        vault.is_embedded,
        withheld=frozenset() if vault.is_person else _withheld(vault, vault.snapshot()),
        # What the code of now says of a memory of then is no news of that time.
        code=NoCode("the past is not checked"),
        threshold_for=partial(gate_threshold, vault, is_past=True),
    )


def _withheld(vault: OpenVault, present: Snapshot) -> frozenset[str]:
    """Ids of what is local-only today: an agent may not read in history what it may not read on disk."""
    from remvault.retrieval.private_notes import private_notes

    if vault.is_person:
        return frozenset()
    apart = {note.memory.id for note in private_notes(vault.private_folder) if note.memory.id is not None}
    return present.local_only_ids() | apart
