"""Hearing what happens to notes: bursts, folders, and what to do where events do not tell all."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from remvault.index import watch_plan as plans
from remvault.index import watcher as watchers
from remvault.index.watch_plan import remote_file_system, watch_counts, watch_plan
from remvault.index.watcher import LONGEST_S, QUIET_S, QUIET_WHOLE_S, Burst, FolderWatcher, Heard
from tests.vaults import note_text

DEADLINE_S = 20.0


class Place:
    """A folder of notes that is watched, beside the state that the watcher beats in."""

    def __init__(self, base: Path) -> None:
        self.root, self.pulse = base / "vault", base / "state/pulse"
        for folder in (self.root / "global", self.root / "project/acme", self.pulse.parent):
            folder.mkdir(parents=True)
        self.note = self.write("global/a.md")
        self.watcher = FolderWatcher(self.root, settings="remvault.toml", pulse=self.pulse)

    def write(self, path: str, text: str = "text\n") -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def beat(self) -> str | None:
        trouble = self.watcher.tick()
        self.pulse.write_text("\n")
        return trouble

    def hears(self, act: Callable[[], object]) -> Heard:
        """What is heard of an act, all of it."""
        act()
        heard = self.watcher.wait(DEADLINE_S)
        assert heard is not None
        return heard

    def fence(self) -> None:
        """Do something that is heard, and hear it: whatever came before was heard, or never will be."""
        (self.root / "global/fence.md").write_text(str(time.monotonic()))
        assert self.watcher.wait(DEADLINE_S) is not None


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    place.watcher.close()


@pytest.fixture
def armed(place: Place) -> Place:
    place.watcher.arm()
    return place


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# When a burst is over


def test_a_save_in_two_parts_is_one_burst() -> None:
    burst = Burst()
    burst.add(Heard(), 10.0)
    assert burst.take(10.3) is None
    burst.add(Heard(), 10.3)

    assert burst.take(10.3 + QUIET_S - 0.01) is None
    assert burst.take(10.3 + QUIET_S) == Heard()
    assert burst.take(99.0) is None


def test_a_burst_that_does_not_end_is_cut() -> None:
    burst, now = Burst(), 10.0
    while burst.take(now) is None:
        burst.add(Heard(), now)
        now += 0.1
    assert now == pytest.approx(10.0 + LONGEST_S, abs=0.11)


def test_a_file_that_is_whole_is_not_waited_for_unless_another_is_in_parts() -> None:
    burst = Burst()
    burst.add(Heard(), 10.0, path="a.md")
    burst.add(Heard(), 10.01, path="a.md", is_whole=True)
    assert burst.due_at() == pytest.approx(10.01 + QUIET_WHOLE_S)

    burst.add(Heard(), 10.05, path="b.md")
    burst.add(Heard(), 10.06, path="a.md", is_whole=True)
    assert burst.due_at() == pytest.approx(10.05 + QUIET_S)


def test_what_was_heard_adds_up() -> None:
    burst = Burst()
    burst.add(Heard(frozenset({"a.md"}), folders=True), 1.0)
    burst.add(Heard(frozenset({"b.md"}), settings=True), 1.0)
    assert burst.take(9.0) == Heard(frozenset({"a.md", "b.md"}), folders=True, settings=True)


def test_the_paths_of_many_notes_are_not_kept() -> None:
    heard = Heard()
    for number in range(100):
        heard |= Heard(frozenset({f"{number}.md"}))
    assert heard.notes is None
    assert (heard | Heard(frozenset({"a.md"}))).notes is None


# Which folders


def test_a_vault_without_anything_else_in_it_is_watched_as_one(place: Place) -> None:
    plan = watch_plan(place.root)
    assert (plan.deep, plan.flat, plan.folders) == ((str(place.root),), (), 4)


def test_git_and_what_is_set_apart_are_never_watched(place: Place) -> None:
    for folder in (".git/objects", "private", "handoffs", "inbox", "ledger", ".obsidian", "project/acme/inbox"):
        (place.root / folder).mkdir(parents=True)

    plan = watch_plan(place.root)

    assert plan.flat == (str(place.root),)
    assert plan.deep == (f"{place.root}/global", f"{place.root}/project")
    assert plan.folders == 5


def test_another_repository_and_links_in_a_vault_are_left_alone(place: Place, tmp_path: Path) -> None:
    (place.root / "project/acme/nested/.git").mkdir(parents=True)
    (place.root / "project/acme/nested/inside").mkdir()
    (place.root / "project/acme/deep").mkdir()
    (place.root / "project/other").mkdir()
    (tmp_path / "elsewhere/inside").mkdir(parents=True)
    (place.root / "project/link").symlink_to(tmp_path / "elsewhere")

    plan = watch_plan(place.root)

    assert plan.flat == tuple(
        f"{place.root}{path}" for path in ("", "/project", "/project/acme", "/project/acme/nested")
    )
    assert plan.deep == tuple(f"{place.root}{path}" for path in ("/global", "/project/other", "/project/acme/deep"))


def test_folders_without_end_are_not_planned_for(tmp_path: Path) -> None:
    (tmp_path / "/".join("d" * plans.MAX_DEPTH)).mkdir(parents=True)
    assert watch_plan(tmp_path).folders == plans.MAX_DEPTH + 1

    (tmp_path / "/".join("d" * (plans.MAX_DEPTH + 1))).mkdir()
    with pytest.raises(OSError, match="deep"):
        watch_plan(tmp_path)


def test_a_root_that_is_not_there_cannot_be_planned_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        watch_plan(tmp_path / "none")


MOUNTS = """\
21 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw
30 21 0:40 / /home/dana/My\\040Share rw - nfs4 host:/x rw
31 21 0:41 / /home/dana/My\\040Share/local rw - btrfs /dev/sdb rw
32 21 0:42 / /mnt/ssh rw - fuse.sshfs dana@host: rw
33 21 0:43 / /mnt/disk rw - fuse.ntfs-3g /dev/sdc rw
34 21 0:44 / /mnt/disk rw - 9p drive rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/dana/notes", None),
        ("/home/dana/My Share/notes", "nfs4"),
        ("/home/dana/My Share/local/notes", None),
        ("/home/dana/My Shared", None),
        ("/mnt/ssh", "fuse.sshfs"),
        ("/mnt/disk/x", "9p"),
        ("//host/share", None),
        ("\\\\host\\share", "network share"),
    ],
)
def test_file_systems_that_others_may_change_are_known(
    path: str, kind: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mountinfo").write_text(MOUNTS)
    monkeypatch.setattr(plans, "_MOUNTS", tmp_path / "mountinfo")
    assert remote_file_system(Path(path)) == kind


# What is heard


def test_every_way_to_change_a_note_is_heard(armed: Place, tmp_path: Path) -> None:
    note, part = armed.note, tmp_path / "part"
    part.write_text("whole\n")
    ways: list[Callable[[], object]] = [
        lambda: note.write_text("in place\n"),
        lambda: part.replace(note),
        lambda: os.link(note, note.with_name("linked.md")),
        lambda: note.rename(note.with_name("b.md")),
        lambda: note.with_name("b.md").rename(tmp_path / "out.md"),
        lambda: (tmp_path / "out.md").rename(note),
        lambda: os.utime(note, (1, 1)),
        lambda: note.unlink(),
    ]
    paths = [
        *({"global/a.md"}, {"global/a.md"}, {"global/linked.md"}, {"global/a.md", "global/b.md"}, {"global/b.md"}),
        *({"global/a.md"}, {"global/a.md"}, {"global/a.md"}),
    ]
    for act, path in zip(ways, paths, strict=True):
        assert armed.hears(act) == Heard(frozenset(path))


@pytest.mark.parametrize(("size", "is_quick"), [(100, True), (95, True), (50, False), (0, False)])
def test_a_note_that_is_as_long_as_it_was_is_not_waited_for_long(place: Place, size: int, is_quick: bool) -> None:
    place.watcher = FolderWatcher(
        place.root, settings="remvault.toml", pulse=place.pulse, size_of={"global/a.md": 100}.get
    )
    place.watcher.arm()
    part = place.root / "global/.a.part"
    part.write_bytes(b"x" * size)
    os.link(part, place.root / "global/b.md")  # as long, and nobody knows how long it was
    assert place.watcher.wait(QUIET_S * 0.8) is None
    assert place.watcher.wait(DEADLINE_S) is not None
    os.truncate(place.note, size)

    until(lambda: place.watcher._burst.heard is not None)
    due = place.watcher._burst.due_at()

    assert due is not None
    assert (due - time.monotonic() < QUIET_WHOLE_S) == is_quick
    assert place.watcher.wait(DEADLINE_S) is not None


def test_a_note_written_anew_beside_its_backup_is_not_waited_for_long(armed: Place) -> None:
    armed.watcher._size_of = {"global/a.md": 5}.get
    armed.note.rename(armed.note.with_name("a.md~"))
    armed.note.write_text("12345")

    until(lambda: armed.watcher._burst.heard is not None)
    until(lambda: (armed.watcher._burst.due_at() or 0) - time.monotonic() < QUIET_WHOLE_S)

    assert list(armed.watcher._burst._quiet_at) == [str(armed.note)]
    assert armed.watcher.wait(DEADLINE_S) == Heard(frozenset({"global/a.md"}))


def test_a_wait_that_may_end_earlier_does(armed: Place) -> None:
    armed.watcher._size_of = {"global/a.md": 5}.get
    started = time.monotonic()
    armed.note.write_text("")
    until(lambda: armed.watcher._burst.heard is not None)
    threading.Timer(0.05, lambda: armed.note.write_text("12345")).start()
    assert armed.watcher.wait(DEADLINE_S) is not None
    assert time.monotonic() - started < DEADLINE_S / 2


def test_reading_is_not_heard_and_neither_is_what_is_no_note(armed: Place) -> None:
    armed.note.read_text()
    for name in ("a.md~", ".#a.md", ".a.md.swp", "a~.md", "4913", "a.md.tmp", "~$a.md", "#a.md#", "picture.png"):
        armed.write(f"global/{name}")
        (armed.root / "global" / name).unlink()
    (armed.root / ".obsidian").mkdir()

    assert armed.watcher.wait(QUIET_S * 2) is None


def test_folders_are_heard_with_what_is_in_them(armed: Place, tmp_path: Path) -> None:
    assert armed.hears(lambda: (armed.root / "team/x/y").mkdir(parents=True)).folders
    armed.watcher.arm()
    assert armed.hears(lambda: armed.write("team/x/y/n.md")) == Heard(frozenset({"team/x/y/n.md"}))
    assert armed.hears(lambda: (armed.root / "team").rename(tmp_path / "team")).folders
    armed.watcher.arm()
    assert armed.hears(lambda: (tmp_path / "team").rename(armed.root / "team")).folders
    armed.watcher.arm()
    assert armed.hears(lambda: armed.write("team/x/y/m.md")) == Heard(frozenset({"team/x/y/m.md"}))
    assert armed.hears(lambda: shutil.rmtree(armed.root / "team")).folders


def test_a_folder_moved_out_is_no_longer_heard(armed: Place, tmp_path: Path) -> None:
    armed.hears(lambda: (armed.root / "project/acme").rename(tmp_path / "acme"))
    armed.watcher.arm()

    (tmp_path / "acme/n.md").write_text("x")

    assert armed.watcher.wait(QUIET_S * 2) is None


def test_a_repository_that_appears_in_the_vault_is_heard(armed: Place) -> None:
    assert armed.hears(lambda: (armed.root / "project/acme/.git").mkdir()).folders
    assert armed.hears(lambda: armed.write("global/.git", "gitdir: elsewhere\n")).folders


def test_a_repository_in_the_vault_that_is_one_no_longer_is_heard(place: Place) -> None:
    (place.root / "project/acme/.git").mkdir()
    place.watcher.arm()
    assert place.hears(lambda: (place.root / "project/acme/.git").rmdir()).folders


def test_the_settings_file_is_heard_as_such(armed: Place) -> None:
    assert armed.hears(lambda: armed.write("remvault.toml")) == Heard(settings=True)
    armed.write("global/.part")
    assert armed.hears(lambda: (armed.root / "global/.part").rename(armed.root / "remvault.toml")) == Heard(
        settings=True
    )


def test_a_wait_ends_when_woken(armed: Place) -> None:
    armed.watcher.wake()
    started = time.monotonic()
    assert armed.watcher.wait(DEADLINE_S) is None
    assert time.monotonic() - started < DEADLINE_S / 2


# Whether we still hear


def test_all_is_well_while_the_pulse_is_heard(armed: Place) -> None:
    for _ in range(5):
        assert armed.beat() is None
        until(lambda: armed.watcher._is_heard)
    assert armed.watcher.mode == "events"


@pytest.mark.parametrize("is_back_at_once", [True, False])
def test_r46_a_root_that_is_replaced_is_noticed_and_heard_again(
    armed: Place, tmp_path: Path, is_back_at_once: bool
) -> None:
    shutil.copytree(armed.root, tmp_path / "copy")
    shutil.rmtree(armed.root)
    if not is_back_at_once:
        assert armed.watcher.tick() == "the folder is gone"
        with pytest.raises(FileNotFoundError):
            armed.watcher.arm()
    (tmp_path / "copy").rename(armed.root)

    trouble = armed.beat()

    assert trouble is not None
    assert "replaced" in trouble
    armed.watcher.arm()
    armed.fence()


def test_r46_a_folder_that_is_replaced_below_a_repository_is_noticed(place: Place) -> None:
    (place.root / ".git").mkdir()  # so that each folder at the top is watched on its own
    place.watcher.arm()
    shutil.rmtree(place.root / "global")
    (place.root / "global").mkdir()

    until(place.beat)
    place.watcher.arm()

    place.fence()


def test_being_deaf_is_noticed_and_ends_in_looking(armed: Place) -> None:
    for _ in range(2):
        assert armed.watcher.mode == "events"
        assert armed.watcher.tick() is None
        assert armed.watcher.tick() is None  # no pulse was written, so none can be heard
        assert armed.watcher.tick() == "events no longer arrive"
        armed.watcher.arm()
    assert (armed.watcher.mode, armed.watcher.detail) == ("polling", "no events arrive here")
    assert armed.watcher.may_hear_again

    armed.watcher.arm()  # as with the next sweep

    assert armed.watcher.mode == "events"


def test_what_watchdog_says_of_lost_events_is_heard(armed: Place) -> None:
    log = logging.getLogger("watchdog.observers.inotify_c")
    assert armed.hears(lambda: log.warning("Inotify queue overflowed; filesystem events were lost")).lost
    log.warning("something else")
    assert armed.watcher.wait(QUIET_S * 2) is None


# Where events do not tell all


@pytest.fixture
def looking(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place where every look is due at once."""
    monkeypatch.setattr(watchers, "_SHORTEST_LOOK_S", 0.0)
    monkeypatch.setattr(watchers, "_LOOKING_SHARE", 1.0)
    return place


class NoInstances:
    def __init__(self) -> None:
        raise OSError(24, "inotify instance limit reached")


def test_r46_without_a_way_to_hear_we_look(looking: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchers, "Observer", NoInstances)
    looking.watcher.arm()
    assert looking.watcher.mode == "polling"
    assert "max_user_instances" in (looking.watcher.detail or "")

    for act in (lambda: looking.note.write_text("changed"), lambda: looking.write("new/b.md"), looking.note.unlink):
        act()
        until(lambda: looking.watcher.tick() is None and looking.watcher.wait(QUIET_S * 1.1) is not None)
    looking.watcher.tick()
    assert looking.watcher.wait(QUIET_S * 1.1) is None


@pytest.mark.skipif(watch_counts() is None, reason="the system does not tell its watches")
def test_r46_folders_that_could_not_be_watched_are_not_passed_over(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from watchdog.observers import inotify_c

    add, added = inotify_c.inotify_add_watch, []

    def at_most_three(descriptor: int, path: bytes, mask: int) -> int:
        added.append(path)
        if len(added) > 3:
            import ctypes

            ctypes.set_errno(28)
            return -1
        return add(descriptor, path, mask)

    monkeypatch.setattr(inotify_c, "inotify_add_watch", at_most_three)
    place.watcher.arm()

    assert place.watcher.mode == "polling"
    assert "max_user_watches" in (place.watcher.detail or "")
    assert not any(watch_counts() or {})  # none is kept from other programs


def test_very_many_folders_are_looked_at(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MAX_FOLDERS", 3)
    place.watcher.arm()
    assert (place.watcher.mode, place.watcher.detail) == ("polling", "there are over 3 folders")


def test_a_network_folder_is_heard_and_looked_at(looking: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchers, "remote_file_system", lambda root: "nfs4")
    looking.watcher.arm()
    assert looking.watcher.mode == "polling"
    assert (looking.watcher.detail or "").startswith("nfs4")
    assert not looking.watcher.may_hear_again

    looking.fence()  # without a tick: by an event


def test_a_note_is_only_looked_at_never_opened(looking: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hearing costs no reading; a note that nobody may read is no trouble here."""
    looking.write("global/hostile.md", note_text("A"))
    monkeypatch.setattr("remvault.store.trees.DirectoryTree.read", None)
    monkeypatch.setattr(watchers, "Observer", NoInstances)
    looking.watcher.arm()
    assert looking.watcher.tick() is None
