"""Writers while the hooks of a person's commit run: nobody's work is lost, whoever put what aside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from remvault.store.hook_runs import hook_run
from remvault.store.work_tree import find_work_tree
from tests.surfaces.conftest import ROOT, Cli
from tests.vaults import git, note_text

DEADLINE_S = 30.0
SLOW = "{id: slow, name: slow, entry: sh SLOW, language: system, always_run: true, pass_filenames: false}"
OURS = f"""{{id: remvault, name: remvault, entry: {sys.executable} -P -m remvault.surfaces.hooks pre-commit,
          language: system, always_run: true, pass_filenames: false}}"""


@dataclass
class Desk:
    """A vault with two notes that hold unstaged edits, and a staged file whose commit runs a slow hook."""

    root: Path
    tools: Path
    notes: dict[str, Path]
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def framework(self, *hooks: str) -> None:
        """Install the pre-commit framework with these hooks."""
        lines = "".join(f"      - {one.replace('SLOW', str(self.tools / 'slow'))}\n" for one in hooks)
        (self.root / ".pre-commit-config.yaml").write_text(f"repos:\n  - repo: local\n    hooks:\n{lines}")
        git(self.root, "add", ".pre-commit-config.yaml")
        git(self.root, "commit", "-qm", "hooks")
        subprocess.run([sys.executable, "-m", "pre_commit", "install"], cwd=self.root, check=True, capture_output=True)

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Start a command in the vault, as the leader of a group of processes."""
        env = os.environ | {"PYTHONPATH": str(ROOT)}
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command, cwd=self.root, env=env, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        )
        self.started.append(process)
        return process

    def remvault(self, *arguments: str) -> subprocess.Popen[str]:
        return self.start(sys.executable, "-m", "remvault", *arguments)

    def commit_until_slow(self) -> subprocess.Popen[str]:
        """Edit both notes, stage another file, and commit; returns when the slow hook is at work."""
        for path in self.notes.values():
            path.write_text(path.read_text() + "By hand.\n")
        (self.root / "other.txt").write_text("other\n")
        git(self.root, "add", "other.txt")
        process = self.start("git", "commit", "-m", "by a person")
        self.until((self.tools / "at-work").exists, process)
        return process

    def release(self) -> None:
        (self.tools / "go").touch()

    def until(self, holds: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not holds():
            assert process is None or process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def run(self) -> str | None:
        tree = find_work_tree(self.root)
        assert tree is not None
        return hook_run(tree, os.environ)


def answer(process: subprocess.Popen[str]) -> Any:
    out, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0, out + err
    return json.loads(out)


@pytest.fixture
def desk(vault: Path, cli: Cli, tmp_path: Path) -> Iterator[Desk]:
    tools = tmp_path / "tools"
    tools.mkdir()
    # Ends by itself after the deadline, should a test fail before it lets it go.
    script = f'touch "{tools}/at-work"\nn=0\nwhile [ ! -e "{tools}/go" ] && [ $n -lt 600 ]; do\n'
    (tools / "slow").write_text(script + "    sleep 0.05\n    n=$((n + 1))\ndone\n")
    notes = {}
    for title in ("First", "Second"):
        made = cli("new", title, "--scope", "global", "--body", "Body.", "--json", cwd=vault).json
        notes[made["id"]] = vault / made["path"]
    desk = Desk(vault, tools, notes)
    yield desk
    for process in desk.started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def around(desk: Desk, cli: Cli) -> None:
    desk.framework(SLOW)
    cli("hooks", "install", cwd=desk.root)


def below(desk: Desk, cli: Cli) -> None:
    cli("hooks", "install", cwd=desk.root)
    desk.framework(SLOW)
    assert (desk.root / ".git/hooks/pre-commit.legacy").exists()


def inside(desk: Desk, cli: Cli) -> None:
    desk.framework(OURS, SLOW)


def later(desk: Desk, cli: Cli) -> None:
    desk.framework(SLOW, OURS)


WAYS = {
    "our hook around the framework": around,
    "our hook kept by the framework": below,
    "our hook run by the framework": inside,
    "our hook not run yet": later,
}


@pytest.mark.parametrize("way", WAYS)
def test_r35_writers_hold_off_while_hooks_run_and_nothing_is_lost(desk: Desk, cli: Cli, way: str) -> None:
    WAYS[way](desk, cli)
    first, second = desk.notes
    commit = desk.commit_until_slow()
    assert "By hand." not in desk.notes[first].read_text()  # put aside

    change = desk.remvault("set", first, "importance=0.9", "--json")
    new = desk.remvault("new", "Third", "--scope", "global", "--json")
    for process in (change, new):
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1.0)
    desk.release()

    assert commit.wait(timeout=DEADLINE_S) == 0, commit.communicate()
    assert all(answer(process)["saved"] for process in (change, new))
    answer(desk.remvault("status", "--json"))  # takes in what could not wait for the commit to end
    assert "By hand." in desk.notes[first].read_text()
    assert "importance: 0.9" in desk.notes[first].read_text()
    assert "By hand." in desk.notes[second].read_text()
    assert git(desk.root, "status", "--porcelain") == f" M {desk.notes[second].relative_to(desk.root)}\n"
    assert git(desk.root, "show", "--format=", "--name-only", ":/by a person") == "other.txt\n"
    assert desk.run() is None


