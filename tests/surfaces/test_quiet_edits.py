"""Edits that the watcher commits: quiet ones, valid ones, and nothing that is the person's own business."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.conftest import Cli
from tests.surfaces.test_watch import Watched, settings, until
from tests.vaults import git, note_text

QUIET = "[watch]\ncommit = true\nquiet-seconds = 1\n"


class Desk:
    """A vault with one committed note, and the user's wish to have quiet edits committed."""

    def __init__(self, vault: Path, cli: Cli, home: Path) -> None:
        self.vault, self.cli, self.home = vault, cli, home
        made = cli("new", "Deploys", "--scope", "global", "--body", "Never on Friday.", "--json", cwd=vault).json
        self.note, self.id = vault / made["path"], str(made["id"])
        settings(home, QUIET)

    def once(self) -> Any:
        return self.cli("watch", "--once", "--json", cwd=self.vault).json

    def committed(self) -> list[str]:
        """Paths of what one pass commits, after all that was written is quiet."""
        self.rest()
        return [one["path"] for one in self.once()["committed"]]

    def rest(self) -> None:
        """Wait until the youngest note has been left alone for the second that is asked for."""
        youngest = max(path.stat().st_ctime for path in self.vault.rglob("*.md") if ".git" not in path.parts)
        until(lambda: time.time() - youngest > 1.05)

    def edit(self, text: str = "Edited.\n") -> None:
        self.note.write_text(self.note.read_text() + text)

    def path(self) -> str:
        return self.note.relative_to(self.vault).as_posix()

    def status(self) -> str:
        return git(self.vault, "status", "--porcelain")


@pytest.fixture
def desk(vault: Path, cli: Cli, home: Path) -> Desk:
    return Desk(vault, cli, home)


def test_a_quiet_edit_is_committed_as_its_writer_left_it(desk: Desk) -> None:
    (desk.vault / "other.txt").write_text("staged by hand\n")
    git(desk.vault, "add", "other.txt")
    desk.edit()

    assert desk.committed() == [desk.path()]

    message = git(desk.vault, "log", "-1", "--format=%B")
    assert message.startswith("edit: Deploys\n")
    assert f"Remvault-Op: edit\nRemvault-Memory: {desk.id}\nRemvault-Scope: global\n" in message
    assert git(desk.vault, "show", "--format=", "--name-only").split() == [desk.path()]
    assert git(desk.vault, "show", f"HEAD:{desk.path()}") == desk.note.read_text()
    assert desk.status() == "A  other.txt\n"
    assert desk.once()["committed"] == []
    assert desk.cli("log", "--json", cwd=desk.vault).json["entries"][0]["op"] == "edit"


def test_text_output_names_what_was_committed(desk: Desk) -> None:
    desk.edit()
    desk.rest()
    lines = desk.cli("watch", "--once", cwd=desk.vault).out.splitlines()
    assert re.fullmatch(rf"committed [0-9a-f]{{10}}  {desk.path()}", lines[0])
    assert lines[1] == "1 note looked at"


def test_an_agent_is_told_no_path_out_of_its_sight(desk: Desk) -> None:
    (desk.vault / "secret-plan.md").write_text(note_text("Secret plan", scope="project", scope_id="other"))
    desk.edit()
    desk.rest()

    done = desk.cli("--actor", "agent:coder", "watch", "--once", "--json", cwd=desk.vault)

    assert [one["path"] for one in done.json["committed"]] == [desk.path(), None]
    assert "secret" not in done.out + done.err


def test_an_edit_that_is_not_quiet_yet_is_left(desk: Desk) -> None:
    settings(desk.home, QUIET.replace("1", "3600"))
    desk.edit()
    os.utime(desk.note, (1, 1))  # an old time of change is no proof of quiet
    answer = desk.once()
    assert (answer["committed"], answer["held"]) == ([], None)
    assert desk.status() == f" M {desk.path()}\n"


def test_every_note_has_a_commit_of_its_own(desk: Desk) -> None:
    for number in range(45):  # more than are committed under one lock
        (desk.vault / f"n{number:02}.md").write_text(note_text(f"Title {number}", id=f"m-{number:010}"))

    assert len(desk.committed()) == 45

    assert git(desk.vault, "log", "--format=%s", "-45").split("\n")[-2] == "edit: Title 0"
    assert desk.status() == ""


def test_a_note_that_was_moved_leaves_its_old_place_in_the_same_commit(desk: Desk) -> None:
    new = desk.vault / "procedures/deploys.md"
    new.parent.mkdir()
    desk.note.rename(new)
    new.write_text(new.read_text() + "Moved and edited.\n")

    assert desk.committed() == ["procedures/deploys.md"]

    assert git(desk.vault, "show", "--format=", "--name-status", "--no-renames").split() == [
        *("D", desk.path()),
        *("A", "procedures/deploys.md"),
    ]
    assert desk.status() == ""


