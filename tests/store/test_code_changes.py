"""The next commit against HEAD: what it does to the place in the code that an anchor names."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from remvault.domain.memory import Anchor
from remvault.store import code_source
from remvault.store.code_changes import CodeChanges, Effect
from remvault.store.outlines import outline, symbol_digest
from remvault.store.work_tree import find_work_tree
from tests.vaults import git

STORE = '''class Store:
    """Keeps things."""

    def with_lock(self, work):
        with self.lock:
            return work()

    def close(self):
        self.file.close()


def charge(amount, card):
    return card.take(amount)
'''


class Repo:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.commit("src/store.py", STORE)

    def stage(self, path: str, text: str | bytes | None) -> None:
        file = self.root / path
        if text is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
        git(self.root, "add", "-A", "--", path)

    def commit(self, path: str, text: str | bytes) -> None:
        self.stage(path, text)
        git(self.root, "commit", "-qm", "code")

    @property
    def changes(self) -> CodeChanges:
        tree = find_work_tree(self.root)
        assert tree is not None
        return CodeChanges(tree, os.environ)

    def effect(self, at: str, digest: str | None = None) -> Effect | None:
        (effect,) = self.changes.effects([Anchor(at=at, digest=digest)])
        return effect


@pytest.fixture
def code(repo: Path) -> Repo:
    return Repo(repo)


def test_nothing_staged_touches_nothing(code: Repo) -> None:
    (code.root / "src/store.py").write_text("on disk only\n")

    assert code.changes.files == ()
    assert code.effect("src/store.py#charge") is None


def test_before_the_first_commit_there_is_nothing_to_change(repo: Path) -> None:
    (repo / "a.py").write_text("x = 1\n")
    git(repo, "add", ".")
    tree = find_work_tree(repo)
    assert tree is not None

    assert CodeChanges(tree, os.environ).files == ()


def test_a_changed_body_changes_that_symbol_and_what_holds_it(code: Repo) -> None:
    code.stage("src/store.py", STORE.replace("return work()", "return work(self)"))

    assert code.effect("src/store.py#Store.with_lock") == Effect("changes", "Store.with_lock in src/store.py")
    assert code.effect("src/store.py#Store") == Effect("changes", "Store in src/store.py")
    assert code.effect("src/store.py") == Effect("changes", "src/store.py")
    assert code.effect("src/store.py#L4-L6") == Effect("changes", "lines 4 to 6 of src/store.py")
    assert code.effect("src/store.py#charge") is None
    assert code.effect("src/other.py#charge") is None
    assert code.effect("src/store.py#missing") is None
    assert code.effect("../store.py#charge") is None


def test_looks_change_nothing(code: Repo) -> None:
    text = STORE.replace("def charge(amount, card):", "# Takes the money.\ndef charge(\n    amount,\n    card,\n):")
    code.stage("src/store.py", text.replace("\n", "\r\n"))

    assert code.effect("src/store.py") is None
    assert code.effect("src/store.py#charge") is None


def test_what_was_re_taken_for_this_change_is_not_told_of(code: Repo) -> None:
    text = STORE.replace("card.take(amount)", "card.take(amount, now)")
    code.stage("src/store.py", text)
    named = outline("src/store.py", text.encode()).named("charge")

    assert code.effect("src/store.py#charge", "t1:" + "0" * 32) == Effect("changes", "charge in src/store.py")
    assert code.effect("src/store.py#charge", symbol_digest(named)) is None


def test_what_goes_is_removed(code: Repo) -> None:
    code.stage("src/store.py", STORE.partition("def charge")[0])
    assert code.effect("src/store.py#charge") == Effect("removes", "charge in src/store.py")
    assert code.effect("src/store.py#L12-L13") == Effect("removes", "lines 12 to 13 of src/store.py")

    code.stage("src/store.py", None)
    assert code.effect("src/store.py#Store.close") == Effect("removes", "Store.close in src/store.py")
    assert code.effect("src/store.py") == Effect("removes", "src/store.py")


def test_r74_a_new_name_is_named_where_only_one_fits(code: Repo) -> None:
    code.stage("src/store.py", STORE.replace("charge", "charge_card"))
    assert code.effect("src/store.py#charge") == Effect("renames", "charge in src/store.py", "src/store.py#charge_card")

    code.stage(
        "src/store.py", STORE.replace("charge", "one") + STORE[STORE.index("\n\ndef") :].replace("charge", "two")
    )
    assert code.effect("src/store.py#charge") == Effect("removes", "charge in src/store.py")


def test_a_moved_file_takes_its_symbols_along(code: Repo) -> None:
    git(code.root, "mv", "src/store.py", "src/storage.py")

    assert code.effect("src/store.py") == Effect("moves", "src/store.py", "src/storage.py")
    found = code.effect("src/store.py#Store.close")
    assert found == Effect("moves", "Store.close in src/store.py", "src/storage.py#Store.close")
    assert code.effect("src/store.py#L12-L13") == Effect(
        "moves", "lines 12 to 13 of src/store.py", "src/storage.py#L12-L13"
    )
    code.stage("src/storage.py", STORE.replace("card.take(amount)", "card.take(amount, now)"))
    assert code.effect("src/store.py#charge") == Effect("changes", "charge in src/store.py")
    assert code.effect("src/storage.py#charge") == Effect("changes", "charge in src/storage.py")
    assert code.effect("src/storage.py#Store.close") is None


def test_a_symbol_that_moves_to_another_file_is_not_lost(code: Repo) -> None:
    head, _, charge = STORE.partition("\n\ndef charge")
    code.stage("src/store.py", head)
    code.stage("src/pay.py", "import store\n\n\ndef charge" + charge)
    code.stage("src/pay.txt", "def charge" + charge)
    assert code.effect("src/store.py#charge") == Effect("moves", "charge in src/store.py", "src/pay.py#charge")

    code.stage("src/pay2.py", "def charge" + charge)
    assert code.effect("src/store.py#charge") == Effect("removes", "charge in src/store.py")


def test_lines_that_move_within_the_file_are_found(code: Repo) -> None:
    code.stage("src/store.py", "import os\n\nX = os.sep\n\n\n" + STORE)

    found = code.effect("src/store.py#L12-L13")

    assert found == Effect("moves", "lines 12 to 13 of src/store.py", "src/store.py#L17-L18")


def test_binary_files_links_and_modules_are_no_code(code: Repo) -> None:
    code.commit("a.bin", b"\0\1")
    (code.root / "link.py").symlink_to("src/store.py")
    git(code.root, "add", "link.py")
    git(code.root, "commit", "-qm", "link")
    code.stage("a.bin", b"\0\2")
    (code.root / "link.py").unlink()
    (code.root / "link.py").symlink_to("src/other.py")
    git(code.root, "add", "link.py")

    assert code.effect("a.bin") is None
    assert code.effect("link.py") is None


def test_each_version_of_a_file_is_parsed_once(code: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: Counter[str] = Counter()
    monkeypatch.setattr(code_source, "outline", lambda path, data: (parsed.update([path]), outline(path, data))[1])
    for number in range(5):
        code.stage(f"src/new{number}.py", f"X = {number}\n")
    code.stage("src/store.py", STORE.replace("card.take(amount)", "0").replace("def close", "def shut"))
    changes = code.changes

    for symbols in (("charge", "Store.close"), ("Store", "Store.with_lock")):
        changes.effects([Anchor(at=f"src/store.py#{symbol}") for symbol in symbols])

    assert parsed == {"src/store.py": 2}  # the new files do not hold the name that went


def test_the_index_of_a_partial_commit_counts(code: Repo) -> None:
    code.stage("src/store.py", STORE.replace("card.take(amount)", "0"))
    tree = find_work_tree(code.root)
    assert tree is not None
    other = code.root / ".git/other-index"
    git(code.root, "read-tree", "HEAD", env=os.environ | {"GIT_INDEX_FILE": str(other)})

    for index_file in (".git/other-index", str(other)):
        assert CodeChanges(tree, os.environ, index_file=index_file).files == ()
    assert CodeChanges(tree, os.environ, index_file=".git/index").paths == {"src/store.py"}


@pytest.mark.parametrize(
    "name", ["größe.py", 'a "b".py', "new\nline.py", b"\xff.py".decode("utf-8", "surrogateescape")]
)
def test_names_of_all_kinds_are_told_apart(code: Repo, name: str) -> None:
    code.commit(name, STORE)
    code.stage(name, STORE.replace("card.take(amount)", "0"))

    assert code.changes.paths == {name}
