"""The journeys of a newcomer, through the real program on real git."""

from __future__ import annotations

import re
from pathlib import Path

from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text


def test_a_first_memory_is_found_committed_and_leaves_nothing_behind(repo: Path, process: Cli) -> None:
    process("init", cwd=repo)
    title = "Deploys: never on Friday"
    process("new", title, "--type", "decision", "--scope", "global", "--body", "Ship on Tuesday.", cwd=repo)

    hits = process("search", "deploys", "--json", cwd=repo).json["hits"]

    assert [hit["title"] for hit in hits] == [title]
    assert hits[0]["committed"] is True
    message = git(repo, "log", "--format=%B", "-1")
    assert message.startswith(f"new: {title}\n\nRemvault-Op: new\nRemvault-Memory: {hits[0]['id']}\n")
    assert "Remvault-Scope: global\nRemvault-Actor: user:Dana\n" in message
    assert git(repo, "status", "--porcelain") == ""


def test_an_edit_in_any_editor_is_found_by_the_next_search_and_labelled(vault: Path, cli: Cli) -> None:
    cli("new", "Deploys", "--scope", "global", "--body", "Ship on Tuesday.", cwd=vault)
    note = next((vault / "global").glob("*.md"))
    note.write_text(note.read_text().replace("Tuesday", "Wednesday"))

    hit = cli("search", "wednesday", "--json", cwd=vault).json["hits"][0]

    assert "Wednesday" in hit["snippet"]
    assert hit["committed"] is False
    assert "uncommitted" in hit["labels"]
    assert cli("search", "tuesday", "--json", cwd=vault).json["hits"] == []


def test_a_successor_takes_the_place_and_the_old_note_says_who(vault: Path, cli: Cli) -> None:
    old = cli("new", "Staging runs pg13", "--scope", "global", "--tag", "db", "--json", cwd=vault).json
    new = cli("supersede", old["id"], "Staging runs pg16", "--reason", "upgraded", "--json", cwd=vault).json

    found = cli("search", "staging", "--json", cwd=vault).json["hits"]
    shown = cli("show", old["id"], "--json", cwd=vault).json["memory"]

    assert [hit["id"] for hit in found] == [new["id"]]
    assert found[0]["tags"] == ["db"]
    assert (shown["freshness"], shown["superseded_by"]) == ("superseded", new["id"])
    assert cli("search", "staging", "--status", "superseded", "--json", cwd=vault).json["hits"][0]["id"] == old["id"]
    changed = git(vault, "show", "--name-only", "--format=", "HEAD").split()
    assert sorted(changed) == sorted([old["path"], new["path"]])
    assert "\nupgraded\n" in git(vault, "log", "-1", "--format=%B")


def test_superseding_a_superseded_note_names_the_one_to_supersede(vault: Path, cli: Cli) -> None:
    old = cli("new", "One", "--scope", "global", "--json", cwd=vault).json["id"]
    new = cli("supersede", old, "Two", "--json", cwd=vault).json["id"]

    refused = cli("supersede", old, "Three", cwd=vault, code=1)

    assert f"already superseded by {new}" in refused.err


def test_set_changes_one_line_and_unset_takes_it_away(vault: Path, cli: Cli) -> None:
    done = cli("new", "A", "--scope", "global", "--tag", "x", "--json", cwd=vault).json
    note = vault / done["path"]
    note.write_text(note.read_text().replace("tags: [x]", "tags: [x]   # mine"))
    before = note.read_text()

    answer = cli("set", done["id"], "tags+=z", "importance=0.8", "--json", cwd=vault).json

    def text() -> str:  # an update on purpose also says when: the one line that nobody typed
        return re.sub(r"confirmed: .*\n", "", note.read_text(), count=1)

    assert text() == before.replace("tags: [x]", "tags: [x, z]").replace("created:", "importance: 0.8\ncreated:")
    assert len(answer["edits"]) == 1  # the comment was the person's own change and is committed apart, first
    cli("unset", done["id"], "importance", cwd=vault)
    assert text() == before.replace("tags: [x]", "tags: [x, z]")
    assert git(vault, "status", "--porcelain") == ""


def test_guarded_fields_name_the_verb_to_use(vault: Path, cli: Cli) -> None:
    done = cli("new", "A", "--scope", "global", "--json", cwd=vault).json

    refused = cli("set", done["id"], "superseded-by=m-other", cwd=vault, code=2)

    assert "remvault supersede" in refused.err


