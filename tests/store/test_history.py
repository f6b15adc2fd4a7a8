"""What git tells of a vault and of one note."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from remvault.domain.blobs import blob_id
from remvault.domain.commit_message import Operation
from remvault.store.git import Repository
from remvault.store.git_command import CommandRepository
from remvault.store.history import Entry, history
from remvault.store.ledger import FileChange
from remvault.store.work_tree import find_work_tree
from tests.store.conftest import Desk, MakeDesk
from tests.vaults import git, note_text

Read = Callable[..., list[Entry]]


@pytest.fixture(params=["library", "program"])
def read(request: pytest.FixtureRequest, desk: Desk) -> Read:
    tree = find_work_tree(desk.root)
    assert tree is not None

    def look(prefix: str = "", **asked: object) -> list[Entry]:
        way = Repository.open(tree, os.environ) if request.param == "library" else CommandRepository(tree, os.environ)
        return history(way, prefix, **asked)  # type: ignore[arg-type]

    return look


def write(desk: Desk, op: str, path: str, text: str, memory_id: str, **said: str) -> None:
    target = desk.root / path
    base = blob_id(target.read_bytes()) if target.exists() else None
    operation = Operation(op, path, ids=(memory_id,), actor="agent:helper", scope="project:acme", **said)  # type: ignore[arg-type]
    assert desk.ledger.write(operation, [FileChange(path, text.encode(), base)]).committed


def test_before_the_first_commit_there_is_no_history(read: Read) -> None:
    assert read() == []


def test_operations_are_read_from_trailers_newest_first(desk: Desk, read: Read) -> None:
    write(desk, "new", "a.md", note_text("A", id="m-a"), "m-a", reason="because\nof this", session="s1")
    write(desk, "update", "a.md", note_text("B", id="m-a"), "m-a")

    update, new = read()

    assert (new.op, new.ids, new.actor, new.scope, new.reason) == (
        "new",
        ("m-a",),
        "agent:helper",
        "project:acme",
        "because\nof this",
    )
    assert (new.session, new.paths, new.is_derived) == ("s1", ("a.md",), False)
    assert update.op == "update"
    assert update.commit == desk.git("rev-parse", "HEAD").strip()
    assert update.time == desk.git("log", "-1", "--format=%aI").strip()
    assert read(limit=1) == [update]


def test_commits_without_trailers_are_told_from_difference_and_author(desk: Desk, read: Read) -> None:
    desk.commit_by_hand("a.md", note_text("A", id="m-a", scope="project", scope_id="acme"), "notes: first\n\nWhy not.")
    desk.commit_by_hand("a.md", note_text("B", id="m-a"))
    desk.commit_by_hand("code.py", "x", "code alone")
    desk.git("rm", "-q", "a.md")
    desk.git("commit", "-q", "-m", "gone")

    entries = read()

    assert [one.op for one in entries] == ["delete", "edit", "new"]
    first = entries[-1]
    assert (first.actor, first.ids, first.scope, first.reason, first.is_derived) == (
        "user:Dana",
        ("m-a",),
        "project:acme",
        "Why not.",
        True,
    )
    assert first.subject == "notes: first"


def test_one_note_is_followed_through_a_rename_with_an_edit(desk: Desk, read: Read) -> None:
    write(desk, "new", "a.md", note_text("A", id="m-a"), "m-a")
    desk.commit_by_hand("other.md", note_text("Other", id="m-o"))
    (desk.root / "a.md").unlink()
    desk.git("rm", "-q", "--cached", "a.md")
    desk.commit_by_hand("sub/b.md", note_text("Quite another text", id="m-a", body="all new\n" * 9))
    write(desk, "confirm", "sub/b.md", note_text("C", id="m-a"), "m-a")

    entries = read(path="sub/b.md")

    assert [one.op for one in entries] == ["confirm", "edit", "new"]
    assert entries[1].paths == ("a.md", "sub/b.md")
    assert [one.op for one in read(path="sub/b.md", limit=2)] == ["confirm", "edit"]


def test_a_memory_is_found_by_id_where_a_commit_names_it(desk: Desk, read: Read) -> None:
    write(desk, "new", "a.md", note_text("A", id="m-a"), "m-a")
    write(desk, "new", "b.md", note_text("B", id="m-b"), "m-b")
    changes = [FileChange("c.md", note_text("C", id="m-c").encode(), None)]
    desk.ledger.write(Operation("supersede", "C", ids=("m-c",), supersedes=("m-a",)), changes)

    assert [one.op for one in read(memory_id="m-a")] == ["supersede", "new"]
    assert [one.ids for one in read(path="b.md", memory_id="m-b")] == [("m-b",)]


def test_a_merge_is_told_only_for_what_it_changed_itself(desk: Desk, read: Read) -> None:
    write(desk, "new", "a.md", note_text("A", id="m-a"), "m-a")
    desk.git("checkout", "-q", "-b", "side")
    write(desk, "new", "b.md", note_text("B", id="m-b"), "m-b")
    desk.git("checkout", "-q", "main")
    write(desk, "update", "a.md", note_text("A2", id="m-a"), "m-a")
    desk.git("merge", "-q", "--no-edit", "side")

    assert sorted(one.op for one in read()) == ["new", "new", "update"]
    assert [one.op for one in read(path="b.md")] == ["new"]


def test_paths_are_those_of_the_vault_in_its_repository(desk: Desk, read: Read, make_desk: MakeDesk) -> None:
    inner = make_desk(desk.root / "docs" / "mem")
    write(inner, "new", "global/a.md", note_text("A", id="m-a"), "m-a")
    desk.commit_by_hand("outside.md", note_text("B", id="m-b"))

    assert [one.paths for one in read("docs/mem/")] == [("global/a.md",)]
    assert [one.op for one in read("docs/mem/", path="global/a.md")] == ["new"]
    assert git(desk.root, "status", "--porcelain") == ""
