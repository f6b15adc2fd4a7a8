"""`surface` as a prompt's hook meets it: core, gate, files in hand, what a session saw, and why the rest is missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import remvault
from remvault.retrieval.rendering import Item
from remvault.surfaces.exposing import forget_exposures
from tests.retrieval.blocks import DELIMITER, parse_block
from tests.surfaces.code_vault import PAY, CodeVault
from tests.surfaces.conftest import Cli
from tests.vaults import note_text

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
Write = Callable[..., str]


@pytest.fixture
def write(vault: Path) -> Write:
    """Write a note without the command line, by a name that is its id's end too."""

    def make(name: str, title: str, body: str, **fields: Any) -> str:
        (vault / f"{name}.md").write_text(note_text(title, id=f"m-{name}", body=f"{body}\n", **fields))
        return f"m-{name}"

    return make


@pytest.fixture
def filled(vault: Path, write: Write) -> Path:
    """A dozen notes about nothing that is asked here, so that words have some rarity."""
    for at, word in enumerate("alder birch cedar elder fir hazel ivy juniper larch maple oak pine".split()):  # noqa: SIM905
        write(f"tree-{at:02}", f"The {word}", f"A {word} stands in garden {at}.")
    return vault


def opened(vault: Path, *, session: str | None = None, now: datetime = NOW, **context: str) -> remvault.OpenVault:
    ids = context | ({"session": session} if session else {})
    found = remvault.open_vault(str(vault), context=ids)
    return replace(found, surroundings=replace(found.surroundings, now=lambda: now))


def surfaced(vault: Path, prompt: str, *, session: str | None = None, now: datetime = NOW, **options: Any) -> Any:
    return remvault.surface(opened(vault, session=session, now=now), prompt, delimiter=DELIMITER, **options)


def ids(found: Any, part: str | None = None) -> list[str]:
    return [one.item.id for one in found.packed.items if part in (None, one.part)]


def why_not(found: Any) -> dict[str, str]:
    return dict(found.packed.left_out)


def test_the_core_is_there_whatever_the_prompt_and_told_apart(filled: Path, write: Write, cli: Cli) -> None:
    write("core", "Answer in French", "The reader prefers it.", tier="core")
    write("deploy", "Deploys", "Deploys wait for Tuesday.")

    alone = surfaced(filled, "zeppelin maintenance schedule")
    beside = surfaced(filled, "when do deploys wait")

    assert (ids(alone, "core"), ids(alone, "relevant")) == (["m-core"], [])
    assert alone.gate is not None
    assert not alone.gate.is_open
    assert (ids(beside, "core"), ids(beside, "relevant")) == (["m-core"], ["m-deploy"])
    assert [one.id for one in parse_block(beside.block, "xml").parts["core"]] == ["m-core"]
    answer = cli("surface", "when do deploys wait", "--json", cwd=filled).json
    assert [(one["id"], one["part"], one["rank"]) for one in answer["items"]] == [
        ("m-core", "core", None),
        ("m-deploy", "relevant", 1),
    ]
    assert [answer["parts"][name]["items"] for name in ("core", "files", "relevant", "catalog")] == [1, 0, 1, 0]


def test_slots_go_to_the_pinned_the_narrower_the_more_important_and_the_newer(filled: Path, write: Write) -> None:
    write("wide", "A", "one", tier="core", importance="0.9")
    write("pinned", "B", "two", tier="core", importance="0.1", pinned="true")
    write("old", "C", "three", tier="core", importance="0.9", created="2020-01-01")
    write("own", "D", "four", tier="core", scope="project", scope_id="acme")
    write("sick", "E", "five", tier="core", status="retracted")
    write("other", "F", "six", tier="core", scope="project", scope_id="other")
    write("broken", "G", "seven", tier="core", type="nonsense")
    vault = opened(filled, project="acme")

    found = remvault.surface(vault, "zeppelin", delimiter=DELIMITER)

    assert ids(found) == ["m-pinned", "m-own", "m-old"]
    assert why_not(found)["m-wide"] == "over 3 core memories"
    assert not {"m-sick", "m-other", "m-broken"} & {*ids(found), *why_not(found)}


def test_a_core_memory_without_a_slot_is_as_relevant_as_any(filled: Path, write: Write) -> None:
    for at in range(4):
        write(f"core-{at}", f"Rule {at}", "linker tape" if at == 3 else "x", tier="core", importance=f"0.{9 - at}")

    found = surfaced(filled, "linker tape")

    assert (ids(found, "core"), ids(found, "relevant")) == (["m-core-0", "m-core-1", "m-core-2"], ["m-core-3"])


