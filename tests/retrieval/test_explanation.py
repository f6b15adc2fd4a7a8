"""An explanation is the score itself, taken apart: in any vault, for any query."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from remvault.domain.scope import Context
from remvault.index.analysis import Analyzer
from remvault.index.query import WEIGHTS, build_query
from remvault.index.reconcile import NoteSource, reconcile
from remvault.retrieval.explanation import explain
from remvault.retrieval.search import SearchOptions, search
from remvault.retrieval.view import View
from tests.vaults import note_text

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
WORDS = (
    "deploy",
    "deploys",
    "deployment",
    "with_lock",
    "lock",
    "café",
    "cafe",
    "数据库",
    "C++",
    "the",
    "store",
    "dana",
)


@st.composite
def vaults(draw: st.DrawFn) -> dict[str, str]:
    """Notes by path, of words that meet in all ways a term can be found."""

    def some(most: int) -> str:
        return " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=most)))

    found = {}
    for number in range(draw(st.integers(1, 6))):
        fields = {"id": f"m-{number}", "tags": f"[{draw(st.sampled_from(WORDS[:5]))}]"}
        fields |= draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "importance": st.sampled_from(["0", "0.5", "1"]),
                    "confirmed": st.sampled_from(["2026-11-30", "2020-01-01", "2999-01-01"]),
                    "freshness": st.just("stale"),
                    "parent": st.sampled_from(["store", "m-0"]),
                    "pinned": st.just("true"),
                },
            )
        )
        body = f"{some(20)} [[m-{draw(st.integers(0, 6))}]]\n"
        title = some(4).replace("C++", "C")
        found[f"global/n{number}.md"] = note_text(f'"{title}"', body=body, **fields)  # type: ignore[arg-type]
    return found


def seen(notes: dict[str, str]) -> View:
    """The notes as a person in no project sees them."""
    with TemporaryDirectory() as folder:
        for path, text in notes.items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        return View(reconcile(NoteSource(Path(folder)), None), Context({}), NOW, True, False)


@settings(max_examples=60)
@given(vaults(), st.lists(st.sampled_from([*WORDS, "nowhere"]), min_size=1, max_size=5))
def test_the_values_add_up_to_the_score_and_every_match_is_of_the_query(
    notes: dict[str, str], words: list[str]
) -> None:
    analyzer, query = Analyzer(), " ".join(words)
    asked = {word.text: {term.text for term in word.terms} for word in build_query(query, analyzer)}
    found = search(seen(notes), query, SearchOptions(limit=20), analyzer=analyzer, provider="vault")

    for hit in found.hits:
        told = explain(hit).answer()
        assert told == json.loads(json.dumps(told))
        assert math.isclose(sum(one["value"] for one in told["signals"]), told["score"], abs_tol=1e-12)
        assert told["score"] == hit.score
        assert {one["signal"] for one in told["signals"]} == set(hit.signals)
        for match, one in zip(hit.matches, told["matches"], strict=True):
            assert match.term in asked[match.word]
            assert one["term"].isprintable()
            assert one["kind"] in WEIGHTS
            assert one["fields"]
        assert {match.word for match in hit.matches} >= set(hit.matched)
        assert hit.opens == bool(hit.matched)
    assert found.gate.is_open == (0 < found.gate.score >= found.gate.threshold)
