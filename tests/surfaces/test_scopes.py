"""Whose memory is it: one resolver for every front door, at every place a command may run in."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import remvault
from remvault.domain.context import ContextError, parse_pair
from remvault.domain.scope import SCOPES, Context, Scope, owner_key
from remvault.store.layout import folder_for
from tests.surfaces.conftest import Cli
from tests.vaults import git

REMOTE = "ssh://git@code.example.org:2222/Acme/api.git"


@pytest.fixture
def standalone(vault: Path) -> Path:
    """A standalone vault that lists a remote of one project."""
    settings = vault / "remvault.toml"
    settings.write_text(settings.read_text() + '\n[projects.api]\nremotes = ["https://code.example.org/Acme/api"]\n')
    git(vault, "commit", "-qam", "settings")
    return vault


def clone(folder: Path, remote: str | None) -> Path:
    """A code repository with one commit, as a clone of `remote` would be."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    if remote is not None:
        git(folder, "remote", "add", "origin", remote)
    (folder / "main.py").write_text("")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "code")
    return folder


class Places:
    """The places of case R61, each with the project it belongs to; None where nobody knows."""

    def __init__(self, base: Path) -> None:
        one = clone(base / "one" / "api", REMOTE)
        self.found: dict[str, tuple[Path, str | None]] = {
            "clone": (one, "api"),
            "other clone": (clone(base / "two" / "api", "git@Code.Example.Org:Acme/api"), "api"),
            "same name, other remote": (clone(base / "three" / "api", "https://elsewhere.example.org/x/api"), None),
            "same name, no remote": (clone(base / "four" / "api", None), None),
        }
        git(one, "worktree", "add", "-q", str(base / "tree"))
        self.found["work tree"] = (base / "tree", "api")
        (one / "src" / "deep").mkdir(parents=True)
        self.found["subfolder"] = (one / "src" / "deep", "api")
        (base / "plain" / "api").mkdir(parents=True)
        self.found["no repository"] = (base / "plain" / "api", None)
        (base / "link").symlink_to(one / "src")
        self.found["link"] = (base / "link" / "deep", "api")
        own = clone(base / "five" / "api", None)
        git(own, "config", "remvault.project", "mine")
        self.found["set by hand"] = (own, "mine")


def library_surface(vault: Path, place: Path) -> list[str]:
    """Titles that the library surfaces for a process in `place`."""
    code = (
        "import sys, remvault\n"
        "opened = remvault.open_vault(sys.argv[1])\n"
        "print('\\n'.join(one.item.title for one in remvault.surface(opened, 'deploys').packed.items))"
    )
    import os
    import sys

    root = str(Path(remvault.__file__).parent.parent)
    env = os.environ | {"PYTHONPATH": root}
    done = subprocess.run(
        [sys.executable, "-c", code, str(vault)], cwd=place, capture_output=True, text=True, check=True, env=env
    )
    return sorted(done.stdout.split())


def test_r61_reading_and_writing_work_out_the_project_by_one_rule(standalone: Path, cli: Cli, tmp_path: Path) -> None:
    at = ("--vault", str(standalone))
    places = Places(tmp_path / "places").found
    cli(*at, "new", "everywhere", "--body", "deploys", "--scope", "global", cwd=tmp_path)
    written: dict[str | None, set[str]] = {}

    for name, (place, project) in places.items():
        title = name.replace(" ", "-").replace(",", "")
        new = (*at, "new", title, "--body", "deploys")
        if project is None:
            refused = cli(*new, cwd=place, code=1)
            assert "whose memory is this?" in refused.err
            continue
        made = cli(*new, "--json", cwd=place).json
        assert made["path"].startswith(f"project/{project}/")
        written.setdefault(project, set()).add(title)

    assert written == {
        "api": {"clone", "other-clone", "work-tree", "subfolder", "link"},
        "mine": {"set-by-hand"},
    }
    for place, project in places.values():
        expected = sorted({"everywhere", *written.get(project, ())})
        told = cli(*at, "context", "--json", cwd=place).json
        assert told["ids"].get("project") == project
        surfaced = cli(*at, "surface", "deploys", "--json", cwd=place)
        found = [cli(*at, "show", one["id"], "--json", cwd=place).json for one in surfaced.json["items"]]
        assert sorted(one["memory"]["title"] for one in found) == expected
        hits = cli(*at, "search", "deploys", "--json", cwd=place)
        assert sorted(hit["title"] for hit in hits.json["hits"]) == expected
        assert library_surface(standalone, place) == expected
        if project is None:
            assert "no project is known here" in surfaced.err
            assert "no project is known here" in hits.err


