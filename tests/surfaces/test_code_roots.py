"""Which code the memories of a vault point into, seen from where a command runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from remvault.domain.memory import Anchor
from remvault.errors import UsageError
from remvault.surfaces.app import OpenVault, open_vault
from tests.surfaces.conftest import Cli
from tests.vaults import git

ACME, OTHER = "project:acme", "project:other"
Open = Callable[..., OpenVault]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Open:
    def call(folder: Path, vault: Path | None = None, **more: object) -> OpenVault:
        monkeypatch.chdir(folder)
        return open_vault(None if vault is None else str(vault), **more)  # type: ignore[arg-type]

    return call


def code_repository(folder: Path, project: str | None = "acme") -> Path:
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    if project is not None:
        git(folder, "config", "remvault.project", project)
    (folder / "src/a.py").write_text("def f():\n    return 1\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "code")
    return folder


@pytest.fixture
def code(tmp_path: Path) -> Path:
    return code_repository(tmp_path / "code")


@pytest.fixture
def embedded(code: Path, cli: Cli) -> Path:
    cli("init", "--embedded", "--project", "acme", cwd=code)
    return code


@pytest.mark.parametrize(
    "owner", [ACME, OTHER, "repository:host/acme", "workspace:", "branch:acme@main", "session:s-1"]
)
def test_an_embedded_vault_points_into_the_work_tree_around_it(embedded: Path, opened: Open, owner: str) -> None:
    anchors = opened(embedded / "src").anchors

    code = anchors.of(owner)

    assert code is not None
    assert code.take("src/a.py#f").anchor.digest
    assert anchors.why_not(owner) == ""


@pytest.mark.parametrize("owner", ["global:", "team:core", "organization:acme", None])
def test_what_is_true_of_many_repositories_has_no_code(embedded: Path, opened: Open, owner: str | None) -> None:
    anchors = opened(embedded).anchors

    assert anchors.of(owner) is None
    assert anchors.why_not(owner)
    found = anchors.readings(owner, [Anchor(at="src/a.py#f", digest="t1:" + "0" * 32)])
    assert [(one.state, one.detail) for one in found] == [("unknown", anchors.why_not(owner))]


def test_a_standalone_vault_points_into_the_current_work_tree_of_the_same_project(
    vault: Path, code: Path, opened: Open
) -> None:
    anchors = opened(code / "src", vault).anchors

    assert anchors.of(ACME) is not None
    assert anchors.of("branch:acme@main") is not None
    for owner in (OTHER, "branch:acme@topic", "workspace:w-0000000000", "session:other"):
        assert anchors.of(owner) is None
        assert anchors.why_not(owner) == "the code is not at hand here"


def test_a_context_on_the_command_line_lends_no_code_of_another_project(
    vault: Path, code: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the files of the project at hand would be held against the notes of another."""
    anchors = opened(code, vault, context={"project": "other"}).anchors
    assert (anchors.of(OTHER), anchors.of(ACME) is None) == (None, False)

    monkeypatch.setenv("REMVAULT_CONTEXT", "project=other")
    anchors = opened(code, vault).anchors
    assert (anchors.of(OTHER), anchors.of(ACME) is None) == (None, False)


def test_the_active_session_and_the_work_tree_are_at_home(
    vault: Path, code: Path, opened: Open, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    monkeypatch.setenv("REMVAULT_SESSION", "s-1")
    anchors = opened(code, vault).anchors

    assert anchors.of("session:s-1") is not None
    assert anchors.of("session:s-2") is None


def test_a_vaults_own_work_tree_is_no_code_of_a_standalone_one(vault: Path, opened: Open) -> None:
    git(vault, "config", "remvault.project", "acme")

    anchors = opened(vault).anchors

    assert anchors.of(ACME) is None


def test_outside_any_work_tree_nothing_is_at_hand(vault: Path, tmp_path: Path, opened: Open) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.py").write_text("def f():\n    return 1\n")
    anchors = opened(plain, vault).anchors

    assert anchors.of(ACME) is None
    with pytest.raises(UsageError, match="not at hand"):
        anchors.relative("a.py")


def test_a_linked_work_tree_of_the_code_is_code_too(vault: Path, code: Path, tmp_path: Path, opened: Open) -> None:
    linked = tmp_path / "linked"
    git(code, "worktree", "add", "-q", str(linked), "-b", "other")
    taken = opened(code, vault).anchors.of(ACME)
    assert taken is not None
    anchor = taken.take("src/a.py#f").anchor

    found = opened(linked, vault).anchors.readings(ACME, [anchor])

    assert [one.state for one in found] == ["fresh"]


def test_paths_are_given_from_the_current_folder(embedded: Path, opened: Open, tmp_path: Path) -> None:
    anchors = opened(embedded / "src").anchors

    assert anchors.relative("a.py") == "src/a.py"
    assert anchors.relative("./gone.py") == "src/gone.py"
    assert anchors.relative("../README.md") == "README.md"
    assert anchors.relative(str(embedded / "src" / "a.py")) == "src/a.py"
    for outside in ("../../x.py", "/etc/passwd", "../.."):
        with pytest.raises(UsageError, match="outside the code"):
            anchors.relative(outside)


def test_a_current_folder_reached_through_a_link_is_the_same_folder(
    embedded: Path, opened: Open, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(embedded / "src")

    anchors = opened(link).anchors

    assert anchors.relative("a.py") == "src/a.py"
    assert anchors.relative(str(link / "a.py")) == "src/a.py"


def test_the_cache_lies_with_the_vaults_other_caches_and_never_in_a_note(embedded: Path, opened: Open) -> None:
    here = opened(embedded)
    code = here.anchors.of(ACME)
    assert code is not None
    anchor = code.take("src/a.py#f").anchor
    os.utime(embedded / "src/a.py", (1_000_000_000, 1_000_000_000))

    before = git(embedded, "status", "--porcelain")
    assert [one.state for one in here.anchors.readings(ACME, [anchor])] == ["fresh"]

    assert here.state is not None
    assert (here.state.caches / "anchor-cache").is_file()
    assert git(embedded, "status", "--porcelain") == before
