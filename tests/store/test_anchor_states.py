"""What the code says of anchors, in real repositories."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from remvault.domain.anchors import Reading
from remvault.domain.memory import Anchor
from remvault.errors import UserError
from remvault.store.anchor_states import AnchorNotFound, CodeAnchors
from remvault.store.code import CodeRoot
from remvault.store.work_tree import find_work_tree
from tests.vaults import git

STORE = """import threading


class Store:
    def with_lock(self, work):
        with self.lock:
            return work()

    def read(self, key):
        return self.items[key]


def open_store(path):
    store = Store()
    store.load(path)
    return store
"""


@dataclass
class Code:
    """A repository with code, and anchors into it."""

    folder: Path
    taken: dict[str, Anchor] = field(default_factory=dict)

    def write(self, path: str, text: str | bytes) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.folder / path).read_text()
        assert old in text
        self.write(path, text.replace(old, new))

    def commit(self, subject: str = "Change") -> str:
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-qm", subject, "--allow-empty")
        return git(self.folder, "rev-parse", "HEAD").strip()

    @property
    def anchors(self) -> CodeAnchors:
        tree = find_work_tree(self.folder)
        assert tree is not None
        return CodeAnchors(CodeRoot(tree, os.environ))

    def take(self, at: str) -> Anchor:
        self.taken[at] = self.anchors.take(at).anchor
        return self.taken[at]

    def read(self, anchor: Anchor | str) -> Reading:
        return self.anchors.readings([self.taken[anchor] if isinstance(anchor, str) else anchor])[0]


@pytest.fixture
def code(repo: Path) -> Code:
    code = Code(repo)
    code.write("src/store.py", STORE)
    code.commit("Begin")
    return code


LOCK, LINES, FILE = "src/store.py#Store.with_lock", "src/store.py#L5-L7", "src/store.py"
EVERY = (LOCK, LINES, FILE)


def test_what_was_just_taken_is_fresh(code: Code) -> None:
    for at in EVERY:
        anchor = code.take(at)
        assert anchor.digest is not None
        assert anchor.digest.startswith("t1:")
        assert git(code.folder, "rev-parse", "HEAD").startswith(anchor.commit or "?")
        assert code.read(at) == Reading(at, "fresh", "", anchor.digest, anchor.commit)


@pytest.mark.parametrize("at", EVERY)
def test_looks_never_drift(code: Code, at: str) -> None:
    code.take(at)
    code.edit("src/store.py", "        with self.lock:\n", "        # only one at a time\n        with self.lock:\n\n")
    assert code.read(at).state in ("fresh", "moved")
    code.write("src/store.py", (code.folder / "src/store.py").read_bytes().replace(b"\n", b"\r\n"))
    assert code.read(at).state in ("fresh", "moved")


@pytest.mark.parametrize("at", EVERY)
def test_another_body_drifts(code: Code, at: str) -> None:
    code.take(at)
    code.edit("src/store.py", "return work()", "return work(self)")

    assert code.read(at).state == "drifted"


def test_a_symbol_does_not_care_where_in_its_file_it_is_and_lines_are_found_again(code: Code) -> None:
    code.take(LOCK)
    code.take(LINES)
    code.edit("src/store.py", "import threading\n", "import threading\n\nLIMIT = 3\nNAMES = ()\n")

    assert code.read(LOCK).state == "fresh"
    assert code.read(LINES).state == "moved"
    assert code.read(LINES).now_at == "src/store.py#L8-L10"


@pytest.mark.parametrize("at", EVERY)
@pytest.mark.parametrize("is_committed", [True, False])
def test_a_renamed_file_is_followed_through_git(code: Code, at: str, is_committed: bool) -> None:
    code.take(at)
    (code.folder / "lib").mkdir()
    git(code.folder, "mv", "src/store.py", "lib/shop.py")
    if is_committed:
        code.commit("Rename")

    found = code.read(at)

    assert (found.state, found.now_at) == ("moved", at.replace("src/store.py", "lib/shop.py"))


@pytest.mark.parametrize("at", EVERY)
def test_a_file_renamed_twice_and_once_more_in_the_work_tree_is_followed(code: Code, at: str) -> None:
    code.take(at)
    for old, new in (("src/store.py", "src/a.py"), ("src/a.py", "src/b.py")):
        git(code.folder, "mv", old, new)
        code.commit()
    git(code.folder, "mv", "src/b.py", "src/c.py")

    assert code.read(at).now_at == at.replace("src/store.py", "src/c.py")


@pytest.mark.parametrize("at", EVERY)
def test_a_file_renamed_behind_gits_back_is_found_by_its_digest(code: Code, at: str) -> None:
    code.take(at)
    (code.folder / "src/store.py").rename(code.folder / "src/shop.py")

    found = code.read(at)

    assert (found.state, found.now_at) == ("moved", at.replace("store.py", "shop.py"))


def test_a_renamed_file_with_another_body_drifts_and_says_where_it_is(code: Code) -> None:
    code.take(LOCK)
    git(code.folder, "mv", "src/store.py", "src/shop.py")
    code.edit("src/shop.py", "return work()", "return work(self)")
    code.commit()

    found = code.read(LOCK)

    assert (found.state, found.now_at) == ("drifted", "src/shop.py#Store.with_lock")
    assert "src/shop.py" in found.detail


def test_a_symbol_that_went_to_another_file_is_moved(code: Code) -> None:
    code.take("src/store.py#open_store")
    text = (code.folder / "src/store.py").read_text()
    at = text.index("def open_store")
    code.write("src/store.py", text[:at])
    code.write("src/opening.py", "from src.store import Store\n\n\n" + text[at:])

    assert code.read("src/store.py#open_store").now_at == "src/opening.py#open_store"
    code.commit()
    assert code.read("src/store.py#open_store").state == "moved"


def test_two_places_that_fit_are_never_guessed_between(code: Code) -> None:
    code.take("src/store.py#open_store")
    text = (code.folder / "src/store.py").read_text()
    at = text.index("def open_store")
    code.write("src/store.py", text[:at])
    code.write("src/one.py", text[at:])
    code.write("src/two.py", text[at:])

    found = code.read("src/store.py#open_store")

    assert (found.state, found.now_at) == ("broken", None)
    assert "src/one.py#open_store" in found.detail
    assert "src/two.py#open_store" in found.detail


def test_a_renamed_symbol_is_broken_with_the_one_name_it_can_have(code: Code) -> None:
    code.take(LOCK)
    code.edit("src/store.py", "def with_lock", "def locked")

    found = code.read(LOCK)

    assert (found.state, found.now_at) == ("broken", "src/store.py#Store.locked")


def test_a_symbol_renamed_together_with_its_file_is_proposed_there(code: Code) -> None:
    code.take(LOCK)
    git(code.folder, "mv", "src/store.py", "src/shop.py")
    code.edit("src/shop.py", "def with_lock", "def locked")
    code.commit()

    assert code.read(LOCK).now_at == "src/shop.py#Store.locked"


def test_a_renamed_symbol_with_two_twins_has_no_proposal(code: Code) -> None:
    code.write("src/twins.py", "def first(a):\n    return a + 1\n")
    code.take("src/twins.py#first")
    code.write("src/twins.py", "def second(a):\n    return a + 1\n\n\ndef third(a):\n    return a + 1\n")

    found = code.read("src/twins.py#first")

    assert (found.state, found.now_at) == ("broken", None)
    assert "second, third" in found.detail


@pytest.mark.parametrize("at", EVERY)
def test_what_is_deleted_is_broken(code: Code, at: str) -> None:
    code.take(at)
    (code.folder / "src/store.py").unlink()
    assert code.read(at).state == "broken"
    code.commit()
    assert (code.read(at).state, code.read(at).now_at) == ("broken", None)


def test_a_file_that_is_not_checked_out_is_unknown(code: Code) -> None:
    code.write("docs/guide.md", "Guide\n")
    code.commit()
    for at in EVERY:
        code.take(at)
    git(code.folder, "sparse-checkout", "set", "--no-cone", "docs/")

    assert not (code.folder / "src/store.py").exists()
    for at in EVERY:
        assert (code.read(at).state, "sparse" in code.read(at).detail) == ("unknown", True)


def test_another_branch_that_never_had_the_code_says_nothing_of_it(code: Code) -> None:
    """Its own history changed nothing, so there is nothing to tell of; what it did change counts."""
    git(code.folder, "switch", "-qc", "topic")
    code.edit("src/store.py", "return work()", "return work(self)")
    code.write("src/new.py", "def begin():\n    return 1\n")
    code.commit()
    anchors = [code.take(LOCK), code.take("src/new.py#begin")]
    git(code.folder, "switch", "-q", "main")

    assert [code.read(one).state for one in anchors] == ["unknown", "unknown"]
    assert anchors[0].commit in code.read(anchors[0]).detail  # type: ignore[operator]
    code.edit("src/store.py", "return work()", "return work(1)")
    assert [code.read(one).state for one in anchors] == ["drifted", "unknown"]
    code.commit()
    assert [code.read(one).state for one in anchors] == ["drifted", "unknown"]
    git(code.folder, "switch", "-q", "topic")
    assert [code.read(one).state for one in anchors] == ["fresh", "fresh"]


def test_a_squashed_branch_is_history_like_any_other(code: Code) -> None:
    git(code.folder, "switch", "-qc", "topic")
    code.write("src/new.py", "def begin():\n    return 1\n")
    code.commit()
    anchor = code.take("src/new.py#begin")
    git(code.folder, "switch", "-q", "main")
    git(code.folder, "merge", "-q", "--squash", "topic")
    code.commit("Squashed")
    assert code.read(anchor).state == "fresh"

    git(code.folder, "rm", "-q", "src/new.py")
    code.commit("Gone again")

    assert code.read(anchor).state == "broken"


def test_an_older_commit_checked_out_says_nothing_of_later_code(code: Code) -> None:
    code.edit("src/store.py", "return work()", "return work(self)")
    code.commit()
    anchor = code.take(LOCK)
    git(code.folder, "checkout", "-q", "HEAD~1")

    assert code.read(anchor).state == "unknown"


def test_a_linked_work_tree_reads_the_same(code: Code) -> None:
    anchors = [code.take(at) for at in EVERY]
    linked = code.folder.with_name("linked")
    git(code.folder, "worktree", "add", "-q", str(linked), "-b", "other")

    assert {Code(linked).read(one).state for one in anchors} == {"fresh"}


def test_a_nested_repository_is_code_by_its_path(code: Code) -> None:
    nested = code.folder / "vendor/lib"
    nested.mkdir(parents=True)
    git(nested, "init", "-q")
    code.write("vendor/lib/a.py", "def f():\n    return 1\n")
    anchor = code.take("vendor/lib/a.py#f")

    assert code.read(anchor).state == "fresh"
    code.write("vendor/lib/a.py", "def f():\n    return 2\n")
    assert code.read(anchor).state == "drifted"


@pytest.mark.parametrize("commit", ["0123456789", "deadbeef" * 5, "--output=x", "HEAD", "$(id)", "", None])
def test_a_commit_that_this_clone_lacks_or_that_is_none_is_no_hindrance(code: Code, commit: str | None) -> None:
    taken = code.take(LOCK)
    git(code.folder, "mv", "src/store.py", "src/shop.py")
    anchor = Anchor(at=LOCK, digest=taken.digest, commit=commit)

    assert code.read(anchor).state == "moved"
    assert list(code.folder.glob("x*")) == []


def test_anchors_are_read_before_the_first_commit(repo: Path) -> None:
    code = Code(repo)
    code.write("a.py", "def f():\n    return 1\n")
    anchor = code.take("a.py#f")

    assert anchor.commit is None
    assert code.read(anchor).state == "fresh"
    code.write("a.py", "def g():\n    return 1\n")
    assert code.read(anchor).now_at == "a.py#g"
    (repo / "a.py").rename(repo / "b.py")
    assert code.read(anchor).state == "broken"


def test_a_digest_of_another_recipe_is_unknown_and_never_drifted(code: Code) -> None:
    for digest in ("t0:" + "0" * 32, "sha256:" + "0" * 64, "nonsense", "w1:" + "0" * 32):
        assert code.read(Anchor(at=LOCK, digest=digest)).state == "unknown"
        assert code.read(Anchor(at="src/store.py#gone", digest=digest)).state == "broken"
        assert code.read(Anchor(at="src/lost.py", digest=digest)).state == "broken"


def test_an_anchor_without_digest_is_unknown_or_broken_with_the_place_git_knows(code: Code) -> None:
    assert code.read(Anchor(at=LOCK)).state == "unknown"
    assert code.read(Anchor(at="src/store.py#gone")).state == "broken"
    git(code.folder, "mv", "src/store.py", "src/shop.py")
    found = code.read(Anchor(at=LOCK))
    assert (found.state, found.now_at) == ("broken", "src/shop.py#Store.with_lock")


def test_a_binary_file_is_unknown_and_a_long_one_counts_as_a_whole(code: Code) -> None:
    code.write("logo.png", b"\x89PNG\0\0")
    taken = code.anchors.take("logo.png")
    assert taken.anchor.digest is None
    assert "binary" in (taken.notice or "")
    assert code.read(taken.anchor).state == "unknown"

    code.write("data.py", "def f():\n    return 1\n" + "x = 1\n" * 200_000)
    taken = code.anchors.take("data.py#f")
    assert (taken.anchor.digest or "").startswith("c1:")
    assert "1 MiB" in (taken.notice or "")
    assert code.read(taken.anchor).state == "fresh"
    code.edit("data.py", "x = 1\n", "x = 1 \n")
    assert code.read(taken.anchor).state == "drifted"
    with pytest.raises(AnchorNotFound):
        code.take("data.py#other")


def test_a_file_without_grammar_is_known_by_the_lines_that_hold_the_word(code: Code) -> None:
    code.write("notes.txt", "timeout: 30\nother: 1\n")
    taken = code.anchors.take("notes.txt#timeout")
    assert "no grammar" in (taken.notice or "")

    code.write("notes.txt", "more: 2\n\n  timeout:  30\n")
    assert code.read(taken.anchor).state == "fresh"
    code.write("notes.txt", "timeout: 31\n")
    assert code.read(taken.anchor).state == "drifted"
    code.write("notes.txt", "timeouts: 30\n")
    assert code.read(taken.anchor).state == "broken"


def test_several_definitions_of_one_name_all_count(code: Code) -> None:
    code.write("twice.py", "def f():\n    return 1\n\n\ndef f():\n    return 2\n")
    taken = code.anchors.take("twice.py#f")

    assert taken.notice == "2 definitions of f, all of them count"
    code.edit("twice.py", "return 2", "return 3")
    assert code.read(taken.anchor).state == "drifted"


@pytest.mark.parametrize(
    "at",
    [
        "/etc/passwd", "../secret.py", "src/../../secret.py", ".git/HEAD", ".GIT/HEAD", "src/store.py#", "",
        "a\nb.py", "-rf", "--help", ":(glob)**", "x" * 10_000, "src/store.py#" + "y" * 10_000, "\udcff.py",
        "up/secret.py", "src/store.py#L999999999", "src/store.py#L5-L4", "src", "link.py",
    ],
)  # fmt: skip
def test_hostile_anchors_are_values_when_read_and_errors_when_taken(code: Code, at: str) -> None:
    (code.folder.parent / "secret.py").write_text("def f():\n    return 1\n")
    (code.folder / "up").symlink_to("..")
    (code.folder / "link.py").symlink_to("../secret.py")
    digest = "t1:" + "0" * 32

    found = code.read(Anchor(at=at, digest=digest, commit="0123456789"))

    assert found.state in ("unknown", "broken")
    assert found.now_at is None
    with pytest.raises(UserError):
        code.anchors.take(at)


def test_ten_thousand_anchors_of_one_note_are_bounded(code: Code) -> None:
    digest = "t1:" + "0" * 32
    many = [Anchor(at=f"src/store.py#name{number}", digest=digest) for number in range(5_000)]
    many += [Anchor(at=f"src/lost{number}.py", digest=digest, commit=f"{number:040x}") for number in range(5_000)]

    readings = code.anchors.readings(many)

    assert len(readings) == len(many)
    assert {one.state for one in readings} == {"broken", "unknown"}


def test_near_names_are_told_when_something_is_not_there(code: Code) -> None:
    with pytest.raises(AnchorNotFound) as caught:
        code.take("src/store.py#Store.with_lok")
    assert caught.value.hint == "did you mean src/store.py#Store.with_lock?"
    with pytest.raises(AnchorNotFound) as caught:
        code.take("store.py#open_store")
    assert caught.value.hint == "did you mean src/store.py#open_store?"


_SETTINGS = {
    "color.ui": "always", "diff.renames": "false", "diff.relative": "true", "diff.noprefix": "true",
    "diff.external": "false", "diff.wordRegex": ".", "diff.ignoreSubmodules": "none", "log.showSignature": "true",
    "log.decorate": "full", "format.pretty": "oneline", "log.follow": "false", "log.diffMerges": "separate",
    "grep.lineNumber": "true", "grep.column": "true", "grep.patternType": "perl", "grep.fullName": "true",
    "core.quotePath": "true", "submodule.recurse": "true", "status.showUntrackedFiles": "no", "core.pager": "false",
    "diff.renameLimit": "1", "core.abbrev": "5", "diff.orderFile": "/dev/null", "core.fsmonitor": "/bin/false",
}  # fmt: skip


def test_what_git_is_set_to_changes_nothing(code: Code) -> None:
    code.write("src/ünder.py", "def begin():\n    return 1\n")
    code.commit()
    anchors = [code.take(at) for at in (LOCK, "src/store.py#open_store", "src/ünder.py#begin", "src/store.py")]
    for name, value in _SETTINGS.items():
        git(code.folder, "config", name, value)
    git(code.folder, "mv", "src/ünder.py", "src/över.py")
    text = (code.folder / "src/store.py").read_text()
    at = text.index("def open_store")
    code.write("src/store.py", text[:at].replace("return work()", "return work(self)"))
    code.write("lib/öpening.py", text[at:])

    expected = [
        ("drifted", None), ("moved", "lib/öpening.py#open_store"), ("moved", "src/över.py#begin"), ("drifted", None),
    ]  # fmt: skip
    assert [(one.state, one.now_at) for one in code.anchors.readings(anchors)] == expected
    code.commit("All of it")
    found = code.anchors.readings(anchors)
    assert [(one.state, one.now_at) for one in found] == expected
    for anchor, reading in zip(anchors[:1], found[:1], strict=True):
        assert [one.subject for one in code.anchors.changes_since(anchor, reading).commits] == ["All of it"]


def test_a_variable_that_names_a_program_is_not_run(code: Code, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = code.folder.parent / "ran"
    script = code.folder.parent / "script"
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(0o755)
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER", "GIT_SSH_COMMAND"):
        monkeypatch.setenv(name, str(script))
    anchor = code.take(LOCK)
    code.write("src/store.py", "def other():\n    return 1\n")

    assert code.read(anchor).state == "broken"
    code.anchors.changes_since(anchor, code.read(anchor))
    assert not ran.exists()


def test_a_checkout_with_other_line_endings_is_fresh(code: Code) -> None:
    anchors = [code.take(at) for at in EVERY]
    git(code.folder, "config", "core.autocrlf", "true")
    (code.folder / "src/store.py").unlink()
    git(code.folder, "checkout", "--", "src/store.py")
    assert b"\r\n" in (code.folder / "src/store.py").read_bytes()

    assert {code.read(one).state for one in anchors} == {"fresh"}


def test_a_shallow_clone_without_the_commit_still_tells(code: Code) -> None:
    anchors = [code.take(LOCK), code.take("src/store.py#open_store")]
    code.edit("src/store.py", "return work()", "return work(self)")
    code.commit()
    git(code.folder, "mv", "src/store.py", "src/shop.py")
    code.commit()
    shallow = code.folder.with_name("shallow")
    git(code.folder, "clone", "-q", "--depth=1", code.folder.as_uri(), str(shallow))

    found = [Code(shallow).read(one) for one in anchors]

    # The name of the file that it was is in no commit of this clone; equal code is still found by its digest.
    assert [(one.state, one.now_at) for one in found] == [("broken", None), ("moved", "src/shop.py#open_store")]


def test_a_repository_of_the_other_object_format_works(tmp_path: Path) -> None:
    folder = tmp_path / "sha256"
    folder.mkdir()
    git(folder, "init", "-q", "--object-format=sha256")
    code = Code(folder)
    code.write("src/store.py", STORE)
    code.commit()
    anchor = code.take(LOCK)
    git(folder, "mv", "src/store.py", "src/shop.py")
    code.edit("src/shop.py", "return work()", "return work(self)")
    code.commit("Both")

    found = code.read(anchor)

    assert (found.state, found.now_at) == ("drifted", "src/shop.py#Store.with_lock")
    assert [one.subject for one in code.anchors.changes_since(anchor, found).commits] == ["Both"]


def test_scripts_without_an_ending_are_looked_for_among_such_files_alone(code: Code) -> None:
    code.write("bin/run", "#!/bin/bash\nbegin() {\n  echo one\n}\n")
    code.commit()
    anchor = code.take("bin/run#begin")
    (code.folder / "bin/run").rename(code.folder / "bin/go")

    assert code.read(anchor).now_at == "bin/go#begin"


def test_a_rename_by_letter_case_alone_is_followed(code: Code) -> None:
    anchor = code.take(LOCK)
    git(code.folder, "mv", "src/store.py", "src/Store.py")

    assert code.read(anchor).now_at == "src/Store.py#Store.with_lock"


def test_a_file_that_may_not_be_read_is_unknown_and_says_why(code: Code, monkeypatch: pytest.MonkeyPatch) -> None:
    anchor = code.take(LOCK)

    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("remvault.store.code.open_below", refuse)

    assert code.read(anchor) == Reading(LOCK, "unknown", "Permission denied", anchor.digest, anchor.commit)