@pytest.mark.parametrize("way", list(WAYS)[::2])
def test_r35_pressing_ctrl_c_loses_nothing_either(desk: Desk, cli: Cli, way: str) -> None:
    WAYS[way](desk, cli)
    first, second = desk.notes
    before = git(desk.root, "rev-parse", "HEAD")
    commit = desk.commit_until_slow()
    change = desk.remvault("set", first, "importance=0.9", "--json")
    with pytest.raises(subprocess.TimeoutExpired):
        change.wait(timeout=1.0)

    os.killpg(commit.pid, signal.SIGINT)

    assert commit.wait(timeout=DEADLINE_S) != 0
    assert answer(change)["committed"]
    assert "By hand." in desk.notes[first].read_text()
    assert "importance: 0.9" in desk.notes[first].read_text()
    assert "By hand." in desk.notes[second].read_text()
    assert git(desk.root, "rev-parse", "HEAD~2") == before  # the person's version of it, and ours
    desk.until(lambda: desk.run() is None)


@pytest.mark.parametrize("is_stopped", [False, True], ids=["to its end", "Ctrl-C"])
def test_r35_the_watcher_commits_no_edits_while_hooks_run_and_all_of_them_afterwards(
    desk: Desk, cli: Cli, home: Path, is_stopped: bool
) -> None:
    around(desk, cli)
    settings = home / "config" / "remvault" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[watch]\ncommit = true\nquiet-seconds = 2\n")
    watcher = desk.remvault("watch")
    desk.until(lambda: answer(desk.remvault("status", "--json"))["watcher"]["alive"], watcher)
    first, second = desk.notes.values()

    commit = desk.commit_until_slow()
    before = git(desk.root, "rev-parse", "HEAD")
    third = first.with_name("third.md")
    third.write_text(note_text("Third", id="m-third"))  # by hand, in an editor that knows of nothing
    with pytest.raises(subprocess.TimeoutExpired):
        commit.wait(timeout=3.5)  # by now the edit is quiet
    assert git(desk.root, "rev-parse", "HEAD") == before
    if is_stopped:
        os.killpg(commit.pid, signal.SIGINT)
    else:
        desk.release()

    assert (commit.wait(timeout=DEADLINE_S) == 0) is not is_stopped
    desk.until(lambda: git(desk.root, "status", "--porcelain", "--", "global") == "", watcher)
    assert "By hand." in first.read_text()
    assert "By hand." in second.read_text()
    ops = git(desk.root, "log", "--format=%(trailers:key=Remvault-Op,valueonly,separator=%x2C)", f"{before.strip()}..")
    assert ops.split() == ["edit"] * 3
