"""Text decides, signals order what matches, and the gate weighs words that stand there whole."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from pathlib import Path

import pytest

from remvault.domain.context import Context
from remvault.index.analysis import Analyzer
from remvault.index.reconcile import NoteSource, reconcile
from remvault.retrieval.calibration import FEWEST_NOTES, calibrate
from remvault.retrieval.search import SearchAnswer, SearchOptions, search
from remvault.retrieval.signals import WEIGHTS, Facts, fact_signals
from remvault.retrieval.view import View
from tests.vaults import note_text

NOW = datetime(2026, 12, 1, tzinfo=UTC)
ANALYZER = Analyzer()


class Notes:
    """Notes in a folder, searched in memory."""

    def __init__(self, root: Path) -> None:
        self.root, self._numbers = root, itertools.count()

    def write(self, title: str, body: str = "Body.\n", **fields: str) -> str:
        memory_id = f"m-{next(self._numbers):04}"
        self.root.joinpath(f"{memory_id}.md").write_text(note_text(title, body=body, id=memory_id, **fields))
        return memory_id

    def search(self, query: str, **options: object) -> SearchAnswer:
        view = View(reconcile(NoteSource(self.root), None), Context({}), NOW, is_person=True, is_embedded=False)
        return search(view, query, SearchOptions(**options), analyzer=ANALYZER, provider="here")  # type: ignore[arg-type]

    def ids(self, query: str, **options: object) -> list[str | None]:
        return [hit.row.id for hit in self.search(query, **options).hits]


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path)


def test_a_note_next_to_a_match_is_found_behind_it_and_opens_nothing(notes: Notes) -> None:
    asked = notes.write("Question", "Which allocator did we choose?\n", parent="standup", observed="2026-05-01")
    answer = notes.write("Reply", "The second one, it was faster.\n", parent="standup", observed="2026-05-02")
    notes.write("Far", "Lunch is at noon.\n", parent="standup", observed="2026-05-09")
    notes.write("Elsewhere", "Nothing to see.\n")

    found = notes.search("allocator")

    assert [hit.row.id for hit in found.hits] == [asked, answer]
    assert [hit.opens for hit in found.hits] == [True, False]
    assert found.hits[1].reasons[0] == "stands next to what matches"


def test_who_said_it_is_a_boost_and_no_match(notes: Notes) -> None:
    hers = "[{source: remvault://explicit-write, actor: 'user:dana'}]"
    his = "[{source: remvault://explicit-write, actor: 'user:marek'}]"
    notes.write("One", "The rollout was late.\n", provenance=his)
    second = notes.write("Two", "The rollout was late, too.\n", provenance=hers)

    assert notes.ids("what did Dana say about the rollout")[0] == second
    by_name = notes.search("dana")
    assert [hit.row.id for hit in by_name.hits] == [second]
    assert not by_name.gate.is_open
    assert not by_name.hits[0].opens


def test_a_day_is_found_in_words_and_in_numbers(notes: Notes) -> None:
    may = notes.write("Outage", "The cluster was down.\n", observed="2023-05-08")
    notes.write("Outage", "The cluster was down again.\n", observed="2023-09-21")

    assert notes.ids("outage in May 2023")[0] == may
    assert notes.ids("outage 2023-05-08")[0] == may


def test_the_best_passage_of_a_long_text_is_named_by_its_line(notes: Notes) -> None:
    lines = [f"Line {number} of a long report about nothing in particular.\n" for number in range(60)]
    lines[45] = "The quorum of the vote was five.\n"
    notes.write("Report", "".join(lines))

    hit = notes.search("quorum vote").hits[0]

    assert hit.section is not None
    assert "quorum" in hit.section_text
    assert len(hit.section_text) < 1000
    start = hit.section[1]
    text = (notes.root / hit.row.path).read_text().split("\n")
    assert hit.section_text.split("\n")[0] == text[start - 1]


def test_short_long_and_other_spellings_open_the_gate_and_stems_do_not(notes: Notes) -> None:
    app = notes.write("Hosting", "The app runs in the basement.\n")
    colour = notes.write("Paint", "The colour of the door is teal.\n")
    notes.write("Music", "The organ was tuned.\n")

    assert (notes.ids("applications"), notes.search("applications").gate.is_open) == ([app], True)
    assert (notes.ids("color"), notes.search("color").gate.is_open) == ([colour], True)
    stem = notes.search("organization")
    assert not stem.gate.is_open
    assert not any(hit.opens for hit in stem.hits)


def test_no_sum_of_signals_lifts_a_note_without_a_match_over_the_gate(notes: Notes) -> None:
    notes.write("Loved", "Lunch.\n", importance="1.0", pinned="true", confirmed="2026-12-01", tier="core")
    best = Facts(age_days=0, importance=1.0, is_pinned=True, trust="operator", activation=1.0, useful=99, links=1.0)
    assert sum(fact_signals(best).values()) > 0.5

    assert not notes.search("allocator").hits
    assert not notes.search("allocator").gate.is_open


def test_the_facts_together_weigh_less_than_half_of_one_rare_word() -> None:
    best = Facts(age_days=0, importance=1.0, is_pinned=True, trust="operator", activation=1.0, useful=99, links=1.0)
    worst = Facts(age_days=9999, importance=0.0, trust="low", irrelevant=99)
    spread = sum(fact_signals(best).values()) - sum(fact_signals(worst).values())
    assert 0 < spread < 1.75  # one rare word found once brings 3 to 4


def test_what_is_not_known_is_neither_for_nor_against_a_memory() -> None:
    assert fact_signals(Facts()) == {}


def test_newer_more_trusted_more_useful_and_linked_memories_come_first_among_equals() -> None:
    def total(**known: object) -> float:
        return sum(fact_signals(Facts(**known)).values())  # type: ignore[arg-type]

    assert total(age_days=0) > total(age_days=14) > total(age_days=400)
    assert total(age_days=28, importance=1.0) - total(importance=1.0) > total(age_days=28)
    assert (
        total(trust="operator")
        > total(trust="user")
        == total(trust="system")
        > total(trust="tool")
        > total(trust="low")
    )
    assert total(useful=3) > 0 > total(irrelevant=3)
    assert total(links=1.0) == WEIGHTS["graph"]


def test_a_stale_memory_stands_behind_a_current_one(notes: Notes) -> None:
    stale = notes.write("Deploys", "Deploys go out on Friday.\n", freshness="stale")
    current = notes.write("Deploys", "Deploys go out on Monday.\n")
    assert notes.ids("when do deploys go out") == [current, stale]


def test_links_to_other_good_answers_lift_a_memory(notes: Notes) -> None:
    alone = notes.write("Lock timeout", "The lock times out after ten seconds.\n")
    linked = notes.write("Lock timeout", "The lock times out after ten seconds: [[Lock owner]].\n")
    notes.write("Lock owner", "The lock times out with its owner.\n")
    order = notes.ids("lock times out")
    assert order.index(linked) < order.index(alone)


def test_the_gate_asks_for_more_where_chance_reaches_far(tmp_path: Path) -> None:
    things = ["retry", "queue", "gateway", "timeout", "ledger", "cache"]
    alike, apart = Notes(tmp_path / "alike"), Notes(tmp_path / "apart")
    for one in (alike, apart):
        one.root.mkdir()
    for number in range(FEWEST_NOTES + 20):
        pair = [things[number % 6], things[number // 6 % 6]]
        alike.write(f"Note {number}", f"The {pair[0]} and the {pair[1]}.\n")
        apart.write(f"Note {number}", " ".join(f"word{number}x{other}" for other in range(12)) + "\n")

    def threshold(one: Notes) -> float | None:
        return calibrate(reconcile(NoteSource(one.root), None), ANALYZER)

    assert threshold(alike) is not None
    assert threshold(alike) == threshold(alike)
    assert threshold(alike) > threshold(apart)  # type: ignore[operator]


def test_a_small_vault_is_not_measured(notes: Notes) -> None:
    for number in range(5):
        notes.write(f"Note {number}")
    assert calibrate(reconcile(NoteSource(notes.root), None), ANALYZER) is None


def test_with_a_file_only_what_is_anchored_to_it_is_found_and_no_neighbour(notes: Notes) -> None:
    digest = f"t1:{'0' * 32}"
    anchors = f"[{{at: src/a.py, digest: '{digest}'}}]"
    asked = notes.write("Question", "The allocator.\n", parent="standup", observed="2026-05-01", anchors=anchors)
    notes.write("Reply", "The second one.\n", parent="standup", observed="2026-05-02")
    assert notes.ids("allocator", files=("src/a.py",)) == [asked]
    assert len(notes.ids("allocator")) == 2
