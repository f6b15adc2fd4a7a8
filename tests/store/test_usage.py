"""Usage: local lines that many processes add at once, bounded, never in the way."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from remvault.store.state import State
from remvault.store.usage import MAX_BYTES, MemoryUsage, Usage, of_memory, query_digest, use_at

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path, tmp_path)


def test_a_memory_never_shown_has_no_usage(state: State) -> None:
    assert of_memory(state, "m-1") == MemoryUsage()
    assert of_memory(None, "m-1") == MemoryUsage()


def test_what_is_written_is_read_again_with_every_field(state: State) -> None:
    use = use_at(
        NOW, "shown", "m-1", session="s", query=query_digest("a b"), score=1.5, signals={"text": 1.5}, core=0.1, rank=2
    )

    Usage(state).add([use, use_at(NOW, "recall", "m-1")])

    found = of_memory(state, "m-1")
    assert found.last == use
    assert found.times_surfaced == 1
    assert found.recalled_at() == [NOW]


def test_a_query_is_kept_as_a_digest_only(state: State) -> None:
    Usage(state).add([use_at(NOW, "shown", "m-1", query=query_digest("the secret plan"))])

    assert b"secret" not in (state.caches / "usage").read_bytes()
    assert query_digest("The  secret\nplan") == query_digest("the secret plan")


def test_torn_and_hostile_lines_are_passed_over(state: State) -> None:
    Usage(state).add([use_at(NOW, "shown", "m-1")])
    with (state.caches / "usage").open("ab") as stream:
        stream.write(
            b'{"time":"x"\n\x00\xff\n[]\n{"time":"2026","kind":"shown","id":5}\n'
            + b'{"time":"2026","kind":"other","id":"m"}\n{"time":"2026","kind":"shown","id":"m","rank":true}\n'
            + b'{"time":"2026","kind":"shown","id":"m","extra":1}\n'
            + b'{"time":'
            + b"[" * 5000
            + b"\n"
        )
    Usage(state).add([use_at(NOW, "shown", "m-2")])

    assert sorted(Usage(state).by_memory()) == ["m-1", "m-2"]


def test_a_link_in_place_of_the_file_is_not_followed(state: State, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("mine\n")
    (state.caches / "usage").symlink_to(target)

    Usage(state).add([use_at(NOW, "shown", "m-1")])

    assert target.read_text() == "mine\n"
    assert Usage(state).read() == []


def test_only_what_is_near_in_time_and_of_the_same_session_is_recent(state: State) -> None:
    usage, quarter = Usage(state), timedelta(minutes=15)
    usage.add([use_at(NOW - timedelta(minutes=16), "shown", "m-old", session="s")])
    usage.add([use_at(NOW - timedelta(minutes=14), "shown", "m-new", session="s")])
    usage.add([use_at(NOW, "shown", "m-other", session="t"), use_at(NOW, "recall", "m-read", session="s")])
    usage.add([use_at(NOW + timedelta(days=400), "shown", "m-future", session="s")])

    assert list(usage.recent("shown", "s", now=NOW, within=quarter)) == ["m-new"]


def test_a_session_knows_what_it_saw_until_it_forgets(state: State) -> None:
    usage = Usage(state)
    usage.add([use_at(NOW, "shown", "m-1", session="s", content="old"), use_at(NOW, "shown", "m-2", session="t")])
    usage.add([use_at(NOW, "shown", "m-1", session="s", content="new")])
    usage.add([use_at(NOW, "shown", "m-1", session="s", content="theirs", provider="team")])
    usage.add([use_at(NOW, "recall", "m-3", session="s"), use_at(NOW, "shown", "m-4")])

    assert {key: use.content for key, use in usage.seen("s").items()} == {
        (None, "m-1"): "new",
        ("team", "m-1"): "theirs",
    }
    assert usage.by_memory()["m-1"].times_surfaced == 2  # what another vault holds is its own business
    usage.add([use_at(NOW, "forgotten", "", session="s"), use_at(NOW, "shown", "m-1", session="s", content="new")])
    assert list(usage.seen("s")) == [(None, "m-1")]
    assert list(usage.seen("t")) == [(None, "m-2")]
    assert usage.seen("nobody") == {}
    assert sorted(usage.by_memory()) == ["m-1", "m-2", "m-3", "m-4"]


@pytest.mark.parametrize("session", ['quote " in it', "line\nbreak", "\\", "ключ", "s"])
def test_any_text_may_name_a_session(state: State, session: str) -> None:
    Usage(state).add([use_at(NOW, "shown", "m-1", session=session, content="x"), use_at(NOW, "shown", "m-2")])

    assert list(Usage(state).seen(session)) == [(None, "m-1")]


def test_compaction_keeps_what_the_latest_sessions_saw_and_counts_nothing_twice(state: State) -> None:
    usage = Usage(state)
    for at in range(5_000):
        moment, session = NOW + timedelta(minutes=at), f"s-{at // 50}"
        usage.add([use_at(moment, "shown", f"m-{at % 50}", session=session, content="c", signals={"text": 1.0})])

    assert (state.caches / "usage").stat().st_size <= MAX_BYTES + 1_000
    for number in range(90, 100):
        assert len(usage.seen(f"s-{number}")) == 50
    found = usage.by_memory()
    assert {one.times_surfaced for one in found.values()} == {100}
    assert all(one.last is not None and one.last.signals for one in found.values())


def test_the_file_stays_bounded_and_counts_survive(state: State) -> None:
    usage = Usage(state)
    wide = {f"signal-{at}": 0.123456 for at in range(10)}
    for at in range(4_000):
        moment = NOW + timedelta(minutes=at)
        usage.add([use_at(moment, "shown", f"m-{at % 7}", session=f"s-{at}", signals=wide, score=1.0, rank=1)])

    assert (state.caches / "usage").stat().st_size <= MAX_BYTES + 1_000
    assert list(state.caches.glob("usage.part-*")) == []
    found = usage.by_memory()
    assert sum(one.times_surfaced for one in found.values()) == 4_000
    last = found["m-0"].last
    assert last is not None
    assert last.session == "s-3997"


def test_more_memories_than_fit_lose_the_oldest_first(state: State) -> None:
    usage = Usage(state)
    for at in range(4_000):
        usage.add([use_at(NOW + timedelta(minutes=at), "shown", f"m-{at}", signals={"text": 0.5}, query="q" * 200)])

    assert sum(file.stat().st_size for file in state.caches.iterdir()) <= MAX_BYTES + 1_000
    found = usage.by_memory()
    assert "m-3999" in found
    assert "m-0" not in found


def test_what_an_interrupted_compaction_left_still_counts_and_is_tidied_up(state: State) -> None:
    usage = Usage(state)
    usage.add([use_at(NOW, "shown", "m-1")])
    part = state.caches / "usage.part-dead0000"
    (state.caches / "usage").rename(part)
    os.utime(part, (0, 0))
    assert of_memory(state, "m-1").times_surfaced == 1

    for at in range(6_000):
        usage.add([use_at(NOW, "shown", "m-2", session=f"s-{at}", query="q" * 80)])

    assert of_memory(state, "m-1").times_surfaced == 1
    assert not part.exists()


def test_processes_that_write_at_once_lose_nothing(state: State) -> None:
    """Also while the file is compacted under them."""
    code = """
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from remvault.store.state import State
from remvault.store.usage import Usage, use_at
folder, me = Path(sys.argv[1]), sys.argv[2]
usage, now = Usage(State(folder, folder)), datetime(2026, 12, 1, tzinfo=UTC)
for at in range(400):
    usage.add([use_at(now + timedelta(seconds=at), "shown", "m-" + me, session=f"{me}-{at}", query="q" * 400)])
"""
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(state.caches), str(number)], env={"PYTHONPATH": str(ROOT)})
        for number in range(6)
    ]
    assert [writer.wait() for writer in writers] == [0] * 6

    found = Usage(state).by_memory()
    assert {one: use.times_surfaced for one, use in found.items()} == {f"m-{number}": 400 for number in range(6)}
    assert sum(file.stat().st_size for file in state.caches.iterdir()) <= MAX_BYTES + 10_000


def test_folders_that_cannot_be_written_are_no_failure(tmp_path: Path) -> None:
    usage = Usage(State(tmp_path / "missing", tmp_path))

    usage.add([use_at(NOW, "shown", "m-1")])

    assert usage.read() == []
