"""Scope is a boundary for every verb, whatever is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text


def _project_note(vault: Path, project: str, memory_id: str, title: str) -> None:
    folder = vault / "project" / project
    folder.mkdir(parents=True, exist_ok=True)
    text = note_text(title, id=memory_id, scope="project", scope_id=project, body="the quick brown fox\n")
    (folder / f"{memory_id}.md").write_text(text)


@pytest.mark.parametrize("context", [("--context", "project=b"), ()])
def test_a_project_note_is_in_no_answer_elsewhere(vault: Path, cli: Cli, context: tuple[str, ...]) -> None:
    _project_note(vault, "a", "m-aaaaaaaaaa", "Secret of a")

    assert cli(*context, "search", "quick fox", "--json", cwd=vault).json["hits"] == []
    assert cli(*context, "surface", "quick fox", "--json", cwd=vault).json["items"] == []
    assert cli(*context, "list", "--json", cwd=vault).json["memories"] == []
    for name in ("m-aaaaaaaaaa", "m-aaaa", "Secret of a", "project/a/m-aaaaaaaaaa.md"):
        refused = cli(*context, "show", name, "--json", cwd=vault, code=1)
        assert refused.json["error"]["code"] == "memory_not_found"
        assert refused.json["error"]["close"] == []
        never = cli(*context, "show", "m-zzzzzzzzzz", "--json", cwd=vault, code=1)
        assert never.json["error"].keys() == refused.json["error"].keys()
    assert (
        cli("--context", "project=a", "search", "quick fox", "--json", cwd=vault).json["hits"][0]["id"]
        == "m-aaaaaaaaaa"
    )


HIDDEN = "m-aaaaaaaaaa"


@pytest.mark.parametrize(
    "verb",
    [
        ("set", HIDDEN, "title=x"),
        ("unset", HIDDEN, "tags"),
        ("edit", HIDDEN),
        ("supersede", HIDDEN, "x"),
        ("log", HIDDEN),
    ],
)
def test_writing_verbs_do_not_reach_across_either(vault: Path, cli: Cli, verb: tuple[str, ...]) -> None:
    _project_note(vault, "a", "m-aaaaaaaaaa", "Secret of a")

    refused = cli("--context", "project=b", *verb, cwd=vault, code=1)

    assert "no memory called 'm-aaaaaaaaaa'" in refused.err


OWNERS = st.sampled_from(["a", "b", "c"])


@settings(max_examples=15)
@given(notes=st.lists(OWNERS, min_size=1, max_size=6), context=st.none() | OWNERS)
def test_whatever_notes_there_are_only_the_contexts_own_are_visible(
    tmp_path_factory: pytest.TempPathFactory, notes: list[str], context: str | None
) -> None:
    import remvault

    folder = tmp_path_factory.mktemp("vault")
    git(folder, "init", "-q")
    remvault.init(str(folder))
    for number, owner in enumerate(notes):
        _project_note(folder, owner, f"m-{owner}{number:09}", f"Fox {number} of {owner}")
    mine = {f"m-{owner}{number:09}" for number, owner in enumerate(notes) if owner == context}

    vault = remvault.open_vault(str(folder), context={"project": context} if context else {})

    assert {hit.memory["id"] for hit in remvault.search(vault, "quick fox", limit=50).hits} == mine
    assert {memory["id"] for memory, _ in remvault.list_memories(vault).memories} == mine
    block = remvault.surface(vault, "quick fox", budget_chars=100_000).block
    assert all((f"m-{owner}{number:09}" in block) == (owner == context) for number, owner in enumerate(notes))


def test_a_note_of_unknown_owner_is_shown_to_a_person_only_and_labelled(vault: Path, cli: Cli) -> None:
    (vault / "odd.md").write_text(note_text("Odd", scope="galaxy", body="the quick brown fox\n"))

    seen = cli("search", "fox", "--json", cwd=vault).json["hits"]
    agents = cli("--actor", "agent:coder", "search", "fox", "--json", cwd=vault).json["hits"]

    assert [hit["title"] for hit in seen] == ["Odd"]
    assert {"invalid note", "unknown owner"} <= set(seen[0]["labels"])
    assert agents == []
    assert cli("surface", "fox", "--json", cwd=vault).json["items"] == []


def test_a_note_of_unknown_owner_in_an_owners_folder_is_shown_there_only(vault: Path, cli: Cli) -> None:
    (vault / "project" / "a").mkdir(parents=True)
    (vault / "project" / "a" / "broken.md").write_text("---\nscope: [\n---\nthe quick brown fox\n")

    assert cli("search", "fox", "--json", cwd=vault).json["hits"] == []
    assert cli("--context", "project=b", "search", "fox", "--json", cwd=vault).json["hits"] == []
    assert len(cli("--context", "project=a", "search", "fox", "--json", cwd=vault).json["hits"]) == 1


def test_local_only_notes_are_shown_to_a_person_who_asks_and_to_nobody_else(vault: Path, cli: Cli) -> None:
    done = cli(
        "new", "My salary", "--scope", "global", "--private", "--body", "the quick fox", "--json", cwd=vault
    ).json

    assert done["path"].startswith("private/")
    assert (done["saved"], done["committed"], done["pending"]) == (True, False, None)
    assert git(vault, "status", "--porcelain") == ""
    assert cli("search", "fox", "--json", cwd=vault).json["hits"] == []
    assert cli("list", "--json", cwd=vault).json["memories"] == []
    found = cli("search", "fox", "--private", "--json", cwd=vault).json["private"]
    assert [memory["id"] for memory in found] == [done["id"]]
    assert cli("show", done["id"], "--private", "--json", cwd=vault).json["memory"]["title"] == "My salary"
    refused = cli("--actor", "agent:coder", "search", "fox", "--private", cwd=vault, code=1)
    assert "to a person only" in refused.err
