"""The index is only a cache: whatever happens to it between two commands, or during one, costs time and no answer."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from remvault.index import manifest as manifests
from remvault.index.reconcile import reconcile
from remvault.index.text_index import _SCHEMA, TOC, FileStorage
from remvault.store.state import State, open_state
from remvault.store.work_tree import WorkTree
from tests.index.answers import answers
from tests.index.conftest import IndexedVault, ask, found

ROOT = Path(__file__).parents[2]


@pytest.fixture
def filled(vault: IndexedVault) -> IndexedVault:
    """A vault indexed in several steps, so that there are several segments and dead documents."""
    for number in range(12):
        vault.write(f"n{number}.md", f"Deploy {number}", id=f"m-{number}", body=f"server with_lock café {number}\n")
    vault.look()
    vault.write("n3.md", id="m-3", body="alpha beta\n")
    vault.write("long.md", id="m-long", body="# One\n\nserver\n\n# Two\n\n" + "deploy filler " * 200)
    vault.look()
    (vault.root / "n4.md").unlink()
    vault.look()
    return vault


def cut(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.choice((0, 10, path.stat().st_size // 2)))


def garble(path: Path, chance: random.Random) -> None:
    """Change some bytes in place; the size stays, and the times are set back."""
    stat, data = path.stat(), bytearray(path.read_bytes())
    for _ in range(1 + len(data) // 10):
        if data:
            data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
    with open(path, "r+b") as stream:
        stream.write(data)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def fill_at_random(path: Path, chance: random.Random) -> None:
    path.write_bytes(chance.randbytes(path.stat().st_size or 50))


def remove(path: Path, chance: random.Random) -> None:
    path.unlink()


def lengthen(path: Path, chance: random.Random) -> None:
    with open(path, "ab") as stream:
        stream.write(b"more")


def swap(path: Path, chance: random.Random) -> None:
    other = chance.choice([one for one in path.parent.iterdir() if one.is_file()])
    data, others = path.read_bytes(), other.read_bytes()
    path.write_bytes(others)
    other.write_bytes(data)


DAMAGE: tuple[Callable[[Path, random.Random], None], ...] = (cut, garble, fill_at_random, remove, lengthen, swap)


def files_of(caches: Path) -> list[Path]:
    return sorted(path for path in caches.rglob("*") if path.is_file())


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("kind", ["toc", "trm", "pst", "_stored.col", "head.col", "manifest"])
def test_r36_any_damage_to_any_kind_of_file_changes_no_answer(
    filled: IndexedVault, damage: Callable[[Path, random.Random], None], kind: str
) -> None:
    expected, chance = answers(filled.look(in_memory=True)), random.Random(kind)
    path = next(path for path in files_of(filled.state.caches) if path.name.endswith(kind))
    damage(path, chance)
    assert answers(filled.look()) == expected
    again = filled.look()
    assert answers(again) == expected
    assert again.notices == []


@pytest.mark.parametrize("seed", range(4))
def test_r36_random_damage_between_commands_and_during_them_changes_no_answer(filled: IndexedVault, seed: int) -> None:
    expected, chance = answers(filled.look(in_memory=True)), random.Random(seed)
    for _ in range(6):
        snapshot = filled.look()
        for _ in range(chance.randint(1, 3)):
            if chance.random() < 0.1:
                shutil.rmtree(filled.state.caches)
            elif files := files_of(filled.state.caches):
                chance.choice(DAMAGE)(chance.choice(files), chance)
            filled.state.caches.mkdir(exist_ok=True)
        # In the first case the damage is met while a term is looked up, in the second before.
        assert answers(snapshot if chance.random() < 0.5 else filled.look()) == expected


def test_r36_an_index_removed_while_a_search_runs_changes_no_answer(filled: IndexedVault) -> None:
    expected = answers(filled.look(in_memory=True))
    before_opening, after_opening = filled.look(), filled.look()
    ask(after_opening, "deploy")
    shutil.rmtree(filled.state.caches)
    assert answers(after_opening) == expected
    assert answers(before_opening) == expected


def test_r36_without_a_usable_disk_everything_is_answered_from_memory(filled: IndexedVault, tmp_path: Path) -> None:
    expected = answers(filled.look())
    assert answers(reconcile(filled.source(), None)) == expected
    assert answers(reconcile(filled.source(), replace(filled.state, caches_usable=False))) == expected
    blocked = tmp_path / "a file"
    blocked.write_text("in the way")
    assert answers(reconcile(filled.source(), State(blocked / "caches", tmp_path / "shared"))) == expected


def test_r36_a_file_in_place_of_the_folder_is_replaced(filled: IndexedVault) -> None:
    expected = answers(filled.look())
    shutil.rmtree(filled.state.caches / "text-index")
    (filled.state.caches / "text-index").write_text("not a folder")
    assert answers(filled.look()) == expected
    assert filled.look().notices == []


def test_what_went_wrong_is_said_in_one_line(filled: IndexedVault) -> None:
    next((filled.state.caches / "text-index").glob("*.toc")).unlink()
    assert filled.look().notices == ["rebuilding the text index: index files were changed"]
    assert filled.look().notices == []


def test_a_first_build_says_nothing(vault: IndexedVault) -> None:
    vault.write("a.md")
    assert vault.look().notices == []


def test_a_full_disk_is_answered_from_memory(filled: IndexedVault, tmp_path: Path) -> None:
    """A process that may write no large file stands for a disk without room."""
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "from remvault.index.reconcile import NoteSource, reconcile\n"
        "from remvault.store.state import State\n"
        "from tests.index.conftest import found\n"
        "state = State(Path(sys.argv[2]), Path(sys.argv[2]))\n"
        "snapshot = reconcile(NoteSource(Path(sys.argv[1])), state)\n"
        "print(found(snapshot, 'alpha'), snapshot.is_stale, len(snapshot.notices))\n"
    )
    caches = tmp_path / "small"
    caches.mkdir()
    done = subprocess.run(
        # Without -B it would leave cut bytecode of what it imports.
        [sys.executable, "-B", "-c", code, filled.root, caches],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.stdout == "['n3.md'] True 1\n", done.stderr
    assert answers(reconcile(filled.source(), State(caches, caches))) == answers(filled.look())


def test_a_reader_is_not_blocked_by_a_writer_and_completes_its_answer_in_memory(filled: IndexedVault) -> None:
    filled.write("n5.md", id="m-5", body="only just written\n")
    (filled.root / "n6.md").unlink()
    with FileLock(filled.state.caches / "text-index.lock"):
        busy = filled.look()
        assert busy.is_stale
        assert found(busy, "just") == ["n5.md"]
        assert answers(busy) == answers(filled.look(in_memory=True))
    idle = filled.look()
    assert not idle.is_stale
    assert answers(idle) == answers(busy)


def test_a_reader_without_an_index_answers_though_a_writer_holds_the_lock(filled: IndexedVault) -> None:
    expected = answers(filled.look())
    (filled.state.caches / "manifest").unlink()
    with FileLock(filled.state.caches / "text-index.lock"):
        assert answers(filled.look()) == expected


def test_many_readers_and_writers_at_once_all_answer_truly(filled: IndexedVault) -> None:
    """Eight threads, each with its own reconciliation, while notes are added."""
    failures: list[object] = []

    def work(worker: int) -> None:
        for turn in range(5):
            filled.write(f"w{worker}-{turn}.md", id=f"m-w{worker}-{turn}", body=f"worker{worker}turn{turn} text\n")
            snapshot = filled.look()
            if found(snapshot, f"worker{worker}turn{turn}") != [f"w{worker}-{turn}.md"] or snapshot.notices:
                failures.append((worker, turn, snapshot.notices))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    final = filled.look()
    assert len(found(final, "text")) == 40
    assert answers(final) == answers(filled.look(in_memory=True))


def test_a_snapshot_outlives_the_generation_it_was_made_of(filled: IndexedVault) -> None:
    """Opened or not: it answers, and an unopened one sees the newer index rather than none."""
    opened, unopened = filled.look(), filled.look()
    expected = answers(opened)
    for number in range(12):
        filled.write(f"more{number}.md", id=f"m-more{number}", body="deploy more\n")
        filled.look()
    assert answers(opened) == expected
    assert found(unopened, "alpha") == ["n3.md"]


def test_leftovers_of_a_writer_that_died_do_no_harm(filled: IndexedVault) -> None:
    """Orphaned segment files, a table of contents no manifest names, temporary files."""
    folder, expected = filled.state.caches / "text-index", answers(filled.look())
    (folder / "MAIN_aaaaaaaaaaaaaaaa.trm").write_bytes(b"half")
    (folder / "_MAIN_99.toc").write_bytes(b"")
    (folder / "MAIN.tmp").mkdir()
    (filled.state.caches / "manifest.1.tmp").write_bytes(b"half")
    assert answers(filled.look()) == expected
    filled.write("n9.md", id="m-9", body="afterwards\n")
    assert found(filled.look(), "afterwards") == ["n9.md"]
    assert filled.look().notices == []


def test_an_index_of_another_whoosh_is_not_opened(filled: IndexedVault) -> None:
    expected = answers(filled.look())
    known = manifests.load(filled.state.caches, flavour_of(filled.state.caches), filled.state.key)
    known.whoosh = "1.0.0"
    manifests.save(filled.state.caches, known, filled.state.key)
    snapshot = filled.look()
    assert answers(snapshot) == expected
    assert "Whoosh 1.0.0" in snapshot.notices[0]


class Bomb:
    """Leaves a mark when unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self.mark,))


