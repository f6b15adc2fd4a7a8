"""Two memories that cannot both be relied on: shown on both, resolved in one commit, never merged in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text


def write(cli: Cli, vault: Path, title: str, *options: str) -> str:
    done = cli("new", title, "--scope", "global", *options, "--json", cwd=vault).json
    assert done["committed"]
    return str(done["id"])


def relate(cli: Cli, vault: Path, one: str, kind: str, other: str) -> None:
    cli("set", one, f"relations+={{type: {kind}, target: {other}}}", cwd=vault)


def conflicts(cli: Cli, vault: Path, *options: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli("conflicts", *options, "--json", cwd=vault).json["conflicts"]
    return found


def labels(cli: Cli, vault: Path, query: str) -> dict[str, list[str]]:
    hits = cli("search", query, "--json", cwd=vault).json["hits"]
    return {hit["id"]: [one for one in hit["labels"] if one.startswith(("conflict", "rests"))] for hit in hits}


@pytest.fixture
def pair(vault: Path, cli: Cli) -> tuple[str, str]:
    """Two memories, the second of which says that it contradicts the first."""
    one = write(cli, vault, "Staging has two replicas", "--body", "Seen in the console.")
    other = write(cli, vault, "Staging is a single machine", "--body", "Said by operations.")
    relate(cli, vault, other, "contradicts", one)
    return one, other


def test_both_sides_of_a_contradiction_are_labelled_wherever_they_are_shown(
    vault: Path, cli: Cli, pair: tuple[str, str]
) -> None:
    one, other = pair

    assert labels(cli, vault, "staging") == {one: [f"conflict with {other}"], other: [f"conflict with {one}"]}
    items = cli("surface", "staging", "--json", cwd=vault).json["items"]
    for item in items:
        assert any(label.startswith("conflict with") for label in item["labels"])
        assert any(label.startswith("last known to hold 2") for label in item["labels"])
        assert item["source"] == "remvault://explicit-write"
    block = cli("surface", "staging", cwd=vault).out
    assert block.count("conflict with") == 2
    for memory_id in pair:
        assert "conflict with" in cli("show", memory_id, cwd=vault).out


def test_a_conflict_names_both_sides_with_dates_and_sources(vault: Path, cli: Cli, pair: tuple[str, str]) -> None:
    [found] = conflicts(cli, vault, "--no-proposals")

    assert found["ids"] == sorted(pair)
    assert (found["kind"], found["proposed"]) == ("contradiction", False)
    assert found["since"] is not None
    assert {side["title"] for side in found["sides"]} == {"Staging has two replicas", "Staging is a single machine"}
    text = cli("conflicts", cwd=vault).out
    assert "Staging has two replicas" in text
    assert "Staging is a single machine" in text
    assert text.count("remvault://explicit-write") == 2
    assert text.count("created 2") == 2


def test_keeping_one_retracts_the_other_in_one_commit(vault: Path, cli: Cli, pair: tuple[str, str]) -> None:
    one, other = pair
    before = git(vault, "rev-list", "--count", "HEAD")

    done = cli("resolve", one, other, "--keep", other, "--reason", "asked", "--json", cwd=vault).json

    assert (done["op"], done["committed"]) == ("resolve", True)
    assert int(git(vault, "rev-list", "--count", "HEAD")) == int(before) + 1
    assert cli("show", one, "--json", cwd=vault).json["memory"]["status"] == "retracted"
    assert conflicts(cli, vault) == []
    assert labels(cli, vault, "staging") == {other: []}
    message = git(vault, "log", "-1", "--format=%B")
    assert "\nasked\n" in message
    assert f"Remvault-Op: resolve\nRemvault-Memory: {other}\nRemvault-Memory: {one}\n" in message


def test_keeping_one_may_supersede_the_other(vault: Path, cli: Cli, pair: tuple[str, str]) -> None:
    one, other = pair

    done = cli("resolve", one, "--keep", other, "--supersede", "--json", cwd=vault).json

    assert done["supersedes"] == [one]
    shown = cli("show", one, "--json", cwd=vault).json["memory"]
    assert (shown["freshness"], shown["superseded_by"]) == ("superseded", other)
    assert cli("show", other, "--json", cwd=vault).json["memory"]["supersedes"] == [one]
    assert cli("check", cwd=vault).code == 0


@pytest.mark.parametrize("how", ["--both", "--dismiss"])
def test_what_was_let_stand_does_not_come_back(vault: Path, cli: Cli, pair: tuple[str, str], how: str) -> None:
    notes = {memory_id: cli("show", memory_id, "--raw", cwd=vault).out for memory_id in pair}

    done = cli("resolve", *pair, how, "--reason", "two clusters", "--json", cwd=vault).json

    assert done["path"].startswith("ledger/resolutions-2")
    assert conflicts(cli, vault) == []
    assert set(map(tuple, labels(cli, vault, "staging").values())) == {()}
    assert {memory_id: cli("show", memory_id, "--raw", cwd=vault).out for memory_id in pair} == notes
    assert git(vault, "status", "--porcelain") == ""
    [line] = (vault / done["path"]).read_text().splitlines()
    assert json.loads(line)["ids"] == sorted(pair)


def test_a_dismissed_proposal_comes_back_when_a_text_changes(vault: Path, cli: Cli) -> None:
    one, other = write(cli, vault, "Staging runs pg13"), write(cli, vault, "Staging runs pg16")
    cli("resolve", one, other, "--dismiss", cwd=vault)
    assert conflicts(cli, vault) == []

    cli("set", other, "tags=[db]", cwd=vault)
    assert conflicts(cli, vault) == []
    cli("set", other, "title=Staging runs pg17", cwd=vault)

    assert [one["proposed"] for one in conflicts(cli, vault)] == [True]


def test_an_explicit_update_of_a_side_closes_the_conflict(vault: Path, cli: Cli, pair: tuple[str, str]) -> None:
    cli("set", pair[0], "title=Production has two replicas", cwd=vault)

    assert conflicts(cli, vault) == []
    assert conflicts(cli, vault) == []  # from the caches too


def test_an_update_that_leaves_the_text_alone_closes_nothing(vault: Path, cli: Cli, pair: tuple[str, str]) -> None:
    cli("set", pair[0], "importance=0.9", cwd=vault)

    assert len(conflicts(cli, vault)) == 1


def test_superseding_a_side_closes_the_conflict(vault: Path, cli: Cli, pair: tuple[str, str]) -> None:
    cli("supersede", pair[0], "Staging has three replicas", cwd=vault)

    assert conflicts(cli, vault, "--no-proposals") == []


def test_a_contradiction_said_before_the_last_change_and_again_after_it_is_open(
    vault: Path, cli: Cli, pair: tuple[str, str]
) -> None:
    one, other = pair
    cli("set", one, "title=Staging has five replicas", cwd=vault)
    assert conflicts(cli, vault) == []

    relate(cli, vault, one, "contradicts", other)

    assert len(conflicts(cli, vault)) == 1


def test_two_heads_of_one_memory_are_a_contest_until_one_is_kept(vault: Path, cli: Cli) -> None:
    old = write(cli, vault, "Deploys on Friday")
    first = cli("supersede", old, "Deploys on Monday", "--json", cwd=vault).json["id"]
    (vault / "global" / "theirs.md").write_text(
        note_text("Deploys on Tuesday", id="m-1111111111", supersedes=f"[{old}]", provenance="[{source: merge}]")
    )
    git(vault, "add", ".")
    git(vault, "commit", "-q", "-m", "merged")

    [contest] = conflicts(cli, vault, "--no-proposals")

    assert contest["kind"] == "contest"
    assert contest["ids"] == sorted([first, "m-1111111111"])
    assert old in contest["detail"]
    assert labels(cli, vault, "deploys")[first] == ["conflict with m-1111111111"]
    cli("resolve", first, "m-1111111111", "--keep", first, "--supersede", cwd=vault)
    assert conflicts(cli, vault, "--no-proposals") == []
    assert list(labels(cli, vault, "deploys")) == [first]


def test_an_inferred_memory_is_never_kept_over_an_explicit_one(vault: Path, cli: Cli) -> None:
    said = write(cli, vault, "Staging runs pg13")
    inferred = write(cli, vault, "Staging runs pg16", "--epistemic", "inference")
    before = git(vault, "rev-parse", "HEAD")

    refused = cli("resolve", said, inferred, "--keep", inferred, cwd=vault, code=1)

    assert "was inferred" in refused.err
    assert f"remvault retract {said}" in refused.err
    assert git(vault, "rev-parse", "HEAD") == before
    cli("resolve", said, inferred, "--keep", said, cwd=vault)
    assert conflicts(cli, vault) == []


def test_memories_that_are_not_in_conflict_cannot_be_resolved(vault: Path, cli: Cli) -> None:
    one, other = write(cli, vault, "Tea in the morning"), write(cli, vault, "Coffee machine manual")

    refused = cli("resolve", one, other, "--keep", one, cwd=vault, code=1)

    assert "are in no conflict together" in refused.err
    assert cli("show", other, "--json", cwd=vault).json["memory"]["status"] == "active"
    assert "say how" in cli("resolve", one, cwd=vault, code=2).err
    assert "--keep" in cli("resolve", one, "--supersede", "--both", cwd=vault, code=2).err


def test_a_rehearsal_resolves_nothing(vault: Path, cli: Cli, pair: tuple[str, str]) -> None:
    head = git(vault, "rev-parse", "HEAD")

    for how in (["--both"], ["--keep", pair[0]]):
        assert cli("resolve", *pair, *how, "--dry-run", "--json", cwd=vault).json["dry_run"] is True

    assert git(vault, "rev-parse", "HEAD") == head
    assert git(vault, "status", "--porcelain") == ""


def test_a_side_out_of_scope_makes_no_conflict_and_is_not_named(vault: Path, cli: Cli) -> None:
    hidden = cli("new", "Acme runs pg13", "--scope", "project", "--scope-id", "acme", "--json", cwd=vault).json["id"]
    shown = write(cli, vault, "Everything runs pg16")
    relate(cli, vault, shown, "contradicts", hidden)

    assert conflicts(cli, vault) == []
    assert labels(cli, vault, "pg16") == {shown: []}
    assert len(conflicts_in(cli, vault, "acme")) == 1
    for verb in (["resolve", hidden, "--both"], ["conflicts", hidden], ["useful", hidden], ["irrelevant", hidden]):
        missing = cli(*[one.replace(hidden, "m-zzzzzzzzzz") for one in verb], cwd=vault, code=1).err
        assert cli(*verb, cwd=vault, code=1).err == missing.replace("m-zzzzzzzzzz", hidden)


def conflicts_in(cli: Cli, vault: Path, project: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli(
        "--context", f"project={project}", "conflicts", "--no-proposals", "--json", cwd=vault
    ).json["conflicts"]
    return found


def test_what_a_retraction_forbids_to_infer_is_not_proposed(vault: Path, cli: Cli) -> None:
    write(cli, vault, "Staging runs pg13")
    write(cli, vault, "Staging runs pg16")
    assert len(conflicts(cli, vault)) == 1
    wrong = write(cli, vault, "The pg13 note is nonsense")
    cli("set", wrong, "status=retracted", "no-infer=[pg13]", cwd=vault)

    assert conflicts(cli, vault) == []


def test_facts_of_different_times_are_not_proposed(vault: Path, cli: Cli) -> None:
    one, other = write(cli, vault, "Staging runs pg13"), write(cli, vault, "Staging runs pg16")
    cli("set", one, "valid-until=2026-01-01", cwd=vault)
    cli("set", other, "valid-from=2026-01-01", cwd=vault)

    assert conflicts(cli, vault) == []


def test_what_rests_on_a_retracted_memory_is_stale_until_it_is_confirmed(vault: Path, cli: Cli) -> None:
    base = write(cli, vault, "The cache is coherent")
    upper = write(cli, vault, "Reads need no lock")
    relate(cli, vault, upper, "derived-from", base)
    assert cli("stale", "--json", cwd=vault).json["memories"] == []
    cli("set", base, "status=retracted", cwd=vault)

    [found] = cli("stale", "--json", cwd=vault).json["memories"]

    assert found["id"] == upper
    assert found["commits"] == []
    assert labels(cli, vault, "reads lock") == {upper: [f"rests on retracted {base}"]}
    # An earlier confirmation does not count, a later one does.
    cli("set", upper, "confirmed=2020-01-01", cwd=vault)
    assert labels(cli, vault, "reads lock") == {upper: [f"rests on retracted {base}"]}
    cli("useful", upper, cwd=vault)
    assert labels(cli, vault, "reads lock") == {upper: []}
    assert cli("stale", "--json", cwd=vault).json["memories"] == []


def test_a_note_marked_stale_is_listed_and_a_retracted_one_is_not(vault: Path, cli: Cli) -> None:
    old = write(cli, vault, "Old but here")
    gone = write(cli, vault, "Old and gone")
    cli("set", old, "freshness=stale", cwd=vault)
    cli("set", gone, "freshness=stale", "status=retracted", cwd=vault)

    assert [one["id"] for one in cli("stale", "--json", cwd=vault).json["memories"]] == [old]
    assert "freshness stale" in cli("stale", cwd=vault).out


def test_conflicts_are_found_outside_git_too(tmp_path: Path, cli: Cli) -> None:
    """Without history nothing is known to be outdated, and a resolution is still remembered."""
    (tmp_path / "remvault.toml").write_text('[vault]\nid = "v-1"\nkind = "standalone"\n')
    (tmp_path / "one.md").write_text(note_text("One", id="m-1111111111"))
    (tmp_path / "two.md").write_text(
        note_text("Two", id="m-2222222222", relations="[{type: contradicts, target: m-1111111111}]")
    )

    assert len(conflicts(cli, tmp_path)) == 1
    cli("resolve", "m-1111111111", "--both", cwd=tmp_path)
    assert conflicts(cli, tmp_path) == []
