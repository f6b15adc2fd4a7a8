"""Several vaults answer together: fused by rank, screened again, and never held up by one that fails."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import remvault
from remvault.domain.scope import Context
from remvault.retrieval.providers import RRF_K, MutableProvider, fuse, screen
from remvault.retrieval.search import SearchOptions
from remvault.store.usage import Usage
from remvault.surfaces.fusing import FusedAnswer, VaultProvider, open_providers, search_all, surface_all
from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text

NOW = datetime(2026, 12, 1, tzinfo=UTC)


@dataclass
class Vaults:
    """The vault we are in, and others that the settings file lists."""

    base: Path
    own: Path
    settings: Path
    cli: Cli
    listed: list[str] = field(default_factory=list)

    def make(self, name: str, *, write: bool = False) -> Path:
        folder = self.base / name
        self.cli("init", str(folder), cwd=self.base)
        self.list(name, str(folder), write=write)
        return folder

    def list(self, name: str, path: str | None, *, write: bool = False) -> None:
        lines = [f"[providers.{name}]"]
        lines += [] if path is None else [f'path = "{path}"']
        lines += ["write = true"] if write else []
        self.listed.append("\n".join(lines))
        self.settings.parent.mkdir(parents=True, exist_ok=True)
        self.settings.write_text("\n\n".join(self.listed) + "\n")

    def new(self, folder: Path, title: str, *more: str, scope: str = "global") -> str:
        made = self.cli(
            "--vault", str(folder), "new", title, "--body", "deploys", "--scope", scope, *more, "--json", cwd=self.base
        )
        return str(made.json["id"])

    def search(self, *more: str) -> Any:
        return self.cli(*more, "search", "deploys", "--json", cwd=self.own)

    def titles(self, *more: str) -> list[tuple[str, str]]:
        return [(hit["provider"], hit["title"]) for hit in self.search(*more).json["hits"]]


@pytest.fixture
def vaults(vault: Path, cli: Cli, home: Path, tmp_path: Path) -> Vaults:
    base = tmp_path / "others"
    base.mkdir()
    return Vaults(base, vault, home / "config" / "remvault" / "config.toml", cli)


def test_listed_vaults_answer_together_and_say_who_they_are(vaults: Vaults) -> None:
    team, personal = vaults.make("team"), vaults.make("personal")
    vaults.new(vaults.own, "Own")
    vaults.new(team, "Of the team")
    vaults.new(personal, "Personal")

    done = vaults.search()

    assert vaults.titles() == [("vault", "Own"), ("team", "Of the team"), ("personal", "Personal")]
    hits = done.json["hits"]
    assert [hit["score"] for hit in hits] == [round(1 / (RRF_K + 1), 6)] * 3
    assert [hit["labels"] for hit in hits] == [[], ["from team"], ["from personal"]]
    assert hits[1]["reasons"][1].startswith("number 1 in team, by ")
    assert [one["provider"] for one in done.json["providers"]] == ["vault", "team", "personal"]
    block = vaults.cli("surface", "deploys", "--json", cwd=vaults.own).json
    assert [(item["provider"], item["labels"]) for item in block["items"]] == [
        ("vault", []),
        ("team", ["from team"]),
        ("personal", ["from personal"]),
    ]
    assert ">from team</remvault>" in block["block"]


def test_every_item_has_provider_id_source_scope_and_freshness(vaults: Vaults) -> None:
    team = vaults.make("team")
    vaults.new(team, "Of the team")
    for item in (
        vaults.search().json["hits"][0],
        vaults.cli("surface", "deploys", "--json", cwd=vaults.own).json["items"][0],
    ):
        found = {key: item[key] for key in ("provider", "source", "scope", "freshness")}
        assert found == {
            "provider": "team",
            "source": "remvault://explicit-write",
            "scope": "global",
            "freshness": "current",
        }
        assert item["id"].startswith("m-")


def test_without_listed_vaults_nothing_changes(vaults: Vaults) -> None:
    vaults.new(vaults.own, "Own")
    opened = remvault.open_vault(str(vaults.own))

    alone = remvault.search(opened, "deploys")

    assert search_all(opened, "deploys").answer() == alone.answer()
    fused = surface_all(opened, "deploys", delimiter="ghijklmo")
    assert fused.block == remvault.surface(opened, "deploys", delimiter="ghijklmo").block


def test_a_vault_listed_twice_or_being_the_one_we_are_in_counts_once(vaults: Vaults) -> None:
    team = vaults.make("team")
    link = vaults.base / "link"
    link.symlink_to(team)
    vaults.list("again", str(link))
    vaults.list("file", str(team / "remvault.toml"))
    vaults.list("here", str(vaults.own))
    vaults.new(vaults.own, "Own")
    vaults.new(team, "Of the team")

    assert vaults.titles() == [("vault", "Own"), ("team", "Of the team")]
    assert vaults.search().err == ""


def test_the_same_memory_in_a_copy_of_a_vault_is_one_hit(vaults: Vaults) -> None:
    one = vaults.make("one")
    vaults.new(one, "Shared")
    git(vaults.base, "clone", "-q", str(one), "two")
    vaults.list("two", str(vaults.base / "two"))

    hits = vaults.search().json["hits"]

    assert [(hit["provider"], hit["title"]) for hit in hits] == [("one", "Shared")]
    assert "also in two" in hits[0]["reasons"]


# What fails


def _no_folder(vaults: Vaults) -> str:
    return str(vaults.base / "missing")


def _no_vault(vaults: Vaults) -> str:
    (vaults.base / "empty").mkdir()
    return str(vaults.base / "empty")


def _broken_settings(vaults: Vaults) -> str:
    folder = vaults.base / "broken"
    vaults.cli("init", str(folder), cwd=vaults.base)
    (folder / "remvault.toml").write_text("[vault\n")
    return str(folder)


def _unknown_setting(vaults: Vaults) -> str:
    folder = vaults.base / "newer"
    vaults.cli("init", str(folder), cwd=vaults.base)
    (folder / "remvault.toml").write_text("[vault]\ncolour = 1\n")
    return str(folder)


def _broken_head(vaults: Vaults) -> str:
    folder = vaults.base / "headless"
    vaults.cli("init", str(folder), cwd=vaults.base)
    (folder / ".git" / "HEAD").write_text("\x00\n")
    return str(folder)


def _relative(vaults: Vaults) -> str:
    return "somewhere/else"


def _nobody(vaults: Vaults) -> str:
    return "~nobody-by-this-name/vault"


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (_no_folder, "the folder does not exist"),
        (_no_vault, "has no remvault.toml"),
        (_broken_settings, "is not TOML"),
        (_unknown_setting, "no such setting"),
        (_broken_head, "HEAD"),
        (_relative, "is relative"),
        (_nobody, "home"),
        (lambda vaults: None, "no path is set"),
    ],
)
def test_a_provider_that_fails_is_told_in_one_line_and_blocks_nobody(
    vaults: Vaults, how: Callable[[Vaults], str | None], why: str
) -> None:
    vaults.new(vaults.own, "Own")
    path = how(vaults)
    vaults.list("bad", path)
    vaults.listed[-1] += "\nwrite = false"
    vaults.list("good", str(vaults.base / "good"))
    vaults.cli("init", str(vaults.base / "good"), cwd=vaults.base)
    vaults.new(vaults.base / "good", "Good")

    for verb in ("search", "surface"):
        done = vaults.cli(verb, "deploys", "--json", cwd=vaults.own)
        items = done.json["hits" if verb == "search" else "items"]
        assert [item["provider"] for item in items] == ["vault", "good"]
        (line,) = done.err.strip().split("\n")
        assert line.startswith("remvault: provider bad did not answer: ")
        assert why in line or why == "the folder does not exist"


def test_a_hanging_provider_costs_its_own_time_only(vaults: Vaults) -> None:
    slow = vaults.make("slow")
    vaults.new(vaults.own, "Own")
    # Opening it waits until somebody writes into the pipe, which nobody does.
    (slow / ".git" / "HEAD").unlink()
    os.mkfifo(slow / ".git" / "HEAD")
    opened = remvault.open_vault(str(vaults.own))

    began = time.monotonic()
    answer = search_all(opened, "deploys", budget_s=0.5)

    assert time.monotonic() - began < 2
    assert [hit.memory["title"] for hit in answer.hits] == ["Own"]
    assert any("provider slow did not answer: no answer within 0.5 s" in one for one in answer.notices)


def test_a_provider_of_the_same_name_as_this_vault_is_not_mixed_up_with_it(vaults: Vaults) -> None:
    other = vaults.make("vault")
    vaults.new(other, "Other")
    vaults.new(vaults.own, "Own")

    done = vaults.search()

    assert [hit["title"] for hit in done.json["hits"]] == ["Own"]
    assert "provider vault was not asked" in done.err


# What may pass


def test_other_vaults_show_what_this_context_sees_and_nothing_else(vaults: Vaults) -> None:
    team = vaults.make("team")
    folder = team / "project" / "a"
    folder.mkdir(parents=True)
    notes = {
        "seen": note_text("Seen", id="m-seen", scope="project", scope_id="a", body="deploys"),
        "other": note_text("Other", id="m-other", scope="project", scope_id="b", body="deploys"),
        "lost": note_text("Lost", id="m-lost", drop=("scope",), body="deploys"),
        "home": note_text("At home", id="m-home", scope="workspace", body="deploys"),
        "local": note_text("Local", id="m-local", sensitivity="local-only", body="deploys"),
        "gone": note_text("Gone", id="m-gone", status="retracted", body="deploys"),
        "old": note_text("Old", id="m-old", freshness="superseded", superseded_by="m-new", body="deploys"),
        "past": note_text("Past", id="m-past", expires="2020-01-01", tier="temporary", body="deploys"),
    }
    for name, text in notes.items():
        (folder / f"{name}.md").write_text(text)

    assert vaults.titles("--context", "project=a") == [("team", "Seen")]
    assert vaults.titles() == []
    assert [title for _, title in vaults.titles("--context", "project=b")] == ["Other"]
    for status, title in (("retracted", "Gone"), ("superseded", "Old"), ("expired", "Past"), ("archived", None)):
        hits = vaults.cli("search", "deploys", "--status", status, "--json", cwd=vaults.own).json["hits"]
        assert [hit["title"] for hit in hits] == ([title] if title else [])


@dataclass(frozen=True)
class Faked:
    """What a careless provider may offer."""

    memory: Mapping[str, Any]
    body: str = "text"
    score: float = 1.0
    section: tuple[str, int] | None = None
    section_text: str = ""
    labels: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    matched: tuple[str, ...] = ("text",)
    anchored: tuple[str, ...] = ()
    opens: bool = True

    @property
    def signals(self) -> Mapping[str, float]:
        return {"text": self.score}

    def looked(self) -> Faked:
        return self

    def answer(self) -> dict[str, Any]:
        return dict(self.memory)


def offer(memory_id: str = "m-1", **fields: Any) -> Faked:
    memory = {"id": memory_id, "title": memory_id, "scope": "global", "scope_id": None, "status": "active"}
    memory |= {"freshness": "current", "sensitivity": "normal", "expires": None, "superseded_by": None}
    return Faked(memory | fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"scope": "project", "scope_id": "b"},
        {"scope": "project", "scope_id": None},
        {"scope": None},
        {"scope": "planet", "scope_id": "a"},
        {"scope": "workspace", "scope_id": None},
        {"sensitivity": "local-only"},
        {"sensitivity": None},
        {"status": "retracted"},
        {"status": "candidate"},
        {"status": "archived"},
        {"status": None},
        {"freshness": "superseded"},
        {"superseded_by": "m-2"},
        {"expires": "2020-01-01"},
    ],
)
def test_what_a_provider_offers_is_checked_again(fields: Mapping[str, Any]) -> None:
    context = Context(ids={"project": "a"}, in_own_work_tree=True)
    offers = [offer("m-1"), offer("m-2", **fields), offer("m-3", scope="project", scope_id="a")]

    passed = screen(offers, context, stages=("active",), now=NOW, is_own=False, is_person=True)

    assert [one.memory["id"] for one in passed.offers] == ["m-1", "m-3"]
    assert passed.refused == 1


# Fusion


@given(st.lists(st.lists(st.integers(0, 30), unique=True, max_size=8), min_size=1, max_size=4), st.integers(1, 20))
def test_fusion_keeps_each_providers_order_and_takes_turns(ranked: list[list[int]], limit: int) -> None:
    answers = [(f"p{number}", [offer(f"m-{one}") for one in ones]) for number, ones in enumerate(ranked)]

    hits = fuse(answers, own="p0", limit=limit)

    assert hits == fuse(answers, own="p0", limit=limit)
    ids = [hit.memory["id"] for hit in hits]
    assert len(ids) == len(set(ids)) == min(limit, len({one for ones in ranked for one in ones}))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        best = min(ones.index(int(hit.memory["id"][2:])) for ones in ranked if int(hit.memory["id"][2:]) in ones)
        assert hit.rank == best + 1
        assert hit.score == 1 / (RRF_K + best + 1)
        holding = {f"p{number}" for number, ones in enumerate(ranked) if int(hit.memory["id"][2:]) in ones}
        assert {hit.provider, *hit.also_in} == holding


def test_what_is_anchored_to_a_file_in_hand_leads_whichever_provider_has_it() -> None:
    one, two = [offer(f"m-{at}") for at in range(3)], [offer("m-8"), Faked(offer("m-9").memory, anchored=("a.py#f",))]

    hits = fuse([("a", one), ("b", two)], own="a", limit=4)

    assert [hit.memory["id"] for hit in hits] == ["m-9", "m-0", "m-8", "m-1"]


def test_two_versions_of_one_memory_are_both_shown() -> None:
    one, two = offer("m-1"), Faked(offer("m-1").memory, body="another text")

    hits = fuse([("a", [one]), ("b", [two])], own="a", limit=10)

    assert [(hit.provider, hit.body) for hit in hits] == [("a", "text"), ("b", "another text")]


# The protocol


def written(provider: MutableProvider) -> Sequence[str]:
    """Any mutable provider does: write, read, change, replace, remove."""
    first = provider.new("First", scope="global", body="deploys")
    assert provider.get(first.id)["title"] == "First"
    provider.update(first.id, ["importance=0.7"])
    second = provider.supersede(first.id, "Second", body="deploys")
    third = provider.new("Third", scope="global")
    provider.delete(third.id)
    return [first.id, second.id]


def test_a_vault_is_a_provider(vaults: Vaults) -> None:
    team = vaults.make("team", write=True)
    opened = remvault.open_vault(str(vaults.own))
    (own, provider) = open_providers(opened)
    assert (own.name, provider.name) == ("vault", "team")

    first, second = written(provider)

    held = {"provider": "team", "memories": 1, "types": {"semantic": 1}, "holds": [], "error": None}
    assert provider.catalog().answer() == held
    assert provider.get(second)["supersedes"] == [first]
    assert provider.get(second)["provider"] == "team"
    assert git(team, "status", "--porcelain") == ""
    assert own.catalog().memories == ()
    with pytest.raises(remvault.UserError):
        provider.get("m-missing")


def test_a_vault_listed_for_reading_is_not_written(vaults: Vaults) -> None:
    vaults.make("team")
    provider = open_providers(remvault.open_vault(str(vaults.own)))[1]

    with pytest.raises(remvault.UserError, match="listed for reading only"):
        provider.new("X", scope="global")
    refused = vaults.cli("--vault", "team", "new", "X", "--scope", "global", cwd=vaults.own, code=1)
    assert "set write = true below [providers.team]" in refused.err
    assert not (vaults.base / "team" / "global").exists()


def test_writes_go_to_the_provider_named_or_to_the_vault_we_are_in(vaults: Vaults) -> None:
    team = vaults.make("team", write=True)

    vaults.cli("--vault", "team", "new", "Named", "--scope", "global", cwd=vaults.own)
    vaults.cli("new", "Here", "--scope", "global", cwd=vaults.own)

    assert len(list(team.glob("global/named-*.md"))) == 1
    assert len(list(vaults.own.glob("global/here-*.md"))) == 1
    assert vaults.cli("--vault", "team", "list", "--json", cwd=vaults.own).json["total"] == 1


def test_a_folder_beats_a_provider_of_the_same_name(vaults: Vaults) -> None:
    vaults.make("team", write=True)
    vaults.cli("init", "team", cwd=vaults.base.parent)

    vaults.cli("--vault", "team", "new", "X", "--scope", "global", cwd=vaults.base.parent)

    assert len(list((vaults.base.parent / "team").glob("global/*.md"))) == 1


def test_the_past_is_that_of_this_vault_only(vaults: Vaults) -> None:
    team = vaults.make("team")
    vaults.new(team, "Of the team")
    vaults.new(vaults.own, "Own")

    done = vaults.cli("search", "deploys", "--as-of", "HEAD", "--json", cwd=vaults.own)

    assert [hit["title"] for hit in done.json["hits"]] == ["Own"]
    assert "the past is that of this vault only" in done.err


def test_only_what_is_ours_counts_as_shown(vaults: Vaults) -> None:
    team = vaults.make("team")
    vaults.new(team, "Of the team")
    mine = vaults.new(vaults.own, "Own")
    opened = remvault.open_vault(str(vaults.own))

    surfaced = surface_all(opened, "deploys")

    assert len(surfaced.packed.items) == 2
    assert list(Usage(opened.state).by_memory()) == [mine]
    assert git(team, "status", "--porcelain") == ""


def test_an_agent_is_asked_for_in_other_vaults_as_itself(vaults: Vaults) -> None:
    team = vaults.make("team")
    (team / "lost.md").write_text(note_text("Lost", drop=("scope",), body="deploys"))

    assert vaults.titles("--actor", "agent:x") == []
    assert vaults.titles() == []  # of another vault nobody sees what has no owner


def test_fused_answers_are_values(vaults: Vaults) -> None:
    vaults.make("team")
    opened = remvault.open_vault(str(vaults.own))

    found = search_all(opened, "deploys")

    assert isinstance(found, FusedAnswer)
    assert [one.answer() for one in found.providers] == [
        {"provider": name, "hits": 0, "refused": 0, "error": None} for name in ("vault", "team")
    ]
    assert list(VaultProvider("x", opened).search("deploys", SearchOptions()).offers) == []
