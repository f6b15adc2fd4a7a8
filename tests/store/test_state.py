"""State folders: private, ours, and never read when torn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from remvault.store.state import LockTimeout, State, machine_id, open_state, workspace_id, write_lock
from remvault.store.work_tree import WorkTree, find_work_tree
from tests.vaults import git


@pytest.fixture
def tree(repo: Path) -> WorkTree:
    found = find_work_tree(repo)
    assert found is not None
    return found


def opened(tree: WorkTree, home: Path, prefix: str = "") -> State:
    return open_state(tree, vault_id="v-1", prefix=prefix, user_state=home / "state")


def test_caches_lie_in_the_git_directory_one_set_per_vault_and_only_for_us(tree: WorkTree, home: Path) -> None:
    one, two = opened(tree, home), opened(tree, home, "docs/mem/")

    assert one.caches.parent == tree.git_dir / "remvault"
    assert one.caches.name.startswith("v-1-")
    assert one.caches != two.caches
    assert one.caches.stat().st_mode & 0o777 == 0o700
    assert one.shared == tree.common_dir / "remvault"
    assert one.caches_usable
    assert git(tree.root, "status", "--porcelain") == ""


def test_caches_survive_being_opened_again(tree: WorkTree, home: Path) -> None:
    (opened(tree, home).caches / "manifest").write_text("kept")

    assert (opened(tree, home).caches / "manifest").read_text() == "kept"


@pytest.mark.parametrize("how", ["no stamp", "another stamp", "open to others", "a link", "another user's state"])
def test_r44_caches_that_are_not_known_to_be_ours_are_thrown_away_unopened(
    tree: WorkTree, home: Path, tmp_path: Path, how: str
) -> None:
    caches = opened(tree, home).caches
    (caches / "text-index").write_text("crafted")
    elsewhere = tmp_path / "elsewhere"
    if how == "no stamp":
        (caches / "stamp").unlink()
    elif how == "another stamp":
        (caches / "stamp").write_text("0" * 32)
    elif how == "open to others":
        caches.chmod(0o777)
    elif how == "a link":
        caches.rename(elsewhere)
        caches.symlink_to(elsewhere)
    else:
        home = tmp_path

    state = opened(tree, home)

    assert state.caches_usable
    assert sorted(path.name for path in state.caches.iterdir()) == ["stamp"]
    if how == "a link":
        assert (elsewhere / "text-index").exists()


def test_caches_that_cannot_be_made_are_said_to_be_unusable(tree: WorkTree, home: Path) -> None:
    (tree.git_dir / "remvault").write_text("a file in the way")

    assert opened(tree, home).caches_usable is False


def test_a_vault_id_cannot_move_the_caches(tree: WorkTree, home: Path) -> None:
    state = open_state(tree, vault_id="../../x/..", prefix="", user_state=home / "state")

    assert state.caches.parent == tree.git_dir / "remvault"


def test_names_are_made_once(tree: WorkTree, home: Path, tmp_path: Path) -> None:
    state = opened(tree, home)
    assert workspace_id(tree, create=False) is None

    workspace, machine = workspace_id(tree, create=True), machine_id(state)

    assert workspace is not None
    assert workspace.startswith("w-")
    assert len(workspace) == 12
    assert workspace_id(tree, create=False) == workspace_id(tree, create=True) == workspace
    assert machine_id(state) == machine
    git(tree.root, "commit", "-q", "--allow-empty", "-m", "x")
    git(tree.root, "worktree", "add", "-q", str(tmp_path / "side"))
    side = find_work_tree(tmp_path / "side")
    assert side is not None
    assert workspace_id(side, create=False) is None
    assert workspace_id(side, create=True) != workspace
    assert machine_id(opened(side, home)) == machine


@pytest.mark.parametrize("torn", [b"", b"w-ab", b"\xff\x00\xfe" * 9])
def test_r54_a_torn_name_is_set_aside_and_named(tree: WorkTree, home: Path, torn: bytes) -> None:
    state = opened(tree, home)
    machine_id(state)
    (state.shared / "machine").write_bytes(torn)
    aside: list[Path] = []
    workspace_id(tree, create=True)
    (tree.git_dir / "remvault" / "workspace").write_bytes(torn)

    fresh, workspace = machine_id(state), workspace_id(tree, create=True, set_aside=aside)

    assert len(fresh) == 10
    assert workspace is not None
    assert [path.read_bytes() for path in state.set_aside + aside] == [torn, torn]


def test_the_lock_is_held_by_one_process_and_freed_when_it_dies(tree: WorkTree, home: Path) -> None:
    state = opened(tree, home)
    script = (
        "import sys, filelock; lock = filelock.FileLock(sys.argv[1]); lock.acquire();"
        "print('held', flush=True); sys.stdin.read()"
    )
    with write_lock(state, 1):
        pass
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(state.shared / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"

    with pytest.raises(LockTimeout) as caught, write_lock(state, 0.05):
        pass
    holder.kill()
    holder.communicate()

    assert caught.value.path == str(state.shared / "lock")
    with write_lock(state, 1):
        pass