def plant(folder: Path, mark: Path) -> None:
    """An index folder whose every file is a pickle that leaves a mark, its tables of contents well-formed ones."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("MAIN_x.trm", "MAIN_x.pst", "MAIN_x._stored.col"):
        (folder / name).write_bytes(pickle.dumps(Bomb(mark)))
    for generation in (1, 99):
        (folder / f"_MAIN_{generation}.toc").unlink(missing_ok=True)
        TOC(_SCHEMA, [Bomb(mark)], generation).write(FileStorage(str(folder)), "MAIN")


def test_r44_a_crafted_index_in_the_vault_or_in_the_caches_is_never_opened(vault: IndexedVault, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    vault.write("a.md", body="deploy\n")
    for folder in ("", ".remvault", "text-index", ".remvault/text-index", "global"):
        plant(vault.root / folder, mark)
    plant(vault.state.caches / "text-index", mark)
    assert vault.find("deploy") == ["a.md"]
    assert vault.find("deploy") == ["a.md"]
    assert not mark.exists()


def test_r44_a_whole_state_folder_that_came_with_a_clone_is_emptied_before_it_is_opened(
    vault: IndexedVault, tmp_path: Path
) -> None:
    """Manifest and index agree with each other, but the stamp is not the one this user's state holds."""
    mark, user_state = tmp_path / "mark", tmp_path / "user-state"
    vault.write("a.md", body="deploy\n")
    tree = WorkTree(vault.root, tmp_path / "git", tmp_path / "git")
    tree.git_dir.mkdir()
    state = open_state(tree, vault_id="v", prefix="", user_state=user_state)
    assert found(reconcile(vault.source(), state), "deploy") == ["a.md"]
    toc = next((state.caches / "text-index").glob("*.toc"))
    known = manifests.load(state.caches, flavour_of(state.caches), state.key)
    toc.write_bytes(pickle.dumps(Bomb(mark)))
    manifests.save(state.caches, known, state.key)
    shutil.rmtree(user_state)
    foreign = open_state(tree, vault_id="v", prefix="", user_state=user_state)
    assert found(reconcile(vault.source(), foreign), "deploy") == ["a.md"]
    assert not mark.exists()


