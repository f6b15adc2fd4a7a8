"""Asking several providers at once, none of them for longer than a time budget.

Owns: the threads, the deadline, telling in words why one did not answer.
Leaves alone: what is asked and what becomes of the answers (`surfaces.fusing`, `surfaces.cataloging`).
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from remvault.domain.commit_message import one_line
from remvault.errors import RemvaultError
from remvault.surfaces.listed import Listed, ProviderRefused

T = TypeVar("T")

# A provider that says nothing for so long is left out of the answer. Building the index of a new vault of ten thousand
# notes takes about as long; one that needs more is told to be indexed once by hand.
ANSWER_WITHIN_S = 10.0


class Waiting(Generic[T]):
    """Questions on their way, each in a thread of its own that nobody waits for when its time is over."""

    def __init__(self, listed: Sequence[Listed], ask: Callable[[Listed], T], budget_s: float = ANSWER_WITHIN_S) -> None:
        """`ask` runs in another thread for each, at once."""
        self._listed, self._budget_s = listed, budget_s
        self._deadline = time.monotonic() + budget_s
        self._answers: queue.SimpleQueue[tuple[str, T | str]] = queue.SimpleQueue()

        def run(one: Listed) -> None:
            try:
                self._answers.put((one.name, ask(one)))
            except Exception as err:  # whatever is wrong with one provider is no reason to be without the others
                self._answers.put((one.name, failure(err)))

        for one in listed:
            threading.Thread(target=run, args=(one,), daemon=True, name=f"provider {one.name}").start()

    def results(self) -> list[tuple[str, T | str]]:
        """The answer of each provider, or why there is none, in the order listed."""
        found: dict[str, T | str] = {}
        while len(found) < len(self._listed):
            try:
                name, result = self._answers.get(timeout=max(self._deadline - time.monotonic(), 0.001))
            except queue.Empty:
                break
            found[name] = result
        late = f"no answer within {self._budget_s:g} s ('remvault --vault PATH reindex' prepares a vault)"
        return [(one.name, found.get(one.name, late)) for one in self._listed]


def failure(err: Exception) -> str:
    """Why a provider failed, on one line."""
    if isinstance(err, ProviderRefused):
        return one_line(err.reason)
    if isinstance(err, RemvaultError):
        return one_line(err.message)
    if isinstance(err, OSError):
        return one_line(f"{err.strerror or err}{f': {err.filename}' if err.filename else ''}")
    return one_line(f"unexpected {type(err).__name__}: {err}")
