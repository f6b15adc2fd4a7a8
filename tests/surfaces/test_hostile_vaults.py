"""A vault with something planted in it, through the program: told in one line, never followed or obeyed."""

from __future__ import annotations

import os
from pathlib import Path

from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text


def test_a_huge_file_among_the_notes_stops_no_verb(vault: Path, cli: Cli) -> None:
    cli("new", "Deploys", "--scope", "global", "--body", "Deploys run at night.", cwd=vault)
    (vault / "global" / "huge.md").touch()
    os.truncate(vault / "global" / "huge.md", 3 * 1024**3)

    for verb in (("search", "deploys"), ("list",), ("status",), ("check",), ("verify",)):
        assert cli(*verb, cwd=vault, code=None).code in (0, 1)
    assert "global/huge.md" in cli("check", cwd=vault, code=None).out
    assert "Deploys" in cli("search", "deploys", cwd=vault).out


def test_a_huge_settings_file_is_an_error_in_one_line(vault: Path, cli: Cli) -> None:
    os.truncate(vault / "remvault.toml", 3 * 1024**3)

    for verb in (("list",), ("init",)):
        assert "over 1 MiB" in cli(*verb, cwd=vault, code=None).err


def test_a_private_folder_that_is_a_link_is_followed_by_no_verb(vault: Path, cli: Cli, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.md").write_text(note_text("Zyxquartz", id="m-elsewhere1", sensitivity="local-only"))
    (vault / "private").symlink_to(elsewhere)

    for verb in (("search", "zyxquartz", "--private"), ("show", "m-elsewhere1", "--private"), ("check", "--private")):
        assert "Zyxquartz" not in cli(*verb, cwd=vault, code=None).out
    new = cli("new", "A secret", "--private", "--scope", "global", "--body", "x", cwd=vault, code=None)
    assert new.code != 0
    assert [path.name for path in elsewhere.iterdir()] == ["a.md"]


def test_a_local_only_note_is_kept_from_git_where_the_vault_forgot_to_say_so(vault: Path, cli: Cli) -> None:
    (vault / ".gitignore").write_text("*.tmp\n")
    git(vault, "commit", "-qam", "ignore less")
    given = ("--private", "--scope", "global", "--body", "x")

    first, second = cli("new", "A", *given, cwd=vault), cli("new", "B", *given, cwd=vault)

    assert "info/exclude" in first.err
    assert "info/exclude" not in second.err
    assert git(vault, "status", "--porcelain") == ""
    assert (vault / ".gitignore").read_text() == "*.tmp\n"
    assert "RV603" not in cli("check", cwd=vault).out


def test_a_note_that_becomes_local_only_is_kept_from_git_as_well(vault: Path, cli: Cli) -> None:
    memory = cli("new", "A", "--scope", "global", "--body", "x", "--json", cwd=vault).json["id"]
    (vault / ".gitignore").write_text("")
    git(vault, "commit", "-qam", "ignore nothing")

    told = cli("set", memory, "sensitivity=local-only", cwd=vault).err

    assert "info/exclude" in told
    assert "filter-repo" in told, "what there was to say of history is said too"
    assert git(vault, "status", "--porcelain") == ""


def test_a_rule_that_takes_the_private_folder_back_in_is_told_and_found(vault: Path, cli: Cli) -> None:
    (vault / ".gitignore").write_text("!/private/\n")
    git(vault, "commit", "-qam", "take it in")

    assert "takes it back in" in cli("new", "A", "--private", "--scope", "global", "--body", "x", cwd=vault).err

    found = cli("check", "--json", cwd=vault, code=1).json["problems"]
    assert [(one["code"], one["severity"], one["path"]) for one in found] == [("RV603", "error", "private")]
    assert cli("status", "--json", cwd=vault).json["problems"]["errors"] == 1


def test_private_notes_that_git_tracks_are_an_error(vault: Path, cli: Cli) -> None:
    cli("new", "A", "--private", "--scope", "global", "--body", "x", cwd=vault)
    git(vault, "add", "-f", "private")

    assert "git tracks 1 file of private/" in cli("check", cwd=vault, code=1).out


def test_a_queued_file_that_is_none_of_ours_is_named_by_status_until_it_is_gone(vault: Path, cli: Cli) -> None:
    (vault / ".git" / "remvault" / "pending").mkdir(exist_ok=True)
    (vault / ".git" / "remvault" / "pending" / "1.json").write_text("{}")
    cli("new", "A", "--scope", "global", "--body", "x", cwd=vault)

    for _ in range(2):
        assert "was set aside: it is torn, or not ours" in cli("status", cwd=vault).err
    for file in (vault / ".git" / "remvault" / "pending").glob("*.torn-*"):
        file.unlink()
    assert "set aside" not in cli("status", cwd=vault).err
