"""A vault's synonyms at the front doors: what is wrong with them is told, and the rest goes on."""

from __future__ import annotations

from pathlib import Path

import remvault
from tests.surfaces.conftest import Cli


def test_check_names_an_unusable_file_and_a_search_goes_on_without_it(vault: Path, cli: Cli) -> None:
    cli("new", "Pods restart nightly", "--body", "The k8s cluster restarts pods.", "--scope", "global", cwd=vault)
    (vault / "synonyms.toml").write_text('groups = [\n  ["k8s", "kubernetes"],\n  ["cluster", "k8s"],\n]\n')

    checked = cli("check", cwd=vault, code=1)
    searched = cli("search", "k8s", cwd=vault)
    surfaced = cli("surface", "k8s cluster pods", cwd=vault)

    assert "synonyms.toml:3: RV604 'k8s' is in two groups, that of 'k8s' and that of 'cluster'" in checked.out
    assert "Pods restart nightly" in searched.out
    for done in (searched, surfaced):
        assert "synonyms.toml:3 cannot be used, so no synonyms hold: 'remvault check' says why" in done.err
    assert cli("status", "--json", cwd=vault).json["problems"]["errors"] == 1


def test_a_good_file_is_read_by_the_vault_that_holds_it(vault: Path, cli: Cli) -> None:
    (vault / "synonyms.toml").write_text('groups = [["k8s", "kubernetes"]]\n')

    assert cli("check", cwd=vault).err == cli("check", cwd=vault).err
    assert "RV604" not in cli("check", cwd=vault).out
    assert remvault.open_vault(str(vault)).synonyms.of("k8s") == ("kubernetes",)