def test_r61_linked_work_trees_share_the_project_and_not_the_workspace(
    standalone: Path, cli: Cli, tmp_path: Path
) -> None:
    at = ("--vault", str(standalone))
    one = clone(tmp_path / "one", REMOTE)
    git(one, "worktree", "add", "-q", str(tmp_path / "tree"))
    first = cli(*at, "new", "Here", "--scope", "workspace", "--json", cwd=one).json
    second = cli(*at, "new", "There", "--scope", "workspace", "--json", cwd=tmp_path / "tree").json

    here = cli(*at, "context", "--json", cwd=one).json["ids"]
    there = cli(*at, "context", "--json", cwd=tmp_path / "tree").json["ids"]

    assert here["workspace"] != there["workspace"]
    assert here["project"] == there["project"] == "api"
    cli(*at, "show", first["id"], cwd=one)
    cli(*at, "show", second["id"], cwd=one, code=1)
    assert "workspace" not in cli(*at, "context", "--json", cwd=clone(tmp_path / "new", REMOTE)).json["ids"]


def test_a_fork_counts_by_its_own_remote(standalone: Path, cli: Cli, tmp_path: Path) -> None:
    fork = clone(tmp_path / "fork", "https://code.example.org/dana/api")
    at = ("--vault", str(standalone), "context", "--json")
    assert "project" not in cli(*at, cwd=fork).json["ids"]

    git(fork, "remote", "add", "upstream", REMOTE)

    told = cli(*at, cwd=fork).json
    assert told["ids"]["project"] == "api"
    assert told["from"]["project"] == "remote upstream, listed for project api"


# context set


def test_a_project_is_named_once_and_every_work_tree_knows(vault: Path, cli: Cli, tmp_path: Path) -> None:
    code = clone(tmp_path / "code", None)
    git(code, "worktree", "add", "-q", str(tmp_path / "tree"))
    at = ("--vault", str(vault))

    shown = cli(*at, "context", "set", "project", "acme", "--dry-run", "--json", cwd=code).json
    assert (shown["dry_run"], shown["before"]) == (True, None)
    assert git(code, "config", "--get", "remvault.project", check=False) == ""
    said = cli(*at, "context", "set", "project", "acme", cwd=tmp_path / "tree")

    assert said.out == "set project to acme in git config remvault.project\n"
    for place in (code, tmp_path / "tree"):
        told = cli(*at, "context", "--json", cwd=place).json
        assert told["ids"]["project"] == "acme"
        assert told["from"]["project"] == "git config remvault.project"
    assert "(was acme)" in cli(*at, "context", "set", "project", "beta", cwd=code).out


def test_context_set_needs_no_vault(cli: Cli, tmp_path: Path) -> None:
    code = clone(tmp_path / "code", None)

    cli("context", "set", "project", "acme", cwd=code)

    assert git(code, "config", "remvault.project") == "acme\n"


def test_what_overrules_the_setting_is_said(vault: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMVAULT_CONTEXT", "project=other")

    assert "REMVAULT_CONTEXT gives another project" in cli("context", "set", "project", "acme", cwd=vault).err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("project", "Acme"), 2, "is no project id"),
        (("project", "-x"), 2, ""),
        (("projct", "acme"), 2, "did you mean 'project'?"),
        (("global", "x"), 2, "always open"),
        (("team", "blue"), 1, 'write team = "ID" below [context]'),
        (("organization", "acme"), 1, 'write organization = "ID" below [context]'),
        (("session", "s"), 1, "REMVAULT_SESSION"),
        (("workspace", "w"), 1, "first memory written"),
        (("repository", "h/p"), 1, "git remote add"),
        (("branch", "acme@main"), 1, "follows the project"),
    ],
)
def test_other_scopes_say_where_their_id_comes_from(
    vault: Path, cli: Cli, arguments: tuple[str, str], code: int, said: str
) -> None:
    refused = cli("context", "set", *arguments, cwd=vault, code=code)

    assert said in refused.err
    assert git(vault, "config", "--get-regexp", "remvault", check=False) == ""


