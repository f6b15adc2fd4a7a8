"""Copies that sync tools leave are set aside: reported, never surfaced, and never in the original's way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from remvault.store.work_tree import find_work_tree
from remvault.surfaces.staged import check_staged
from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text

CONFLICTED = "global/tabs (Dana's conflicted copy 2026-11-30).md"  # sorts before the original
NAMES = [
    CONFLICTED,
    "global/tabs (1).md",
    "global/tabs (Case Conflict).md",
    "global/tabs 2.md",
    "global/tabs-DESKTOP-1AB2C3D.md",
    "global/tabs.sync-conflict-20261130-101500-ABCDEFG.md",
]


def put(vault: Path, path: str, title: str, body: str = "Tabs.\n", **fields: str) -> Path:
    target = vault / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(note_text(title, body=body, **({"id": "m-tabs000001"} | fields)))
    return target


def paths(cli: Cli, vault: Path, query: str) -> list[str]:
    return [one["path"] for one in cli("search", query, "--json", cwd=vault).json["hits"]]


def problems(cli: Cli, vault: Path, code: int = 1) -> list[tuple[str, str, str]]:
    found = cli("check", "--json", cwd=vault, code=code).json["problems"]
    return [(one["path"], one["code"], one["message"]) for one in found]


def commit(vault: Path) -> None:
    git(vault, "add", ".")
    git(vault, "commit", "-qm", "notes", "--no-verify")


@pytest.mark.parametrize("is_committed", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_a_conflict_copy_is_reported_and_only_the_original_is_found(
    vault: Path, cli: Cli, name: str, is_committed: bool
) -> None:
    put(vault, "global/tabs.md", "Use tabulators", body="Tabulators, as agreed.\n")
    if is_committed:
        commit(vault)
    put(vault, name, "Use tabulators", body="Tabulators, as I think, elsewhere.\n")
    assert paths(cli, vault, "tabulators") == ["global/tabs.md"]
    assert paths(cli, vault, "elsewhere") == []
    assert "elsewhere" not in cli("surface", "where do tabulators go", cwd=vault).out
    assert problems(cli, vault) == [
        (name, "RV105", "a copy of global/tabs.md, which has the same id: set aside, never surfaced")
    ]
    said = cli("search", "tabulators", cwd=vault).err
    assert "1 note is a copy of another and set aside: 'remvault check' names them" in said


def test_the_original_is_read_and_written_as_if_the_copy_were_not_there(vault: Path, cli: Cli) -> None:
    put(vault, "global/tabs.md", "Use tabulators")
    commit(vault)
    copy = put(vault, CONFLICTED, "Use tabulators", body="Other.\n")
    before = copy.read_bytes()
    assert cli("show", "m-tabs000001", "--json", cwd=vault).json["memory"]["path"] == "global/tabs.md"
    cli("set", "m-tabs000001", "importance=0.7", cwd=vault)
    assert "importance: 0.7" in (vault / "global/tabs.md").read_text()
    assert copy.read_bytes() == before
    assert [one["path"] for one in cli("list", "--json", cwd=vault).json["memories"]] == ["global/tabs.md"]
    assert "copy of global/tabs.md, set aside" in cli("show", CONFLICTED, cwd=vault).out


def test_a_copy_supersedes_nothing_and_contradicts_nothing_the_original_does_not(vault: Path, cli: Cli) -> None:
    put(vault, "global/tabs.md", "Use tabulators", supersedes="[m-spaces0001]")
    put(vault, "global/spaces.md", "Use spaces", id="m-spaces0001")
    put(vault, "global/lines.md", "Tabulators end lines", id="m-lines00001")
    put(vault, CONFLICTED, "Use tabulators", relations="[{type: contradicts, target: m-lines00001}]")
    assert sorted(paths(cli, vault, "tabulators spaces")) == ["global/lines.md", "global/tabs.md"]
    assert cli("conflicts", "--json", cwd=vault).json["conflicts"] == []


def test_where_nothing_tells_the_original_none_is_surfaced_and_all_are_named(vault: Path, cli: Cli) -> None:
    for name in ("tabs", "use-them"):
        put(vault, f"global/{name}.md", "Use tabulators")
    assert paths(cli, vault, "tabulators") == []
    assert [(path, code) for path, code, _ in problems(cli, vault)] == [
        ("global/tabs.md", "RV105"),
        ("global/use-them.md", "RV105"),
    ]
    assert "none is surfaced" in problems(cli, vault)[0][2]
    cli("show", "m-tabs000001", cwd=vault, code=1)
    assert cli("show", "global/tabs.md", "--json", cwd=vault).json["memory"]["path"] == "global/tabs.md"


def test_a_copy_that_is_removed_or_gets_an_id_of_its_own_is_forgotten(vault: Path, cli: Cli) -> None:
    put(vault, "global/tabs.md", "Use tabulators")
    copy = put(vault, CONFLICTED, "Use tabulators")
    assert paths(cli, vault, "tabulators") == ["global/tabs.md"]
    put(vault, CONFLICTED, "Use tabulators", id="m-other00001")
    assert sorted(paths(cli, vault, "tabulators")) == sorted([CONFLICTED, "global/tabs.md"])
    copy.unlink()
    assert problems(cli, vault, code=0) == []


def test_a_vault_of_the_past_has_the_copies_of_its_time(vault: Path, cli: Cli) -> None:
    put(vault, "global/tabs.md", "Use tabulators")
    put(vault, CONFLICTED, "Use tabulators")
    commit(vault)
    (vault / CONFLICTED).unlink()
    commit(vault)
    found = cli("search", "tabulators", "--as-of", "HEAD~1", "--json", cwd=vault).json["hits"]
    assert [one["path"] for one in found] == ["global/tabs.md"]


@pytest.mark.parametrize("name", [CONFLICTED, "global/begun-from-it.md"])
def test_a_staged_copy_stops_the_commit(vault: Path, cli: Cli, name: str) -> None:
    put(vault, "global/tabs.md", "Use tabulators")
    commit(vault)
    put(vault, name, "Use tabulators")
    git(vault, "add", ".")
    assert "a copy of global/tabs.md" in cli("check", "--staged", cwd=vault, code=1).out
    tree = find_work_tree(vault)
    assert tree is not None
    ((_, report),) = check_staged(tree, os.environ)
    assert [(one.path, one.code) for one in report.problems] == [(name, "RV105")]
    assert "a copy of global/tabs.md" in report.problems[0].message