def test_removing_a_note_is_for_its_writer_to_commit(desk: Desk) -> None:
    (desk.vault / "another.md").write_text(note_text("Another"))
    desk.note.unlink()

    assert desk.committed() == ["another.md"]

    assert desk.status() == f" D {desk.path()}\n"


def broken(desk: Desk) -> None:
    desk.note.write_text(desk.note.read_text().replace("freshness: current", "freshness: nonsense"))


def raised_by_a_rule(desk: Desk) -> None:
    (desk.vault / "remvault.toml").write_text(
        (desk.vault / "remvault.toml").read_text() + '\n[rules]\nRV406 = "error"\n'
    )
    git(desk.vault, "commit", "-qam", "rules")
    folder = desk.vault / "project/other"
    folder.mkdir(parents=True)
    desk.note.rename(folder / desk.note.name)


def local_only(desk: Desk) -> None:
    desk.note.write_text(desk.note.read_text().replace("scope: global", "scope: global\nsensitivity: local-only"))


def copy_of_a_sync_tool(desk: Desk) -> None:
    copy = desk.note.with_name(f"{desk.note.stem} (Dana's conflicted copy 2026-12-01).md")
    copy.write_text(desk.note.read_text() + "Other.\n")


def staged_by_hand(desk: Desk) -> None:
    desk.edit()
    git(desk.vault, "add", desk.path())


def staged_then_edited(desk: Desk) -> None:
    staged_by_hand(desk)
    desk.edit("Again.\n")


def taken_out_of_git(desk: Desk) -> None:
    git(desk.vault, "rm", "-q", "--cached", desk.path())
    desk.edit()


def ignored(desk: Desk) -> None:
    (desk.vault / ".git/info/exclude").write_text("drafts/\n")
    (desk.vault / "drafts").mkdir()
    (desk.vault / "drafts/d.md").write_text(note_text("Draft"))


def in_private(desk: Desk) -> None:
    (desk.vault / "private").mkdir()
    (desk.vault / "private/p.md").write_text(note_text("Private"))


def behind_a_link(desk: Desk) -> None:
    elsewhere = desk.vault.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "e.md").write_text(note_text("Elsewhere"))
    (desk.vault / "linked").symlink_to(elsewhere)
    (desk.vault / "linked.md").symlink_to(elsewhere / "e.md")


def nested_repository(desk: Desk) -> None:
    (desk.vault / "nested").mkdir()
    git(desk.vault / "nested", "init", "-q")
    (desk.vault / "nested/n.md").write_text(note_text("Nested"))


def turned_off(desk: Desk) -> None:
    settings(desk.home, QUIET.replace("true", "false"))
    desk.edit()


def only_the_vault_wants_it(desk: Desk) -> None:
    settings(desk.home, "")
    (desk.vault / "remvault.toml").write_text((desk.vault / "remvault.toml").read_text() + f"\n{QUIET}")
    git(desk.vault, "commit", "-qam", "wish")
    desk.edit()


def commits_are_off(desk: Desk) -> None:
    settings(desk.home, QUIET + '[git]\ncommit = "off"\n')
    desk.edit()


LEFT = [
    broken, raised_by_a_rule, local_only, copy_of_a_sync_tool, staged_by_hand, staged_then_edited, taken_out_of_git,
    ignored, in_private, behind_a_link, nested_repository, turned_off, only_the_vault_wants_it, commits_are_off,
]  # fmt: skip


@pytest.mark.parametrize("prepare", LEFT)
def test_what_is_not_fit_or_not_ours_is_left(desk: Desk, prepare: Callable[[Desk], None]) -> None:
    prepare(desk)
    head, status = git(desk.vault, "rev-parse", "HEAD"), desk.status()

    assert desk.committed() == []

    assert (git(desk.vault, "rev-parse", "HEAD"), desk.status()) == (head, status)


def test_remvault_off_turns_it_off(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.edit()
    monkeypatch.setenv("REMVAULT_OFF", "1")
    assert desk.committed() == []


def test_in_stage_mode_edits_are_the_persons(repo: Path, cli: Cli, home: Path) -> None:
    (repo / "code.py").write_text("")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "code")
    cli("init", "--embedded", "--project", "acme", cwd=repo)
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "vault")
    settings(home, QUIET)
    note = repo / "vault/global/n.md"
    note.parent.mkdir()
    note.write_text(note_text("By hand"))
    until(lambda: time.time() - note.stat().st_ctime > 1.05)

    answer = cli("watch", "--once", "--json", cwd=repo).json

    assert answer["committed"] == []
    assert "yours to commit" in answer["held"]
    assert git(repo, "status", "--porcelain") == "?? vault/global/\n"


