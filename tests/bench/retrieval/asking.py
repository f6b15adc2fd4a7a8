"""Ask the product as its command line does: the same opening, the same options, the settings as they come."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from remvault.retrieval.search import SearchAnswer
from remvault.retrieval.search import search as search_view
from remvault.retrieval.view import View
from remvault.surfaces import reading
from remvault.surfaces.app import OpenVault, open_vault
from tests.bench.retrieval.building import surroundings
from tests.bench.retrieval.notes import BenchNote, note_id
from tests.bench.retrieval.protocols import Question

# Deep enough for the reciprocal rank of what stands far down; the first ten are the same at any depth.
DEPTH = 100


class Disagreement(Exception):
    """One way of asking gave another answer than the command line's own."""


Kind = Literal["ranking", "gate", "block"]


@dataclass(frozen=True, slots=True)
class Boundary:
    """What crossed a boundary in some answers; both must stay 0."""

    shown: int = 0  # hits and surfaced memories looked at
    scope_leaks: int = 0
    superseded: int = 0

    def __add__(self, other: Boundary) -> Boundary:
        return Boundary(
            self.shown + other.shown, self.scope_leaks + other.scope_leaks, self.superseded + other.superseded
        )


@dataclass(frozen=True, slots=True)
class Opening:
    """What the gate made of a question."""

    score: float
    is_open: bool


@dataclass(frozen=True, slots=True)
class Block:
    """What a prompt was given."""

    relevant: tuple[str, ...]  # keys of the memories that it holds because of the prompt, in order
    core: tuple[str, ...]  # of those that it holds whatever the prompt
    tokens: int
    text: str
    left_out: tuple[tuple[str, str], ...]  # key and why

    @property
    def keys(self) -> tuple[str, ...]:
        """Of all memories in it."""
        return self.core + self.relevant


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """All that the product said to one question; what was not asked for is empty or None."""

    ranking: tuple[str, ...]  # keys, best first, at most DEPTH
    gate: Opening
    wrong: Opening | None = None  # to the question without an answer
    block: Block | None = None
    boundary: Boundary = Boundary()
    search_ms: float = 0.0  # of the search, at the default depth if that was timed, else at DEPTH


class Asker:
    """One vault that may be asked in several contexts. Each context sees the vault as it was when first asked."""

    def __init__(self, folder: Path, notes: Sequence[BenchNote]) -> None:
        self._folder = folder
        self._notes = {note.id: note for note in notes}
        self._open: dict[tuple[tuple[str, str], ...], tuple[OpenVault, View]] = {}

    def forget_usage(self) -> None:
        """Throw away what earlier runs were shown, so that it does not weigh on this one."""
        state = self._vault({}).state
        assert state is not None
        for file in state.caches.glob("usage*"):
            file.unlink()

    def ask(self, question: Question, kinds: Collection[Kind], *, with_time: bool = False) -> Reply:
        """Ask one question in every way that is wanted; `with_time` once more at the default depth, for its time."""
        started = time.perf_counter()
        keys, answer = self.search(question.text, question.context)
        taken = time.perf_counter() - started
        if with_time:
            started = time.perf_counter()
            self.search(question.text, question.context, limit=None)
            taken = time.perf_counter() - started
        boundary = self._crossed(keys, question.context)
        wrong = None
        if "gate" in kinds and question.wrong is not None:
            text, elsewhere = question.wrong
            found, astray = self.search(text, elsewhere, limit=1)
            wrong = Opening(astray.gate.score, astray.gate.is_open)
            boundary += self._crossed(found, elsewhere)
        block = None
        if "block" in kinds:
            block = self.surface(question.text, question.context)
            boundary += self._crossed(block.keys, question.context)
        return Reply(
            ranking=tuple(keys),
            gate=Opening(answer.gate.score, answer.gate.is_open),
            wrong=wrong,
            block=block,
            boundary=boundary,
            search_ms=taken * 1000,
        )

    def search(
        self, query: str, context: Mapping[str, str], *, limit: int | None = DEPTH
    ) -> tuple[list[str], SearchAnswer]:
        """The keys of the hits, best first, and the answer; as `reading.search`, without looking at the files again."""
        vault, view = self._in(context)
        options = reading.search_options(vault, limit=limit)
        answer = search_view(view, query, options, analyzer=vault.analyzer, provider=vault.provider)
        return [self._key(hit.row.id) for hit in answer.hits], answer

    def must_agree(self, question: Question) -> None:
        """Ask as `reading.search` does, at the default depth and at the bench's: hits and gate must be the same.

        Raises:
            Disagreement: they are not, so that the bench does not measure what a user sees.
        """
        vault, _ = self._in(question.context)
        anew = reading.search(vault, question.text)
        said = [self._key(hit.row.id) for hit in anew.hits], anew.gate.score
        for limit in (1, None, DEPTH):
            keys, answer = self.search(question.text, question.context, limit=limit)
            wanted = said[0][:limit], said[1]
            if (keys[: len(wanted[0])], answer.gate.score) != wanted:
                raise Disagreement(f"{question.id} at limit {limit}: {keys[:10]}, {answer.gate.score}; wanted {wanted}")

    def surface(self, prompt: str, context: Mapping[str, str]) -> Block:
        """What `reading.surface` gives a prompt."""
        vault, _ = self._in(context)
        answer = reading.surface(vault, prompt).answer()
        parts: dict[bool, list[str]] = {True: [], False: []}
        for item in answer["items"]:
            parts[item["part"] == "core"].append(self._key(item["id"]))
        left = [(self._key(one["id"]), str(one["why"])) for one in answer["left_out"]]
        return Block(tuple(parts[False]), tuple(parts[True]), int(answer["tokens"]), str(answer["block"]), tuple(left))

    def _in(self, context: Mapping[str, str]) -> tuple[OpenVault, View]:
        key = tuple(sorted(context.items()))
        if key not in self._open:
            vault = self._vault(context)
            self._open[key] = (vault, vault.view())
        return self._open[key]

    def _vault(self, context: Mapping[str, str]) -> OpenVault:
        root, around = str(self._folder / "vault"), surroundings(self._folder)
        return open_vault(root, context=context, actor="user:bench", surroundings=around)

    def _key(self, memory_id: str | None) -> str:
        return self._notes[memory_id or ""].key

    def _crossed(self, keys: Collection[str], context: Mapping[str, str]) -> Boundary:
        """Hold what was shown against what the harness itself knows of owners and lives."""
        owners = {f"{scope}:{one}" for scope, one in context.items()} | {"global:"}
        notes = [self._notes[note_id(key)] for key in keys]
        return Boundary(
            len(notes), sum(note.owner not in owners for note in notes), sum(note.is_superseded for note in notes)
        )