@pytest.fixture
def kept(vault: IndexedVault, tmp_path: Path) -> State:
    """The state of an indexed vault as it is opened in earnest, with what only this user's own folder holds."""
    vault.write("a.md", body="deploy\n")
    tree = WorkTree(vault.root, tmp_path / "git", tmp_path / "git")
    tree.git_dir.mkdir()
    state = open_state(tree, vault_id="v", prefix="", user_state=tmp_path / "user-state")
    assert found(reconcile(vault.source(), state), "deploy") == ["a.md"]
    return state


def test_r44_a_manifest_that_vouches_for_no_index_file_opens_none(
    vault: IndexedVault, kept: State, tmp_path: Path
) -> None:
    """As strong a forger as there can be: it signs as we do."""
    mark = tmp_path / "mark"
    plant(kept.caches / "text-index", mark)
    rewrite(kept.caches / "manifest", key=kept.key, generation=99, files={})
    assert found(reconcile(vault.source(), kept), "deploy") == ["a.md"]
    assert not mark.exists()


@pytest.mark.parametrize("signed_with", ["nothing", "no key", "the stamp"])
def test_r44_whoever_writes_only_the_git_directory_cannot_forge_a_manifest(
    vault: IndexedVault, kept: State, tmp_path: Path, signed_with: str
) -> None:
    mark, folder = tmp_path / "mark", kept.caches / "text-index"
    plant(folder, mark)
    stats = {path.name: path.stat() for path in folder.iterdir() if path.suffix}
    files = {name: [one.st_size, one.st_mtime_ns, one.st_ctime_ns, one.st_ino] for name, one in stats.items()}
    key = {"nothing": None, "no key": b"", "the stamp": (kept.caches / "stamp").read_bytes()}[signed_with]
    rewrite(kept.caches / "manifest", key=key, generation=99, files=files)
    assert found(reconcile(vault.source(), kept), "deploy") == ["a.md"]
    assert not mark.exists()


def rewrite(manifest: Path, *, key: bytes | None, **changed: object) -> None:
    """Change the header of a manifest and sign it anew; without a key by the plain digest of what it holds."""
    _, header, rest = manifest.read_bytes().split(b"\n", 2)
    content = json.dumps(json.loads(header) | changed).encode() + b"\n" + rest
    signature = hashlib.sha256(content).hexdigest() if key is None else hmac.new(key, content, "sha256").hexdigest()
    manifest.write_bytes(signature[:32].encode() + b"\n" + content)


def flavour_of(caches: Path) -> str:
    flavour: str = json.loads((caches / "manifest").read_bytes().split(b"\n")[1])["flavour"]
    return flavour
