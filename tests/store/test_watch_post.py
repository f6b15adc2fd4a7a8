"""What a watcher leaves for others: a lock that ends with it, its pulse, facts, and a log that stays small."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from remvault.store import watch_post
from remvault.store.watch_post import WatcherRunning, WatcherSeen, WatchPost, watcher_of

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


@pytest.fixture
def post(tmp_path: Path) -> WatchPost:
    return WatchPost(tmp_path, lambda: NOW)


def test_a_watcher_is_seen_while_it_holds_its_place(post: WatchPost, tmp_path: Path) -> None:
    assert watcher_of(tmp_path) == WatcherSeen(False)
    post.take()
    assert watcher_of(tmp_path).is_alive
    post.tell(pid=7, since=NOW, mode="polling", detail="why")

    seen = watcher_of(tmp_path)

    assert (seen.pid, seen.since, seen.mode, seen.detail) == (7, "2026-12-01T09:30:00.000Z", "polling", "why")
    assert seen.last_seen is not None
    assert abs(seen.last_seen - datetime.now(UTC)) < timedelta(minutes=5)
    post.leave()
    assert not watcher_of(tmp_path).is_alive
    assert watcher_of(tmp_path).answer()["pid"] is None


def test_a_place_is_held_by_one(post: WatchPost, tmp_path: Path) -> None:
    post.take()
    post.tell(pid=7, since=NOW, mode="events", detail=None)
    with pytest.raises(WatcherRunning, match="process 7, since 2026-12-01T09:30"):
        WatchPost(tmp_path, lambda: NOW).take(wait_s=0)
    post.leave()
    WatchPost(tmp_path, lambda: NOW).take(wait_s=0)


def test_a_place_that_was_removed_under_us_is_no_longer_ours(post: WatchPost, tmp_path: Path) -> None:
    assert not post.is_held()
    post.take()
    assert post.is_held()
    (tmp_path / "watcher/lock").unlink()
    assert not post.is_held()
    (tmp_path / "watcher/lock").touch()
    assert not post.is_held()
    post.leave()


@pytest.mark.parametrize("facts", [b"", b"[]", b"{}", b'{"pid": 1', b"\xff"])
def test_torn_facts_do_not_hide_the_watcher(post: WatchPost, tmp_path: Path, facts: bytes) -> None:
    post.take()
    post.beat()
    (tmp_path / "watcher/facts").write_bytes(facts)
    assert watcher_of(tmp_path).is_alive
    post.leave()


def test_lines_of_the_log_have_a_time_and_stay_lines(post: WatchPost, tmp_path: Path) -> None:
    post.take()
    post.log("a\n2030-01-01T00:00:00Z forged \x1b[31m\udcff")
    post.log("next")
    lines = (tmp_path / "watcher/log").read_text("utf-8").splitlines()
    assert len(lines) == 2
    assert all(line.startswith("2026-12-01T09:30:00.000Z ") for line in lines)
    assert "\x1b" not in lines[0]
    post.leave()


def test_the_log_stays_small(post: WatchPost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_post, "LOG_BYTES", 1000)
    post.take()
    for number in range(200):
        post.log(f"line {number}")
    kept = [path for path in (tmp_path / "watcher").iterdir() if path.name.startswith("log")]
    assert {path.name for path in kept} <= {"log", "log.1"}
    assert sum(path.stat().st_size for path in kept) < 2200
    assert "line 199" in "".join(path.read_text() for path in kept)
    post.leave()


@pytest.mark.parametrize("name", ["log", "pulse", "facts"])
def test_nothing_is_written_through_a_link(post: WatchPost, tmp_path: Path, name: str) -> None:
    post.take()
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "watcher" / name).symlink_to(tmp_path / "precious")
    before = (tmp_path / "precious").stat()

    post.log("line")
    if name == "pulse":
        with pytest.raises(OSError, match="symbolic links"):
            post.beat()
    else:
        post.tell(pid=7, since=NOW, mode="events", detail=None)

    assert (tmp_path / "precious").read_text() == "precious"
    assert (tmp_path / "precious").stat().st_mtime_ns == before.st_mtime_ns
    post.leave()


def test_a_place_behind_a_link_is_refused(post: WatchPost, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "watcher").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="link"):
        post.take()
    assert list((tmp_path / "elsewhere").iterdir()) == []
