"""`search --explain` and `why ID QUERY`: the same facts as a table and as JSON."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.conftest import Cli

NEXT_S = 1e-4  # what recency may change from one command to the next


@pytest.fixture
def told(vault: Path, cli: Cli) -> Path:
    """A vault with two memories that answer differently."""
    for title, body in (("Deploys: never on Friday", "We deploy on Tuesday."), ("The café", "It deploys coffee.")):
        cli("new", title, "--body", body, "--scope", "global", "--tag", "friday", cwd=vault)
    return vault


def tables(text: str) -> list[dict[str, float]]:
    """The values of each table of signals, the last one under "score"."""
    found: list[dict[str, float]] = []
    for line in text.splitlines():
        if line.split() == ["signal", "value", "weight"]:
            found.append({})
        elif match := re.match(r"\s+(\w+)\s+([+-]\d+\.\d{6})(?:\s|$)", line):
            found[-1][match[1]] = float(match[2])
    return found


def test_the_table_adds_up_and_fits_a_hundred_columns(told: Path, cli: Cli) -> None:
    done = cli("search", "deploys on friday, café", "--explain", cwd=told)

    found = tables(done.out)
    assert len(found) == 2
    for signals in found:
        score = signals.pop("score")
        assert sum(signals.values()) == pytest.approx(score, abs=1e-6 * (len(signals) + 1))
    assert all(len(line) <= 100 for line in done.out.splitlines() if line.startswith("      "))
    assert re.search(r"^gate (open|closed): \d\.\d{3} (>=|<) \d\.\d{3}; the best holds .* idf mass", done.out, re.M)
    assert re.search(r"café +café +exact +title", done.out)
    assert "\x1b" not in done.out


def test_the_json_says_what_the_table_says(told: Path, cli: Cli) -> None:
    query = ("search", "deploys on friday, café", "--explain")
    answer, text = cli(*query, "--json", cwd=told).json, cli(*query, cwd=told).out

    for hit, table in zip(answer["hits"], tables(text), strict=True):
        explained: dict[str, Any] = hit["explanation"]
        values = {one["signal"]: one["value"] for one in explained["signals"]}
        assert {name: round(value, 6) for name, value in values.items()} == pytest.approx(
            {name: value for name, value in table.items() if name != "score"}, abs=NEXT_S
        )
        assert explained["score"] == pytest.approx(sum(values.values()), abs=1e-12)
        for match in explained["matches"]:
            assert re.search(rf"{match['word']} +{match['term']} +{match['kind']} +{', '.join(match['fields'])}", text)
    assert set(answer["gate"]) >= {"score", "threshold", "abstained"}
    assert answer["dropped"] == []
    assert "explanation" not in cli("search", "deploys", "--json", cwd=told).json["hits"][0]


def test_why_explains_one_memory_with_the_gate_of_the_query(told: Path, cli: Cli) -> None:
    answer = cli("why", "The café", "deploy coffee", "--json", cwd=told).json["score"]
    text = cli("why", "The café", "deploy coffee", cwd=told).out

    assert answer["explanation"]["score"] == pytest.approx(
        sum(one["value"] for one in answer["explanation"]["signals"]), abs=1e-12
    )
    assert answer["gate"]["threshold"] > 0
    (table,) = tables(text)
    assert table["score"] == pytest.approx(answer["score"], abs=NEXT_S)
    assert re.search(r"deploy +deploys +form +body", text)
    assert "gate " in text
    assert all(len(line) <= 100 for line in text.splitlines() if "signal" in line or "gate" in line)


def test_the_score_of_why_is_that_of_the_search_with_all_that_stands_beside_it(vault: Path, cli: Cli) -> None:
    for number in range(6):
        body = f"Step {number} of the deploy. [[Step {number - 1}]]"
        cli("new", f"Step {number}", "--body", body, "--scope", "global", "--parent", "deploys", cwd=vault)

    for hit in cli("search", "deploy step 3", "--explain", "--json", cwd=vault).json["hits"]:
        score = cli("why", hit["id"], "deploy step 3", "--json", cwd=vault).json["score"]
        assert score["score"] == pytest.approx(hit["score"], abs=NEXT_S)
        assert [one["signal"] for one in score["explanation"]["signals"]] == [
            one["signal"] for one in hit["explanation"]["signals"]
        ]


def test_what_does_not_match_is_told_so_with_the_gate(told: Path, cli: Cli) -> None:
    answer = cli("why", "The café", "submarine", "--json", cwd=told).json["score"]

    assert (answer["score"], answer["explanation"]) == (None, None)
    assert answer["why_not"] == ["no word of the query stands in it"]
    assert answer["gate"]["abstained"]


def test_long_and_hostile_words_stay_in_their_columns(told: Path, cli: Cli) -> None:
    long = "x" * 64
    body = f"{long} \u202edeploy {'y' * 60}_{'z' * 60}"
    cli("new", "Odd", "--body", body, "--scope", "global", cwd=told)

    done = cli("search", f"{long} \u202edeploy {'y' * 60}_{'z' * 60}", "--explain", cwd=told)

    assert not re.search(r"[\x01\x02\u202e]", done.out)
    assert all(len(line) <= 100 for line in done.out.splitlines() if line.startswith(("      ", "gate")))


def test_of_several_vaults_the_rank_is_explained_and_the_vaults_own_score_below(
    told: Path, cli: Cli, home: Path, tmp_path: Path
) -> None:
    cli("init", str(tmp_path / "team"), cwd=tmp_path)
    settings = home / "config" / "remvault" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[providers.team]\npath = "{tmp_path / "team"}"\n')

    answer = cli("search", "deploys", "--explain", "--json", cwd=told).json
    text = cli("search", "deploys", "--explain", cwd=told).out

    explained = answer["hits"][0]["explanation"]
    assert [(one["signal"], one["value"]) for one in explained["signals"]] == [("rank", explained["score"])]
    assert {one["signal"] for one in explained["in_provider"]["signals"]} >= {"text"}
    assert set(tables(text)[0]) == {"rank", "score"}
    assert "gate: each vault has its own" in text