def test_no_slots_and_no_room_are_settings_that_hold(
    filled: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("core", "Answer in French", "Always.", tier="core")
    monkeypatch.setenv("REMVAULT_SURFACE_CORE_SLOTS", "0")
    assert surfaced(filled, "zeppelin").block == ""
    monkeypatch.setenv("REMVAULT_SURFACE_CORE_SLOTS", "3")
    monkeypatch.setenv("REMVAULT_SURFACE_MAX_CHARS", "600")
    assert 0 < len(surfaced(filled, "zeppelin").block) <= 600


def test_behind_a_closed_gate_nothing_is_shown_and_each_candidate_is_named(filled: Path, cli: Cli) -> None:
    found = surfaced(filled, "which garden has the largest zeppelin hangar on the planet mars")

    assert found.gate is not None
    assert not found.gate.is_open
    assert (found.block, ids(found)) == ("", [])
    assert why_not(found)
    assert all(why.startswith("gate closed: 0.") for why in why_not(found).values())
    done = cli("surface", "which garden has the largest zeppelin hangar on the planet mars", "--explain", cwd=filled)
    assert done.out == ""
    assert "gate closed: 0." in done.err


def test_a_stem_alone_brings_nothing_into_the_block(filled: Path, write: Write) -> None:
    write("organ", "Organ", "The organ plays on Sunday.")
    write("both", "Organization", "The organization meets on Monday.")

    found = surfaced(filled, "organization")

    assert "m-organ" not in ids(found)
    assert why_not(found).get("m-organ", "matched by word stem only") == "matched by word stem only"


def test_what_is_anchored_to_a_file_in_hand_needs_no_open_gate(repo: Path, cli: Cli) -> None:
    code = CodeVault.make(repo, cli)
    lock = code.remember("Writes lock", "src/store.py#Store.with_lock")
    code.remember("Charging", "src/pay.py#charge")

    answer = code.json("surface", "zeppelin maintenance", "--file", "src/store.py")

    assert [(one["id"], one["part"]) for one in answer["items"]] == [(lock, "files")]
    assert answer["gate"]["abstained"]
    assert "<files>" in answer["block"]


def test_a_session_sees_a_memory_once_until_its_words_change(filled: Path, write: Write) -> None:
    write("core", "Answer in French", "Always.", tier="core")
    write("tape", "Tape", "The linker tape is red.")

    first = surfaced(filled, "linker tape", session="s-1")
    again = surfaced(filled, "linker tape", session="s-1", now=NOW + timedelta(days=1))
    other = surfaced(filled, "linker tape", session="s-2")
    write("tape", "Tape", "The linker tape is blue.")
    changed = surfaced(filled, "linker tape", session="s-1")

    assert ids(first) == ids(other) == ["m-core", "m-tape"]
    assert again.block == ""
    assert why_not(again) == dict.fromkeys(("m-core", "m-tape"), "shown earlier in this session")
    assert ids(changed) == ["m-tape"]


def test_without_a_session_nothing_is_held_back(filled: Path, write: Write) -> None:
    write("tape", "Tape", "The linker tape is red.")

    blocks = {surfaced(filled, "linker tape").block for _ in range(3)}

    assert len(blocks) == 1
    assert blocks != {""}


def test_again_and_a_shortened_context_show_all_once_more(filled: Path, write: Write) -> None:
    write("tape", "Tape", "The linker tape is red.")
    for session in ("s-1", "s-2"):
        surfaced(filled, "linker tape", session=session)

    assert ids(surfaced(filled, "linker tape", session="s-1", again=True)) == ["m-tape"]
    forget_exposures(opened(filled, session="s-1"))

    assert ids(surfaced(filled, "linker tape", session="s-1")) == ["m-tape"]
    assert ids(surfaced(filled, "linker tape", session="s-1")) == []
    assert ids(surfaced(filled, "linker tape", session="s-2")) == []
    forget_exposures(opened(filled))  # of no session there is nothing to forget


def test_a_new_doubt_is_news(filled: Path, write: Write) -> None:
    write("red", "Tape", "The linker tape is red.")
    assert ids(surfaced(filled, "linker tape", session="s")) == ["m-red"]

    write("blue", "Tape", "The linker tape is blue.", relations="[{type: contradicts, target: m-red}]")

    assert set(ids(surfaced(filled, "linker tape", session="s"))) == {"m-red", "m-blue"}


def test_an_hour_later_or_a_commit_later_is_no_news(filled: Path, write: Write, cli: Cli) -> None:
    tape = cli("new", "Tape", "--body", "The linker tape is red.", "--scope", "global", "--json", cwd=filled).json["id"]
    assert ids(surfaced(filled, "linker tape", session="s")) == [tape]

    cli("confirm", tape, cwd=filled)
    cli("set", tape, "importance=0.9", cwd=filled)

    assert ids(surfaced(filled, "linker tape", session="s")) == []


def test_what_is_lost_of_the_usage_costs_a_repetition(filled: Path, write: Write) -> None:
    write("tape", "Tape", "The linker tape is red.")
    surfaced(filled, "linker tape", session="s")
    for file in (filled / ".git" / "remvault").rglob("usage*"):
        file.unlink()

    assert ids(surfaced(filled, "linker tape", session="s")) == ["m-tape"]


def test_the_past_holds_nothing_back_and_is_not_remembered(filled: Path, cli: Cli) -> None:
    cli("new", "Tape", "--body", "The linker tape is red.", "--scope", "global", cwd=filled)
    surfaced(filled, "linker tape", session="s", as_of="HEAD")

    assert ids(surfaced(filled, "linker tape", session="s"))
    assert ids(surfaced(filled, "linker tape", session="s", as_of="HEAD"))


def test_near_duplicates_stand_behind_the_newest_with_a_count(filled: Path, write: Write) -> None:
    body = "The linker tape is red, and whoever changes it tells the people of the archive on the day before."
    write("old", "Tape", body, created="2025-01-01")
    write("new", "Tape", f"{body} Thanks.", created="2026-01-01")
    write("mid", "Tape", body.upper(), created="2025-06-01")
    write("not", "Tape", body.replace("is red", "is not red"), created="2026-06-01")

    found = surfaced(filled, "linker tape archive")

    assert set(ids(found)) == {"m-new", "m-not"}
    assert {one: why for one, why in why_not(found).items() if one in ("m-old", "m-mid")} == {
        "m-old": "near-duplicate of m-new",
        "m-mid": "near-duplicate of m-new",
    }
    [item] = [one.item for one in found.packed.items if one.item.id == "m-new"]
    assert "and 2 alike" in item.labels


def test_what_is_trusted_less_hides_nothing_by_being_newer(filled: Path, write: Write) -> None:
    body = "The linker tape is red, and whoever changes it tells the people of the archive on the day before."
    write("user", "Tape", body, created="2025-01-01", provenance="[{source: a, trust: user}]")
    write("low", "Tape", f"{body} Thanks.", created="2026-01-01", provenance="[{source: b, trust: low}]")

    assert ids(surfaced(filled, "linker tape archive")) == ["m-user"]


def test_where_the_head_has_lost_its_code_the_next_one_speaks(repo: Path, cli: Cli) -> None:
    code = CodeVault.make(repo, cli)
    body = "The linker tape is red, and whoever changes it tells the people of the archive on the day before.\n"
    old = code.remember("Tape", body=body, created="2025-01-01")
    gone = code.remember("Tape", "src/pay.py#charge", body=body, created="2026-01-01")
    code.write("src/pay.py", PAY[PAY.index("def refund") :])

    answer = code.json("surface", "linker tape archive")

    assert [one["id"] for one in answer["items"]] == [old]
    assert answer["left_out"] == [{"id": gone, "why": f"near-duplicate of {old}"}]
    assert "alike" not in answer["block"]


def test_every_item_says_what_is_known_of_it_and_that_the_rest_is_not(filled: Path, write: Write, cli: Cli) -> None:
    write("tape", "Tape", "The linker tape is red.", epistemic="observation", observed="2026-11-28T09:00:00Z")
    write("bare", "Tape too", "The linker tape is old.", scope="project", scope_id="acme")

    answer = cli("--context", "project=acme", "surface", "linker tape", "--json", cwd=filled).json

    by_id = {one["id"]: one for one in answer["items"]}
    observed, bare = by_id["m-tape"], by_id["m-bare"]
    assert (observed["epistemic"], observed["type"], observed["scope"]) == ("observation", "semantic", "global")
    assert observed["age"].endswith(" old")
    assert (bare["age"], bare["epistemic"], bare["scope"]) == ("unknown", None, "project:acme")
    for one in (observed, bare):
        assert one["provider"] == "vault"
        assert one["source"] == "remvault://explicit-write"
        assert one["freshness"] == "current"
        assert "uncommitted" in one["labels"]
        assert one["title"] in answer["block"]
    assert answer["tokens"] == -(-len(answer["block"].encode()) // 3)


def test_a_budget_in_tokens_is_three_characters_each(filled: Path, write: Write) -> None:
    for at in range(30):
        write(f"tape-{at:02}", f"Tape {at}", f"The linker tape {at} is red. " * 3)

    for tokens in (50, 150, 300, 801):
        assert len(surfaced(filled, "linker tape", budget_tokens=tokens).block) <= tokens * 3
    assert surfaced(filled, "linker tape", budget_tokens=800).block == surfaced(filled, "linker tape").block


def test_a_block_is_the_same_for_the_same_question(filled: Path, write: Write) -> None:
    for at in range(30):
        write(f"tape-{at:02}", f"Tape {at}", "The linker tape is red. " * (at % 3 + 1))

    assert len({surfaced(filled, "linker tape").block for _ in range(3)}) == 1
    bounds = {remvault.surface(opened(filled), "linker tape").delimiter for _ in range(3)}
    assert len(bounds) == 3


def test_the_text_form_prints_the_block_alone_and_explains_on_the_other_stream(
    filled: Path, write: Write, cli: Cli
) -> None:
    write("tape", "Tape", "The linker tape is red.")
    write("far", "Tape", "word " * 2_000 + "linker tape")

    done = cli("surface", "linker tape", "--explain", cwd=filled)

    assert done.out.startswith("<memories-")
    assert done.out.endswith(">\n")
    assert "gate open" in done.err
    assert "relevant: m-tape (" in done.err


def test_a_long_note_is_represented_by_something_whole_that_says_what_it_is(filled: Path, write: Write) -> None:
    nothing = "\n".join(f"Line {at} is about nothing." for at in range(200))
    write("long", "Tape", f"{nothing}\n\n## Colours\n\nThe linker tape is red.")
    write("mute", "Colours of tape", nothing, summary="Which linker tape is which.")
    write("wide", "Tape of the linker", "word " * 2_000)

    texts = {one.item.id: one.item.text for one in surfaced(filled, "linker tape").packed.items}

    assert re.match(r"\((section .*, |from )line \d+\)\n", texts["m-long"])
    assert texts["m-long"].endswith("The linker tape is red.")
    assert texts["m-mute"] == "(summary)\nWhich linker tape is which."
    assert "remvault show m-wide" in texts["m-wide"]


def test_core_memories_of_listed_vaults_share_the_slots(vault: Path, cli: Cli, home: Path, tmp_path: Path) -> None:
    personal = tmp_path / "personal"
    cli("init", str(personal), cwd=tmp_path)
    settings = home / "config" / "remvault" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f'[providers.personal]\npath = "{personal}"\n')
    (personal / "french.md").write_text(note_text("Answer in French", id="m-french", tier="core", pinned="true"))
    for at in range(3):
        (vault / f"core{at}.md").write_text(note_text(f"Rule {at}", id=f"m-rule{at}", tier="core"))

    answer = cli("surface", "zeppelin", "--json", cwd=vault).json
    session = ("--context", "session=s")
    first = cli(*session, "surface", "zeppelin", "--json", cwd=vault).json
    second = cli(*session, "surface", "zeppelin", "--json", cwd=vault).json

    assert [(one["provider"], one["id"]) for one in answer["items"]] == [
        ("personal", "m-french"),
        ("vault", "m-rule0"),
        ("vault", "m-rule1"),
    ]
    assert len(first["items"]) == 3
    assert second["block"] == ""
    assert "times_surfaced" in cli("why", "m-rule0", "--json", cwd=vault).out


def test_a_block_reads_back_as_what_the_answer_lists(filled: Path, write: Write) -> None:
    write("core", "Answer in French", "Always.", tier="core")
    for at in range(12):
        write(f"tape-{at:02}", f"Tape {at}", f"The linker tape {at} is red.")

    for form in ("xml", "md", "json"):
        found = surfaced(filled, "linker tape", form=form)
        parts = parse_block(found.block, form).parts

        expected: dict[str, list[Item]] = {}
        for one in found.packed.items:
            expected.setdefault(one.part, []).append(replace(one.item, reasons=()))
        assert parts == expected