def test_an_invalid_value_saves_nothing_and_says_what_is_allowed(vault: Path, cli: Cli) -> None:
    done = cli("new", "A", "--scope", "global", "--json", cwd=vault).json
    before = (vault / done["path"]).read_bytes()

    refused = cli("set", done["id"], "type=descision", cwd=vault, code=1)

    assert "RV102 unknown type 'descision' (did you mean 'decision'?)" in refused.err
    assert (vault / done["path"]).read_bytes() == before


def test_a_dry_run_writes_nothing(vault: Path, cli: Cli) -> None:
    head = git(vault, "rev-parse", "HEAD")

    shown = cli("new", "Maybe", "--scope", "global", "--dry-run", cwd=vault)

    assert "would write global/maybe-m-" in shown.out
    assert git(vault, "rev-parse", "HEAD") == head
    assert not (vault / "global").exists()


def test_a_memory_without_a_known_project_is_never_global_by_accident(vault: Path, cli: Cli) -> None:
    refused = cli("new", "Whose?", cwd=vault, code=1)

    assert "whose memory is this?" in refused.err
    assert "--scope global" in refused.err


def test_what_the_person_staged_stays_staged(vault: Path, cli: Cli) -> None:
    (vault / "half.txt").write_text("one\n")
    git(vault, "add", "half.txt")
    (vault / "half.txt").write_text("one\ntwo\n")
    before = git(vault, "diff", "--cached")

    cli("new", "A", "--scope", "global", cwd=vault)

    assert git(vault, "diff", "--cached") == before
    assert git(vault, "show", "--name-only", "--format=", "HEAD").split() == [
        path.relative_to(vault).as_posix() for path in (vault / "global").glob("*.md")
    ]


def test_a_commit_of_a_note_without_provenance_is_refused_by_the_hook(vault: Path, cli: Cli) -> None:
    cli("hooks", "install", cwd=vault)
    (vault / "global").mkdir()
    (vault / "global" / "by-hand.md").write_text(note_text("By hand", drop=("provenance", "id")))
    git(vault, "add", ".")

    import subprocess

    refused = subprocess.run(["git", "commit", "-m", "x"], cwd=vault, capture_output=True, text=True)

    assert refused.returncode != 0
    assert "global/by-hand.md:1: RV403 provenance is missing" in refused.stderr
    assert "add provenance:" in refused.stderr
    cli("check", "--fix", cwd=vault, code=1)
    text = (vault / "global" / "by-hand.md").read_text()
    assert "\nid: m-" in text or text.startswith("---\nid: m-")
    assert "provenance" not in text


def test_log_tells_operations_actors_and_reasons(vault: Path, cli: Cli) -> None:
    done = cli(
        "--actor", "agent:coder", "new", "A", "--scope", "global", "--reason", "seen twice", "--json", cwd=vault
    ).json
    cli("set", done["id"], "title=B", cwd=vault)

    entries = cli("log", done["id"], "--json", cwd=vault).json["entries"]

    assert [(one["op"], one["actor"], one["reason"]) for one in entries] == [
        ("update", "user:Dana", None),
        ("new", "agent:coder", "seen twice"),
    ]
    assert all(one["ids"] == [done["id"]] for one in entries)


def test_edit_opens_the_git_editor_on_a_copy_and_commits_what_was_saved(
    vault: Path, cli: Cli, monkeypatch: object, tmp_path: Path
) -> None:
    done = cli("new", "A", "--scope", "global", "--body", "old text", "--json", cwd=vault).json
    git(vault, "config", "core.editor", "sed -i s/old/new/")

    cli("edit", done["id"], cwd=vault)

    assert "new text" in (vault / done["path"]).read_text()
    assert cli("log", done["id"], "--json", cwd=vault).json["entries"][0]["op"] == "update"
    assert "nothing changed" in cli("edit", done["id"], cwd=vault).err


def test_an_edit_that_breaks_a_rule_is_refused_and_the_text_is_kept(vault: Path, cli: Cli) -> None:
    done = cli("new", "A", "--scope", "global", "--json", cwd=vault).json
    before = (vault / done["path"]).read_bytes()
    git(vault, "config", "core.editor", "sed -i s/semantic/nonsense/")

    refused = cli("edit", done["id"], cwd=vault, code=1)

    assert "RV102 unknown type 'nonsense'" in refused.err
    assert (vault / done["path"]).read_bytes() == before
    kept = Path(refused.err.rsplit("your text is kept in ", 1)[1].strip())
    assert "type: nonsense" in kept.read_text()
