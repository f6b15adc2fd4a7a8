"""What a catalog costs beside a search, and what a hostile query costs beside a plain one, each pair in turns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from remvault.domain.scope import Context
from remvault.index.analysis import Analyzer
from remvault.index.reconcile import NoteSource, reconcile
from remvault.index.snapshot import Snapshot
from remvault.retrieval.catalog import Catalog, holdings, make_catalog
from remvault.retrieval.search import SearchAnswer, SearchOptions, search
from remvault.retrieval.view import View
from remvault.store.state import State
from tests.bench.figures import Figure, alternating_ms
from tests.bench.vault_generator import query_words

NOW = datetime(2026, 12, 1, tzinfo=UTC)
# As case R42 has them.
HOSTILE: Mapping[str, str] = {
    "long word": "a" * 16_000,
    "long sign": "(" * 16_000,
    "humps": "aB" * 8_000,
    "dots": "a." * 8_000,
    "pictures": "🎉" * 16_000,
    "script": "数据" * 8_000,
    "accents": "a" + "\u0301" * 16_000,
    "trace": "\n".join(
        f'  File "/srv/app/module_{n}.py", line {n}, in handle_{n}\n    return self.run(**kwargs)[{n}]'
        for n in range(200)
    ),
}


class _Everything(Context):
    """A context that every project of the generated vault belongs to."""

    def owners(self) -> frozenset[str]:
        return frozenset({"global:", *(f"project:project-{number}" for number in range(20))})


# A context in one project of twenty sees 15 % of the notes.
CONTEXTS = {"a project of twenty": Context({"project": "project-1"}), "all of them seen": _Everything({})}


def figures(root: Path, state: State, *, runs: int) -> Iterator[Figure]:
    """Measure on a vault that is there and indexed, one figure at a time."""
    analyzer, source = Analyzer(), NoteSource(root)
    words = query_words(400)
    queries = itertools.cycle(" ".join(words[at : at + 2]) for at in range(0, len(words), 2))

    def catalog(context: Context) -> Catalog:
        return make_catalog([holdings(_view(reconcile(source, state), context), provider="vault")])

    def found(snapshot: Snapshot, context: Context, query: str) -> SearchAnswer:
        return search(_view(snapshot, context), query, SearchOptions(), analyzer=analyzer, provider="vault")

    notes = len(reconcile(source, state).rows)
    for name, context in CONTEXTS.items():
        first, second = alternating_ms(
            lambda context=context: catalog(context),  # type: ignore[misc]
            lambda context=context: found(reconcile(source, state), context, next(queries)),  # type: ignore[misc]
            runs=runs,
        )
        yield _ratio(f"catalog : search of two words, {notes:,} notes, {name}", first, second, most=2.0)
    snapshot, context, prompt = reconcile(source, state), CONTEXTS["a project of twenty"], " ".join(words[:40])
    pairs = {
        name: alternating_ms(
            lambda query=query: found(snapshot, context, query),  # type: ignore[misc]
            lambda: found(snapshot, context, prompt),
            runs=runs,
        )
        for name, query in HOSTILE.items()
    }
    worst = max(pairs, key=lambda name: pairs[name][0] / pairs[name][1])
    yield _ratio(f"worst hostile query ({worst}) : a prompt of 40 words", *pairs[worst], most=3.0)


def _view(snapshot: Snapshot, context: Context) -> View:
    return View(snapshot, context, NOW, is_person=False, is_embedded=False)


def _ratio(name: str, measured: float, peer: float, *, most: float) -> Figure:
    ratio = measured / peer
    return Figure(name, f"{measured:.0f} ms : {peer:.0f} ms = {ratio:.2f}", f"under {most:g}x", ratio < most)
