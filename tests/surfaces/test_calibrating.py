"""The gate's threshold is worked out from a vault's own notes, kept beside the index, and overruled by a setting."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.surfaces.conftest import Cli
from tests.vaults import note_text

NOTES = 110


@pytest.fixture
def filled(vault: Path) -> Path:
    for number in range(NOTES):
        text = note_text(f"Note {number}", id=f"m-{number:05}", body=f"word{number} other{number} and deploys\n")
        (vault / f"n{number}.md").write_text(text)
    return vault


def kept(vault: Path) -> Path:
    return next((vault / ".git/remvault").glob("*-*")) / "gate"


def threshold(cli: Cli, vault: Path) -> float:
    value = cli("search", "word7", "--json", cwd=vault).json["gate"]["threshold"]
    assert isinstance(value, float)
    return value


def test_it_is_worked_out_once_and_kept(filled: Path, cli: Cli) -> None:
    first = threshold(cli, filled)
    kept(filled).write_text(json.dumps(json.loads(kept(filled).read_text()) | {"threshold": 0.3210}))
    assert 0.1 <= first <= 0.4
    assert threshold(cli, filled) == 0.321


def test_it_is_worked_out_anew_when_the_vault_has_grown_by_half(filled: Path, cli: Cli) -> None:
    first = threshold(cli, filled)
    kept(filled).write_text(json.dumps(json.loads(kept(filled).read_text()) | {"threshold": 0.3210}))
    for number in range(NOTES):
        (filled / f"more{number}.md").write_text(note_text(f"More {number}", id=f"m-more{number}", body=f"x{number}\n"))
    assert threshold(cli, filled) != 0.321
    assert json.loads(kept(filled).read_text())["notes"] == 2 * NOTES
    assert first


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[1]",
        b'{"threshold": "x", "notes": 110, "flavour": "1"}',
        b'{"threshold": 7.0}',
        b"\xff" * 9,
        b"[" * 9999,
    ],
)
def test_a_torn_or_foreign_file_costs_time_and_changes_nothing(filled: Path, cli: Cli, data: bytes) -> None:
    first = threshold(cli, filled)
    kept(filled).write_bytes(data)
    assert threshold(cli, filled) == first


def test_a_setting_overrules_it_for_search_and_surface(filled: Path, cli: Cli) -> None:
    with (filled / "remvault.toml").open("a") as settings:
        settings.write("\n[gate]\nthreshold = 0.99\n")
    assert threshold(cli, filled) == 0.99
    surfaced = cli("surface", "word7", "--json", cwd=filled).json
    assert surfaced["gate"]["abstained"]
    assert not [item for item in surfaced["items"] if item["part"] == "relevant"]


def test_a_small_vault_takes_the_default(vault: Path, cli: Cli) -> None:
    (vault / "a.md").write_text(note_text("A memory about word7"))
    assert threshold(cli, vault) == 0.2
    assert not kept(vault).exists()


def test_a_search_looks_at_the_files_once(filled: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from remvault.index import reconcile

    looks: list[None] = []
    look = reconcile.look
    cli("search", "word7", cwd=filled)
    monkeypatch.setattr(reconcile, "look", lambda *given: (looks.append(None), look(*given))[1])
    for verb in ("search", "surface"):
        looks.clear()
        cli(verb, "word7", cwd=filled)
        assert len(looks) == 1


def test_a_look_into_the_past_works_nothing_out(filled: Path, cli: Cli) -> None:
    cli("search", "word7", "--as-of", "HEAD", cwd=filled)
    assert not kept(filled).exists()
