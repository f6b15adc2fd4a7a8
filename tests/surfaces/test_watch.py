"""`remvault watch`: the index follows the files, whatever edits them, and nothing of the person's is touched."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from remvault.index import watcher as watchers
from remvault.index.manifest import Manifest
from remvault.index.manifest import load as load_manifest
from remvault.index.reconcile import flavour
from remvault.index.rows import blob_of
from remvault.store.watch_post import WatchPost
from remvault.surfaces.app import OpenVault, open_vault
from remvault.surfaces.watching import Watching
from tests.surfaces.conftest import ROOT, Cli
from tests.vaults import git, note_text

DEADLINE_S = 60.0


class Watched:
    """A vault with a watcher in a thread of this process, and what it said."""

    def __init__(self, root: Path) -> None:
        self.root, self.said = root, []
        self.watching = Watching(open_vault(str(root)), self.said.append)
        self.failure: BaseException | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)

    said: list[str]

    def _run(self) -> None:
        try:
            self.watching.run()
        except BaseException as err:
            self.failure = err

    def start(self) -> Watched:
        self.thread.start()
        self.hears("(start)")
        return self

    def stop(self) -> None:
        self.watching.stop()
        self.thread.join(DEADLINE_S)
        assert not self.thread.is_alive()
        assert self.failure is None, self.failure

    def hears(self, words: str, *, times: int = 1) -> None:
        """Wait until the watcher has said so, so often."""
        until(lambda: sum(words in line for line in self.said) >= times, self)

    @property
    def updates(self) -> int:
        """How many generations of the index were written since the start."""
        return sum(line.startswith("generation ") and "(start)" not in line for line in self.said)

    def fence(self) -> None:
        """Make one more update, of a note of its own: whatever was heard before was answered before."""
        name = f"fence-{time.monotonic_ns()}.md"
        (self.root / name).write_text(f"{name}\n")
        until(lambda: name in indexed(self.root), self)

    def known(self) -> dict[str, str]:
        """Path and content of every note in the index on disk."""
        return indexed(self.root)


def until(holds: Callable[[], object], watched: Watched | None = None) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < deadline, watched.said if watched else None
        assert watched is None or watched.failure is None, watched
        time.sleep(0.02)


def manifest_of(vault: OpenVault) -> Manifest | None:
    assert vault.state is not None
    with suppress(Exception):  # just being written
        wanted = flavour(vault.analyzer, is_embedded=vault.is_embedded)
        return load_manifest(vault.state.caches, wanted, vault.state.key)
    return None


def indexed(root: Path) -> dict[str, str]:
    """Path and blob of every note in the index on disk, as the last writer left it: nothing is looked at for this."""
    manifest = manifest_of(open_vault(str(root)))
    return {} if manifest is None else {path: blob_of(entry) for path, entry in manifest.rows.items()}


def blob(path: Path) -> str:
    return git(path.parent, "hash-object", "--no-filters", path.name).strip()


def settings(home: Path, text: str) -> None:
    folder = home / "config/remvault"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(text)


@pytest.fixture
def note(vault: Path, cli: Cli) -> Path:
    made = cli("new", "Deploys", "--scope", "global", "--body", "Never on Friday.", "--json", cwd=vault).json
    return vault / str(made["path"])


@pytest.fixture
def watched(note: Path, vault: Path) -> Iterator[Watched]:
    watched = Watched(vault).start()
    yield watched
    watched.stop()


@contextmanager
def process(vault: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A watcher in a process of its own, which is killed in the end if it still runs."""
    command = [sys.executable, "-m", "remvault", *options, "watch"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}

    def hear_ctrl_c() -> None:  # a shell that runs the tests in the background has it ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    running = subprocess.Popen(command, cwd=vault, env=env, stdout=-1, stderr=-1, text=True, preexec_fn=hear_ctrl_c)
    try:
        yield running
    finally:
        with suppress(ProcessLookupError):
            running.send_signal(signal.SIGCONT)
            running.kill()
        running.communicate()


def log_of(vault: Path) -> str:
    found = [path.read_text("utf-8") for path in vault.glob(".git/remvault/*/watcher/log")]
    return found[0] if found else ""


def seen(cli: Cli, vault: Path) -> Any:
    return cli("status", "--json", cwd=vault).json["watcher"]


# Editors


def in_place(note: Path, text: str) -> None:
    note.write_text(text)


