"""Before every read the index is brought up to date with the files, whatever happened to them."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from remvault.domain import frontmatter
from remvault.domain.note import blob_id
from remvault.index import building, changes
from remvault.index.reconcile import NoteSource, reconcile
from remvault.index.remembered import RememberedFolder
from remvault.store import trees
from remvault.store.state import State
from tests.index.answers import answers
from tests.index.conftest import IndexedVault, ask, found
from tests.vaults import note_text

MakeVault = Callable[[str], IndexedVault]


def test_an_edit_a_new_note_a_move_and_a_deletion_are_seen_at_once(vault: IndexedVault) -> None:
    first = vault.write("global/a.md", id="m-a", body="original words\n")
    assert vault.find("original") == ["global/a.md"]
    vault.write("global/a.md", id="m-a", body="rewritten words\n")
    vault.write("global/b.md", id="m-b", body="another words\n")
    assert vault.find("original") == []
    assert vault.find("rewritten") == ["global/a.md"]
    assert vault.find("another") == ["global/b.md"]
    (vault.root / "moved").mkdir()
    first.rename(vault.root / "moved" / "c.md")
    assert vault.find("rewritten") == ["moved/c.md"]
    (vault.root / "global/b.md").unlink()
    assert vault.find("words") == ["moved/c.md"]
    assert set(vault.look().rows) == {"moved/c.md"}


def test_nothing_changed_writes_nothing_and_reads_no_note(vault: IndexedVault) -> None:
    vault.write("a.md")
    settle(vault)
    before = listing(vault.state.caches)
    source = NoteSource(vault.root, tree=Untouchable(vault.root))
    snapshot = reconcile(source, vault.state)
    assert list(snapshot.rows) == ["a.md"]
    assert listing(vault.state.caches) == before
    assert not snapshot.is_stale


def test_only_what_changed_is_parsed(vault: IndexedVault) -> None:
    for number in range(30):
        vault.write(f"n{number}.md", id=f"m-{number}")
    settle(vault)
    vault.write("n7.md", id="m-7", body="changed\n")
    told: list[tuple[int, int]] = []
    reconcile(vault.source(), vault.state, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 1)]


def test_a_touched_file_with_the_same_bytes_is_not_parsed_again(vault: IndexedVault) -> None:
    path = vault.write("a.md")
    generation = vault.look().generation
    os.utime(path, (1, 1))
    assert vault.look().generation == generation


@pytest.mark.parametrize("when", [1, 2_000_000_000, 4_000_000_000])
def test_r60_a_change_is_found_by_content_whatever_the_clock_says(vault: IndexedVault, when: int) -> None:
    """A file stamped in the past or the future, edited to the same size, with its time set back."""
    path = vault.write("a.md", body="first word\n")
    os.utime(path, (when, when))
    assert vault.find("first") == ["a.md"]
    vault.write("a.md", body="other word\n")
    os.utime(path, (when, when))
    assert vault.find("first") == []
    assert vault.find("other") == ["a.md"]


def test_two_saves_within_one_tick_are_told_apart(vault: IndexedVault) -> None:
    """Same size, same inode, and times no clock can tell apart."""
    for number in range(20):
        vault.write("a.md", body=f"word{number:02}\n")
        assert vault.find(f"word{number:02}") == ["a.md"]
        assert number == 0 or vault.find(f"word{number - 1:02}") == []


def test_a_note_that_cannot_be_read_is_named_keeps_no_row_and_is_tried_again(vault: IndexedVault) -> None:
    vault.write("a.md", id="m-a", body="steady\n")
    vault.write("b.md", id="m-b", body="flaky\n")
    assert vault.find("flaky") == ["b.md"]
    vault.write("b.md", id="m-b", body="flaky still\n")
    tree = Flaky(vault.root, "b.md")
    broken = reconcile(NoteSource(vault.root, tree=tree), vault.state)
    assert found(broken, "flaky") == []
    assert "b.md" not in broken.rows
    assert [(one.code, one.path) for one in broken.skipped] == [("RV601", "b.md")]
    assert found(broken, "steady") == ["a.md"]
    again = reconcile(NoteSource(vault.root, tree=tree), vault.state)
    assert [one.path for one in again.skipped] == ["b.md"]
    assert vault.find("flaky") == ["b.md"]


def test_notes_and_folders_without_permission_are_named_and_found_once_they_may_be_read(vault: IndexedVault) -> None:
    note, other = vault.write("a.md", id="m-a", body="deploy\n"), vault.write("b/c.md", id="m-c", body="deploy\n")
    for what, mode, skipped in ((note, 0o600, "a.md"), (other.parent, 0o700, "b")):
        assert vault.find("deploy") == ["a.md", "b/c.md"]
        what.chmod(0)
        if os.access(what, os.R_OK):
            pytest.skip("this user may read everything")
        assert [one.path for one in vault.look().skipped] == [skipped]
        assert len(vault.find("deploy")) == 1
        what.chmod(mode)
    assert vault.find("deploy") == ["a.md", "b/c.md"]


def test_r18_links_and_special_files_are_skipped_with_a_reason(vault: IndexedVault, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(note_text("Outside", body="leaked\n"))
    vault.write("a.md")
    (vault.root / "loop").symlink_to(".")
    (vault.root / "leak.md").symlink_to(outside)
    (vault.root / "gone.md").symlink_to("nowhere")
    os.mkfifo(vault.root / "pipe.md")
    snapshot = vault.look()
    assert set(snapshot.rows) == {"a.md"}
    assert found(snapshot, "leaked") == []
    assert [one.path for one in snapshot.skipped] == ["gone.md", "leak.md", "loop", "pipe.md"]


def test_r48_working_files_of_editors_are_never_notes(vault: IndexedVault) -> None:
    vault.write("note.md", body="deploy\n")
    for name in ("note~.md", ".#note.md", "4913", ".note.md.swp", "#note.md#"):
        shutil.copy(vault.root / "note.md", vault.root / name)
    assert vault.find("deploy") == ["note.md"]
    assert set(vault.look().rows) == {"note.md"}


def test_head_is_asked_only_when_it_moved(vault: IndexedVault) -> None:
    path = vault.write("a.md", id="m-a")
    vault.write("b.md", id="m-b")
    vault.head, vault.head_blobs = "c1", {"a.md": blob_id(path.read_bytes()), "c.md": "0" * 40}
    rows = vault.look().rows
    assert (rows["a.md"].is_committed, rows["b.md"].is_committed) == (True, False)
    vault.write("a.md", id="m-a", body="edited\n")
    assert not vault.look().rows["a.md"].is_committed
    assert vault.look().rows["a.md"].head_blob == vault.head_blobs["a.md"]
    assert vault.head_calls == 1
    vault.head, vault.head_blobs = "c2", {"a.md": blob_id(path.read_bytes())}
    assert vault.look().rows["a.md"].is_committed
    assert vault.head_calls == 2


def test_a_restored_note_is_known_to_be_committed_without_asking_again(vault: IndexedVault) -> None:
    path = vault.write("a.md")
    data = path.read_bytes()
    vault.head, vault.head_blobs = "c1", {"a.md": blob_id(data)}
    vault.look()
    path.unlink()
    assert dict(vault.look().rows) == {}
    path.write_bytes(data)
    assert vault.look().rows["a.md"].is_committed
    assert vault.head_calls == 1


def test_no_head_means_nothing_is_committed(vault: IndexedVault) -> None:
    vault.write("a.md")
    assert vault.look().rows["a.md"].head_blob is None
    assert vault.head_calls == 0


def test_r37_branches_to_and_fro_leave_no_hit_of_the_other(vault: IndexedVault, make_vault: MakeVault) -> None:
    """All notes rewritten and some on one branch only; searched at once after each switch."""

    def check_out(branch: str) -> None:
        shutil.rmtree(vault.root)
        vault.root.mkdir()
        for number in range(40 if branch == "main" else 50):
            vault.write(f"n{number}.md", id=f"m-{number}", body=f"{branch} words deploy\n")

    for turn in range(10):
        branch, other = ("main", "topic") if turn % 2 == 0 else ("topic", "main")
        check_out(branch)
        snapshot = vault.look()
        assert found(snapshot, other) == []
        assert len(found(snapshot, branch)) == len(snapshot.rows)
        for path, row in snapshot.rows.items():
            assert row.blob == blob_id((vault.root / path).read_bytes())
    assert answers(vault.look()) == answers(vault.look(in_memory=True))


def test_a_folder_that_moves_while_the_folders_are_listed_is_not_taken_for_gone(
    vault: IndexedVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It moves from a folder not yet listed into one already listed, so that one listing misses it in both."""
    for name in ("x", "y"):
        vault.write(f"{name}/inner-{name}/note.md", id=f"m-{name}", body="deploy\n")
    vault.look()
    listed: list[str] = []
    list_folder = trees._scan_folder

    def list_and_move(root: str, prefix: str, *others: Any) -> list[str]:
        found = list_folder(root, prefix, *others)
        if prefix in ("x/", "y/") and not listed:
            listed.append(prefix)
            other = "y" if prefix == "x/" else "x"
            (vault.root / other / f"inner-{other}").rename(vault.root / prefix / "moved")
        return found

    monkeypatch.setattr(trees, "_scan_folder", list_and_move)
    first, other = vault.find("deploy"), "y" if listed == ["x/"] else "x"
    assert first == sorted([f"{listed[0]}inner-{listed[0][0]}/note.md", f"{listed[0]}moved/note.md"])
    assert not (vault.root / other / f"inner-{other}").exists()


