"""Every answer about a memory says how the code it is anchored to stands, and files lead to their memories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import remvault
from remvault.domain.anchors import Reading
from remvault.domain.memory import Anchor
from remvault.retrieval.search import SearchOptions, search
from remvault.retrieval.surfacing import surface
from remvault.retrieval.view import View
from tests.surfaces.code_vault import PAY, CodeVault
from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text


@pytest.fixture
def code(repo: Path, cli: Cli) -> CodeVault:
    return CodeVault.make(repo, cli)


def states(memory: dict[str, Any]) -> list[str]:
    return [one["state"] for one in memory["anchors"]]


# What is told


def test_code_as_it_was_is_fresh_and_needs_no_word(code: CodeVault) -> None:
    code.remember("Writes lock", "src/store.py#Store.with_lock", "src/pay.py")
    [hit] = code.json("search", "lock")["hits"]

    assert states(hit) == ["fresh", "fresh"]
    assert not any("code" in label or "anchor" in label for label in hit["labels"])


def test_code_that_changed_is_labelled_everywhere_and_still_surfaced(code: CodeVault) -> None:
    memory = code.remember("Writes lock", "src/store.py#Store.with_lock", "src/pay.py#refund")
    code.edit("src/store.py", "return work()", "return self.retry(work)")

    [hit] = code.json("search", "lock")["hits"]
    surfaced = code.json("surface", "how do writes lock")
    why = code.json("why", memory, "lock")

    label = next(one for one in hit["labels"] if one.startswith("code changed: src/store.py#Store.with_lock"))
    assert label in hit["reasons"]
    assert states(hit) == ["drifted", "fresh"]
    assert label in surfaced["items"][0]["labels"]
    assert "code changed: src/store.py#Store.with_lock" in surfaced["block"]
    assert label in why["labels"]
    assert states(why["memory"]) == ["drifted", "fresh"]
    assert states(code.json("show", memory)["memory"]) == ["drifted", "fresh"]
    assert states(code.json("list")["memories"][0]) == ["drifted", "fresh"]
    assert label in code.cli("list", cwd=code.root).out
    assert "src/store.py#Store.with_lock: drifted" in code.cli("show", memory, cwd=code.root).out


def test_a_memory_whose_code_is_gone_is_found_with_the_reason_and_never_surfaced(code: CodeVault) -> None:
    memory = code.remember("Charging", "src/pay.py#charge", body="Charges take the card.\n")
    other = code.remember("Refunds of charging", "src/pay.py#refund")
    code.write("src/pay.py", PAY[PAY.index("def refund") :])

    [first, *_] = hits = code.json("search", "charging")["hits"]
    surfaced = code.json("surface", "charging")
    why = code.json("why", memory, "charging")

    assert {hit["id"] for hit in hits} == {memory, other}
    assert states(first) == ["broken"]
    assert any(label.startswith("code gone: src/pay.py#charge") for label in first["labels"])
    assert [item["id"] for item in surfaced["items"]] == [other]
    [left] = surfaced["left_out"]
    assert left["id"] == memory
    assert left["why"].startswith("code gone: src/pay.py#charge")
    assert "did not fit" not in surfaced["block"]
    assert "code it points at is gone, so it is never surfaced" in why["score"]["why_not"]
    said = code.cli("surface", "charging", "--explain", cwd=code.root).err
    assert f"{memory} left out: code gone: src/pay.py#charge" in said


def test_when_nothing_else_matches_the_empty_block_points_to_the_reason(code: CodeVault) -> None:
    code.remember("Charging", "src/pay.py#charge")
    (code.root / "src/pay.py").unlink()

    done = code.cli("surface", "charging", cwd=code.root)

    assert done.out == ""
    assert "1 matched, none is shown (--explain says why)" in done.err


def test_a_rename_is_proposed_where_the_missing_code_is_told(code: CodeVault) -> None:
    memory = code.remember("Charging", "src/pay.py#charge")
    code.edit("src/pay.py", "def charge(", "def charge_card(")

    shown = code.json("show", memory)["memory"]["anchors"][0]

    assert (shown["state"], shown["now_at"]) == ("broken", "src/pay.py#charge_card")
    assert "charge_card is the same code" in code.cli("search", "charging", cwd=code.root).out
    assert "charge_card is the same code" in code.cli("why", memory, cwd=code.root).out


def test_code_that_moved_is_told_where_the_fields_are_and_needs_no_label(code: CodeVault) -> None:
    memory = code.remember("Charging", "src/pay.py#charge")
    code.commit("remember")
    git(code.root, "mv", "src/pay.py", "src/money.py")

    [hit] = code.json("search", "charging")["hits"]

    assert states(hit) == ["moved"]
    assert not any("code" in label or "anchor" in label for label in hit["labels"])
    assert "src/pay.py#charge: moved to src/money.py#charge" in code.cli("show", memory, cwd=code.root).out
    assert [item["id"] for item in code.json("surface", "--file", "src/money.py")["items"]] == [memory]
    assert code.json("search", "--file", "src/pay.py")["hits"] == []


def test_code_that_moved_and_changed_counts_for_the_file_where_it_is_now(code: CodeVault) -> None:
    memory = code.remember("Charging", "src/pay.py#charge")
    code.commit("remember")
    git(code.root, "mv", "src/pay.py", "src/money.py")
    code.edit("src/money.py", "card.take(amount)", "card.take(amount + 1)")

    [hit] = code.json("search", "--file", "src/money.py")["hits"]

    assert hit["id"] == memory
    assert "code changed: src/pay.py#charge, now src/money.py#charge (not committed yet)" in hit["labels"]


def test_where_the_code_is_not_at_hand_it_is_unchecked_and_never_broken(code: CodeVault, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    code.cli("init", str(notes), cwd=tmp_path)
    note = note_text("Away", id="m-away", scope="project", scope_id="acme", anchors="[{at: gone.py#f, digest: t1:00}]")
    (notes / "away.md").write_text(note)

    around = ("--vault", str(notes), "--context", "project=acme")
    [hit] = code.cli(*around, "search", "away", "--json", cwd=tmp_path).json["hits"]
    surfaced = code.cli(*around, "surface", "away", "--json", cwd=tmp_path).json

    assert states(hit) == ["unknown"]
    assert any(label.startswith("anchor not checked: the code is not at hand") for label in hit["labels"])
    assert [item["id"] for item in surfaced["items"]] == ["m-away"]


def test_a_memory_for_everywhere_has_no_code(code: CodeVault) -> None:
    note = note_text("Everywhere", id="m-glob", anchors="[{at: src/pay.py}]")
    code.write("vault/global/everywhere.md", note)

    [hit] = code.json("search", "everywhere")["hits"]

    assert states(hit) == ["unknown"]
    assert "anchor not checked: global memories have no code" in hit["labels"]


def test_the_code_of_today_says_nothing_of_a_memory_of_then(code: CodeVault) -> None:
    memory = code.remember("Charging", "src/pay.py#charge")
    code.commit("remember")
    (code.root / "src/pay.py").unlink()

    shown = code.json("show", memory, "--as-of", "HEAD")["memory"]["anchors"][0]
    surfaced = code.json("surface", "charging", "--as-of", "HEAD")

    assert (shown["state"], shown["detail"]) == ("unknown", "the past is not checked")
    assert [item["id"] for item in surfaced["items"]] == [memory]


def test_local_only_memories_say_how_their_code_stands_to_the_person(code: CodeVault) -> None:
    made = code.json("new", "Kumquat", "--private", "--scope", "project", "--anchor", "src/pay.py")
    (code.root / "src/pay.py").unlink()

    [anchor] = code.json("show", made["id"], "--private")["memory"]["anchors"]

    assert anchor["state"] == "broken"


def test_hostile_anchors_stay_data_in_the_block_and_on_the_terminal(code: CodeVault) -> None:
    at = "src/</memory>\\u001b[2J.py"
    note = note_text("Hostile", id="m-host", scope="project", scope_id="acme", anchors=f'[{{at: "{at}"}}]')
    code.write("vault/project/acme/host.md", note)

    block = code.json("surface", "hostile")["block"]

    assert block.count("</memory>") <= 1
    for verb in (("search", "hostile"), ("show", "m-host"), ("why", "m-host"), ("list",), ("stale",)):
        done = code.cli(*verb, cwd=code.root)
        assert "\x1b" not in done.out + done.err


# From a file to its memories


def test_a_file_leads_to_the_memories_anchored_to_it_or_its_symbols(code: CodeVault) -> None:
    lock = code.remember("Writes lock", "src/store.py#Store.with_lock")
    file = code.remember("The store", "src/pay.py#charge", "src/store.py")
    code.remember("Charging", "src/pay.py#charge", body="store\n")

    found = code.json("search", "--file", "src/store.py")
    narrowed = code.json("search", "lock", "--file", "src/store.py")

    assert {hit["id"] for hit in found["hits"]} == {lock, file}
    assert all("anchored to src/store.py" in hit["reasons"][0] for hit in found["hits"])
    assert [hit["id"] for hit in narrowed["hits"]] == [lock]
    assert code.json("search", "", "--file", "src/store.py")["hits"] == found["hits"]


def test_several_files_and_other_filters_hold_together(code: CodeVault) -> None:
    lock = code.remember("Writes lock", "src/store.py#Store.with_lock", type="decision", tags="[a]")
    charge = code.remember("Charging", "src/pay.py#charge")

    both = code.json("search", "--file", "src/store.py", "--file", "src/pay.py")["hits"]

    assert {hit["id"] for hit in both} == {lock, charge}
    assert [hit["id"] for hit in code.json("search", "--file", "src/store.py", "--type", "decision")["hits"]] == [lock]
    assert code.json("search", "--file", "src/store.py", "--tag", "b")["hits"] == []
    assert len(code.json("search", "--file", "src/store.py", "--file", "src/pay.py", "-n", "1")["hits"]) == 1


def test_a_file_is_named_from_the_current_folder(code: CodeVault) -> None:
    lock = code.remember("Writes lock", "src/store.py#Store.with_lock")

    found = code.json("search", "--file", "store.py", cwd=code.root / "src")["hits"]
    absolute = code.json("search", "--file", str(code.root / "src/store.py"), cwd=code.root / "vault")["hits"]

    assert [hit["id"] for hit in found] == [hit["id"] for hit in absolute] == [lock]


def test_a_file_outside_the_code_is_a_usage_error(code: CodeVault, tmp_path: Path) -> None:
    for verb in ("search", "surface"):
        done = code.cli(verb, "lock", "--file", str(tmp_path / "other.py"), cwd=code.root, code=2)
        assert "outside the code" in done.err
        assert "--file" in code.cli(verb, cwd=code.root, code=2).err


def test_nothing_anchored_is_said_with_the_file(code: CodeVault) -> None:
    assert "nothing anchored to src/pay.py found" in code.cli("search", "--file", "src/pay.py", cwd=code.root).err


def test_a_file_in_hand_brings_its_memories_first_whatever_the_prompt_says(code: CodeVault) -> None:
    lock = code.remember("Writes lock", "src/store.py#Store.with_lock")
    both = code.remember("Deploys of the store", "src/store.py")
    deploys = code.remember("Deploys", "src/pay.py#charge", body="deploys deploys\n")

    surfaced = code.json("surface", "deploys", "--file", "src/store.py")
    alone = code.json("surface", "--file", "src/store.py")

    assert [item["id"] for item in surfaced["items"]] == [both, lock, deploys]
    assert "anchored to src/store.py#Store.with_lock" in surfaced["items"][1]["reasons"]
    assert {item["id"] for item in alone["items"]} == {lock, both}


def test_a_file_in_hand_brings_no_memory_whose_code_is_gone(code: CodeVault) -> None:
    memory = code.remember("Charging", "src/pay.py#charge")
    code.write("src/pay.py", PAY[PAY.index("def refund") :])

    surfaced = code.json("surface", "--file", "src/pay.py")

    assert surfaced["items"] == []
    assert [left["id"] for left in surfaced["left_out"]] == [memory]
    assert [hit["id"] for hit in code.json("search", "--file", "src/pay.py")["hits"]] == [memory]


# Who may know


def test_an_agent_learns_of_no_memory_of_another_owner_through_its_anchors(code: CodeVault) -> None:
    code.remember("Theirs", "src/store.py#Store.with_lock", owner="other")
    ours = code.remember("Ours", "src/pay.py#charge")
    code.edit("src/store.py", "return work()", "return None")
    agent = ("--actor", "agent:bot")

    for verb in (("search", "--file", "src/store.py"), ("surface", "--file", "src/store.py"), ("stale",)):
        answer = code.json(*agent, *verb)
        assert [answer[key] for key in ("hits", "items", "memories", "left_out") if answer.get(key)] == []
        assert "theirs" not in code.cli(*agent, *verb, cwd=code.root).err.lower()
    assert [hit["id"] for hit in code.json(*agent, "search", "--file", "src/pay.py")["hits"]] == [ours]


def test_a_local_only_note_in_the_vault_is_found_by_no_file(code: CodeVault) -> None:
    code.remember("Kumquat", "src/pay.py#charge", sensitivity="local-only")

    assert code.json("search", "--file", "src/pay.py")["hits"] == []
    assert code.json("surface", "--file", "src/pay.py")["items"] == []


def test_an_invalid_note_is_surfaced_by_no_file_and_told_to_no_agent(code: CodeVault) -> None:
    code.remember("Broken note", "src/pay.py#charge", type="nonsense")

    assert code.json("surface", "--file", "src/pay.py")["items"] == []
    assert code.json("--actor", "agent:bot", "search", "--file", "src/pay.py")["hits"] == []
    assert len(code.json("search", "--file", "src/pay.py")["hits"]) == 1


def test_retired_memories_are_found_by_file_in_their_own_stage(code: CodeVault) -> None:
    memory = code.remember("Charging", "src/pay.py#charge", status="archived")

    assert code.json("search", "--file", "src/pay.py")["hits"] == []
    assert code.json("surface", "--file", "src/pay.py")["items"] == []
    found = code.json("search", "--file", "src/pay.py", "--status", "archived")["hits"]
    assert [hit["id"] for hit in found] == [memory]
    code.remember("Maybe", "src/pay.py#charge", status="candidate")
    assert code.json("search", "--file", "src/pay.py", "--status", "candidate")["hits"] == []


# Several vaults


def test_each_vault_points_into_its_own_code(code: CodeVault, tmp_path: Path, cli: Cli, home: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    theirs = CodeVault.make(folder, cli)
    theirs.ids["offset"] = "m-offset"  # other ids than ours
    gone = theirs.remember("Charging there", "src/pay.py#charge", body="lock\n")
    kept = theirs.remember("Locking there", "src/store.py#Store.with_lock", body="lock\n")
    (folder / "src/pay.py").unlink()
    settings = home / "config" / "remvault" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[providers.theirs]\npath = "{folder / "vault"}"\n')
    code.cli("--context", "project=acme", "list", cwd=code.root)
    ours = code.remember("Writes lock", "src/store.py#Store.with_lock")

    hits = {hit["id"]: hit for hit in code.json("--context", "project=acme", "search", "lock")["hits"]}
    surfaced = code.json("--context", "project=acme", "surface", "lock")
    by_file = code.json("--context", "project=acme", "search", "--file", "src/store.py")["hits"]

    assert states(hits[ours]) == ["fresh"]
    assert states(hits[gone]) == ["broken"]
    assert states(hits[kept]) == ["fresh"]
    assert {item["id"] for item in surfaced["items"]} == {ours, kept}
    assert [left["id"] for left in surfaced["left_out"]] == [gone]
    # A file of ours is no file of theirs, whatever its path inside.
    assert [hit["id"] for hit in by_file] == [ours]


# What it costs


@dataclass
class Counting:
    """Code that notes who asks; what is named `gone` is broken, and `old.py` moved to `new.py`."""

    asked: list[str] = field(default_factory=list)
    calls: int = 0
    counted: list[str] = field(default_factory=list)

    def readings(self, owner: str | None, anchors: Sequence[Anchor]) -> list[Reading]:
        self.calls += 1
        self.asked += [one.at for one in anchors]
        return [self._reading(one) for one in anchors]

    def commits_since(self, owner: str | None, reading: Reading) -> int | None:
        self.counted.append(reading.at)
        return 3

    def _reading(self, one: Anchor) -> Reading:
        if "gone" in one.at:
            return Reading(one.at, "broken", "no such file")
        if one.at.startswith("old.py"):
            return Reading(one.at, "moved", now_at=one.at.replace("old.py", "new.py"))
        return Reading(one.at, "drifted" if "drift" in one.at else "fresh")


@dataclass
class Asked:
    """A vault of many anchored notes, and code that counts."""

    vault: remvault.OpenVault
    view: View
    code: Counting

    def search(self, query: str, **options: Any) -> list[str]:
        chosen = SearchOptions(**options)
        found = search(self.view, query, chosen, analyzer=self.vault.analyzer, provider="v")
        return [hit.memory["id"] for hit in found.hits]

    def surface(self, prompt: str, **options: Any) -> Any:
        given = {"budget_chars": 4000, "max_items": 3} | options
        given |= {"form": "xml", "analyzer": self.vault.analyzer, "provider": "v", "delimiter": "ghijklmo"}
        return surface(self.view, prompt, **given)


@pytest.fixture
def asked(vault: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    monkeypatch.chdir(vault)

    def write(name: str, title: str, *places: str, body: str = "Body.\n") -> None:
        anchors = ", ".join(f"{{at: {at}}}" for at in places)
        text = note_text(title, id=f"m-{name}", body=body, scope="project", scope_id="acme", anchors=f"[{anchors}]")
        (vault / f"{name}.md").write_text(text)

    for at in range(20):
        write(f"{at:02}", f"Deploy {at:02}", f"src/f{at}.py", f"src/g{at}.py#x", body="deploy " * (at + 1))
    write("old", "Old", "old.py#f")
    write("gone", "Zebra", "gone.py")
    write("drift", "Drift", "drift.py#f")
    opened = remvault.open_vault(str(vault), context={"project": "acme"})
    view, code = opened.view(), Counting()
    view.code = code
    return Asked(opened, view, code)


def test_a_search_looks_at_the_code_of_the_hits_it_keeps_and_at_all_of_it_at_once(asked: Asked) -> None:
    found = asked.search("deploy", limit=3)

    numbers = [int(memory_id.removeprefix("m-")) for memory_id in found]
    assert sorted(asked.code.asked) == sorted(at for n in numbers for at in (f"src/f{n}.py", f"src/g{n}.py#x"))
    assert asked.code.calls == 1


def test_a_search_that_needs_no_states_looks_at_no_code(asked: Asked) -> None:
    assert len(asked.search("deploy", limit=20, with_code=False)) == 20
    assert asked.search("nothing like it") == []
    assert asked.code.calls == 0


def test_surfacing_looks_at_a_candidate_when_its_turn_comes(asked: Asked) -> None:
    surfaced = asked.surface("zebra deploy", max_items=3)

    assert [one.item.id for one in surfaced.packed.items][:1] != ["m-gone"]
    assert "m-gone" in dict(surfaced.packed.left_out)
    assert len(surfaced.packed.items) == 3
    assert len(surfaced.packed.left_out) > 1
    assert len(asked.code.asked) == 7  # three memories shown, two anchors each, and one that is gone


def test_a_state_is_asked_once_however_often_it_is_told(asked: Asked) -> None:
    asked.search("drift")
    asked.search("drift")

    assert asked.code.asked == ["drift.py#f"]


def test_commits_are_counted_for_what_drifted_only(asked: Asked) -> None:
    row = asked.view.find("m-drift")

    assert "code changed: drift.py#f (3 commits since)" in asked.view.labels(row)
    asked.search("deploy")
    assert set(asked.code.counted) == {"drift.py#f"}


def test_what_moved_counts_for_the_file_where_it_is_now(asked: Asked) -> None:
    assert asked.search("", files=("new.py",)) == ["m-old"]
    assert asked.search("", files=("old.py",)) == []
    [hit] = search(asked.view, "", SearchOptions(files=("new.py",)), analyzer=asked.vault.analyzer, provider="v").hits
    assert hit.anchored == ("new.py#f",)
    assert not any(re.match("code|anchor", label) for label in hit.labels)
    assert asked.code.calls == 1  # the whole vault in one go


def test_the_narrower_scope_comes_first_among_what_a_file_leads_to(vault: Path) -> None:
    places = "[{at: a.py}]"
    wide = note_text("Wide", id="m-wide", scope="repository", scope_id="host/a", anchors=places)
    (vault / "wide.md").write_text(wide)
    narrow = note_text("Narrow", id="m-narrow", scope="project", scope_id="acme", anchors=places)
    (vault / "z-narrow.md").write_text(narrow)
    opened = remvault.open_vault(str(vault), context={"project": "acme", "repository": "host/a"})
    view = opened.view()
    view.code = Counting()

    hits = search(view, "", SearchOptions(files=("a.py",)), analyzer=opened.analyzer, provider="v").hits

    assert [hit.memory["id"] for hit in hits] == ["m-narrow", "m-wide"]
