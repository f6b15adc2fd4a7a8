"""Feedback is a line in the tracked ledger, exposure is local: and neither changes what a memory is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import remvault
from remvault.store.feedback import of_memory, read_feedback
from remvault.store.usage import of_memory as usage_of
from remvault.surfaces.app import OpenVault, open_vault
from remvault.surfaces.surroundings import Surroundings
from tests.surfaces.conftest import ROOT, Cli
from tests.vaults import git

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


def write(cli: Cli, vault: Path, title: str, *options: str) -> str:
    return str(cli("new", title, "--scope", "global", *options, "--json", cwd=vault).json["id"])


def opened(vault: Path, *, now: datetime = NOW, session: str | None = None, actor: str | None = None) -> OpenVault:
    around = replace(Surroundings.of_process(), now=lambda: now)
    return open_vault(str(vault), surroundings=around, hook_session=session, actor=actor)


def ledger(vault: Path) -> list[dict[str, Any]]:
    files = sorted((vault / "ledger").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_useful_adds_a_line_and_confirms_in_one_commit(vault: Path, cli: Cli) -> None:
    memory_id = write(cli, vault, "Deploys on Tuesday")
    before = int(git(vault, "rev-list", "--count", "HEAD"))

    done = cli(
        "--actor", "agent:coder", "useful", memory_id, "--query", "when to deploy", "--reason", "it was right",
        "--json", cwd=vault,
    ).json  # fmt: skip

    assert (done["op"], done["id"], done["committed"]) == ("feedback", memory_id, True)
    assert int(git(vault, "rev-list", "--count", "HEAD")) == before + 1
    assert git(vault, "status", "--porcelain") == ""
    [line] = ledger(vault)
    assert {key: line[key] for key in ("op", "id", "actor", "query", "reason")} == {
        "op": "useful",
        "id": memory_id,
        "actor": "agent:coder",
        "query": "when to deploy",
        "reason": "it was right",
    }
    assert cli("show", memory_id, "--json", cwd=vault).json["memory"]["confirmed"] is not None
    message = git(vault, "log", "-1", "--format=%B")
    assert message.startswith("feedback: useful: Deploys on Tuesday\n\nit was right\n")
    assert f"Remvault-Op: feedback\nRemvault-Memory: {memory_id}\n" in message


def test_irrelevant_changes_nothing_in_the_note(vault: Path, cli: Cli) -> None:
    memory_id = write(cli, vault, "Deploys on Tuesday")
    raw = cli("show", memory_id, "--raw", cwd=vault).out

    cli("irrelevant", memory_id, cwd=vault)
    cli("irrelevant", memory_id, "--query", "lunch", cwd=vault)

    assert cli("show", memory_id, "--raw", cwd=vault).out == raw
    assert of_memory(vault, memory_id).count("irrelevant") == 2
    assert of_memory(vault, memory_id).count("useful") == 0


def test_a_retracted_memory_can_be_rated_and_is_not_confirmed(vault: Path, cli: Cli) -> None:
    memory_id = write(cli, vault, "Deploys on Tuesday")
    cli("set", memory_id, "status=retracted", cwd=vault)
    raw = cli("show", memory_id, "--raw", cwd=vault).out

    cli("useful", memory_id, cwd=vault)

    assert cli("show", memory_id, "--raw", cwd=vault).out == raw
    assert of_memory(vault, memory_id).count("useful") == 1


def test_a_rehearsal_writes_nothing(vault: Path, cli: Cli) -> None:
    memory_id = write(cli, vault, "Deploys on Tuesday")
    head = git(vault, "rev-parse", "HEAD")

    assert cli("useful", memory_id, "--dry-run", "--json", cwd=vault).json["saved"] is False

    assert git(vault, "rev-parse", "HEAD") == head
    assert not (vault / "ledger").exists()
    assert usage_of(opened(vault).state, memory_id).recalls == ()


def test_in_a_code_repository_feedback_is_staged_with_the_note(repo: Path, cli: Cli) -> None:
    (repo / "code.py").write_text("x = 1\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "code")
    cli("init", "--embedded", "--project", "acme", cwd=repo)
    memory_id = str(cli("new", "Deploys on Tuesday", "--json", cwd=repo).json["id"])
    git(repo, "commit", "-q", "-m", "memory")

    done = cli("useful", memory_id, "--json", cwd=repo).json

    assert (done["saved"], done["committed"], done["pending"]) == (True, False, "staged for your next commit")
    staged = git(repo, "diff", "--cached", "--name-only").split()
    assert [name.partition("/")[0] for name in staged] == ["vault", "vault"]
    assert any(name.startswith("vault/ledger/feedback-") for name in staged)


def test_torn_and_hostile_lines_are_named_and_stop_nothing(vault: Path, cli: Cli) -> None:
    memory_id = write(cli, vault, "Deploys on Tuesday")
    cli("useful", memory_id, cwd=vault)
    [file] = (vault / "ledger").glob("feedback-*.jsonl")
    good = file.read_bytes()
    bad = [b"<<<<<<< ours", b"[1, 2]", b'{"time": ' + b"[" * 20_000, b"\xff\xfe", b'"text"', b"9" * 10_000, b'{"op":']
    file.write_bytes(b"\n".join(bad) + b"\n" + good + good)
    (vault / "ledger" / "feedback-2026-01-evil.jsonl").symlink_to("/etc/passwd")
    (vault / "ledger" / "feedback-2026-02-odd.jsonl").write_text(
        json.dumps({"time": "x", "op": "useful", "id": 7}) + "\n" + json.dumps({"op": "useful", "id": memory_id}) + "\n"
    )

    by_id, skipped = read_feedback(vault)

    assert {one: said.count("useful") for one, said in by_id.items()} == {memory_id: 1}
    assert [one for one in skipped if one.startswith(f"ledger/{file.name}:1:")]
    assert len(skipped) == len(bad) + 1
    cli("useful", memory_id, "--reason", "again", cwd=vault)
    assert of_memory(vault, memory_id).count("useful") == 2


def test_a_torn_last_line_does_not_swallow_the_next(vault: Path, cli: Cli) -> None:
    memory_id = write(cli, vault, "Deploys on Tuesday")
    cli("irrelevant", memory_id, cwd=vault)
    [file] = (vault / "ledger").glob("feedback-*.jsonl")
    file.write_bytes(file.read_bytes()[:-20])

    cli("useful", memory_id, cwd=vault)

    said = of_memory(vault, memory_id)
    assert (said.count("useful"), said.count("irrelevant")) == (1, 0)


def test_feedback_of_two_clones_is_merged_as_a_union(vault: Path, cli: Cli, tmp_path: Path) -> None:
    memory_id = write(cli, vault, "Deploys on Tuesday")
    cli("irrelevant", memory_id, "--reason", "base", cwd=vault)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(vault), str(clone))
    cli("irrelevant", memory_id, "--reason", "here", cwd=vault)
    # A copied work tree has the same machine's file: the worst case.
    [file] = (vault / "ledger").glob("*.jsonl")
    (clone / "ledger" / file.name).write_text(
        (clone / "ledger" / file.name).read_text() + json.dumps({"time": "t", "op": "useful", "id": memory_id}) + "\n"
    )
    git(clone, "commit", "-q", "-am", "there")

    git(vault, "pull", "-q", "--no-rebase", "--no-edit", str(clone))

    said = of_memory(vault, memory_id)
    assert (said.count("useful"), said.count("irrelevant")) == (1, 2)


def test_many_processes_lose_no_line(vault: Path, cli: Cli) -> None:
    memory_id = write(cli, vault, "Deploys on Tuesday")
    command = [sys.executable, "-m", "remvault", "irrelevant", memory_id, "--reason"]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen([*command, str(at)], cwd=vault, env=environ, stdout=subprocess.DEVNULL) for at in range(6)
    ]
    assert [one.wait() for one in running] == [0] * 6

    assert of_memory(vault, memory_id).count("irrelevant") == 6
    assert git(vault, "status", "--porcelain") == ""


def test_a_local_only_note_is_in_no_ledger_and_in_no_usage(vault: Path, cli: Cli) -> None:
    done = cli("new", "My salary", "--scope", "global", "--private", "--json", cwd=vault).json
    for verb in ("useful", "irrelevant"):
        for name in (done["id"], "My salary", done["path"]):
            for actor in ("user:dana", "agent:coder", "tool:x"):
                refused = cli("--actor", actor, verb, name, cwd=vault, code=1).err
                missing = cli("--actor", actor, verb, "m-zzzzzzzzzz", cwd=vault, code=1).err
                assert refused.partition("\n")[0] == missing.partition("\n")[0].replace("m-zzzzzzzzzz", name)
                assert "did you mean" not in refused
    cli("--actor", "agent:coder", "search", "salary", cwd=vault)
    cli("surface", "salary", cwd=vault)
    cli("conflicts", cwd=vault)
    answer = cli("--actor", "agent:coder", "stats", "--json", cwd=vault).json

    assert answer["notes"] == 0
    assert all(not answer[key] for key in ("types", "scopes", "stages", "tiers", "freshness", "least_surfaced"))
    assert not (vault / "ledger").exists()
    assert done["id"] not in git(vault, "log", "--all", "-p")
    for file in (vault / ".git" / "remvault").rglob("usage*"):
        assert done["id"].encode() not in file.read_bytes()


@pytest.fixture
def exposed(vault: Path, cli: Cli) -> tuple[Path, str]:
    memory_id = write(cli, vault, "Deploys on Tuesday", "--body", "Never on Friday.")
    write(cli, vault, "Deploys need an approval", "--body", "By two people on Tuesday and Friday.")
    return vault, memory_id


def test_an_exposure_keeps_session_query_score_signals_and_rank_and_is_no_commit(exposed: tuple[Path, str]) -> None:
    vault, memory_id = exposed
    head = git(vault, "rev-parse", "HEAD")

    remvault.surface(opened(vault, session="s-1"), "deploys on tuesday")

    usage = usage_of(opened(vault).state, memory_id)
    assert usage.times_surfaced == 1
    assert usage.recalls == ()
    assert usage.last is not None
    assert (usage.last.session, usage.last.rank, usage.last.core) == ("s-1", 1, None)
    assert usage.last.score == pytest.approx(sum(usage.last.signals.values()), abs=1e-5)
    assert len(usage.last.query or "") == 12
    assert git(vault, "rev-parse", "HEAD") == head
    assert git(vault, "status", "--porcelain") == ""


def test_an_exposure_is_written_again_after_a_while_or_in_another_session(exposed: tuple[Path, str]) -> None:
    vault, memory_id = exposed
    for minutes, session in ((0, "s-1"), (5, "s-1"), (14, "s-1"), (16, "s-1"), (16, "s-2"), (16, None), (17, None)):
        remvault.surface(opened(vault, now=NOW + timedelta(minutes=minutes), session=session), "deploys tuesday")

    assert usage_of(opened(vault).state, memory_id).times_surfaced == 3  # a session sees it once


def test_a_memory_surfaced_a_thousand_times_has_the_same_rank_and_age(exposed: tuple[Path, str], cli: Cli) -> None:
    vault, memory_id = exposed
    later = NOW + timedelta(days=30)

    def answers() -> Any:
        found = remvault.search(opened(vault, now=later), "deploys tuesday friday").answer()
        listed = remvault.list_memories(opened(vault, now=later)).answer()
        return found, listed, cli("show", memory_id, "--raw", cwd=vault).out

    before = answers()
    around = {"now": NOW}
    shown = opened(vault)
    shown = replace(shown, surroundings=replace(shown.surroundings, now=lambda: around["now"]))
    from remvault.surfaces.exposing import record_exposures

    surfaced = remvault.surface(shown, "deploys tuesday friday")
    for at in range(1, 1_000):
        around["now"] = NOW + timedelta(minutes=20 * at)
        record_exposures(shown, surfaced, "deploys tuesday friday")

    assert usage_of(shown.state, memory_id).times_surfaced == 1_000
    assert answers() == before


def test_a_look_after_a_search_a_read_by_an_agent_and_a_rating_are_recalls(exposed: tuple[Path, str]) -> None:
    vault, memory_id = exposed

    def recalls() -> int:
        return len(usage_of(opened(vault).state, memory_id).recalls)

    remvault.show(opened(vault), memory_id)
    assert recalls() == 0  # by a person, and nothing was searched
    remvault.search(opened(vault), "deploys tuesday")
    remvault.show(opened(vault, now=NOW + timedelta(minutes=1)), memory_id)
    assert recalls() == 1
    remvault.show(opened(vault, now=NOW + timedelta(hours=2)), memory_id)
    assert recalls() == 1  # the search is long over
    remvault.show(opened(vault, now=NOW + timedelta(hours=3), actor="agent:coder"), memory_id)
    assert recalls() == 2
    remvault.useful(opened(vault, now=NOW + timedelta(hours=4)), memory_id)
    assert recalls() == 3
    assert usage_of(opened(vault).state, memory_id).times_surfaced == 0


def test_a_list_may_begin_with_what_was_surfaced_last(vault: Path, cli: Cli) -> None:
    ids = [write(cli, vault, title) for title in ("Alpha", "Beta", "Gamma")]
    for at, title in enumerate(("alpha", "beta")):
        remvault.surface(opened(vault, now=NOW + timedelta(minutes=at)), title)

    listed = cli("list", "--sort", "surfaced", "--json", cwd=vault).json["memories"]

    assert [one["id"] for one in listed] == [ids[1], ids[0], ids[2]]


def test_usage_may_be_thrown_away(exposed: tuple[Path, str], cli: Cli) -> None:
    vault, memory_id = exposed
    cli("surface", "deploys", cwd=vault)
    for file in (vault / ".git" / "remvault").rglob("usage*"):
        file.write_bytes(b"\x00garbage\n" * 100)

    assert cli("surface", "deploys tuesday", cwd=vault).out
    assert cli("stats", cwd=vault).out
    assert usage_of(opened(vault).state, memory_id).times_surfaced == 1


def test_stats_count_what_the_context_sees_and_name_both_ends(vault: Path, cli: Cli) -> None:
    for title in ("One alpha", "Two alpha", "Three beta"):
        write(cli, vault, title, "--type", "decision")
    hidden = cli("new", "Four alpha", "--scope", "project", "--scope-id", "acme", "--json", cwd=vault).json["id"]
    cli("--context", "project=acme", "surface", "alpha", cwd=vault)
    cli("set", "Three beta", "tier=core", "freshness=stale", cwd=vault)

    answer = cli("stats", "--json", cwd=vault).json

    assert answer["notes"] == 3
    assert answer["types"] == {"decision": 3}
    assert answer["scopes"] == {"global": 3}
    assert answer["stages"] == {"active": 3}
    assert answer["tiers"] == {"archival": 2, "core": 1}
    assert answer["freshness"] == {"current": 2, "stale": 1}
    assert {one["title"] for one in answer["most_surfaced"]} == {"One alpha", "Two alpha"}
    assert answer["least_surfaced"][0] == {
        "id": answer["least_surfaced"][0]["id"],
        "title": "Three beta",
        "times": 0,
        "last": None,
    }
    assert hidden not in json.dumps(answer)


def test_expired_notes_are_not_surfaced_and_stay_searchable(vault: Path, cli: Cli) -> None:
    old = write(cli, vault, "Freeze until January", "--tier", "temporary", "--expires", "2020-01-01")
    write(cli, vault, "Freeze of the schema")

    assert old not in cli("surface", "freeze", cwd=vault).out
    assert old not in [hit["id"] for hit in cli("search", "freeze", "--json", cwd=vault).json["hits"]]
    [hit] = cli("search", "freeze", "--status", "expired", "--json", cwd=vault).json["hits"]
    assert hit["id"] == old
    assert "expired" in hit["labels"]
    assert (vault / hit["path"]).exists()


KEYS = {
    "provider", "id", "title", "type", "scope", "scope_id", "status", "freshness", "path", "source", "provenance",
    "anchors", "supersedes", "superseded_by", "relations", "tags", "tier", "pinned", "importance", "confidence",
    "salience", "epistemic", "summary", "aliases", "entities", "parent", "task_status", "decision_status", "created",
    "observed", "confirmed", "updated", "expires", "valid_from", "valid_until", "no_infer", "sensitivity", "metadata",
    "committed",
}  # fmt: skip


def test_every_item_has_provider_id_source_scope_and_freshness_and_nothing_is_invented(vault: Path, cli: Cli) -> None:
    """A note with the required fields alone: every other field is null or empty, in every answer."""
    (vault / "bare.md").write_text(
        "---\nid: m-1111111111\ntitle: Bare facts\ntype: semantic\nscope: global\nfreshness: unknown\n"
        "provenance: [{source: 'git:1234'}]\n---\n"
    )
    certain = ("provider", "id", "source", "scope", "freshness")
    known = {*certain, "title", "type", "status", "path", "provenance", "tier", "sensitivity", "committed", "pinned"}

    hit = cli("search", "bare", "--json", cwd=vault).json["hits"][0]
    [item] = cli("surface", "bare", "--json", cwd=vault).json["items"]
    [listed] = cli("list", "--json", cwd=vault).json["memories"]
    shown = cli("show", "m-1111111111", "--json", cwd=vault).json["memory"]

    for answer in (hit, item, listed, shown):
        assert all(answer[key] for key in certain)
    assert (item["source"], item["freshness"]) == ("git:1234", "unknown")
    for answer in (hit, listed, shown):
        assert answer.keys() >= KEYS
        for key in KEYS - known:
            assert answer[key] in (None, [], {}), key
        assert answer["provenance"][0] == {
            "source": "git:1234", "actor": None, "trust": None, "captured": None, "session": None, "messages": [],
            "origin": None, "confidence": None,
        }  # fmt: skip


def test_why_tells_the_activation_that_deliberate_recalls_left(vault: Path, cli: Cli) -> None:
    done = cli("new", "Deploys", "--scope", "global", "--json", cwd=vault).json

    assert cli("why", done["id"], "--json", cwd=vault).json["activation"] == 0
    cli("useful", done["id"], cwd=vault)

    assert 0 < cli("why", done["id"], "--json", cwd=vault).json["activation"] <= 1
    assert "activation" in cli("why", done["id"], cwd=vault).out