def temporary_and_rename(note: Path, text: str) -> None:
    part = note.with_name(f".{note.name}.kate-swp.md")
    part.write_text(text)
    part.replace(note)


def rename_from_outside(note: Path, text: str) -> None:
    part = note.parents[2] / "outside.md"
    part.write_text(text)
    part.replace(note)


def backup_and_new(note: Path, text: str) -> None:
    note.with_name("4913").touch()
    note.with_name("4913").unlink()
    backup = note.with_name(f"{note.stem}~.md")
    note.rename(backup)
    with note.open("w") as stream:
        stream.write(text)
    backup.unlink()


def in_two_parts(note: Path, text: str) -> None:
    half = len(text) // 2
    script = 'printf %s "$1" > "$0"; sleep 0.3; printf %s "$2" >> "$0"'
    subprocess.run(["sh", "-c", script, note, text[:half], text[half:]], check=True)


def sed(note: Path, text: str) -> None:
    subprocess.run(["sed", "-i", f"s/Never on Friday.*/{text.splitlines()[-1]}/", note], check=True)


@pytest.mark.parametrize(
    "save", [in_place, temporary_and_rename, rename_from_outside, backup_and_new, in_two_parts, sed]
)
def test_r45_each_editor_gives_one_update_with_the_final_content(
    save: Callable[[Path, str], None], watched: Watched, note: Path
) -> None:
    path = note.relative_to(watched.root).as_posix()
    before = note.read_text()
    for attempt in range(5):
        updates, text = watched.updates, before.replace("Never on Friday.", f"Never on Friday, said {attempt}.")
        save(note, text)

        until(lambda: watched.known().get(path) == blob(note), watched)
        watched.fence()

        assert note.read_text() == text
        assert {name for name in watched.known() if not name.startswith("fence-")} == {path}
        if watched.updates - updates == 2:  # one of them was the fence
            break
        # Where the machine is so busy that the parts lie further apart, they are two saves.
        assert save is in_two_parts, watched.said
    else:
        pytest.fail(f"never one update: {watched.said}")


def test_r48_working_files_of_editors_never_become_memories(
    watched: Watched, note: Path, vault: Path, cli: Cli, home: Path
) -> None:
    settings(home, "[watch]\ncommit = true\nquiet-seconds = 1\n")
    watched.hears("settings changed")
    for name in ("note~.md", ".#note.md", "4913", ".note.md.swp", "#note.md#", "~$note.md", "note_LOCAL_1234.md"):
        (note.parent / name).write_bytes(note.read_bytes())

    watched.fence()
    note.write_text(note.read_text() + "More.\n")
    watched.hears("committed global/")

    assert {path for path in watched.known() if "fence" not in path} == {note.relative_to(vault).as_posix()}
    assert git(vault, "show", "--format=", "--name-only").split() == [note.relative_to(vault).as_posix()]
    problems = cli("check", "--json", cwd=vault, code=1).json["problems"]
    assert all("fence" in one["path"] for one in problems)


# Folders and bursts


def test_notes_written_into_new_folders_at_once_are_all_found(watched: Watched, vault: Path) -> None:
    for number in range(40):
        target = vault / f"project/p-{number % 4}/deep/{number}/n.md"
        target.parent.mkdir(parents=True)
        target.write_text(f"{number}\n")

    until(lambda: len(watched.known()) == 41, watched)


def test_a_tree_of_folders_that_is_moved_in_and_out_is_followed(watched: Watched, vault: Path, tmp_path: Path) -> None:
    for number in range(10):
        target = tmp_path / f"tree/a/{number}/n.md"
        target.parent.mkdir(parents=True)
        target.write_text(f"{number}\n")

    (tmp_path / "tree").rename(vault / "tree")
    until(lambda: len(watched.known()) == 11, watched)
    (vault / "tree/a/3/n.md").write_text("changed after the move\n")
    until(lambda: watched.known().get("tree/a/3/n.md") == blob(vault / "tree/a/3/n.md"), watched)
    (vault / "tree").rename(tmp_path / "tree")
    until(lambda: len(watched.known()) == 1, watched)


