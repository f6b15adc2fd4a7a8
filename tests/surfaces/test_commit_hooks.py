"""Git's hooks around a person's own commit: what is staged is judged, and said in the message."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from remvault.domain.commit_message import operations, parse
from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text


@pytest.fixture
def code(repo: Path, cli: Cli) -> Path:
    """A code repository with an embedded vault, which stages, and our hooks."""
    (repo / "main.py").write_text("print(1)\n")
    git(repo, "add", "main.py")
    git(repo, "commit", "-qm", "code")
    cli("init", "--embedded", "--project", "acme", cwd=repo)
    git(repo, "commit", "-qm", "vault")
    cli("hooks", "install", cwd=repo)
    return repo


def commit(folder: Path, *arguments: str, editor: str = "false") -> subprocess.CompletedProcess[str]:
    env = os.environ | {"GIT_EDITOR": editor}
    return subprocess.run(["git", "commit", *arguments], cwd=folder, env=env, capture_output=True, text=True)


def message(folder: Path, rev: str = "HEAD") -> str:
    return git(folder, "log", "-1", "--format=%B", rev)


def trailers(folder: Path) -> list[str]:
    return git(folder, "log", "-1", "--format=%(trailers:only,unfold)").split("\n")


def test_a_staged_operation_is_told_in_the_persons_commit(code: Path, cli: Cli) -> None:
    new = ("--actor", "agent:coder", "new", "Deploys", "--reason", "seen twice", "--json")
    memory = cli(*new, cwd=code).json
    assert memory["pending"] == "staged for your next commit"

    assert commit(code, "-m", "Fix the build\n\nIt was broken.").returncode == 0

    assert message(code).startswith("Fix the build\n\nIt was broken.\n\nseen twice\n\nRemvault-Op: new\n")
    assert f"Remvault-Memory: {memory['id']}" in trailers(code)
    assert "Remvault-Actor: agent:coder" in trailers(code)
    entry = cli("log", memory["id"], "--json", cwd=code).json["entries"][0]
    assert (entry["op"], entry["actor"], entry["subject"]) == ("new", "agent:coder", "Fix the build")
    assert entry["ids"] == [memory["id"]]


def test_several_operations_are_all_told_and_read_back(code: Path, cli: Cli) -> None:
    first = cli("new", "One", "--json", cwd=code).json["id"]
    second = cli("new", "Two", "--json", cwd=code).json["id"]
    cli("set", first, "importance=0.5", cwd=code)

    commit(code, "-m", "work")

    found = [(one.op, one.ids) for one in operations(message(code))]
    assert found == [("new", (first,)), ("new", (second,)), ("update", (first,))]
    whole = parse(message(code))
    assert whole is not None
    assert (whole.op, whole.ids, whole.actor) == ("edit", (first, second), "user:Dana")
    entries = cli("log", "--json", cwd=code).json["entries"]
    told = [(one["op"], one["ids"]) for one in entries[:3]]
    assert told == [("update", [first]), ("new", [second]), ("new", [first])]
    mine = cli("log", first, "--json", cwd=code).json["entries"]
    assert [(one["op"], one["commit"]) for one in mine] == [("update", mine[0]["commit"]), ("new", mine[0]["commit"])]


def test_trailers_of_others_stay_trailers(code: Path, cli: Cli) -> None:
    cli("new", "One", "--reason", "because: of this", cwd=code)

    commit(code, "-s", "-m", "work")

    assert trailers(code)[0] == "Signed-off-by: Dana <dana@example.org>"
    assert "Remvault-Op: new" in trailers(code)
    assert message(code).startswith("work\n\nbecause: of this\n\nSigned-off-by: ")


def test_an_editor_is_handed_the_message_and_may_still_give_up(code: Path, cli: Cli) -> None:
    cli("new", "One", cwd=code)
    before = git(code, "rev-parse", "HEAD")

    assert commit(code, editor="true").returncode != 0  # nothing written: git gives up, as without us
    assert git(code, "rev-parse", "HEAD") == before
    assert commit(code, "-v", editor="sed -i '1s/^/By hand/'").returncode == 0

    assert message(code).startswith("By hand\n\nRemvault-Op: new\n")
    assert "diff --git" not in message(code)


def test_an_untouched_template_still_gives_up(code: Path, cli: Cli) -> None:
    cli("new", "One", cwd=code)
    (code / "template").write_text("Ticket:\n\n# say why\n")
    git(code, "config", "commit.template", "template")

    assert commit(code, editor="true").returncode != 0
    assert commit(code, editor="sed -i s/Ticket:/Ticket:7/").returncode == 0
    assert "Remvault-Op: new" in trailers(code)


@pytest.mark.parametrize("char", [";", "auto"])
def test_another_comment_character_is_honoured(code: Path, cli: Cli, char: str) -> None:
    git(code, "config", "core.commentChar", char)
    cli("new", "One", cwd=code)

    commit(code, "-m", "work\n\nRefs: #7", "-e", editor="true")

    assert trailers(code)[:2] == ["Refs: #7", "Remvault-Op: new"]


def test_a_line_with_a_hash_is_text_where_no_editor_is_opened(code: Path, cli: Cli) -> None:
    cli("new", "One", cwd=code)

    commit(code, "-m", "work", "-m", "#7")

    assert message(code).startswith("work\n\n#7\n\nRemvault-Op: new\n")
    assert "Remvault-Op: new" in trailers(code)


def test_amending_says_it_once(code: Path, cli: Cli) -> None:
    one = cli("new", "One", "--json", cwd=code).json["id"]
    commit(code, "-m", "work")
    before = message(code)

    commit(code, "--amend", "--no-edit")
    assert message(code) == before
    cli("set", one, "importance=0.5", cwd=code)
    commit(code, "--amend", "--no-edit")

    assert [found.op for found in operations(message(code))] == ["new", "update"]


def test_a_commit_without_the_staged_notes_says_nothing_of_them(code: Path, cli: Cli) -> None:
    memory = cli("new", "One", "--json", cwd=code).json
    (code / "main.py").write_text("print(2)\n")

    commit(code, "-m", "only code", "--only", "main.py")
    assert message(code) == "only code\n\n"
    commit(code, "-m", "the note", "--only", f"vault/{memory['path']}")

    assert f"Remvault-Memory: {memory['id']}" in trailers(code)


def test_a_note_changed_after_staging_is_the_persons_own(code: Path, cli: Cli) -> None:
    memory = cli("new", "One", "--body", "text", "--json", cwd=code).json
    note = code / "vault" / memory["path"]
    note.write_text(note.read_text() + "more\n")

    commit(code, "-a", "-m", "mine")

    assert message(code) == "mine\n\n"


def test_a_merge_is_left_alone(code: Path, cli: Cli) -> None:
    git(code, "checkout", "-qb", "side")
    (code / "side.py").write_text("")
    git(code, "add", "side.py")
    git(code, "commit", "-qm", "side")
    git(code, "checkout", "-q", "main")
    cli("new", "One", cwd=code)
    commit(code, "-m", "note")

    git(code, "merge", "-q", "--no-ff", "-m", "merge", "side")

    assert message(code) == "merge\n\n"


def test_in_a_linked_work_tree_only_its_own_operations_count(code: Path, cli: Cli, tmp_path: Path) -> None:
    git(code, "worktree", "add", "-q", str(tmp_path / "linked"))
    cli("new", "Of the main work tree", cwd=code)
    linked = cli("new", "Of the linked one", "--json", cwd=tmp_path / "linked").json

    commit(tmp_path / "linked", "-m", "linked")

    assert [one.ids for one in operations(message(tmp_path / "linked"))] == [(linked["id"],)]


def test_a_torn_queue_never_stops_a_commit(code: Path, cli: Cli) -> None:
    cli("new", "One", cwd=code)
    for entry in (code / ".git/remvault/staged").glob("*.json"):
        entry.write_text("{")

    done = commit(code, "-m", "work")

    assert done.returncode == 0
    assert message(code) == "work\n\n"


BROKEN = note_text("Broken", scope="planet")


def test_commit_a_judges_what_it_commits_not_what_was_staged(code: Path, cli: Cli) -> None:
    memory = cli("new", "Fine", "--json", cwd=code).json
    commit(code, "-m", "note")
    note = code / "vault" / memory["path"]
    note.write_text(BROKEN)

    assert commit(code, "--allow-empty", "-m", "nothing of it").returncode == 0
    refused = commit(code, "-a", "-m", "all")

    assert refused.returncode != 0
    assert f"vault/{memory['path']}:" in refused.stderr
    assert "RV102 unknown scope 'planet'" in refused.stderr


def test_commit_only_judges_that_path_alone(code: Path) -> None:
    notes = code / "vault" / "global"
    notes.mkdir()
    (notes / "broken.md").write_text(BROKEN)
    (notes / "fine.md").write_text(note_text("Fine", id="m-fine"))
    git(code, "add", ".")

    assert commit(code, "-m", "fine", "--only", "vault/global/fine.md").returncode == 0
    assert commit(code, "-m", "broken", "--only", "vault/global/broken.md").returncode != 0
    (notes / "broken.md").write_text(note_text("Mended"))  # on disk only: the staged bytes count
    assert commit(code, "-m", "staged").returncode != 0


def test_a_partly_staged_note_is_judged_as_staged(code: Path) -> None:
    note = code / "vault" / "note.md"
    note.write_text(note_text("Fine"))
    git(code, "add", ".")
    note.write_text(BROKEN)

    assert commit(code, "-m", "the good half").returncode == 0
    assert git(code, "status", "--porcelain") == " M vault/note.md\n"


def test_a_linked_work_tree_judges_its_own_index(code: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(code, "worktree", "add", "-q", str(linked))
    (linked / "vault" / "broken.md").write_text(BROKEN)
    git(linked, "add", ".")

    assert commit(code, "--allow-empty", "-m", "here").returncode == 0
    assert commit(linked, "-m", "there").returncode != 0
    assert commit(linked, "-a", "-m", "there").returncode != 0


LOCAL = note_text("Secret", sensitivity="local-only")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("vault/global/secret.md", LOCAL),
        ("vault/private/secret.md", LOCAL),
        ("vault/private/secret.txt", "no note at all\n"),
        ("vault/handoffs/last.md", note_text("Where we left off")),
        ("vault/global/secret.txt", LOCAL),
        ("vault/secret", "\ufeff" + LOCAL),
        ("vault/global/secret.md~", LOCAL.replace("local-only", '"local\\x2donly"')),
        ("vault/inbox/secret.md", LOCAL),
        ("vault/.hidden/secret.md", LOCAL),
        ("docs/secret.md", LOCAL),
    ],
)
def test_a_local_only_note_is_committed_under_no_name(code: Path, path: str, text: str) -> None:
    (code / path).parent.mkdir(parents=True, exist_ok=True)
    (code / path).write_text(text)
    git(code, "add", "-f", path)

    refused = commit(code, "-m", "x")

    assert refused.returncode != 0
    assert "RV407" in refused.stderr
    assert path in refused.stderr
    assert "Secret" not in refused.stderr
    git(code, "rm", "-q", "--cached", path)
    assert commit(code, "--allow-empty", "-m", "x").returncode == 0


def test_a_copy_of_a_private_note_is_known_by_its_id_anywhere(code: Path, cli: Cli) -> None:
    made = cli("new", "Secret", "--private", "--json", cwd=code).json
    kept = next((code / ".git/remvault").glob("*/private/*.md"))
    assert made["committed"] is False
    (code / "notes.bin").write_bytes(kept.read_bytes())
    git(code, "add", ".")

    refused = commit(code, "-m", "x")

    assert refused.returncode != 0
    assert "notes.bin" in refused.stderr


def test_a_vault_cannot_lower_the_rule(code: Path) -> None:
    settings = code / "vault" / "remvault.toml"
    settings.write_text(settings.read_text() + '\n[rules]\nRV407 = "off"\n')
    (code / "vault" / "secret.md").write_text(LOCAL)
    git(code, "add", ".")

    assert commit(code, "-m", "x").returncode != 0


def test_a_hook_stranded_by_deleting_our_script_comes_back(code: Path, cli: Cli) -> None:
    cli("hooks", "uninstall", cwd=code)
    hook = code / ".git/hooks/pre-commit"
    own = "#!/bin/sh\necho own >>log\n"
    hook.write_text(own)
    hook.chmod(0o755)
    cli("hooks", "install", cwd=code)
    hook.write_text(hook.read_text() + "echo mine\n")

    refused = cli("hooks", "install", cwd=code, code=1)
    assert "pre-commit.before-remvault, which runs first" in refused.err
    hook.unlink()
    cli("hooks", "install", cwd=code)
    commit(code, "--allow-empty", "-m", "x")
    assert (code / "log").read_text() == "own\n"
    hook.unlink()
    said = cli("hooks", "uninstall", cwd=code)

    assert f"put back {hook}" in said.out
    assert hook.read_text() == own
    assert not list(hook.parent.glob("*.before-remvault*"))


# After git has replaced files


def manifest(code: Path) -> bytes:
    """What the index knows of the files, as bytes."""
    found = sorted((code / ".git/remvault").glob("*/manifest*"))
    return b"".join(path.read_bytes() for path in found)


def until_changed(code: Path, before: bytes) -> None:
    deadline = time.monotonic() + 30
    while manifest(code) in (before, b""):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("command", ["checkout -q side", "merge -q side", "rebase -q side"])
def test_after_git_has_replaced_notes_the_index_follows_by_itself(code: Path, cli: Cli, command: str) -> None:
    git(code, "checkout", "-qb", "side")
    (code / "vault" / "of-side.md").write_text(note_text("Of the side", id="m-side"))
    git(code, "add", ".")
    git(code, "commit", "-qm", "side")
    git(code, "checkout", "-q", "main")
    if command.startswith("rebase"):
        git(code, "commit", "-q", "--allow-empty", "-m", "ours")
    cli("search", "anything", cwd=code)
    before = manifest(code)

    git(code, *command.split())

    until_changed(code, before)
    assert [one["id"] for one in cli("search", "side", "--json", cwd=code).json["hits"]] == ["m-side"]


@pytest.mark.parametrize("event", ["post-checkout", "post-merge", "post-rewrite"])
def test_events_after_the_fact_never_fail_and_say_nothing(code: Path, cli: Cli, event: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "remvault.surfaces.hooks", event]
    (code / "vault" / "remvault.toml").write_text("not = [toml")
    for folder in (code, tmp_path):
        done = subprocess.run(command, cwd=folder, env=os.environ, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_with_everything_automatic_off_no_index_is_made(code: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from remvault.surfaces import hooks, refreshing

    started = []
    monkeypatch.setattr(refreshing, "start", lambda *_: started.append(1))
    monkeypatch.chdir(code)

    assert hooks.main(["post-checkout", "a", "b", "1"]) == 0
    monkeypatch.setenv("REMVAULT_OFF", "1")
    assert hooks.main(["post-checkout", "a", "b", "1"]) == 0

    assert started == [1]
