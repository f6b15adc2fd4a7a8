"""Taking changes back through the real program: history only grows, and nothing that came after is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text

ACME, OTHER = ("--context", "project=acme"), ("--context", "project=other")
AGENT = ("--actor", "agent:bot")


def new(cli: Cli, vault: Path, title: str, *options: str) -> Any:
    return cli("new", title, "--scope", "global", *options, "--json", cwd=vault).json


def files(vault: Path) -> dict[str, bytes]:
    """Every note on disk, with its bytes."""
    return {path.relative_to(vault).as_posix(): path.read_bytes() for path in vault.rglob("*.md")}


def subjects(vault: Path) -> list[str]:
    return git(vault, "log", "--format=%s").splitlines()


def test_undo_is_a_new_commit_that_names_the_one_it_takes_back(vault: Path, cli: Cli) -> None:
    done = new(cli, vault, "Deploys")
    before = files(vault)
    retracted = cli("retract", done["id"], "--json", cwd=vault).json

    answer = cli("undo", "--reason", "it was right", "--json", cwd=vault).json

    assert files(vault) == before
    assert (answer["op"], answer["undone"], answer["undone_op"]) == ("undo", retracted["commit"], "retract")
    assert (answer["ids"], answer["committed"]) == ([done["id"]], True)
    message = git(vault, "log", "-1", "--format=%B")
    assert message.startswith(f"undo: retract: Deploys\n\nThis undoes commit {retracted['commit']}.\n\nit was right\n")
    assert "Remvault-Op: undo\nRemvault-Memory: " + done["id"] in message
    assert git(vault, "status", "--porcelain") == ""
    git(vault, "fsck", "--strict")


@pytest.mark.parametrize(
    "change",
    [
        ("set", "ID", "tags+=x"),
        ("unset", "ID", "summary"),
        ("supersede", "ID", "Newer"),
        ("retract", "ID", "--no-infer", "x"),
        ("archive", "ID"),
        ("delete", "ID"),
        ("link", "ID", "related-to", "Thing"),
        ("clear", "--yes"),
        ("set", "ID", "title=Other"),
        ("--context", "project=acme", "set", "ID", "scope=project"),
    ],
)
def test_every_change_can_be_taken_back_to_the_byte(vault: Path, cli: Cli, change: tuple[str, ...]) -> None:
    new(cli, vault, "Beside")
    done = new(cli, vault, "Deploys", "--summary", "S", "--body", "Tuesday")
    before = files(vault)
    cli(*[done["id"] if arg == "ID" else arg for arg in change], cwd=vault)
    assert files(vault) != before

    cli(*ACME, "undo", cwd=vault)

    assert files(vault) == before
    assert git(vault, "status", "--porcelain") == ""


def test_a_repair_is_taken_back_too(vault: Path, cli: Cli) -> None:
    (vault / "global").mkdir()
    (vault / "global" / "a.md").write_text(note_text("A", drop=("id",)))
    git(vault, "add", ".")
    git(vault, "commit", "-qm", "by hand")
    before = files(vault)
    cli("check", "--fix", cwd=vault)

    cli("undo", cwd=vault)

    assert files(vault) == before


def test_undo_steps_further_back_and_a_named_undo_is_a_redo(vault: Path, cli: Cli) -> None:
    one = new(cli, vault, "One")
    new(cli, vault, "Two")
    cli("retract", one["id"], cwd=vault)
    states = [files(vault)]

    for _ in range(3):
        cli("undo", cwd=vault)
        states.append(files(vault))

    assert len(states[1]) == 2
    assert len(states[2]) == 1
    assert states[3] == {}
    assert "there is no change to undo" in cli("undo", cwd=vault, code=1).err
    redone = cli("undo", "HEAD", "--json", cwd=vault).json
    assert (redone["undone_op"], files(vault)) == ("undo", states[2])
    # What was done again can be undone again.
    cli("undo", cwd=vault)
    assert files(vault) == {}


def test_a_named_change_is_taken_back_under_later_ones(vault: Path, cli: Cli) -> None:
    one, two = new(cli, vault, "One"), new(cli, vault, "Two")
    retracted = cli("retract", one["id"], "--json", cwd=vault).json["commit"]
    cli("set", two["id"], "tags=[x]", cwd=vault)
    (vault / "code.py").write_text("x = 1\n")
    git(vault, "add", "code.py")
    git(vault, "commit", "-qm", "code")

    cli("undo", retracted[:10], cwd=vault)

    assert "status" not in (vault / one["path"]).read_text()
    assert "tags: [x]" in (vault / two["path"]).read_text()
    refused = cli("undo", retracted, cwd=vault, code=1)
    assert "is undone already" in refused.err


def test_what_was_changed_since_is_refused_with_both_versions(vault: Path, cli: Cli) -> None:
    one = new(cli, vault, "One")
    first = cli("set", one["id"], "tags=[x]", "--json", cwd=vault).json["commit"]
    left = git(vault, "rev-parse", f"HEAD:{one['path']}").strip()
    later = cli("set", one["id"], "tags=[y]", "--json", cwd=vault).json["commit"]
    now = git(vault, "rev-parse", f"HEAD:{one['path']}").strip()
    before = files(vault)

    error = cli("undo", first, "--json", cwd=vault, code=1).json["error"]

    assert error["code"] == "undo_refused"
    assert (error["change"], error["left"], error["found"], error["by"]) == (first, left, now, later)
    assert left[:10] in error["message"]
    assert now[:10] in error["message"]
    assert files(vault) == before


def test_an_edit_on_disk_is_not_lost_to_undo(vault: Path, cli: Cli) -> None:
    one = new(cli, vault, "One")
    note = vault / one["path"]
    note.write_text(note.read_text() + "My own words.\n")

    refused = cli("undo", cwd=vault, code=1)

    assert f"{one['path']} was changed since" in refused.err
    assert "My own words." in note.read_text()


def test_one_changed_note_keeps_all_notes_of_the_change_as_they_are(vault: Path, cli: Cli) -> None:
    old = new(cli, vault, "One")
    newer = cli("supersede", old["id"], "Two", "--json", cwd=vault).json
    cli("set", newer["id"], "tags=[x]", cwd=vault)
    before = files(vault)

    cli("undo", "HEAD~1", cwd=vault, code=1)

    assert files(vault) == before


def test_what_a_person_staged_stays_staged(vault: Path, cli: Cli) -> None:
    new(cli, vault, "One")
    (vault / "half.txt").write_text("one\n")
    git(vault, "add", "half.txt")

    cli("undo", cwd=vault)

    assert git(vault, "diff", "--cached", "--name-only").split() == ["half.txt"]


def test_a_persons_own_commit_is_left_to_git(vault: Path, cli: Cli) -> None:
    new(cli, vault, "One")
    (vault / "global" / "b.md").write_text(note_text("By hand", id="m-byhand0001"))
    git(vault, "add", ".")
    git(vault, "commit", "-qm", "mine")

    assert "git revert" in cli("undo", "HEAD", cwd=vault, code=1).err
    assert cli("undo", "--json", cwd=vault).json["undone_op"] == "new"
    assert (vault / "global" / "b.md").exists()


def test_a_change_out_of_sight_is_passed_over_and_not_there_by_name(vault: Path, cli: Cli) -> None:
    seen = cli(*ACME, "new", "Ours", "--json", cwd=vault).json
    hidden = cli(*OTHER, "new", "Theirs", "--json", cwd=vault).json

    refused = cli(*ACME, "undo", hidden["commit"], cwd=vault, code=1)
    assert refused.err == cli(*ACME, "undo", "0" * 40, cwd=vault, code=1).err.replace("0" * 40, hidden["commit"])
    assert cli(*ACME, "undo", "--json", cwd=vault).json["ids"] == [seen["id"]]
    assert (vault / hidden["path"]).exists()


def test_a_memory_that_became_local_only_is_not_published_by_undo(vault: Path, cli: Cli) -> None:
    new(cli, vault, "Beside")
    done = new(cli, vault, "Tresorcode")
    moved = cli("set", done["id"], "sensitivity=local-only", "--json", cwd=vault).json

    refused = cli("undo", cwd=vault, code=1)
    assert "local-only now" in refused.err
    assert "set --private" in refused.err
    agents = cli(*AGENT, "undo", moved["commit"], cwd=vault, code=1)
    assert "Tresor" not in agents.out + agents.err
    assert "local-only" not in agents.out + agents.err
    assert cli(*AGENT, "undo", "--json", cwd=vault).json["ids"] != [done["id"]]
    assert git(vault, "ls-files").count("tresorcode") == 0


def test_a_dry_run_of_undo_writes_nothing(vault: Path, cli: Cli) -> None:
    new(cli, vault, "One")
    before, told = files(vault), subjects(vault)

    shown = cli("undo", "--dry-run", cwd=vault)

    assert "would undo new: One" in shown.out
    assert (files(vault), subjects(vault)) == (before, told)


def test_undo_outside_git_says_that_there_is_no_history(repo: Path, cli: Cli) -> None:
    cli("init", cwd=repo)
    new(cli, repo, "One")
    (repo / ".git").rename(repo / "git-away")

    assert "no history" in cli("undo", cwd=repo, code=1).err


# Where changes wait, staged, for the person's own commit


@pytest.fixture
def embedded(repo: Path, cli: Cli) -> Path:
    (repo / "code.py").write_text("x = 1\n")
    git(repo, "add", "code.py")
    git(repo, "commit", "-qm", "code")
    cli("init", "--embedded", "--project", "acme", cwd=repo)
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "vault")
    return repo / "vault"


def staged(vault: Path) -> dict[str, str]:
    """Staged entries of notes, with their blobs."""
    listed = (line.split() for line in git(vault, "ls-files", "-s", ".").splitlines())
    return {path: blob for _, blob, _, path in listed if path.endswith(".md")}


def test_a_staged_change_is_taken_back_with_its_staged_entry(embedded: Path, cli: Cli) -> None:
    one = cli("new", "One", "--json", cwd=embedded).json
    git(embedded, "commit", "-qm", "one")
    cli("new", "Two", cwd=embedded)
    two = (files(embedded), staged(embedded))
    cli("retract", one["id"], cwd=embedded)

    answer = cli("undo", "--json", cwd=embedded).json

    assert (answer["undone"], answer["undone_op"], answer["saved"], answer["commit"]) == (None, "retract", True, None)
    assert (files(embedded), staged(embedded)) == two
    cli("undo", cwd=embedded)
    assert len(staged(embedded)) == 1
    assert git(embedded, "diff", "--cached", "--name-only") == ""
    assert git(embedded, "status", "--porcelain") == ""


def test_several_staged_changes_of_one_note_are_taken_back_one_by_one(embedded: Path, cli: Cli) -> None:
    done = cli("new", "One", "--json", cwd=embedded).json
    states = [(files(embedded), staged(embedded))]
    for number in range(3):
        cli("set", done["id"], f"importance=0.{number + 1}", cwd=embedded)
        states.append((files(embedded), staged(embedded)))

    for state in reversed(states[:-1]):
        cli("undo", cwd=embedded)
        assert (files(embedded), staged(embedded)) == state
    cli("undo", cwd=embedded)
    assert (files(embedded), staged(embedded)) == ({}, {})


def test_an_unstaged_edit_under_a_staged_change_comes_back_as_it_was(embedded: Path, cli: Cli) -> None:
    done = cli("new", "One", "--json", cwd=embedded).json
    git(embedded, "commit", "-qm", "one")
    note = embedded / done["path"]
    note.write_text(note.read_text() + "My own words.\n")
    before = (files(embedded), staged(embedded))
    cli("set", done["id"], "tags=[x]", cwd=embedded)

    cli("undo", cwd=embedded)

    assert (files(embedded), staged(embedded)) == before


def test_a_staged_change_that_was_touched_since_is_refused(embedded: Path, cli: Cli) -> None:
    done = cli("new", "One", "--json", cwd=embedded).json
    note = embedded / done["path"]
    note.write_text(note.read_text() + "My own words.\n")
    before = files(embedded)

    refused = cli("undo", cwd=embedded, code=1)
    git(embedded, "add", ".")
    again = cli("undo", cwd=embedded, code=1)

    assert f"{done['path']} was changed since: the staged change left" in refused.err
    assert "was changed since" in again.err
    assert files(embedded) == before


def test_what_the_person_committed_is_taken_back_by_a_staged_change(embedded: Path, cli: Cli) -> None:
    cli("hooks", "install", cwd=embedded)
    done = cli("new", "One", "--json", cwd=embedded).json
    git(embedded, "commit", "-qm", "mine")

    answer = cli("undo", "--json", cwd=embedded).json

    assert (answer["ids"], answer["pending"]) == ([done["id"]], "staged for your next commit")
    assert files(embedded) == {}
    assert git(embedded, "status", "--porcelain").split() == ["D", f"vault/{done['path']}"]
    # And that again is a staged change like any other.
    cli("undo", cwd=embedded)
    assert list(files(embedded)) == [done["path"]]
    assert git(embedded, "status", "--porcelain") == ""
