"""The detector of contradictions: advisory, explained, and measured on pairs labelled by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from remvault.domain.contradictions import Claim, Proposal, propose

PAIRS = Path(__file__).parent / "contradiction_pairs.yaml"


def pairs(which: str) -> list[dict[str, Any]]:
    return [pair for pair in yaml.safe_load(PAIRS.read_text(encoding="utf-8")) if pair["set"] == which]


def proposed(one: str, other: str, **options: Any) -> list[Proposal]:
    return propose([Claim("m-a", "global:", one), Claim("m-b", "global:", other)], **options)


def verdict(pair: dict[str, Any]) -> bool:
    claims = [Claim(f"m-{side}", "global:", pair[side]["title"], pair[side].get("body", "")) for side in "ab"]
    return bool(propose(claims))


@pytest.mark.parametrize("which", ["tune", "held"])
def test_most_of_what_is_proposed_is_a_contradiction(which: str) -> None:
    labelled = [(pair["contradicts"], verdict(pair)) for pair in pairs(which)]
    right = sum(said and true for true, said in labelled)
    precision = right / sum(said for _, said in labelled)
    recall = right / sum(true for true, _ in labelled)
    print(f"{which}: {len(labelled)} pairs, precision {precision:.2f}, recall {recall:.2f}")

    assert precision >= 0.8
    assert recall >= 0.6


def test_the_labelled_set_is_large_enough_and_half_of_it_agrees() -> None:
    for which in ("tune", "held"):
        labels = [pair["contradicts"] for pair in pairs(which)]
        assert len(labels) >= 40
        assert 0.4 <= sum(labels) / len(labels) <= 0.6


def test_a_proposal_names_both_memories_and_says_why() -> None:
    assert proposed("Staging runs pg13", "Staging runs pg16") == [
        Proposal(("m-a", "m-b"), "different values, pg13 and pg16: “Staging runs pg13” against “Staging runs pg16”")
    ]


def test_the_order_of_the_memories_makes_no_difference() -> None:
    claims = [Claim("m-a", "global:", "Deploys: never on Friday"), Claim("m-b", "global:", "Deploys: always on Friday")]

    assert propose(claims) == propose(claims[::-1])


def test_memories_of_different_owners_are_not_compared() -> None:
    claims = [Claim("m-a", "project:one", "Staging runs pg13"), Claim("m-b", "project:two", "Staging runs pg16")]

    assert propose(claims) == []


@pytest.mark.parametrize("kind", ["episodic", "task"])
def test_events_and_tasks_are_left_alone(kind: str) -> None:
    claims = [
        Claim("m-a", "global:", "The migration to pg16 succeeded", type=kind),
        Claim("m-b", "global:", "The migration to pg16 failed", type=kind),
    ]

    assert propose(claims) == []
    assert proposed("The migration to pg16 succeeded", "The migration to pg16 failed")


def test_what_must_not_be_inferred_again_is_not_proposed() -> None:
    assert proposed("Staging runs pg13", "Staging runs pg16", no_infer=["PG13"]) == []
    assert proposed("Staging runs pg13", "Staging runs pg16", no_infer=["staging  runs"]) == []
    assert proposed("Staging runs pg13", "Staging runs pg16", no_infer=["pg1", ""])


def test_pairs_that_are_known_already_are_not_proposed() -> None:
    assert proposed("Staging runs pg13", "Staging runs pg16", known=frozenset({("m-a", "m-b")})) == []


def test_the_same_quantity_in_another_unit_is_no_contradiction() -> None:
    assert proposed("Sessions expire after 1 hour", "Sessions expire after 60 minutes") == []
    assert proposed("Sessions expire after 1 hour", "Sessions expire after 90 minutes")


def test_hostile_text_is_looked_at_in_good_time() -> None:
    """Long, repetitive and odd text costs little and proves nothing."""
    texts = ["a " * 50_000, "1 " * 50_000, ":::::\n" * 10_000, "not " * 20, "\x00\u202e", "é" * 10_000, ""]

    assert propose([Claim(f"m-{at}", "global:", "x", text) for at, text in enumerate(texts)]) == []


def test_many_memories_of_the_same_words_are_compared_within_a_bound() -> None:
    """Every pair shares its words with all others: the number of looks is bounded."""
    claims = [Claim(f"m-{at:05}", "global:", f"The worker number {at} runs {at % 7} threads") for at in range(2_000)]

    assert isinstance(propose(claims), list)