def test_events_that_the_system_dropped_are_made_good(vault: Path, note: Path, cli: Cli) -> None:
    """The kernel keeps 16,384 events by default; a watcher that is stopped for a while cannot take them."""
    limit = Path("/proc/sys/fs/inotify/max_queued_events")
    if not limit.exists() or int(limit.read_text()) > 20_000:
        pytest.skip("the queue of events is not to be filled here")
    path = note.relative_to(vault).as_posix()
    with process(vault) as running:
        until(lambda: "(start)" in log_of(vault))
        running.send_signal(signal.SIGSTOP)
        one, other = note.with_name("one.tmp"), note.with_name("other.tmp")
        one.touch()
        other.touch()
        for _ in range(int(limit.read_text())):  # not twice the same in a row: such are one event
            os.utime(one)
            os.utime(other)
        note.write_text(note.read_text() + "Lost.\n")
        running.send_signal(signal.SIGCONT)

        until(lambda: indexed(vault).get(path) == blob(note))
        # Stopped at the wrong moment it notices first that it heard nothing of its own pulse.
        assert "events were lost" in log_of(vault) or "events no longer arrive" in log_of(vault)


@pytest.mark.parametrize("what", ["vault", "git folder", "caches"])
def test_r46_what_is_removed_and_made_again_is_watched_again(
    watched: Watched, vault: Path, tmp_path: Path, what: str
) -> None:
    place = {"vault": vault, "git folder": vault / ".git", "caches": next(vault.glob(".git/remvault/*-*"))}[what]
    shutil.copytree(place, tmp_path / "copy", symlinks=True)
    shutil.rmtree(place)
    if what != "caches":
        watched.hears("waiting for it to come back")
        assert not place.exists()  # nothing of ours made it again
        (tmp_path / "copy").rename(place)
    watched.hears("watching ", times=2)

    (vault / "later.md").write_text("Written later.\n")

    until(lambda: "later.md" in watched.known(), watched)


def test_a_vault_that_a_checkout_takes_away_and_brings_back_is_watched_again(repo: Path, cli: Cli) -> None:
    (repo / "code.py").write_text("")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "code")
    git(repo, "branch", "without")
    cli("init", "--embedded", "--project", "acme", cwd=repo)
    cli("new", "Deploys", "--scope", "project", "--body", "text", cwd=repo)
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "vault")
    watched = Watched(repo / "vault").start()
    try:
        git(repo, "checkout", "-q", "without")
        watched.hears("waiting for it to come back")
        assert not (repo / "vault").exists()
        git(repo, "checkout", "-q", "main")
        watched.hears("watching ", times=2)
        (repo / "vault/later.md").write_text("Written later.\n")
        until(lambda: "later.md" in indexed(repo / "vault"), watched)
    finally:
        watched.stop()


# What it leaves alone, and whom it waits for


def test_git_is_not_watched_and_a_commit_by_hand_is_followed(watched: Watched, note: Path, vault: Path) -> None:
    note.write_text(note.read_text() + "By hand.\n")
    until(lambda: watched.updates == 1, watched)
    git(vault, "commit", "-qam", "by hand")
    opened = open_vault(str(vault))

    until(
        lambda: (manifest := manifest_of(opened)) and manifest.head == git(vault, "rev-parse", "HEAD").strip(), watched
    )
    assert watched.updates == 1


def test_it_waits_while_another_process_writes_the_index(watched: Watched, note: Path, vault: Path) -> None:
    from filelock import FileLock

    state = open_vault(str(vault)).state
    assert state is not None
    with FileLock(state.caches / "text-index.lock"):
        note.write_text(note.read_text() + "More.\n")
        until(lambda: watched.watching._round is not None and watched.watching._round._again_at < float("inf"), watched)
        assert watched.updates == 0

    until(lambda: watched.known().get(note.relative_to(vault).as_posix()) == blob(note), watched)


