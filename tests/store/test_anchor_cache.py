"""The cache of anchors: by content, trusted only when it is ours, and never missed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from remvault.domain.memory import Anchor
from remvault.store import code_files, code_history
from remvault.store.anchor_cache import CACHE_FILE, AnchorCache
from remvault.store.anchor_states import CodeAnchors
from remvault.store.code import CodeRoot
from remvault.store.state import State, open_state
from remvault.store.work_tree import find_work_tree
from tests.store.test_anchor_states import Code, code
from tests.vaults import git

__all__ = ["code"]
LATER_NS = 1 << 61  # long after any file changed


class Watched:
    """The code with a cache on disk, and what a look costs: files read and parsed, questions to git."""

    def __init__(self, code: Code, monkeypatch: pytest.MonkeyPatch) -> None:
        self.code, self.clock_ns = code, LATER_NS
        self.read: list[str] = []
        self.parsed: list[str] = []
        self.asked: list[Sequence[str]] = []
        tree = find_work_tree(code.folder)
        assert tree is not None
        self.tree = tree
        self.state: State | None = open_state(tree, vault_id="v", prefix="", user_state=code.folder.parent / "state")
        read, source, run_git = CodeRoot.read, code_files.Source, code_history.run_git

        def reading(root: CodeRoot, path: str) -> object:
            self.read.append(path)
            return read(root, path)

        class Parsing(source):  # type: ignore[misc,valid-type]
            @property
            def outline(inner) -> object:
                self.parsed.append(inner.path)
                return super().outline

        def asking(folder: Path, args: Sequence[str], *rest: object, **more: object) -> object:
            self.asked.append(args)
            return run_git(folder, args, *rest, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(CodeRoot, "read", reading)
        monkeypatch.setattr(code_files, "Source", Parsing)
        monkeypatch.setattr(code_history, "run_git", asking)

    @property
    def file(self) -> Path:
        assert self.state is not None
        return self.state.caches / CACHE_FILE

    def states(self, *anchors: Anchor) -> list[str]:
        """What a new process says, the cost counted anew."""
        self.read.clear()
        self.parsed.clear()
        self.asked.clear()
        root = CodeRoot(self.tree, os.environ)
        readings = CodeAnchors(root, self.state, clock_ns=lambda: self.clock_ns).readings(anchors)
        return [one.state for one in readings]


@pytest.fixture
def watched(code: Code, monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(code, monkeypatch)


LOCK = "src/store.py#Store.with_lock"


def test_what_is_known_is_neither_read_nor_parsed_nor_asked_of_git(code: Code, watched: Watched) -> None:
    anchors = [code.take(at) for at in (LOCK, "src/store.py#L5-L7", "src/store.py", "src/store.py#open_store")]
    assert watched.states(*anchors) == ["fresh"] * 4
    assert (watched.read, len(set(watched.parsed)), watched.asked) == (["src/store.py"], 1, [])

    assert watched.states(*anchors) == ["fresh"] * 4
    assert (watched.read, watched.parsed, watched.asked) == ([], [], [])


def test_a_drifted_anchor_that_is_known_costs_no_more(code: Code, watched: Watched) -> None:
    anchor = code.take(LOCK)
    code.edit("src/store.py", "return work()", "return work(self)")
    assert watched.states(anchor) == ["drifted"]

    assert watched.states(anchor) == ["drifted"]
    assert (watched.read, watched.parsed, watched.asked) == ([], [], [])


def test_what_is_in_place_asks_git_nothing_at_first_either_and_what_is_not_a_few_things(
    code: Code, watched: Watched
) -> None:
    anchors = [code.take("src/store.py#open_store")]
    for number in range(30):
        code.write(f"src/one{number}.py", f"def f{number}():\n    return {number}\n")
    code.commit()
    anchors += [code.take(f"src/one{number}.py#f{number}") for number in range(30)]
    watched.states(*anchors)
    assert watched.asked == []

    for number in range(30):
        git_name = f"src/one{number}.py"
        (code.folder / git_name).rename(code.folder / f"src/two{number}.py")
    code.commit()

    assert watched.states(*anchors) == ["fresh"] + ["moved"] * 30
    assert len(watched.asked) <= 4


def test_looking_again_for_what_is_gone_asks_only_how_the_work_tree_differs(code: Code, watched: Watched) -> None:
    anchor = code.take("src/store.py#open_store")
    code.edit("src/store.py", "def open_store", "def open_shop")
    code.edit("src/store.py", "store.load(path)", "store.load(path, 1)")
    code.commit()
    assert watched.states(anchor) == ["broken"]

    assert watched.states(anchor) == ["broken"]
    assert [args[0] for args in watched.asked] == ["diff", "ls-files"]


@pytest.mark.parametrize("where", ["untracked", "changed", "staged", "changed back"])
def test_what_was_gone_is_found_as_soon_as_it_is_anywhere(code: Code, watched: Watched, where: str) -> None:
    """What is kept is only what HEAD says, and the work tree is asked anew."""
    text = (code.folder / "src/store.py").read_text()
    at = text.index("def open_store")
    code.write("src/other.py", text[at:] if where == "changed back" else "other = 1\n")
    code.commit()
    anchor = code.take("src/store.py#open_store")
    code.write("src/store.py", text[:at])
    if where == "changed back":
        code.write("src/other.py", "other = 1\n")
    assert watched.states(anchor) == ["broken"]

    code.write("src/new.py" if where == "untracked" else "src/other.py", text[at:])
    if where == "staged":
        git(code.folder, "add", "-A")

    assert watched.states(anchor) == ["moved"]


def test_files_that_a_sparse_checkout_brings_back_are_looked_through(code: Code, watched: Watched) -> None:
    text = (code.folder / "src/store.py").read_text()
    at = text.index("def open_store")
    code.write("lib/other.py", text[at:])
    code.commit()
    anchor = code.take("src/store.py#open_store")
    git(code.folder, "sparse-checkout", "set", "--no-cone", "src/")
    code.write("src/store.py", text[:at])
    assert watched.states(anchor) == ["broken"]

    git(code.folder, "sparse-checkout", "disable")

    assert watched.states(anchor) == ["moved"]


def test_a_branch_switch_and_back_parses_nothing(code: Code, watched: Watched) -> None:
    anchor = code.take(LOCK)
    text = (code.folder / "src/store.py").read_text()
    watched.states(anchor)
    code.edit("src/store.py", "return work()", "return work(self)")
    watched.states(anchor)
    code.write("src/store.py", text)

    assert watched.states(anchor) == ["fresh"]
    assert (watched.read, watched.parsed) == (["src/store.py"], [])


def test_another_work_tree_shares_the_answers_but_not_the_stats(code: Code, watched: Watched) -> None:
    anchor = code.take(LOCK)
    watched.states(anchor)
    linked = code.folder.with_name("linked")
    git(code.folder, "worktree", "add", "-q", str(linked), "-b", "other")
    tree = find_work_tree(linked)
    assert tree is not None
    watched.tree = tree

    assert watched.states(anchor) == ["fresh"]
    assert (watched.read, watched.parsed) == (["src/store.py"], [])


def test_a_file_that_changed_just_now_is_hashed_again(code: Code, watched: Watched) -> None:
    """Within a tick of the clock it may change again with the same size and times."""
    anchor = code.take(LOCK)
    watched.clock_ns = time.time_ns()
    watched.states(anchor)
    file = code.folder / "src/store.py"
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(b"work()", b"kwor()"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert watched.states(anchor) == ["drifted"]


def test_content_decides_and_not_the_times(code: Code, watched: Watched) -> None:
    """Equal size and an older time stamp hide nothing: the inode or its change time tells."""
    anchor = code.take(LOCK)
    watched.states(anchor)
    file = code.folder / "src/store.py"
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(b"work()", b"kwor()"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert watched.states(anchor) == ["drifted"]


@pytest.mark.parametrize("damage", ["empty", "half", "random", "edited", "unsigned", "folder", "other name", "flavour"])
def test_a_damaged_or_foreign_cache_is_thrown_away_in_silence(code: Code, watched: Watched, damage: str) -> None:
    anchor = code.take(LOCK)
    other = Anchor(at=anchor.at, digest="t1:" + "0" * 32, commit=anchor.commit)
    watched.states(anchor)
    data = watched.file.read_bytes()
    signature, _, content = data.partition(b"\n")
    assert anchor.digest is not None
    lie = content.replace(anchor.digest.encode(), b"t1:" + b"0" * 32)
    assert lie != content
    damaged = {
        "empty": b"",
        "half": data[: len(data) // 2],
        "random": os.urandom(500),
        "edited": signature + b"\n" + lie,
        "unsigned": lie,
        "other name": data.replace(signature, b"0" * 64),
        "flavour": data.replace(b"c1,t1,w1", b"c1,t2,w1"),
    }
    if damage == "folder":
        watched.file.unlink()
        watched.file.mkdir()
    else:
        watched.file.write_bytes(damaged[damage])

    assert watched.states(anchor, other) == ["fresh", "drifted"]
    if damage != "folder":
        assert watched.read == ["src/store.py"]


def test_a_cache_of_another_version_is_not_read(code: Code, watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    anchor = code.take(LOCK)
    watched.states(anchor)
    monkeypatch.setattr("remvault.store.anchor_cache._VERSION", 99)

    assert watched.states(anchor) == ["fresh"]
    assert watched.read == ["src/store.py"]


def test_without_a_folder_for_caches_everything_still_works(code: Code, watched: Watched) -> None:
    anchor = code.take(LOCK)
    watched.state = None

    assert watched.states(anchor) == ["fresh"]
    assert watched.states(anchor) == ["fresh"]
    assert watched.read == ["src/store.py"]


def test_the_cache_holds_no_line_of_code(code: Code, watched: Watched) -> None:
    watched.states(code.take(LOCK), code.take("src/store.py"), code.take("src/store.py#L5-L7"))

    text = watched.file.read_text()

    assert "self.lock" not in text
    assert json.loads(text.partition("\n")[2])


def test_endless_symbols_do_not_fill_the_cache(code: Code, watched: Watched) -> None:
    digest = "t1:" + "0" * 32
    many = [Anchor(at=f"src/store.py#{'x' * 300}{number}", digest=digest) for number in range(6_000)]
    many += [Anchor(at=f"src/store.py#{'y' * 10_000}{number}", digest=digest) for number in range(50)]

    watched.states(*many)

    assert watched.file.stat().st_size < 4_000_000


def test_a_cache_that_grows_for_ever_keeps_the_youngest(code: Code, watched: Watched) -> None:
    anchor = code.take(LOCK)
    kept = AnchorCache(watched.state, root=code.folder, flavour="x", clock_ns=lambda: LATER_NS)
    for number in range(3_000):
        kept.keep_fact(f"fact {number}", ["path" * 500])
    kept.save()

    again = AnchorCache(watched.state, root=code.folder, flavour="x", clock_ns=lambda: LATER_NS)

    assert watched.file.stat().st_size < 5_000_000
    assert (again.fact("fact 0"), again.fact("fact 2999")) == (None, ["path" * 500])
    assert watched.states(anchor) == ["fresh"]


def test_a_link_that_leaves_the_code_is_not_followed_by_a_stat_from_before(code: Code, watched: Watched) -> None:
    """Its target was never read, so no stat of it is believed."""
    secret = code.folder.parent / "secret.py"
    secret.write_text("def f():\n    return 1\n")
    code.write("link.py", "def f():\n    return 1\n")
    anchor = code.take("link.py#f")
    watched.states(anchor)
    (code.folder / "link.py").unlink()
    (code.folder / "link.py").symlink_to(secret)

    assert watched.states(anchor) == ["unknown"]


def test_a_look_at_what_is_known_does_not_load_a_grammar(code: Code, watched: Watched) -> None:
    watched.states(code.take(LOCK))
    program = (
        "import os, sys; from pathlib import Path; from remvault.domain.memory import Anchor\n"
        "from remvault.store.anchor_states import CodeAnchors; from remvault.store.code import CodeRoot\n"
        "from remvault.store.state import open_state; from remvault.store.work_tree import find_work_tree\n"
        f"tree = find_work_tree(Path({str(code.folder)!r}))\n"
        f"state = open_state(tree, vault_id='v', prefix='', user_state=Path({str(code.folder.parent / 'state')!r}))\n"
        "anchors = CodeAnchors(CodeRoot(tree, os.environ), state, clock_ns=lambda: 1 << 61)\n"
        f"print(anchors.readings([{code.taken[LOCK]!r}])[0].state, 'tree_sitter' in sys.modules)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["fresh", "False"]
