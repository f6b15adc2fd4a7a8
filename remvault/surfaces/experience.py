"""How the memories of an open vault were used on this machine and rated by anyone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from remvault.retrieval.experience import Used
from remvault.store.feedback import Feedback, read_feedback
from remvault.store.usage import MemoryUsage, Usage

if TYPE_CHECKING:
    from remvault.surfaces.app import OpenVault


class VaultExperience:
    """Reads ledger and usage once, when first asked; see `retrieval.experience.Experience`."""

    def __init__(self, vault: OpenVault) -> None:
        self._vault = vault

    @property
    def half_life_days(self) -> float:
        """As the settings have it."""
        value = self._vault.settings.get("rank.half-life-days")
        assert isinstance(value, int | float)
        return float(value) or 1.0

    def of(self, ids: Collection[str]) -> Mapping[str, Used]:
        """The use of memories; those never used nor rated are left out."""
        known = (self._ratings.keys() | self._usage.keys()) & set(ids)
        return {
            one: Used(
                tuple(self._usage.get(one, MemoryUsage()).recalled_at()),
                self._ratings.get(one, Feedback()).count("useful"),
                self._ratings.get(one, Feedback()).count("irrelevant"),
            )
            for one in known
        }

    @cached_property
    def _ratings(self) -> Mapping[str, Feedback]:
        return read_feedback(self._vault.root)[0]

    @cached_property
    def _usage(self) -> Mapping[str, MemoryUsage]:
        return Usage(self._vault.state).by_memory()
