"""Times as people and tools write them: one scale, and one bad time never empties an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.conftest import Cli
from tests.vaults import note_text

# From the oldest to the newest instant; what has no offset counts as UTC.
TIMES = {
    "before": "2026-05-19T23:30:00+00:00",
    "date": "2026-05-20",
    "tokyo": "2026-05-20T10:00:00+09:00",  # 01:00 UTC
    "plain": "2026-05-20T08:00:00",
    "zulu": "2026-05-20T08:00:01Z",
    "blank": "2026-05-20 08:30:00+00:00",
    "epoch": "1779267600",  # 09:00 UTC
    "millis": "1779271200000",  # 10:00 UTC
}


@pytest.fixture
def timed(vault: Path) -> Path:
    """A vault with one note for each time, and one whose time nobody can read."""
    for number, (name, when) in enumerate([*TIMES.items(), ("words", "last tuesday")]):
        text = note_text(name, id=f"m-{number:010}", created=when, confirmed=when, body="deploys\n")
        (vault / f"{name}.md").write_text(text)
    return vault


def test_r58_all_times_but_words_are_compared_on_one_scale(timed: Path, cli: Cli) -> None:
    listed = cli("list", "--sort", "recent", "--json", cwd=timed).json["memories"]

    titles = [one["title"] for one in listed]
    assert [title for title in titles if title != "words"] == list(reversed(TIMES))
    assert {one["title"]: one["created"] for one in listed} == TIMES | {"words": None}  # as typed


def test_r58_a_time_in_words_is_reported_and_empties_nothing(timed: Path, cli: Cli) -> None:
    surfaced = cli("surface", "deploys", "--budget-chars", "9000", "--json", cwd=timed)
    hits = cli("search", "deploys", "-n", "20", "--json", cwd=timed).json["hits"]
    problems = cli("check", "--json", cwd=timed, code=None).json["problems"]

    assert len(surfaced.json["items"]) >= len(TIMES)
    assert {hit["title"] for hit in hits} == {*TIMES, "words"}
    assert {one["path"] for one in problems} == {"words.md"}
    assert any("last tuesday" in one["message"] for one in problems)


@pytest.mark.parametrize(
    "when", ["last tuesday", "2026-13-01", "9999999999999999", "2026-05-20T25:00:00Z", "0000-00-00"]
)
@pytest.mark.parametrize("key", ["created", "confirmed", "observed", "expires", "valid_until"])
def test_r58_no_field_with_a_bad_time_hides_the_others(vault: Path, cli: Cli, key: str, when: str) -> None:
    (vault / "good.md").write_text(note_text("Good", id="m-good", created="2026-05-20", body="deploys\n"))
    (vault / "bad.md").write_text(note_text("Bad", id="m-bad", body="deploys\n", **{key: when}))

    for verb in ("search", "surface"):
        assert "m-good" in cli(verb, "deploys", "--json", cwd=vault).out
    assert "m-good" in cli("list", "--json", cwd=vault).out
    found = cli("check", "--json", cwd=vault, code=None).json["problems"]
    assert [one["path"] for one in found] == ["bad.md"]
    assert cli("show", "m-bad", "--json", cwd=vault).json["memory"][key] is None


def test_r57_a_superseded_fact_comes_back_neither_by_a_copy_nor_by_a_handoff(vault: Path, cli: Cli) -> None:
    old = cli("new", "Staging database", "--scope", "global", "--body", "It runs pg13.", "--json", cwd=vault).json
    note = (vault / old["path"]).read_text()
    new = cli("supersede", old["id"], "Staging database", "--body", "It runs pg16.", "--json", cwd=vault).json
    (vault / "handoffs").mkdir()
    (vault / "handoffs" / "last.md").write_text(note_text("Where we left off", body="staging runs pg13\n"))
    (vault / "copy.md").write_text(note)  # a duplicate of the old note, same id, without the mark

    for query in ("what does the staging database run", "staging database pg13"):
        surfaced = cli("surface", query, "--json", cwd=vault).json
        assert "pg13" not in surfaced["block"]
        assert [item["id"] for item in surfaced["items"]] == [new["id"]]
