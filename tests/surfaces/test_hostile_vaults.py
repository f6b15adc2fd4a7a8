"""A vault with something planted in it, through the program: told in one line, never followed or obeyed."""

from __future__ import annotations

import os
from pathlib import Path

from tests.surfaces.conftest import Cli
from tests.vaults import note_text


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
