"""`watch`: keep the index in step with the files while nobody asks, and commit quiet edits where the person wants that.

Owns: one pass, and watching on and on, through vaults that vanish and come back.
Leaves alone: what is done about a change (watch_round), which edits are quiet (quiet).

Killing it at any moment changes no answer: every read looks at the files itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from remvault.errors import RemvaultError, UserError
from remvault.surfaces.app import OpenVault
from remvault.surfaces.quiet import Settled, settle_quiet

if TYPE_CHECKING:
    from remvault.surfaces.watch_round import WatchRound

# How often we look whether a vault that vanished is back.
_AWAIT_S = 0.5


class NothingToWatch(UserError):
    """There is no index that could be kept."""

    code = "nothing_to_watch"

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}, so there is no index to keep", hint="reads work all the same")


@dataclass(frozen=True, slots=True)
class Swept:
    """What one pass over the vault came to."""

    notes: int
    generation: int
    settled: Settled
    notices: tuple[str, ...]

    def answer(self) -> dict[str, Any]:
        """The pass as JSON has it."""
        return {"notes": self.notes, "generation": self.generation, **self.settled.answer()}


def watch_once(vault: OpenVault) -> Swept:
    """Bring the index in line with the files, commit what waits and, where that is set, what is quiet.

    Raises:
        NothingToWatch: outside git, or where the caches cannot be used.
    """
    check_watchable(vault)
    snapshot = vault.snapshot()
    settled = settle_quiet(vault, snapshot, set())
    if settled.commits:
        vault = replace(vault)
        snapshot = vault.snapshot()
    settled = settled if vault.is_person else _as_told(vault, settled)
    return Swept(len(snapshot.rows), snapshot.generation, settled, tuple(snapshot.notices))


def _as_told(vault: OpenVault, settled: Settled) -> Settled:
    """What an agent or tool is told: it learns no path of a note that its context does not see."""
    view = vault.view()
    rows = ((view.snapshot.rows.get(path), commit) for path, commit in settled.commits)
    commits = tuple((row.path if row is not None and view.sees(row) else "", commit) for row, commit in rows)
    return replace(settled, commits=commits, why_held=None if settled.why_held is None else "not now")


class Watching:
    """A watcher of one vault: `run` watches until `stop`.

    Args:
        vault: opened as for any verb.
        say: told what the log is told, a line each; not where no person acts, since it names notes of all scopes.
    """

    def __init__(self, vault: OpenVault, say: Callable[[str], None] | None = None) -> None:
        self._vault = vault
        self._say = say if say is not None and vault.is_person else lambda message: None
        self._round: WatchRound | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """End soon, whatever is being done whole; for a signal handler or another thread."""
        self._is_stopped = True
        if self._round is not None:
            self._round.wake()

    def run(self) -> None:
        """Watch.

        Raises:
            WatcherRunning: another one watches this vault in this work tree.
            NothingToWatch: outside git, or where the caches cannot be used.
        """
        from remvault.surfaces.watch_round import WatchRound

        vault: OpenVault | None = self._vault
        while vault is not None:
            check_watchable(vault)
            self._round = WatchRound(vault, self._say, lambda: self._is_stopped)
            self._round.run()
            vault = self._returned()

    def _returned(self) -> OpenVault | None:
        """The vault, when it is back: a checkout may take it away, and a clone put another in its place."""
        from remvault.surfaces.watch_round import is_there, reopened

        while not self._is_stopped:
            with suppress(RemvaultError, OSError):  # half of it may be back
                vault = reopened(self._vault)
                if is_there(vault):
                    check_watchable(vault)
                    return vault
            time.sleep(_AWAIT_S)
        return None


def check_watchable(vault: OpenVault) -> None:
    """Raise NothingToWatch where there can be no index on disk."""
    if vault.state is None:
        raise NothingToWatch("the vault is not in a git repository")
    if not vault.state.caches_usable:
        raise NothingToWatch(f"{vault.state.caches} cannot be used")