def test_it_waits_without_turning_in_circles(
    watched: Watched, note: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    monkeypatch.setattr("remvault.surfaces.watch_round.is_being_written", lambda state: bool(asked.append(0)) or True)
    assert watched.watching._round is not None
    watched.watching._round._settle_at = 0.0  # an edit is quiet by now
    watched.watching._round.wake()
    started = time.monotonic()

    until(lambda: len(asked) >= 3, watched)

    assert time.monotonic() - started > 0.5


def test_a_vault_with_another_id_has_another_state(watched: Watched, vault: Path) -> None:
    file = vault / "remvault.toml"
    file.write_text(re.sub(r'id = "[^"]*"', 'id = "v-another"', file.read_text()))
    watched.hears("watching ", times=2)
    watched.fence()
    assert list(vault.glob(".git/remvault/v-another-*/watcher/log"))


def test_a_failure_is_said_once_and_tried_again(
    watched: Watched, note: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: OpenVault, **options: object) -> None:
        raise OSError(5, "Input/output error", "somewhere")

    with monkeypatch.context() as patch:
        patch.setattr(OpenVault, "snapshot", fail)
        note.write_text(note.read_text() + "More.\n")
        until(lambda: watched.watching._round is not None and watched.watching._round._failures >= 2, watched)
    until(lambda: watched.known().get(note.relative_to(vault).as_posix()) == blob(note), watched)

    assert sum("Input/output error" in line for line in watched.said) == 1


def test_a_disk_that_takes_no_pulse_ends_nothing(
    watched: Watched, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def full(self: WatchPost) -> None:
        asked.append(1)
        raise OSError(28, "No space left on device", "pulse")

    monkeypatch.setattr(WatchPost, "beat", full)
    until(lambda: len(asked) > 1, watched)
    watched.fence()


def test_settings_are_read_again_and_bad_ones_leave_the_earlier(watched: Watched, vault: Path, cli: Cli) -> None:
    file = vault / "remvault.toml"
    text = file.read_text()
    file.write_text(text + '\n[search]\nlanguage = "german"\n')
    watched.hears("settings changed")
    watched.fence()  # the flavour of the index is another now, and `indexed` asks for that
    file.write_text("[nonsense\n")
    watched.hears("the earlier settings stay")
    file.write_text(text)
    watched.hears("settings changed", times=2)
    watched.fence()


def test_without_events_it_looks_and_status_says_so(
    vault: Path, note: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoWatches:
        def __init__(self) -> None:
            raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(watchers, "Observer", NoWatches)
    watched = Watched(vault).start()
    try:
        told = seen(cli, vault)
        assert told["alive"]
        assert told["mode"] == "polling"
        assert "max_user_watches" in told["detail"]
        assert "by polling (the system's limit" in cli("status", cwd=vault).out
        note.write_text(note.read_text() + "More.\n")
        until(lambda: watched.known().get(note.relative_to(vault).as_posix()) == blob(note), watched)
    finally:
        watched.stop()


# One watcher, seen by others


def test_status_tells_of_the_watcher_and_of_its_end(vault: Path, note: Path, cli: Cli) -> None:
    assert seen(cli, vault) == {
        "alive": False, "last_seen": None, "pid": None, "since": None, "mode": None, "detail": None,
    }  # fmt: skip
    with process(vault) as running:
        until(lambda: seen(cli, vault)["alive"])
        told = seen(cli, vault)
        assert (told["pid"], told["mode"], told["detail"]) == (running.pid, "events", None)
        assert told["last_seen"] >= told["since"]
        assert f"process {running.pid}, by events" in cli("status", cwd=vault).out
        until(lambda: seen(cli, vault)["last_seen"] > told["last_seen"])

        running.kill()
        running.wait(DEADLINE_S)

        told = seen(cli, vault)
        assert not told["alive"]
        assert told["last_seen"] is not None
    with process(vault):
        until(lambda: seen(cli, vault)["alive"])  # no lock was left


def test_a_second_watcher_is_refused_and_told_who_runs(vault: Path, note: Path, cli: Cli) -> None:
    with process(vault) as running:
        until(lambda: seen(cli, vault)["alive"])
        refused = cli("watch", "--json", cwd=vault, code=1).json["error"]
        assert refused["code"] == "watcher_running"
        assert refused["pid"] == running.pid
        assert cli("watch", "--once", "--json", cwd=vault).json["notes"] == 1  # that is no watcher


def test_each_work_tree_has_a_watcher_of_its_own(watched: Watched, vault: Path, tmp_path: Path) -> None:
    git(vault, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    other = Watched(tmp_path / "tree").start()
    try:
        (tmp_path / "tree/n.md").write_text("Only here.\n")
        until(lambda: "n.md" in other.known(), other)
        watched.fence()
        assert "n.md" not in watched.known()
    finally:
        other.stop()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGINT, 130)])
def test_it_ends_cleanly_when_asked(vault: Path, note: Path, cli: Cli, number: signal.Signals, code: int) -> None:
    with process(vault, "--verbose") as running:
        until(lambda: "(start)" in log_of(vault))
        running.send_signal(number)
        out, err = running.communicate(timeout=DEADLINE_S)
    assert running.returncode == code, err
    assert out == ""
    assert "watching" in err
    assert "Traceback" not in err
    assert log_of(vault).splitlines()[-1].endswith(" stopped")
    assert not seen(cli, vault)["alive"]


def test_it_ends_while_a_large_vault_is_first_read(vault: Path, cli: Cli) -> None:
    for number in range(600):
        (vault / f"{number}.md").write_text(note_text(f"Title {number}", id=f"m-{number:010}", body="words " * 200))
    with process(vault) as running:
        until(lambda: "by events" in log_of(vault))
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=DEADLINE_S)
    assert running.returncode == 0
    assert "generation" not in log_of(vault)
    assert cli("search", "title", "--json", cwd=vault).json["index"]["notes"] == 600


