"""Which commits changed what an anchor points at, and how."""

from __future__ import annotations

import pytest

from remvault.domain.memory import Anchor
from remvault.store.anchor_changes import MAX_COMMITS, MAX_DIFF_LINES, ChangesSince
from tests.store.test_anchor_states import Code, code
from tests.vaults import git

__all__ = ["code"]
LOCK = "src/store.py#Store.with_lock"


def changes(code: Code, anchor: Anchor) -> ChangesSince:
    return code.anchors.changes_since(anchor, code.read(anchor))


def subjects(found: ChangesSince) -> list[str]:
    return [one.subject for one in found.commits]


def test_only_commits_that_changed_the_symbol_are_named_newest_first(code: Code) -> None:
    anchor = code.take(LOCK)
    code.edit("src/store.py", "return work()", "return work(self)")
    first = code.commit("Hand the store to work")
    code.edit("src/store.py", "return self.items[key]", "return self.items.get(key)")
    code.commit("Missing keys are None")
    code.edit("src/store.py", "        with self.lock:\n", "        # Held for all of it.\n        with self.lock:\n")
    code.commit("Say why")
    code.edit("src/store.py", "with self.lock:", "with self.gate:")
    code.commit("Lock is a gate now")

    found = changes(code, anchor)

    assert subjects(found) == ["Lock is a gate now", "Hand the store to work"]
    assert found.total == 2
    assert (found.commits[1].id, found.commits[1].author) == (first, "Dana")
    assert found.commits[1].time.tzinfo is not None
    assert code.anchors.commits_since(anchor, code.read(anchor)) == 2


def test_the_diff_is_of_the_symbol_alone_from_then_to_the_work_tree(code: Code) -> None:
    anchor = code.take(LOCK)
    code.edit("src/store.py", "return self.items[key]", "return self.items.get(key)")
    code.commit()
    code.edit("src/store.py", "return work()", "return work(self)")

    found = changes(code, anchor)

    assert found.commits == ()
    assert found.total == 0  # not committed yet
    lines = found.diff.splitlines()
    assert lines[0].startswith("--- src/store.py at ")
    assert lines[1] == "+++ src/store.py now"
    assert [line for line in lines[3:] if line[0] in "+-"] == [
        "-            return work()",
        "+            return work(self)",
    ]
    assert "items" not in found.diff


def test_a_renamed_file_is_followed(code: Code) -> None:
    anchor = code.take(LOCK)
    code.edit("src/store.py", "return work()", "return work(self)")
    code.commit("One")
    git(code.folder, "mv", "src/store.py", "src/shop.py")
    code.commit("Rename")
    code.edit("src/shop.py", "return work(self)", "return work(self, 1)")
    code.commit("Two")

    found = changes(code, anchor)

    assert subjects(found) == ["Two", "One"]
    assert "+++ src/shop.py now" in found.diff


def test_lines_and_whole_files_have_a_history_too(code: Code) -> None:
    lines, file = code.take("src/store.py#L5-L7"), code.take("src/store.py")
    code.edit("src/store.py", "import threading\n", "import threading\n\nLIMIT = 3\n")
    code.commit("Limit")
    code.edit("src/store.py", "return work()", "return work(self)")
    code.commit("Work")

    assert subjects(changes(code, lines)) == ["Work"]
    assert "+            return work(self)" in changes(code, lines).diff
    assert subjects(changes(code, file)) == ["Work", "Limit"]


@pytest.mark.parametrize("is_whole_file", [True, False])
def test_the_commit_that_took_it_away_is_named(code: Code, is_whole_file: bool) -> None:
    anchor = code.take(LOCK)
    if is_whole_file:
        git(code.folder, "rm", "-q", "src/store.py")
    else:
        code.write("src/store.py", "def other():\n    return 1\n")
    code.commit("Away with it")

    found = changes(code, anchor)

    assert subjects(found) == ["Away with it"]
    assert "-            return work()" in found.diff


def test_what_was_taken_of_uncommitted_code_is_compared_with_that(code: Code) -> None:
    code.edit("src/store.py", "return work()", "return work(self)")
    anchor = code.take(LOCK)
    code.commit("As taken")
    code.edit("src/store.py", "return work(self)", "return work(None)")
    code.commit("Later")

    found = changes(code, anchor)

    assert "-            return work(self)" in found.diff
    assert subjects(found)[0] == "Later"


def test_long_histories_and_long_diffs_are_cut(code: Code) -> None:
    code.write("src/long.py", "def f():\n" + "".join(f"    a{number}()\n" for number in range(100)))
    code.commit()
    anchor = code.take("src/long.py#f")
    for number in range(MAX_COMMITS + 3):
        code.write("src/long.py", "def f():\n" + "".join(f"    b{number}_{one}()\n" for one in range(100)))
        code.commit(f"Change {number}")

    found = changes(code, anchor)

    assert (len(found.commits), found.total) == (MAX_COMMITS, MAX_COMMITS + 3)
    assert subjects(found)[0] == f"Change {MAX_COMMITS + 2}"
    assert len(found.diff.splitlines()) == MAX_DIFF_LINES


@pytest.mark.parametrize("commit", [None, "0123456789", "--all", "HEAD"])
def test_without_a_commit_that_this_clone_has_nobody_can_tell(code: Code, commit: str | None) -> None:
    taken = code.take(LOCK)
    code.edit("src/store.py", "return work()", "return work(self)")
    anchor = Anchor(at=LOCK, digest=taken.digest, commit=commit)

    assert changes(code, anchor) == ChangesSince()
    assert code.anchors.commits_since(anchor, code.read(anchor)) is None


@pytest.mark.parametrize("name", ["-rf.py", ":(glob)a.py", "a b.py", "ä.py", "[x].py", "'q'.py"])
def test_strange_names_are_names(code: Code, name: str) -> None:
    code.write(name, "def f():\n    return 1\n")
    code.commit()
    anchor = code.take(f"{name}#f")
    code.write(name, "def f():\n    return 2\n")
    code.commit("Changed")

    assert code.read(anchor).state == "drifted"
    assert subjects(changes(code, anchor)) == ["Changed"]
    git(code.folder, "mv", "--", name, "z.py")
    code.write("z.py", "def f():\n    return 1\n")
    code.commit()
    assert (code.read(anchor).state, code.read(anchor).now_at) == ("moved", "z.py#f")


def test_a_merge_brings_the_commits_of_its_branch(code: Code) -> None:
    anchor = code.take(LOCK)
    git(code.folder, "switch", "-qc", "topic")
    code.edit("src/store.py", "return work()", "return work(self)")
    code.commit("On the branch")
    git(code.folder, "switch", "-q", "main")
    code.write("other.txt", "x\n")
    code.commit("Beside it")
    git(code.folder, "merge", "-q", "--no-ff", "-m", "Merge", "topic")

    assert subjects(changes(code, anchor)) == ["On the branch"]
