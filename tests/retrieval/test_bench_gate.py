"""The regression gate: what recall must not fall under, on the vendored set and on the seeded one of our own.

A floor lies a little under what was measured when it was set. One that is missed is a finding: find out which change
did it before moving the floor. `python -m tests.bench.retrieval --data tests/data` prints all figures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.retrieval import report
from tests.bench.retrieval.__main__ import main
from tests.bench.retrieval.asking import Asker
from tests.bench.retrieval.baselines import ENGINES, ask_engine
from tests.bench.retrieval.building import build
from tests.bench.retrieval.notes import BenchNote
from tests.bench.retrieval.protocols import Protocol, Question
from tests.bench.retrieval.running import BENCHES, Measured, Run, measure

DATA = Path(__file__).parents[1] / "data"
BOUNDARIES = ("scope_leaks", "superseded_surfaced")

# set, metric, the least (or for a ceiling, "<=", the most) that it may be
FLOORS: tuple[tuple[str, str, str, float], ...] = (
    ("remmemory", "surfaced_recall_en", ">=", 0.66),
    ("remmemory", "FPR", "<=", 0.20),
    ("remmemory", "precision_macro", ">=", 0.33),
    ("synthetic", "R@1", ">=", 0.88),
    ("synthetic", "R@5", ">=", 0.98),
    ("synthetic", "MRR", ">=", 0.92),
    ("synthetic-surface", "surfaced_recall", ">=", 0.95),
    ("synthetic-surface", "FPR", "<=", 0.12),
)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """Both sets, asked of the product."""
    run = Run(DATA, tmp_path_factory.mktemp("bench"))
    return measure(run, [bench for bench in BENCHES if bench.set_name in ("remmemory", "synthetic")], jobs=2)


@pytest.mark.parametrize(("name", "metric", "sign", "aim"), FLOORS)
def test_recall_has_not_fallen(measured: Measured, name: str, metric: str, sign: str, aim: float) -> None:
    value = measured.sets[name][metric].value

    assert value >= aim if sign == ">=" else value <= aim, f"{name} {metric}: {value:.4f}, wanted {sign} {aim}"


@pytest.mark.parametrize("name", ["remmemory", "synthetic", "synthetic-surface"])
def test_nothing_crosses_a_boundary(measured: Measured, name: str) -> None:
    found = measured.sets[name]

    assert found["scope_leaks"].n > 100
    assert [found[metric].value for metric in BOUNDARIES] == [0, 0]


def test_two_runs_are_the_same_to_the_bit(tmp_path: Path) -> None:
    texts = []
    for name, jobs in (("first", "1"), ("second", "2"), ("second", "1")):
        into = tmp_path / f"{name}.json"
        options = ["--sets", "synthetic,remmemory", "--quick", "25", "--jobs", jobs, "--keep", str(tmp_path / name)]
        assert main(["--data", str(DATA), "--json", str(into), *options]) == 0
        texts.append(into.read_bytes())

    assert len(set(texts)) == 1
    answer = json.loads(texts[0])
    assert set(answer) == {"sets", "baselines"}
    assert set(answer["baselines"]) == set(ENGINES)


def test_text_and_json_say_the_same(measured: Measured) -> None:
    answer = json.loads(report.as_json(measured))["sets"]

    said: dict[str, dict[str, tuple[float, ...]]] = {}
    for line in report.lines(measured):
        name, metric, value, low, _, high, _, n, *_ = line.split()
        said.setdefault(name, {})[metric] = (float(value), float(low), float(high), int(n))

    assert said == {name: {metric: _four_digits(one) for metric, one in sets.items()} for name, sets in answer.items()}


def _four_digits(one: Mapping[str, float]) -> tuple[float, ...]:
    return (*(float(f"{one[key]:.4f}") for key in ("value", "low", "high")), one["n"])


def test_negatives_are_split_without_remainder(measured: Measured) -> None:
    for name in ("remmemory", "synthetic-surface"):
        found = measured.sets[name]
        parts = ("negatives_abstained", "negatives_core_only", "negatives_irrelevant")
        assert sum(found[part].value for part in parts) == pytest.approx(1)


def test_negatives_are_explained(measured: Measured) -> None:
    """As many questions as the false-positive rate counts, and as many memories as were given to them."""
    lines = list(report.negatives(measured))

    names = ("remmemory", "synthetic-surface")
    rates = [measured.sets[name]["FPR"] for name in names]
    memories = [line for line in lines if line.startswith("    ")]
    assert len(lines) - len(memories) == sum(round(rate.value * rate.n) for rate in rates)
    assert len(memories) == sum(measured.sets[name]["negative_memories"].value for name in names)


def test_a_vault_is_taken_again_while_its_notes_are_the_same(tmp_path: Path) -> None:
    notes = [
        BenchNote(key=f"{at}", path=f"global/{at}.md", title="A", body=f"Body {at}", source="x:y") for at in range(3)
    ]
    root = build(tmp_path / "kept", notes, {})
    (root / "mark").write_text("still here")

    assert build(tmp_path / "kept", notes, {}) == root
    assert (root / "mark").exists()

    build(tmp_path / "kept", notes[:2], {})
    assert not (root / "mark").exists()
    assert sorted(path.name for path in root.glob("global/*.md")) == ["0.md", "1.md"]


def test_what_crosses_a_boundary_is_counted(tmp_path: Path) -> None:
    """The harness goes by what it wrote, not by what the product says: here, a project's note in everybody's folder."""
    told = BenchNote(key="a", path="global/a.md", title="Flamingo", body="Pink.", source="x:y")
    root = build(tmp_path, [told], {})
    believed = BenchNote(
        key="a", path="global/a.md", title="Flamingo", body="Pink.", source="x:y", scope="project", scope_id="zoo",
        is_superseded=True,
    )  # fmt: skip

    reply = Asker(root.parent, [believed]).ask(Question(id="q", text="flamingo", gold=frozenset({"a"})), {"ranking"})

    assert reply.ranking == ("a",)
    assert (reply.boundary.shown, reply.boundary.scope_leaks, reply.boundary.superseded) == (1, 1, 1)


def test_a_baseline_is_asked_again_only_when_the_set_is_another(tmp_path: Path) -> None:
    notes = (BenchNote(key="a", path="a.md", title="A", body="A flamingo.", source="x:y"),)
    protocol = Protocol("small", notes, (Question(id="q", text="flamingo", gold=frozenset({"a"})),))

    first = ask_engine("word overlap", protocol, tmp_path)
    [kept] = tmp_path.iterdir()
    kept.write_text(json.dumps([[[["a", 7.0]], []]]))
    again = ask_engine("word overlap", protocol, tmp_path)
    other = ask_engine("word overlap", replace(protocol, questions=()), tmp_path)

    assert [key for key, _ in first[0][0]] == ["a"]
    assert (again, other) == ([([("a", 7.0)], [])], [])


@pytest.mark.parametrize("name", list(ENGINES))
def test_a_baseline_finds_words_within_its_scopes(name: str) -> None:
    def note(key: str, body: str, project: str | None = None) -> BenchNote:
        return BenchNote(
            key=key, path=f"{key}.md", title=key, body=body, source="x:y",
            scope="project" if project else "global", scope_id=project,
        )  # fmt: skip

    notes = [
        note("one", "The flamingo is pink."),
        note("two", "A flamingo beside a second flamingo, pink as well.", "zoo"),
        note("three", "Nothing about birds.", "zoo"),
    ]
    engine = ENGINES[name](notes)

    assert {key for key, _ in engine.rank("pink flamingo?", {"global:", "project:zoo"})} == {"one", "two"}
    assert [key for key, _ in engine.rank('What is "pink*" OR (', {"global:"})] == ["one"]
    assert engine.rank("submarine", {"global:", "project:zoo"}) == []
    assert engine.rank("", {"global:"}) == []


def test_the_markdown_table_has_a_row_for_each_bar_that_was_measured(measured: Measured) -> None:
    rows = list(report.markdown(measured))

    bars, published = rows[: rows.index("")], rows[rows.index("") + 1 :]
    assert [row.split(" | ")[1] for row in bars[2:]] == ["surfaced_recall_en", "FPR"]
    assert len({row.count("|") for row in bars}) == 1
    assert any("opencode-memory" in row for row in published)