def test_a_terminal_hears_nothing_unless_it_asks(vault: Path, note: Path) -> None:
    with process(vault) as running:
        until(lambda: "(start)" in log_of(vault))
        running.terminate()
        assert running.communicate(timeout=DEADLINE_S) == ("", "")


# Once


def test_once_brings_the_index_up_to_date_and_ends(note: Path, vault: Path, cli: Cli) -> None:
    note.write_text(note.read_text() + "More.\n")

    assert cli("watch", "--once", cwd=vault).out == "1 note looked at\n"

    assert indexed(vault) == {note.relative_to(vault).as_posix(): blob(note)}
    answer = cli("watch", "--once", "--json", cwd=vault).json
    assert answer == {"notes": 1, "generation": answer["generation"], "committed": [], "held": None}


def test_outside_git_there_is_no_index_to_keep(vault: Path, cli: Cli) -> None:
    shutil.rmtree(vault / ".git")
    for options in ((), ("--once",)):
        assert cli("watch", *options, "--json", cwd=vault, code=1).json["error"]["code"] == "nothing_to_watch"


# A service


def test_a_service_is_printed_and_nothing_is_installed(vault: Path, cli: Cli, home: Path) -> None:
    before = sorted(home.rglob("*"))
    text = cli("watch", "--print-service", cwd=vault).out
    assert cli("watch", "--print-service", "--json", cwd=vault).json == {"service": text}
    assert sorted(home.rglob("*")) == before
    if sys.platform.startswith("linux"):
        assert f'ExecStart="{sys.executable}" "-P" "-m" "remvault" "--vault" "{vault}" "watch"\n' in text


# Hostile surroundings


def test_the_log_is_never_written_through_a_link(watched: Watched, vault: Path, tmp_path: Path) -> None:
    log = next(vault.glob(".git/remvault/*/watcher/log"))
    log.unlink()
    (tmp_path / "precious").write_text("precious")
    log.symlink_to(tmp_path / "precious")

    watched.fence()

    assert (tmp_path / "precious").read_text() == "precious"


@pytest.mark.parametrize("where", [".git/remvault", ".git/remvault/NAME", ".git/remvault/NAME/watcher"])
def test_state_is_never_written_through_a_link(vault: Path, note: Path, cli: Cli, tmp_path: Path, where: str) -> None:
    """As an archive with a `.git` may hold it."""
    name = next(vault.glob(".git/remvault/*-*")).name
    place = vault / where.replace("NAME", name)
    if place.is_dir():
        shutil.rmtree(place)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place.symlink_to(elsewhere)

    with process(vault) as running, suppress(subprocess.TimeoutExpired):
        running.communicate(timeout=2.0)

    assert list(elsewhere.rglob("*")) == []


def test_links_in_a_vault_lead_nowhere(watched: Watched, note: Path, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/s.md").write_text("secret\n")
    (vault / "linked").symlink_to(tmp_path / "secrets")
    (vault / "linked.md").symlink_to(tmp_path / "secrets/s.md")
    watched.fence()
    (tmp_path / "secrets/s.md").write_text("changed\n")
    watched.fence()
    assert not any("linked" in path for path in watched.known())


def test_settings_of_a_vault_cannot_make_it_sweep_without_pause(vault: Path, note: Path) -> None:
    file = vault / "remvault.toml"
    file.write_text(file.read_text() + "\n[watch]\npoll-seconds = 0\n")
    watched = Watched(vault).start()
    try:
        watched.fence()
        assert watched.watching._round is not None
        assert watched.watching._round._sweep_at - time.monotonic() > 2
    finally:
        watched.stop()


def test_json_of_status_is_what_the_contract_says(vault: Path, cli: Cli) -> None:
    assert {"alive", "last_seen"} <= json.loads(cli("status", "--json", cwd=vault).out)["watcher"].keys()