@pytest.mark.parametrize("slip", ["projekt=a", "project", "project=A", "global=x", "project=", "branch=main"])
def test_a_slip_in_context_is_a_usage_error_for_every_verb(vault: Path, cli: Cli, slip: str) -> None:
    for verb in (("search", "x"), ("surface", "x"), ("list",), ("new", "x", "--scope", "global"), ("context",)):
        assert f"--context '{slip}'" in cli("--context", slip, *verb, cwd=vault, code=2).err


def test_team_and_organization_come_from_settings(vault: Path, cli: Cli, home: Path) -> None:
    cli("--context", "team=blue", "new", "Ours", "--scope", "team", "--body", "deploys", cwd=vault)
    assert cli("search", "deploys", "--json", cwd=vault).json["hits"] == []
    own = home / "config" / "remvault" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[context]\nteam = "blue"\norganization = "acme"\n')

    told = cli("context", "--json", cwd=vault).json

    assert told["ids"] == {"team": "blue", "organization": "acme"}
    assert told["from"]["team"] == str(own)
    assert len(cli("search", "deploys", "--json", cwd=vault).json["hits"]) == 1


# The table


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ninth scope, between team and organization."""
    rows = list(SCOPES.rows)
    at = SCOPES.index("organization")
    monkeypatch.setattr(SCOPES, "rows", (*rows[:at], Scope("fleet", is_nested=True), *rows[at:]))


@pytest.mark.usefixtures("fleet")
def test_a_ninth_scope_is_one_more_row(vault: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert owner_key("fleet", "a/b") == "fleet:a/b"
    assert Context(ids={"fleet": "a/b"}).sees("fleet", "a/b")
    assert folder_for("fleet", "a/b") == "fleet/a/b"
    assert parse_pair("fleet=a/b") == ("fleet", "a/b")
    opened = ("--context", "fleet=a/b")

    made = cli(*opened, "new", "Ours", "--scope", "fleet", "--body", "deploys", "--json", cwd=vault).json
    cli("new", "All", "--scope", "global", "--body", "deploys", cwd=vault)

    assert made["path"].startswith("fleet/a/b/")
    assert made["committed"] is True
    told = cli(*opened, "context", "--json", cwd=vault).json
    assert (told["ids"], told["from"]) == ({"fleet": "a/b"}, {"fleet": "option --context"})
    assert "fleet" in cli("context", cwd=vault).out
    hits = cli(*opened, "search", "deploys", "--json", cwd=vault).json["hits"]
    assert [hit["title"] for hit in hits] == ["Ours", "All"]  # the narrower one first
    assert [hit["title"] for hit in cli("search", "deploys", "--json", cwd=vault).json["hits"]] == ["All"]
    listed = cli(*opened, "list", "--scope", "fleet", "--json", cwd=vault).json["memories"]
    assert [(one["scope"], one["scope_id"]) for one in listed] == [("fleet", "a/b")]
    assert "fleet:a/b" in cli(*opened, "surface", "deploys", cwd=vault).out
    newer = cli(*opened, "supersede", made["id"], "Newer", "--json", cwd=vault).json
    assert newer["path"].startswith("fleet/a/b/")
    assert cli("check", cwd=vault).out.endswith("0 errors, 0 warnings\n")
    cli("context", "set", "fleet", "x", cwd=vault, code=1)
    monkeypatch.setenv("REMVAULT_CONTEXT", "fleet=a/b")
    assert cli("context", "--json", cwd=vault).json["ids"] == {"fleet": "a/b"}


def test_without_its_row_the_scope_is_unknown(vault: Path, cli: Cli) -> None:
    with pytest.raises(ContextError):
        parse_pair("fleet=a")
    assert "unknown scope 'fleet'" in cli("new", "x", "--scope", "fleet", "--scope-id", "a", cwd=vault, code=2).err
