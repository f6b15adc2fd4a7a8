"""What `doctor` finds about the vault itself, and mends."""

from __future__ import annotations

from pathlib import Path

from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text


def _codes(answer: dict[str, list[dict[str, str]]]) -> list[str]:
    return [one["code"] for one in answer["findings"]]


def test_an_expired_note_is_offered_for_the_archive_and_never_deleted(vault: Path, cli: Cli) -> None:
    done = cli(
        "new", "Freeze", "--scope", "global", "--tier", "temporary", "--expires", "2020-01-01", "--json", cwd=vault
    )

    assert cli("search", "freeze", "--json", cwd=vault).json["hits"] == []
    assert cli("surface", "freeze", "--json", cwd=vault).json["items"] == []
    assert "RV620" in _codes(cli("doctor", "--json", cwd=vault).json)
    cli("doctor", "--fix", cwd=vault)

    shown = cli("show", done.json["id"], "--json", cwd=vault).json["memory"]
    assert shown["status"] == "archived"
    assert "RV620" not in _codes(cli("doctor", "--json", cwd=vault).json)
    assert cli("doctor", "--fix", "--json", cwd=vault).json["fixed"] == []
    assert git(vault, "status", "--porcelain") == ""


def test_what_waits_for_its_commit_is_named_and_settled(vault: Path, cli: Cli) -> None:
    (vault / ".git" / "MERGE_HEAD").touch()
    cli("new", "Waiting", "--scope", "global", cwd=vault)

    assert {"RV621", "RV622"} <= set(_codes(cli("doctor", "--json", cwd=vault).json))
    (vault / ".git" / "MERGE_HEAD").unlink()
    assert cli("doctor", "--fix", "--json", cwd=vault).json["fixed"]
    assert not {"RV621", "RV622"} & set(_codes(cli("doctor", "--json", cwd=vault).json))


def test_names_that_clash_elsewhere_and_a_missing_hook_are_told(vault: Path, cli: Cli) -> None:
    (vault / "Deploy.md").write_text(note_text("One", id="m-0000000001"))
    (vault / "deploy.md").write_text(note_text("Two", id="m-0000000002"))

    codes = _codes(cli("doctor", "--json", cwd=vault).json)

    assert codes.count("RV627") == 2
    assert "RV626" in codes
    cli("hooks", "install", cwd=vault)
    assert "RV626" not in _codes(cli("doctor", "--json", cwd=vault).json)


def test_a_hostile_ledger_line_is_skipped_and_named(vault: Path, cli: Cli) -> None:
    done = cli("new", "A", "--scope", "global", "--json", cwd=vault).json
    cli("useful", done["id"], cwd=vault)
    ledger = next((vault / "ledger").glob("feedback-*.jsonl"))
    with ledger.open("a") as file:
        file.write('{"time": [1]\n')

    assert "RV625" in _codes(cli("doctor", "--json", cwd=vault).json)
    cli("why", done["id"], cwd=vault)


def test_doctor_tells_nothing_of_another_project(vault: Path, cli: Cli) -> None:
    (vault / ".git" / "MERGE_HEAD").touch()
    cli("--context", "project=a", "new", "Secret of a", cwd=vault)

    said = cli("--context", "project=b", "doctor", "--json", cwd=vault).out

    assert "secret-of-a" not in said
    assert "RV622" not in said
