"""`stale` tells apart why a memory wants another look, and what happened to the code behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from remvault.store.code import CodeRoot
from tests.surfaces.code_vault import PAY, CodeVault
from tests.surfaces.conftest import Cli
from tests.vaults import git


@pytest.fixture
def code(repo: Path, cli: Cli) -> CodeVault:
    return CodeVault.make(repo, cli)


def found(code: CodeVault) -> dict[str, Any]:
    return {one["id"]: one for one in code.json("stale")["memories"]}


def test_nothing_is_stale_where_the_code_is_as_it_was_or_only_looks_different(code: CodeVault) -> None:
    code.remember("Writes lock", "src/store.py#Store.with_lock")
    code.edit("src/store.py", "return work()", "return work()  # in here")
    code.write("src/store.py", "\n\n\n# new head\n" + (code.root / "src/store.py").read_text())
    code.commit("comments")

    done = code.cli("stale", cwd=code.root)

    assert done.out == ""
    assert "nothing is stale" in done.err
    assert found(code) == {}


def test_the_code_commits_since_are_told_with_a_short_difference(code: CodeVault) -> None:
    memory = code.remember("Writes lock", "src/store.py#Store.with_lock", "src/pay.py#refund")
    code.commit("remember")
    code.edit("src/store.py", "self.rows[key]", "self.rows.get(key)")
    other = code.commit("read: no error")
    code.edit("src/store.py", "return work()", "return self.retry(work)")
    first = code.commit("locks: try again")
    code.edit("src/store.py", "self.retry(work)", "self.retry(work, 3)")
    second = code.commit("locks: try three times")

    one = found(code)[memory]

    assert one["reasons"] == ["drifted"]
    assert [commit["commit"] for commit in one["commits"]] == [second, first]
    assert other not in str(one["commits"])
    assert [commit["subject"] for commit in one["commits"]] == ["locks: try three times", "locks: try again"]
    assert one["commits"][0]["author"] == "Dana"
    [change] = one["changes"]
    assert (change["at"], change["total"]) == ("src/store.py#Store.with_lock", 2)
    assert "-            return work()" in change["diff"].splitlines()
    assert "+            return self.retry(work, 3)" in change["diff"].splitlines()
    assert "rows" not in change["diff"]
    assert "code changed: src/store.py#Store.with_lock (2 commits since)" in one["labels"]
    assert [anchor["state"] for anchor in one["anchors"]] == ["drifted", "fresh"]


def test_the_text_is_grouped_under_headings_with_next_steps(code: CodeVault) -> None:
    drifted = code.remember("Writes lock", "src/store.py#Store.with_lock")
    gone = code.remember("Charging", "src/pay.py#charge")
    marked = code.remember("Old news", freshness="stale")
    code.commit("remember")
    code.edit("src/store.py", "return work()", "return self.retry(work)")
    short = code.commit("locks: try again")[:10]
    code.edit("src/pay.py", "def charge(", "def charge_card(")

    done = code.cli("stale", cwd=code.root)

    broken_part, drifted_part, marked_part = done.out.split("\n\n")
    assert broken_part.splitlines()[0] == "code is gone: 1 memory"
    assert gone in broken_part
    assert "    src/pay.py#charge: broken, no charge in the file; charge_card is the same code" in broken_part
    assert drifted_part.splitlines()[0] == "code changed: 1 memory"
    assert drifted in drifted_part
    assert f"        {short}  locks: try again  " in drifted_part
    assert "        -            return work()" in drifted_part
    assert "        +            return self.retry(work)" in drifted_part
    assert marked_part.splitlines()[0] == "marked stale: 1 memory"
    assert marked in marked_part
    assert "remvault confirm ID" in done.err
    assert "remvault supersede ID" in done.err
    assert "remvault check --fix" in done.err


def test_reasons_of_one_memory_are_told_in_each_group_and_once_in_json(code: CodeVault) -> None:
    base = code.remember("Base")
    memory = code.remember(
        "Writes lock",
        "src/store.py#Store.with_lock",
        "src/pay.py#charge",
        freshness="stale",
        relations=f"[{{type: derived-from, target: {base}}}]",
    )
    code.commit("remember")
    code.cli("retract", base, cwd=code.root)
    code.edit("src/store.py", "return work()", "return None")
    code.write("src/pay.py", PAY[PAY.index("def refund") :])

    assert list(found(code)) == [memory]
    assert found(code)[memory]["reasons"] == ["broken", "drifted", "unsound", "marked"]
    out = code.cli("stale", cwd=code.root).out
    headings = [line for line in out.splitlines() if line.endswith(": 1 memory")]
    assert [line.partition(":")[0] for line in headings] == [
        "code is gone",
        "code changed",
        "rests on a retracted memory",
        "marked stale",
    ]


def test_a_change_that_is_not_committed_yet_is_told_as_such(code: CodeVault) -> None:
    memory = code.remember("Writes lock", "src/store.py#Store.with_lock")
    code.edit("src/store.py", "return work()", "return None")

    assert found(code)[memory]["commits"] == []
    assert "+            return None" in found(code)[memory]["changes"][0]["diff"]
    assert "not committed yet" in code.cli("stale", cwd=code.root).out
    label = "code changed: src/store.py#Store.with_lock (not committed yet)"
    assert label in found(code)[memory]["labels"]


def test_a_commit_that_this_clone_does_not_have_is_said(code: CodeVault) -> None:
    memory = code.remember("Writes lock", "src/store.py#Store.with_lock")
    note = code.root / f"vault/project/acme/{memory}.md"
    head = git(code.root, "rev-parse", "HEAD").strip()
    text = note.read_text()
    note.write_text(text.replace(text[text.index("commit: ") :].split("}")[0], f"commit: '{'0' * 7}'"))
    code.edit("src/store.py", "return work()", "return None")

    assert head[:7] not in note.read_text()
    assert found(code)[memory]["changes"][0]["total"] is None
    assert "is not in this clone" in code.cli("stale", cwd=code.root).out


def test_what_moved_is_not_stale_and_the_repair_is_named(code: CodeVault) -> None:
    code.remember("Writes lock", "src/store.py#Store.with_lock")
    code.commit("remember")
    git(code.root, "mv", "src/store.py", "src/shop.py")

    done = code.cli("stale", cwd=code.root)

    assert done.out == ""
    assert "1 anchor points at code that moved: 'remvault check --fix'" in done.err


def test_what_could_not_be_checked_is_counted_so_that_silence_is_no_false_comfort(
    code: CodeVault, tmp_path: Path
) -> None:
    code.remember("Writes lock", "src/store.py#Store.with_lock", "src/pay.py")
    notes = tmp_path / "notes"
    code.cli("init", str(notes), cwd=tmp_path)
    moved = code.root / "vault/project"
    moved.rename(notes / "project")

    done = code.cli("--vault", str(notes), "--context", "project=acme", "stale", cwd=tmp_path)

    assert "nothing is stale" in done.err
    assert "2 anchors were not checked: the code is not at hand" in done.err


def test_retired_memories_and_those_of_others_are_not_listed(code: CodeVault) -> None:
    code.remember("Archived", "src/store.py#Store.with_lock", status="archived")
    code.remember("Theirs", "src/store.py#Store.with_lock", owner="other")
    code.remember("Kumquat", "src/store.py#Store.with_lock", sensitivity="local-only")
    code.edit("src/store.py", "return work()", "return None")

    assert found(code) == {}
    assert "kumquat" not in code.cli("stale", cwd=code.root).err.lower()


def test_confirming_what_still_holds_takes_it_off_the_list(code: CodeVault) -> None:
    memory = code.remember("Writes lock", "src/store.py#Store.with_lock")
    code.commit("remember")
    code.edit("src/store.py", "return work()", "return None")
    assert list(found(code)) == [memory]

    code.cli("confirm", memory, cwd=code.root)

    assert found(code) == {}


def test_each_file_of_the_code_is_read_once_for_the_whole_vault(
    code: CodeVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(6):
        code.remember(f"Lock {at}", "src/store.py#Store.with_lock", "src/store.py#Store.read", "src/pay.py")
    code.write("src/store.py", "# head\n" + (code.root / "src/store.py").read_text())
    read: list[str] = []
    real = CodeRoot.read

    def noted(self: CodeRoot, path: str) -> Any:
        read.append(path)
        return real(self, path)

    monkeypatch.setattr(CodeRoot, "read", noted)

    assert found(code) == {}
    assert sorted(read) in ([], ["src/pay.py", "src/store.py"])
    assert len(read) == len(set(read))


def test_code_drives_no_terminal(code: CodeVault) -> None:
    code.remember("Writes lock", "src/store.py#Store.with_lock")
    code.commit("remember")
    code.edit("src/store.py", "return work()", "return '\x1b[2J\u202e'")
    code.commit("evil \x1b[31m subject")

    out = code.cli("stale", cwd=code.root).out

    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "locks" not in out
    assert "evil" in out
