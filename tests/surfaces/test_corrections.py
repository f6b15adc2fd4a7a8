"""Correcting memories through the real program: nothing overwritten, everything answerable."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.conftest import ROOT, Cli
from tests.vaults import git, note_text

ACME, OTHER = ("--context", "project=acme"), ("--context", "project=other")
AGENT = ("--actor", "agent:bot")
HIDDEN = "m-hidden0001"


def new(cli: Cli, vault: Path, title: str, *options: str, scope: tuple[str, ...] = ("--scope", "global")) -> Any:
    return cli("new", title, *scope, *options, "--json", cwd=vault).json


def shown(cli: Cli, vault: Path, name: str, *before: str) -> Any:
    return cli(*before, "show", name, "--json", cwd=vault).json["memory"]


def titles(cli: Cli, vault: Path, *options: str, before: tuple[str, ...] = ()) -> list[str]:
    return [one["title"] for one in cli(*before, "list", *options, "--json", cwd=vault).json["memories"]]


def commits(vault: Path) -> int:
    return int(git(vault, "rev-list", "--count", "HEAD"))


def at_terminal(vault: Path, typed: str, *args: str) -> tuple[int, str]:
    """Run the program on a terminal of its own, with what a person types there."""
    ours, theirs = pty.openpty()
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    program = subprocess.Popen(
        [sys.executable, "-m", "remvault", *args], cwd=vault, env=env, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    seen = b""
    while True:
        try:
            seen += (part := os.read(ours, 4096))
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
    os.close(ours)
    return program.wait(), seen.decode()


# Confirming, retracting, putting away


def test_confirming_writes_one_line_and_one_commit(vault: Path, cli: Cli) -> None:
    done = new(cli, vault, "Deploys on Tuesday")
    before = (vault / done["path"]).read_text()

    answer = cli("confirm", done["id"], "--reason", "asked ops", "--json", cwd=vault).json

    after = (vault / done["path"]).read_text()
    assert [line for line in after.splitlines() if line not in before.splitlines()] == [
        f"confirmed: {shown(cli, vault, done['id'])['confirmed']}"
    ]
    assert (answer["op"], answer["id"], answer["saved"], answer["committed"]) == ("confirm", done["id"], True, True)
    message = git(vault, "log", "-1", "--format=%B")
    assert message.startswith("confirm: Deploys on Tuesday\n\nasked ops\n\nRemvault-Op: confirm\n")


def test_every_confirmation_is_on_record_however_fast_they_come(vault: Path, cli: Cli) -> None:
    done = new(cli, vault, "Deploys on Tuesday")
    count = commits(vault)

    for actor in ("user:dana", "agent:one", "agent:two"):
        cli("--actor", actor, "confirm", done["id"], cwd=vault)

    assert commits(vault) == count + 3
    assert cli("check", "--json", cwd=vault).json["problems"] == []


def test_an_update_on_purpose_confirms_and_one_that_puts_away_does_not(vault: Path, cli: Cli) -> None:
    one, two = new(cli, vault, "One")["id"], new(cli, vault, "Two")["id"]

    cli("set", one, "importance=0.5", cwd=vault)
    cli("set", two, "status=archived", cwd=vault)

    assert shown(cli, vault, one)["confirmed"] is not None
    assert shown(cli, vault, two)["confirmed"] is None


def test_a_retracted_memory_stays_readable_and_is_found_no_longer(vault: Path, cli: Cli) -> None:
    done = new(cli, vault, "Staging runs pg13")

    cli("retract", done["id"], "--no-infer", "pg13", "--no-infer", "old", "--reason", "was wrong", cwd=vault)

    assert cli("search", "staging", "--json", cwd=vault).json["hits"] == []
    assert cli("search", "staging", "--status", "retracted", "--json", cwd=vault).json["hits"][0]["id"] == done["id"]
    memory = shown(cli, vault, done["id"])
    assert (memory["status"], memory["no_infer"]) == ("retracted", ["pg13", "old"])
    entry = cli("log", done["id"], "--json", cwd=vault).json["entries"][0]
    assert (entry["op"], entry["reason"], entry["actor"]) == ("retract", "was wrong", "user:Dana")


def test_what_rests_on_a_retracted_memory_is_named_and_what_is_hidden_is_not(vault: Path, cli: Cli) -> None:
    wrong = new(cli, vault, "Staging runs pg13")["id"]
    upper = new(cli, vault, "Vacuum weekly")["id"]
    (vault / "project" / "other").mkdir(parents=True)
    (vault / "project" / "other" / "x.md").write_text(
        note_text(
            "Hidden", id=HIDDEN, scope="project", scope_id="other",
            relations=f"[{{type: supports, target: {wrong}}}]",
        )
    )  # fmt: skip
    cli("link", upper, "derived-from", wrong, cwd=vault)

    done = cli("retract", wrong, "--json", cwd=vault)

    assert done.json["rests"] == [upper]
    assert f"look at what rests on it again: {upper}" in done.err
    assert HIDDEN not in done.out + done.err


def test_archiving_and_restoring_give_the_same_bytes_back(vault: Path, cli: Cli) -> None:
    done = new(cli, vault, "Deploys", "--tag", "x")
    before = (vault / done["path"]).read_bytes()

    cli("archive", done["id"], cwd=vault)
    assert titles(cli, vault) == []
    assert titles(cli, vault, "--status", "archived") == ["Deploys"]
    cli("restore", done["id"], cwd=vault)

    assert (vault / done["path"]).read_bytes() == before
    assert titles(cli, vault) == ["Deploys"]


def test_restoring_does_not_give_an_expired_memory_more_time(vault: Path, cli: Cli) -> None:
    done = new(cli, vault, "Freeze", "--tier", "temporary", "--expires", "2020-01-01")
    cli("archive", done["id"], cwd=vault)

    restored = cli("restore", done["id"], cwd=vault)

    assert "its time passed on 2020-01-01" in restored.err
    assert titles(cli, vault) == []
    assert titles(cli, vault, "--status", "expired") == ["Freeze"]


def test_a_memory_that_does_not_stand_is_not_confirmed(vault: Path, cli: Cli) -> None:
    old = new(cli, vault, "One")["id"]
    newer = cli("supersede", old, "Two", "--json", cwd=vault).json["id"]
    newest = cli("supersede", newer, "Three", "--json", cwd=vault).json["id"]

    assert f"confirm {newest} instead" in cli("confirm", old, cwd=vault, code=1).err
    cli("retract", newest, cwd=vault)
    assert "is retracted" in cli("confirm", newest, cwd=vault, code=1).err


def test_retracting_a_successor_says_what_holds_again(vault: Path, cli: Cli) -> None:
    old = new(cli, vault, "One")["id"]
    newer = cli("supersede", old, "Two", "--json", cwd=vault).json["id"]

    done = cli("retract", newer, cwd=vault)

    assert f"{old}, which it superseded, holds again" in done.err
    assert titles(cli, vault) == ["One"]


def test_a_chain_of_any_length_has_one_head(vault: Path, cli: Cli) -> None:
    ids = [new(cli, vault, "Version 0")["id"]]
    for number in range(1, 8):
        ids.append(cli("supersede", ids[-1], f"Version {number}", "--json", cwd=vault).json["id"])

    assert titles(cli, vault) == ["Version 7"]
    refused = cli("supersede", ids[0], "Version 8", cwd=vault, code=1)
    assert f"already superseded by {ids[-1]}" in refused.err


def test_superseding_keeps_what_must_not_be_inferred_with_the_old_one(vault: Path, cli: Cli) -> None:
    old = new(cli, vault, "Staging runs pg13")["id"]

    newer = cli("supersede", old, "Staging runs pg16", "--no-infer", "pg13", "--json", cwd=vault).json["id"]

    assert shown(cli, vault, old)["no_infer"] == ["pg13"]
    assert shown(cli, vault, newer)["no_infer"] == []


def test_an_inference_does_not_supersede_what_was_stated(vault: Path, cli: Cli) -> None:
    old = new(cli, vault, "Staging runs pg13")["id"]

    refused = cli(*AGENT, "supersede", old, "It runs pg16", "--epistemic", "inference", cwd=vault, code=1)

    assert "was stated explicitly" in refused.err
    assert titles(cli, vault) == ["Staging runs pg13"]


def test_both_sides_of_a_merge_superseding_one_memory_are_shown_as_a_contest(vault: Path, cli: Cli) -> None:
    old = new(cli, vault, "Staging runs pg13")["id"]
    git(vault, "switch", "-q", "-c", "theirs")
    theirs = cli("supersede", old, "Staging runs pg15", "--json", cwd=vault).json["id"]
    git(vault, "switch", "-q", "main")
    ours = cli("supersede", old, "Staging runs pg16", "--json", cwd=vault).json["id"]
    git(vault, "merge", "-q", "-X", "ours", "-m", "both", "theirs")

    hits = cli("search", "staging", "--json", cwd=vault).json["hits"]

    assert {hit["id"] for hit in hits} == {ours, theirs}
    assert all(any("conflict with" in label for label in hit["labels"]) for hit in hits)
    refused = cli("supersede", old, "Another", cwd=vault, code=1)
    assert f"already superseded by {' and '.join(sorted([ours, theirs]))}" in refused.err
    # Retracting one side ends the contest.
    cli("retract", theirs, cwd=vault)
    hits = cli("search", "staging", "--json", cwd=vault).json["hits"]
    assert [(hit["id"], hit["labels"]) for hit in hits] == [(ours, [])]


def test_deleting_removes_the_file_and_history_keeps_it(vault: Path, cli: Cli) -> None:
    old = new(cli, vault, "One")["id"]
    newer = cli("supersede", old, "Two", "--json", cwd=vault).json

    done = cli("delete", newer["id"], "--reason", "by mistake", "--json", cwd=vault)

    assert not (vault / newer["path"]).exists()
    assert f"{old} says it is superseded by it" in done.err
    assert done.json["op"] == "delete"
    assert "Two" in git(vault, "show", f"HEAD~1:{newer['path']}")
    assert git(vault, "log", "-1", "--format=%s").strip() == "delete: Two"
    assert git(vault, "status", "--porcelain") == ""


def test_deleting_takes_the_persons_own_edit_into_history_first(vault: Path, cli: Cli) -> None:
    done = new(cli, vault, "One")
    note = vault / done["path"]
    note.write_text(note.read_text() + "My own words.\n")

    answer = cli("delete", done["id"], "--json", cwd=vault).json

    assert len(answer["edits"]) == 1
    assert "My own words." in git(vault, "show", f"HEAD~1:{done['path']}")


@pytest.mark.parametrize(
    "args",
    [
        ("confirm", "NAME"),
        ("retract", "NAME"),
        ("archive", "NAME"),
        ("restore", "NAME"),
        ("delete", "NAME"),
        ("link", "NAME", "supports", "m-visible001"),
        ("link", "m-visible001", "supports", "NAME"),
        ("unlink", "NAME", "supports", "m-visible001"),
    ],
)
def test_a_memory_out_of_scope_is_not_there(vault: Path, cli: Cli, args: tuple[str, ...]) -> None:
    (vault / "project" / "other").mkdir(parents=True)
    hidden = vault / "project" / "other" / "x.md"
    hidden.write_text(note_text("Hidden", id=HIDDEN, scope="project", scope_id="other"))
    (vault / "global").mkdir()
    (vault / "global" / "y.md").write_text(note_text("Visible", id="m-visible001"))

    def said(name: str) -> str:
        done = cli(*[name if arg == "NAME" else arg for arg in args], cwd=vault, code=1)
        return done.out + done.err.replace(name, "NAME")

    assert said(HIDDEN) == said("m-nothing001")
    assert "no memory called 'NAME'" in said(HIDDEN)
    assert hidden.exists()


@pytest.mark.parametrize("verb", ["confirm", "retract", "archive", "delete"])
def test_a_dry_run_of_a_correction_writes_nothing(vault: Path, cli: Cli, verb: str) -> None:
    done = new(cli, vault, "One")
    before, count = (vault / done["path"]).read_bytes(), commits(vault)

    answer = cli(verb, done["id"], "--dry-run", "--json", cwd=vault).json

    assert (answer["dry_run"], answer["saved"]) == (True, False)
    assert (vault / done["path"]).read_bytes() == before
    assert commits(vault) == count


def test_a_note_with_errors_is_saved_and_not_committed(vault: Path, cli: Cli) -> None:
    (vault / "global").mkdir()
    (vault / "global" / "by-hand.md").write_text(note_text("By hand", id="m-byhand0001", drop=("provenance",)))

    answer = cli("confirm", "m-byhand0001", "--json", cwd=vault).json

    assert (answer["saved"], answer["committed"]) == (True, False)
    assert "RV403" in answer["pending"]


# Links


def test_a_link_is_made_weighed_and_taken_away(vault: Path, cli: Cli) -> None:
    one, two = new(cli, vault, "One"), new(cli, vault, "Two")
    before = (vault / one["path"]).read_bytes()

    cli("link", "One", "supports", "Two", cwd=vault)
    cli("link", one["id"], "supports", two["id"], "--weight", "0.5", cwd=vault)
    again = cli("link", one["id"], "supports", two["id"], "--json", cwd=vault).json

    relations = shown(cli, vault, one["id"])["relations"]
    assert [(edge["type"], edge["target"], edge["weight"]) for edge in relations] == [("supports", two["id"], 0.5)]
    assert again["changed"] is False
    cli("delete", two["id"], cwd=vault)
    cli("unlink", one["id"], "supports", two["id"], cwd=vault)
    assert (vault / one["path"]).read_bytes() == before
    assert "has no link 'supports'" in cli("unlink", one["id"], "supports", two["id"], cwd=vault, code=1).err


def test_a_link_may_lead_to_an_entity_but_not_to_an_id_that_is_not_there(vault: Path, cli: Cli) -> None:
    one = new(cli, vault, "One")["id"]

    done = cli("link", one, "related-to", "PostgreSQL", cwd=vault)

    assert "linked to the entity 'PostgreSQL'" in done.err
    assert "no memory called" in cli("link", one, "related-to", "m-nothing001", cwd=vault, code=1).err
    assert "cannot be linked to itself" in cli("link", one, "supports", one, cwd=vault, code=2).err
    assert "not a number" in cli("link", one, "supports", "X", "--weight", "2", cwd=vault, code=2).err
    assert "did you mean 'supports'?" in cli("link", one, "suports", "X", cwd=vault).err


# The same text again


def test_the_same_text_confirms_and_brings_what_it_brings(vault: Path, cli: Cli) -> None:
    git(vault, "config", "remvault.project", "acme")
    first = new(cli, vault, "Deploys: never on Friday", "--body", "Ship  on\n\nTuesday.", scope=())

    done = cli(
        "new", "deploys:  NEVER on friday", "--body", "ship on Tuesday.", "--pin", "--tag", "late",
        "--tier", "core", "--anchor", "src/a.py", "--json", cwd=vault,
    )  # fmt: skip

    assert (done.json["op"], done.json["id"]) == ("confirm", first["id"])
    assert "the same text is there already" in done.err
    assert "not taken over from what was given: tags" in done.err
    memory = shown(cli, vault, first["id"])
    assert (memory["tier"], memory["pinned"], memory["anchors"][0]["at"]) == ("core", True, "src/a.py")
    assert memory["confirmed"] is not None
    assert memory["title"] == "Deploys: never on Friday"
    assert titles(cli, vault) == ["Deploys: never on Friday"]


@pytest.mark.parametrize(("first", "second"), [("C is fast", "C++ is fast"), ("use a-b", "use a b"), ("X", "X.")])
def test_signs_make_another_text(vault: Path, cli: Cli, first: str, second: str) -> None:
    new(cli, vault, first)

    assert new(cli, vault, second)["op"] == "new"


def test_the_same_text_of_another_owner_or_out_of_recall_is_another_memory(vault: Path, cli: Cli) -> None:
    first = new(cli, vault, "Deploys")
    acme = cli(*ACME, "new", "Deploys", "--json", cwd=vault).json
    other = cli(*OTHER, "new", "Deploys", "--json", cwd=vault).json

    assert {first["op"], acme["op"], other["op"]} == {"new"}
    cli("retract", first["id"], cwd=vault)
    assert new(cli, vault, "Deploys")["op"] == "new"


def test_text_changed_in_an_editor_counts_as_it_is_now(vault: Path, cli: Cli) -> None:
    done = new(cli, vault, "Deploys", "--body", "Tuesday")
    note = vault / done["path"]
    note.write_text(note.read_text().replace("Tuesday", "Wednesday"))

    assert new(cli, vault, "Deploys", "--body", "Wednesday")["id"] == done["id"]
    assert new(cli, vault, "Deploys", "--body", "Tuesday")["op"] == "new"


def test_the_same_text_with_private_takes_the_memory_out_of_git(vault: Path, cli: Cli) -> None:
    done = new(cli, vault, "The door code", "--body", "is 4711")

    again = new(cli, vault, "The door code", "--body", "is 4711", "--private")

    assert (again["op"], again["id"]) == ("confirm", done["id"])
    assert again["path"].startswith("private/")
    assert git(vault, "ls-files", "global", "private") == ""


# Local-only


def test_an_agent_never_meets_a_local_only_note(vault: Path, cli: Cli) -> None:
    secret = new(cli, vault, "The door code", "--body", "is 4711", "--private")

    again = cli(*AGENT, "new", "The door code", "--body", "is 4711", "--scope", "global", "--json", cwd=vault).json

    assert (again["op"], again["id"] != secret["id"]) == ("new", True)
    for verb in ("confirm", "retract", "archive", "restore", "delete"):
        refused = cli(*AGENT, verb, secret["id"], "--private", cwd=vault, code=1)
        assert "for a person only" in refused.err
        assert "no memory called" in cli(*AGENT, verb, secret["id"], cwd=vault, code=1).err
    assert "for a person only" in cli(*AGENT, "new", "X", "--private", "--scope", "global", cwd=vault, code=1).err
    assert "for a person only" in cli(*AGENT, "clear", "--private", "--yes", cwd=vault, code=1).err
    assert (vault / secret["path"]).exists()


def test_a_person_corrects_a_local_only_note_and_git_hears_nothing(vault: Path, cli: Cli) -> None:
    secret = new(cli, vault, "The door code", "--private")
    count = commits(vault)

    cli("set", "--private", secret["id"], "importance=0.5", cwd=vault)
    cli("confirm", "--private", "The door code", cwd=vault)
    cli("archive", "--private", secret["id"], cwd=vault)
    cli("restore", "--private", secret["id"], cwd=vault)
    text = (vault / secret["path"]).read_text()
    gone = cli("delete", "--private", secret["id"], cwd=vault)

    assert "importance: 0.5" in text
    assert "nothing keeps it" in gone.err
    assert not (vault / secret["path"]).exists()
    assert commits(vault) == count


def test_making_a_memory_local_only_says_what_history_keeps_and_names_nothing(vault: Path, cli: Cli) -> None:
    done = new(cli, vault, "Tresorcode des Hauses", "--body", "siebenundvierzig")
    text = (vault / done["path"]).read_text()

    answer = cli("set", done["id"], "sensitivity=local-only", "--json", cwd=vault)

    assert "git's history still has what was committed of it" in answer.err
    assert f"git filter-repo --invert-paths --path-glob '*-{done['id']}.md'" in answer.err
    assert any("filter-repo" in one for one in answer.json["warnings"])
    kept = (vault / answer.json["path"]).read_text()
    assert answer.json["path"].startswith("private/")
    assert [line for line in text.splitlines() if line not in kept.splitlines()] == []
    assert git(vault, "show", "--name-status", "--format=", "HEAD").split() == ["D", done["path"]]
    message = git(vault, "log", "-1", "--format=%B")
    assert message.startswith("update: a memory that is kept on this disk only\n")
    assert not any(word in message for word in ("Tresor", "siebenund", done["id"]))
    assert git(vault, "status", "--porcelain") == ""


def test_an_uncommitted_edit_is_not_committed_on_the_way_to_local_only(vault: Path, cli: Cli) -> None:
    done = new(cli, vault, "Code")
    note = vault / done["path"]
    note.write_text(note.read_text() + "siebenundvierzig\n")

    cli("set", done["id"], "sensitivity=local-only", cwd=vault)

    everything = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=vault, capture_output=True, check=True
    ).stdout
    assert b"siebenundvierzig" not in everything
    assert b"title: Code" in everything  # what was committed before, so the look finds what there is


def test_a_local_only_note_is_published_only_with_a_warning(vault: Path, cli: Cli) -> None:
    secret = new(cli, vault, "The door code", "--private")

    done = cli("set", "--private", secret["id"], "sensitivity=normal", "--json", cwd=vault)

    assert "only this disk until now, git and global from now on" in done.err
    assert done.json["path"].startswith("global/")
    assert not (vault / secret["path"]).exists()
    assert titles(cli, vault) == ["The door code"]


def test_a_staged_memory_made_local_only_is_staged_no_longer(repo: Path, cli: Cli) -> None:
    (repo / "code.py").write_text("x = 1\n")
    git(repo, "add", "code.py")
    git(repo, "commit", "-qm", "code")
    cli("init", "--embedded", "--project", "acme", cwd=repo)
    vault = repo / "vault"
    done = cli("new", "Tresorcode", "--json", cwd=vault).json
    assert done["pending"] == "staged for your next commit"

    moved = cli("set", done["id"], "sensitivity=local-only", "--json", cwd=vault).json

    assert moved["saved"] is True
    assert "tresorcode" not in git(repo, "ls-files", "vault")
    assert "tresorcode" not in git(repo, "status", "--porcelain", "-uall")
    assert cli("show", "--private", done["id"], "--json", cwd=vault).json["memory"]["title"] == "Tresorcode"


# Scope


def test_a_wider_scope_moves_the_file_in_one_commit_and_warns(vault: Path, cli: Cli) -> None:
    done = cli(*ACME, "new", "Deploys", "--json", cwd=vault).json

    moved = cli(*ACME, "set", done["id"], "scope=global", "--json", cwd=vault)

    assert "this widens who sees the memory: only project:acme until now" in moved.err
    assert any("widens" in one for one in moved.json["warnings"])
    assert moved.json["path"] == f"global/deploys-{done['id']}.md"
    changed = git(vault, "show", "--no-renames", "--name-status", "--format=", "HEAD").split()
    assert changed == ["A", moved.json["path"], "D", done["path"]]
    memory = shown(cli, vault, done["id"])
    assert (memory["scope"], memory["scope_id"]) == ("global", None)
    assert git(vault, "status", "--porcelain") == ""


def test_a_narrower_scope_takes_its_id_from_the_context(vault: Path, cli: Cli) -> None:
    done = new(cli, vault, "Deploys")

    moved = cli(*ACME, "set", done["id"], "scope=project", "--json", cwd=vault)

    assert "widens" not in moved.err
    assert moved.json["path"].startswith("project/acme/")
    assert "no memory called" in cli(*OTHER, "show", done["id"], cwd=vault, code=1).err
    assert "no team is known here" in cli(*ACME, "set", done["id"], "scope=team", cwd=vault, code=1).err


def test_another_project_gets_a_memory_with_a_warning(vault: Path, cli: Cli) -> None:
    done = cli(*ACME, "new", "Deploys", "--json", cwd=vault).json

    moved = cli(*ACME, "set", done["id"], "scope-id=other", "--json", cwd=vault)

    assert "project:acme sees it no longer, project:other does" in moved.err
    assert titles(cli, vault, before=ACME) == []
    assert titles(cli, vault, before=OTHER) == ["Deploys"]


def test_a_note_that_lies_where_its_writer_wants_it_stays_there(vault: Path, cli: Cli) -> None:
    (vault / "mine").mkdir()
    (vault / "mine" / "a.md").write_text(note_text("Mine", id="m-mine000001"))

    moved = cli(*ACME, "set", "m-mine000001", "scope=project", "--json", cwd=vault).json

    assert moved["path"] == "mine/a.md"


# Clearing


def test_clearing_one_scope_leaves_every_other_owner_alone(vault: Path, cli: Cli) -> None:
    new(cli, vault, "Everywhere")
    for context, title in ((ACME, "A1"), (ACME, "A2"), (OTHER, "O1")):
        cli(*context, "new", title, cwd=vault)
    count = commits(vault)

    listed = cli(*ACME, "clear", "--scope", "project", "--dry-run", "--json", cwd=vault).json
    done = cli(*ACME, "clear", "--scope", "project", "--yes", "--reason", "moved", "--json", cwd=vault).json

    assert (len(listed["paths"]), listed["dry_run"]) == (2, True)
    assert (len(done["ids"]), done["committed"]) == (2, True)
    assert commits(vault) == count + 1
    assert git(vault, "log", "-1", "--format=%s").strip() == "clear: 2 memories of project:acme"
    assert titles(cli, vault, before=ACME) == ["Everywhere"]
    assert sorted(titles(cli, vault, before=OTHER)) == ["Everywhere", "O1"]


def test_clearing_everything_visible_is_never_across_projects(vault: Path, cli: Cli) -> None:
    new(cli, vault, "Everywhere")
    cli(*ACME, "new", "A1", cwd=vault)
    cli(*OTHER, "new", "O1", cwd=vault)
    secret = new(cli, vault, "The door code", "--private")

    cli(*ACME, "clear", "--yes", cwd=vault)

    assert titles(cli, vault, before=ACME) == []
    assert titles(cli, vault, before=OTHER) == ["O1"]
    assert (vault / secret["path"]).exists()
    cli("clear", "--yes", "--private", cwd=vault)
    assert not (vault / secret["path"]).exists()


def test_clearing_with_private_still_keeps_the_persons_edits_in_history(vault: Path, cli: Cli) -> None:
    done = new(cli, vault, "Deploys")
    note = vault / done["path"]
    note.write_text(note.read_text() + "My own words.\n")
    new(cli, vault, "The door code", "--private")

    cli("clear", "--yes", "--private", cwd=vault)

    assert "My own words." in git(vault, "show", f"HEAD~1:{done['path']}")
    assert "door" not in git(vault, "log", "--format=%B")


def test_clearing_asks_first_and_needs_a_word_without_a_terminal(vault: Path, cli: Cli) -> None:
    new(cli, vault, "Deploys")

    assert "--yes" in cli("clear", cwd=vault, code=2).err
    code, seen = at_terminal(vault, "n\n", "clear")
    assert (code, "Remove 1 memory?" in seen, "nothing was removed" in seen) == (0, True, True)
    assert titles(cli, vault) == ["Deploys"]
    at_terminal(vault, "y\n", "clear")
    assert titles(cli, vault) == []


def test_clearing_a_scope_that_is_closed_says_so(vault: Path, cli: Cli) -> None:
    assert "no team is known here" in cli("clear", "--scope", "team", "--yes", cwd=vault, code=1).err
    assert "unknown scope" in cli("clear", "--scope", "galaxy", "--yes", cwd=vault, code=2).err


def test_on_a_terminal_a_new_memory_without_a_scope_is_asked_about(vault: Path, cli: Cli) -> None:
    code, seen = at_terminal(vault, "galaxy\nproject\nacme\n", "new", "Whose?")

    assert code == 0, seen
    assert "'galaxy' is no scope" in seen
    assert titles(cli, vault, before=ACME) == ["Whose?"]
