"""`catalog` at the front door: names of what this context may see, and nothing of anything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import remvault
from remvault.index.snapshot import Snapshot
from tests.bench.vault_generator import generate
from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text


def write(vault: Path, path: str, title: str, **said: str) -> None:
    """A note on disk; its body is a word that stands nowhere else."""
    name = path.rpartition("/")[2].removesuffix(".md")
    said = {"id": f"m-{name}", "body": f"body-of-{name}\n"} | said
    target = vault / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(note_text(title, **said))  # type: ignore[arg-type]


def topics(answer: Any) -> dict[str, int]:
    return {one["path"]: one["count"] for one in answer["topics"]}


def test_topics_from_parents_folders_and_tags_with_counts_newest_date_and_hint(vault: Path, cli: Cli) -> None:
    write(vault, "global/storage.md", "Storage", summary="How bytes are kept", parent="backend", importance="0.9")
    write(vault, "global/locks.md", "Locks", parent="m-storage", confirmed="2026-11-03", tags="[speed]")
    write(vault, "global/kitchen/tea.md", "Tea", created="2026-01-01T10:00:00Z")
    write(vault, "global/2026-11/loose.md", "Loose", type="decision", confirmed="2999-01-01")

    done = cli("catalog", "--json", cwd=vault)

    assert topics(done.json) == {
        "backend": 2, "kitchen": 1, "speed": 1, "unsorted": 1, "backend / Storage": 2, "unsorted / decision": 1,
    }  # fmt: skip
    found = {one["path"]: one for one in done.json["topics"]}
    assert found["backend / Storage"] | {"providers": None} == {
        "id": "m-storage", "kind": "topic", "title": "Storage", "path": "backend / Storage", "aliases": [],
        "hint": "How bytes are kept", "providers": None, "scope": "global", "tags": [], "importance": 0.9,
        "source": "remvault://explicit-write", "parent": found["backend"]["id"], "newest": "2026-11-03", "count": 2,
        "topics": 0,
    }  # fmt: skip
    assert found["unsorted"]["newest"] is None  # nothing holds in the future yet
    assert found["kitchen"]["hint"] == "Tea"
    assert done.json["providers"][0]["memories"] == 4
    assert done.json["chars"] == len(done.json["block"]) <= 2000


def test_a_topic_ends_in_titles_and_hints(vault: Path, cli: Cli) -> None:
    write(vault, "global/locks.md", "Locks", parent="storage", summary="One lock a file")
    write(vault, "global/pages.md", "Pages", parent="storage")

    done = cli("catalog", "storage", cwd=vault)

    assert done.out.splitlines()[1:] == [
        "storage (2): Locks; Pages",
        "- m-locks Locks (semantic): One lock a file",
        "- m-pages Pages (semantic)",
    ]
    answer = cli("catalog", "storage", "--json", cwd=vault).json
    assert [(one["id"], one["hint"]) for one in answer["memories"]] == [
        ("m-locks", "One lock a file"),
        ("m-pages", None),
    ]
    assert cli("catalog", "nowhere", cwd=vault, code=1).err.startswith("error: no topic called 'nowhere' here")


HIDDEN = {
    "another project": ("project/b/x.md", {"scope": "project", "scope_id": "b"}),
    "local-only": ("global/x.md", {"sensitivity": "local-only"}),
    "a candidate": ("inbox/x.md", {"status": "candidate"}),
    "retracted": ("global/x.md", {"status": "retracted"}),
    "archived": ("global/x.md", {"status": "archived"}),
    "expired": ("global/x.md", {"expires": "2020-01-01"}),
    "invalid": ("global/x.md", {"type": "nonsense"}),
    "without owner": ("global/x.md", {"scope": "nonsense"}),
    "a copy": ("global/x.md", {"id": "m-seen"}),
    "private": ("private/x.md", {"sensitivity": "local-only"}),
}


@pytest.mark.parametrize("kind", HIDDEN)
@pytest.mark.parametrize("actor", ["user:dana", "agent:x"])
def test_what_the_context_may_not_see_has_no_title_count_or_date(vault: Path, cli: Cli, kind: str, actor: str) -> None:
    write(vault, "global/seen.md", "Seen", parent="shared", confirmed="2026-01-01")
    git(vault, "add", "global")
    git(vault, "commit", "-qm", "seen")
    path, said = HIDDEN[kind]
    secret = {"parent": "shared", "tags": "[hushed]", "confirmed": "2026-02-02", "summary": "hush", "importance": "1.0"}
    write(vault, path, "Hushed", **(secret | said))

    before = ("--actor", actor, "--context", "project=a")
    whole, topic = (cli(*before, "catalog", *more, "--json", cwd=vault) for more in ((), ("shared",)))

    for done in (whole, topic):
        assert "ush" not in done.out
        assert "2026-02-02" not in done.out
    assert topics(whole.json) == {"shared": 1}
    assert whole.json["providers"][0]["memories"] == 1
    assert [one["id"] for one in topic.json["memories"]] == ["m-seen"]
    assert cli(*before, "catalog", "hushed", cwd=vault, code=1).out == ""


def test_superseded_memories_are_left_to_their_successors(vault: Path, cli: Cli) -> None:
    write(vault, "global/old.md", "Old", parent="t", freshness="superseded", superseded_by="m-new")
    write(vault, "global/new.md", "New", parent="t", supersedes="[m-old]")

    assert [one["title"] for one in cli("catalog", "t", "--json", cwd=vault).json["memories"]] == ["New"]


def test_other_vaults_are_named_and_what_they_may_not_show_is_left_out(
    vault: Path, cli: Cli, home: Path, tmp_path: Path
) -> None:
    team = tmp_path / "team"
    cli("init", str(team), cwd=tmp_path)
    settings = home / "config" / "remvault" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[providers.team]\npath = "{team}"\n[providers.gone]\npath = "{tmp_path}/gone"\n')
    write(vault, "global/tea.md", "Tea", parent="kitchen")
    write(team, "global/cups.md", "Cups", parent="Kitchen", created="2026-01-01")
    write(team, "workspace/desk.md", "Desk", parent="office", scope="workspace")

    done = cli("catalog", "--json", cwd=vault)

    (kitchen,) = done.json["topics"]
    assert (kitchen["count"], kitchen["providers"]) == (2, ["team", "vault"])
    assert [(one["provider"], one["memories"]) for one in done.json["providers"]] == [
        ("vault", 1), ("team", 1), ("gone", 0)
    ]  # fmt: skip
    assert "gone did not answer" in done.json["block"]
    assert "provider gone did not answer" in done.err


def test_no_word_of_a_body_is_in_a_catalog_of_a_thousand_notes(vault: Path, cli: Cli) -> None:
    generate(vault, 1000, projects=2)
    for path in vault.rglob("note-*.md"):
        with path.open("a") as stream:
            stream.write(f"\nbodymark{path.stem}\n")

    opened = remvault.open_vault(str(vault), context={"project": "project-1"})
    whole, topic = remvault.catalog(opened, budget_chars=200_000), remvault.catalog(opened, "deploy")
    for found in (remvault.catalog(opened), whole, topic):
        assert "bodymark" not in str(found.answer())
    block = remvault.catalog(opened).block
    assert len(block) <= 2000
    assert block.splitlines()[1].startswith("Providers: vault 600 memories")
    largest = max(whole.topics, key=lambda one: one.count)
    assert f"- {largest.name} ({largest.count}" in block.splitlines()[2]


def test_a_catalog_opens_neither_the_index_nor_a_stored_record(
    vault: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(vault, "global/tea.md", "Tea", parent="kitchen")
    cli("search", "tea", cwd=vault)
    for name in ("_open", "records"):
        monkeypatch.setattr(Snapshot, name, lambda *_: pytest.fail("opened"))

    assert "kitchen (1): Tea" in cli("catalog", cwd=vault).out