@pytest.mark.parametrize("seed", range(6))
def test_an_index_updated_piece_by_piece_equals_a_fresh_one(vault: IndexedVault, tmp_path: Path, seed: int) -> None:
    """Random edits, moves and deletions, looked at in between: same rows, same evidence, same order, same records."""
    chance = random.Random(seed)
    for _ in range(14):
        change_something(vault, chance)
        piecewise = vault.look()
    fresh_state = State(tmp_path / "fresh", tmp_path / "shared")
    fresh = reconcile(vault.source(), fresh_state)
    assert not fresh.notices
    assert answers(piecewise) == answers(fresh) == answers(vault.look(in_memory=True))


def test_many_small_updates_leave_few_segments(vault: IndexedVault) -> None:
    vault.write("base.md", id="m-base", body="deploy\n")
    for number in range(40):
        vault.write(f"n{number % 25}.md", id=f"m-{number % 25}", body=f"deploy {number}\n")
        vault.look()
    assert len(list((vault.state.caches / "text-index").glob("*.trm"))) <= 9
    assert answers(vault.look()) == answers(vault.look(in_memory=True))


def test_a_build_in_several_processes_equals_one_in_memory(
    vault: IndexedVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(3)
    for _ in range(12):
        change_something(vault, chance)
    monkeypatch.setattr(building, "PARALLEL_FROM", 2)
    told: list[tuple[int, int]] = []
    snapshot = reconcile(vault.source(), vault.state, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (len(snapshot.rows), len(snapshot.rows))
    assert not (vault.state.caches / "text-index.parts").exists()
    assert answers(snapshot) == answers(vault.look(in_memory=True))
    vault.write("later.md", id="m-later", body="deploy later\n")
    assert answers(vault.look()) == answers(vault.look(in_memory=True))


def test_a_change_read_in_several_processes_equals_a_fresh_build(
    vault: IndexedVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With documents retired from segments that stay, and small segments written again."""
    chance = random.Random(5)
    for number in range(60):
        vault.write(f"base/n{number}.md", id=f"m-b{number}", body=" ".join(chance.choices(WORDS, k=20)) + "\n")
    for number in range(9):
        vault.write(f"small{number}.md", id=f"m-s{number}", body="server café\n")
        vault.look()
    monkeypatch.setattr(building, "PARALLEL_FROM", 2)
    for turn in range(2):
        for number in range(turn * 10, turn * 10 + 20):
            vault.write(f"base/n{number}.md", id=f"m-b{number}", body=" ".join(chance.choices(WORDS, k=20)) + "\n")
        (vault.root / f"base/n{50 + turn}.md").unlink()
        snapshot = vault.look()
        assert not snapshot.notices
        assert answers(snapshot) == answers(vault.look(in_memory=True))
        assert answers(vault.look()) == answers(snapshot)
    monkeypatch.undo()
    vault.write("later.md", id="m-later", body="deploy later\n")
    assert answers(vault.look()) == answers(vault.look(in_memory=True))


def test_a_watchers_great_change_is_read_in_several_processes_too(
    vault: IndexedVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        vault.write(f"n{number}.md", id=f"m-{number}", body="deploy\n")
    monkeypatch.setattr(building, "PARALLEL_FROM", 2)
    asked: list[int] = []
    processes = building.process_count
    monkeypatch.setattr(building, "process_count", lambda notes: asked.append(notes) or processes(notes))
    snapshot = reconcile(NoteSource(vault.root, tree=RememberedFolder(vault.root)), vault.state)
    assert asked == [4]
    assert answers(snapshot) == answers(vault.look(in_memory=True))


def test_numbers_that_run_out_begin_anew(vault: IndexedVault, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        vault.write(f"n{number}.md", id=f"m-{number}", body="deploy\n")
    vault.look()
    monkeypatch.setattr(building, "PARALLEL_FROM", 2)
    monkeypatch.setattr(building, "MAX_NUMBER", 1000)
    for number in range(3):
        vault.write(f"n{number}.md", id=f"m-{number}", body="deploy again\n")
    snapshot = vault.look()
    assert found(snapshot, "again") == ["n0.md", "n1.md", "n2.md"]
    assert answers(snapshot) == answers(vault.look(in_memory=True))


def test_notes_that_moved_or_changed_places_are_not_parsed_again(vault: IndexedVault) -> None:
    for number in range(6):
        vault.write(f"a/n{number}.md", id=f"m-{number}", body=f"deploy word{number}\n")
    vault.write("inbox-like.md", id="m-c", status="candidate")
    vault.head, vault.head_blobs = (
        "c1",
        {"a/n1.md": blob_id((vault.root / "a/n1.md").read_bytes()), "b/n2.md": "0" * 40},
    )
    generation = vault.look().generation
    (vault.root / "a").rename(vault.root / "b")
    (vault.root / "b/n0.md").rename(vault.root / "aside")
    (vault.root / "b/n1.md").rename(vault.root / "b/n0.md")
    (vault.root / "aside").rename(vault.root / "b/n1.md")
    (vault.root / "inbox-like.md").rename(vault.root / "other.md")
    told: list[tuple[int, int]] = []
    moved = reconcile(vault.source(), vault.state, progress=lambda done, total: told.append((done, total)))
    assert told == []
    assert moved.generation == generation
    assert found(moved, "word0") == ["b/n1.md"]
    assert moved.rows["b/n2.md"].head_blob == "0" * 40
    assert answers(moved) == answers(vault.look()) == answers(vault.look(in_memory=True))
    (vault.root / "a").mkdir()
    (vault.root / "b/n0.md").rename(vault.root / "a/n1.md")
    assert vault.look().rows["a/n1.md"].is_committed
    assert vault.head_calls == 2


def test_a_folder_of_another_name_is_not_read_again(vault: IndexedVault) -> None:
    for number in range(3):
        vault.write(f"a/n{number}.md", id=f"m-{number}", body=f"deploy word{number}\n")
    settle(vault)
    (vault.root / "a").rename(vault.root / "b")
    moved = reconcile(NoteSource(vault.root, tree=Untouchable(vault.root)), vault.state)
    assert found(moved, "deploy") == ["b/n0.md", "b/n1.md", "b/n2.md"]
    assert answers(moved) == answers(vault.look(in_memory=True))


def test_a_file_in_place_of_one_that_left_is_read_whatever_its_name_and_size(vault: IndexedVault) -> None:
    path = vault.write("a/n.md", id="m-1", body="deploy\n")
    settle(vault)
    (vault.root / "a").rename(vault.root / "b")
    moved = vault.root / "b/n.md"
    stamp = moved.stat()
    moved.write_bytes(path.name.encode().ljust(stamp.st_size, b"x"))
    os.utime(moved, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert vault.find("deploy") == []
    assert answers(vault.look()) == answers(vault.look(in_memory=True))


def test_of_a_note_and_its_copy_only_one_is_known_by_its_content(vault: IndexedVault) -> None:
    path = vault.write("a.md", body="deploy\n")
    vault.look()
    for name in ("b.md", "c.md"):
        shutil.copy(path, vault.root / name)
    path.unlink()
    assert vault.find("deploy") == ["b.md", "c.md"]
    assert answers(vault.look()) == answers(vault.look(in_memory=True))


def test_letters_that_are_none_stop_nothing(vault: IndexedVault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where libyaml is missing, an escape can smuggle half a character into a title."""
    monkeypatch.setattr(frontmatter, "_Loader", yaml.BaseLoader)
    vault.write("odd.md", '"x\\ud800y"', id="m-1", scope="project", scope_id='"a\\udc00"', body="deploy\n")
    vault.write("even.md", id="m-2", body="deploy\n")
    assert vault.find("deploy") == ["even.md", "odd.md"]
    monkeypatch.setattr(building, "PARALLEL_FROM", 2)
    assert found(reconcile(vault.source(), vault.state, rebuild=True), "deploy") == ["even.md", "odd.md"]
    assert answers(vault.look()) == answers(vault.look(in_memory=True))


def test_another_language_or_kind_of_vault_is_another_index(vault: IndexedVault) -> None:
    vault.write("a.md", body="Häuser bauen\n")
    english = vault.look()
    german = vault.look(language="german")
    assert german.notices == ["rebuilding the text index: it was made by another version or with other settings"]
    assert ask(german, "Haus", language="german").documents
    assert not ask(english, "Haus").documents


class Untouchable:
    """A tree whose notes may be listed but not read."""

    def __init__(self, root: Path) -> None:
        from remvault.store.trees import DirectoryTree

        self._tree = DirectoryTree(root)
        self.scan = self._tree.scan

    def read(self, path: str) -> bytes:
        raise AssertionError(f"{path} was read")


class Flaky(Untouchable):
    """A tree in which one note cannot be read, as when permissions are wrong; `after` so many times it can."""

    def __init__(self, root: Path, path: str, *, after: int = 0) -> None:
        super().__init__(root)
        self._path, self._left = path, after

    def read(self, path: str) -> bytes:
        from remvault.store.trees import NoteUnreadable

        if path == self._path:
            self._left -= 1
        if path == self._path and self._left < 0:
            raise NoteUnreadable(path, "permission denied")
        return self._tree.read(path)


def settle(vault: IndexedVault) -> None:
    """Index the vault as one whose notes were last changed long ago, so that no stat is in doubt."""
    racy, changes._RACY_NS = changes._RACY_NS, -(10**15)
    try:
        vault.look()
    finally:
        changes._RACY_NS = racy


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.stat().st_size)
        for path in folder.rglob("*")
        if path.is_file()
    }


WORD_TEXT = "deploy deploys server with_lock withLock café cafe 数据库 C++ -> relational relation alpha beta gamma of"
WORDS = WORD_TEXT.split()


def change_something(vault: IndexedVault, chance: random.Random) -> None:
    """One to six random edits, new notes, moves, deletions."""
    for _ in range(chance.randint(1, 6)):
        paths = sorted(path for path in vault.root.rglob("*.md") if path.is_file())
        kind = chance.random()
        if paths and kind < 0.2:
            chance.choice(paths).unlink()
        elif paths and kind < 0.35:
            target = vault.root / chance.choice("abc") / f"moved-{chance.randrange(10**6)}.md"
            target.parent.mkdir(exist_ok=True)
            chance.choice(paths).rename(target)
        else:
            number = chance.randrange(25)
            owner = chance.choice(("a", "b", ""))
            scope = {"scope": "project", "scope_id": owner} if owner else {}
            status = chance.choice(("active", "active", "active", "archived", "candidate"))
            body = " ".join(chance.choices(WORDS, k=chance.randint(3, 30)))
            if chance.random() < 0.2:
                body = f"# One\n\n{body}\n\n## Two {chance.choice(WORDS)}\n\n" + "filler words here. " * 100
            vault.write(
                f"n{number}.md",
                chance.choice(WORDS).title(),
                id=f"m-{number}",
                status=status,
                body=body + "\n",
                **scope,
            )


def test_a_note_that_was_hashed_and_could_not_be_read_again_leaves_no_row_behind(
    vault: IndexedVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long note is read twice, and may be gone the second time."""
    monkeypatch.setattr(changes, "_HELD_BYTES", 0)
    for number in range(5):
        vault.write(f"n{number}.md", id=f"m-{number}", body=f"deploy {number}\n")
    vault.look()
    vault.write("n3.md", id="m-3", body="deploy changed\n")
    tree = Flaky(vault.root, "n3.md", after=1)
    broken = reconcile(NoteSource(vault.root, tree=tree), vault.state)
    assert "n3.md" not in broken.rows
    assert found(broken, "deploy") == ["n0.md", "n1.md", "n2.md", "n4.md"]
    assert answers(vault.look()) == answers(vault.look(in_memory=True))