def merging(desk: Desk) -> Callable[[], None]:
    mark = desk.vault / ".git/MERGE_HEAD"
    mark.write_text(git(desk.vault, "rev-parse", "HEAD"))
    return mark.unlink


def detached(desk: Desk) -> Callable[[], None]:
    git(desk.vault, "checkout", "-q", "--detach")
    return lambda: git(desk.vault, "checkout", "-q", "main")  # type: ignore[return-value]


def hooks_running(desk: Desk) -> Callable[[], None]:
    mark = desk.vault / f".git/remvault/hook-runs/hooks-{os.getpid()}"
    mark.parent.mkdir(parents=True)
    mark.touch()
    return mark.unlink


def index_locked(desk: Desk) -> Callable[[], None]:
    lock = desk.vault / ".git/index.lock"
    lock.touch()
    return lock.unlink


@pytest.mark.parametrize("obstruct", [merging, detached, hooks_running, index_locked])
def test_r35_it_holds_off_while_git_is_busy_and_does_it_afterwards(
    desk: Desk, obstruct: Callable[[Desk], Callable[[], None]]
) -> None:
    desk.edit()
    release = obstruct(desk)
    head = git(desk.vault, "rev-parse", "HEAD")
    desk.rest()

    answer = desk.once()

    assert answer["committed"] == []
    assert answer["held"]
    assert git(desk.vault, "rev-parse", "HEAD") == head
    release()
    assert desk.committed() == [desk.path()]


def test_what_waited_for_its_commit_is_committed(desk: Desk) -> None:
    release = merging(desk)
    made = desk.cli("new", "Later", "--scope", "global", "--body", "text", "--json", cwd=desk.vault).json
    assert made["pending"]
    settings(desk.home, "")  # that is no edit
    assert desk.once()["held"]
    release()

    answer = desk.once()

    assert len(answer["committed"]) == 1
    assert git(desk.vault, "log", "-1", "--format=%s") == "new: Later\n"


def test_an_edit_made_while_the_lock_was_awaited_is_not_committed_unseen(desk: Desk) -> None:
    """What was judged is what is committed."""
    from remvault.store.edit_commits import Edit, commit_edits
    from remvault.surfaces.app import open_vault

    blob = git(desk.vault, "rev-parse", f"HEAD:{desk.path()}").strip()
    desk.edit()

    done = commit_edits(open_vault(str(desk.vault)).ledger, [Edit(desk.path(), blob)])

    assert (done.commits, done.passed_over, done.why_held) == ((), (), None)


@pytest.mark.parametrize("path", ["../outside.md", "/etc/passwd.md", ".git/x.md", "linked/e.md"])
def test_a_path_that_leaves_the_vault_is_never_committed(desk: Desk, path: str) -> None:
    from remvault.domain.blobs import blob_id
    from remvault.store.edit_commits import Edit, commit_edits
    from remvault.surfaces.app import open_vault

    behind_a_link(desk)
    (desk.vault.parent / "outside.md").write_text(note_text("Outside"))

    done = commit_edits(open_vault(str(desk.vault)).ledger, [Edit(path, blob_id(note_text("Outside").encode()))])

    assert done.commits == ()


def test_carriage_returns_that_git_keeps_away_are_no_edit(desk: Desk) -> None:
    git(desk.vault, "config", "core.autocrlf", "true")
    (desk.vault / ".gitattributes").unlink()
    git(desk.vault, "commit", "-qam", "attributes")
    text = desk.note.read_bytes().replace(b"\n", b"\r\n")
    desk.note.write_bytes(text)

    assert desk.committed() == []
    assert desk.note.read_bytes() == text


def test_the_watcher_commits_when_an_edit_has_been_quiet(desk: Desk) -> None:
    watched = Watched(desk.vault).start()
    try:
        desk.edit()
        broken_note = desk.vault / "broken.md"
        broken_note.write_text("no block\n")
        watched.hears(f"committed {desk.path()}")
        until(lambda: desk.status() == "?? broken.md\n", watched)
        desk.edit("Twice.\n")
        watched.hears(f"committed {desk.path()}", times=2)
    finally:
        watched.stop()
    assert desk.cli("search", "twice", "--json", cwd=desk.vault).json["hits"][0]["committed"] is True


def test_the_watcher_says_once_why_it_holds_off(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remvault.surfaces.watch_round._HELD_S", 0.2)
    watched = Watched(desk.vault).start()
    try:
        release = merging(desk)
        desk.edit()
        watched.hears("not committed: a merge is in progress")
        round_ = watched.watching._round
        assert round_ is not None
        settle_at = round_._settle_at
        until(lambda: round_._settle_at > settle_at + 0.3, watched)  # asked again, and again
        release()
        watched.hears("committed ")
    finally:
        watched.stop()
    assert sum("a merge is in progress" in line for line in watched.said) == 1
