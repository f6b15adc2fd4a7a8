"""The ledger answers: the vault as it was, what differs, who wrote what, why a memory is there, what is not right."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text

A, B, C = "m-000000000a", "m-000000000b", "m-000000000c"


def commit(folder: Path, message: str, when: str = "", **environment: str) -> str:
    """Commit everything by hand, at a given time."""
    dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when} if when else {}
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message, env=os.environ | dates | environment)
    return git(folder, "rev-parse", "HEAD").strip()


def write(folder: Path, path: str, **fields: str) -> Path:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(note_text(**fields))
    return place


def ids(found: Any) -> list[str]:
    return [one["id"] for one in found["hits" if "hits" in found else "memories"]]


def by_id(found: Any) -> dict[str, list[Mapping[str, Any]]]:
    return {one["id"]: one["changes"] for one in found["memories"]}


def codes(found: Any, *severities: str) -> list[str]:
    return [one["code"] for one in found["findings"] if one["severity"] in (severities or ("error", "warning"))]


@pytest.fixture
def years(vault: Path) -> Path:
    """Three commits of 2020, 2021 and 2022: Tuesday, then Wednesday, then superseded."""
    write(vault, "global/deploys.md", id=A, title="Deploys", body="Ship on Tuesday.\n")
    commit(vault, "one", "2020-03-01T10:00:00+02:00")
    write(vault, "global/deploys.md", id=A, title="Deploys", body="Ship on Wednesday.\n", expires="2021-06-01")
    commit(vault, "two", "2021-03-01T10:00:00Z")
    write(vault, "global/new.md", id=B, title="Deploys now", body="Ship on Friday.\n", supersedes=f"[{A}]")
    commit(vault, "three", "2022-03-01T10:00:00Z")
    return vault


# As of


@pytest.mark.parametrize("when", ["HEAD~2", "2020-03-01", "2020-03-01T08:00:00Z", "2020-12-24 12:00:00Z"])
def test_search_list_show_and_surface_answer_as_the_vault_was(years: Path, cli: Cli, when: str) -> None:
    found = cli("search", "tuesday", "--as-of", when, "--json", cwd=years).json
    shown = cli("show", "Deploys", "--as-of", when, "--json", cwd=years).json["memory"]

    assert ids(found) == [A]
    assert found["hits"][0]["committed"] is True
    assert ids(cli("list", "--as-of", when, "--json", cwd=years).json) == [A]
    assert (shown["body"], shown["committed"]) == ("Ship on Tuesday.\n", True)
    assert "Tuesday" in cli("surface", "ship on tuesday", "--as-of", when, cwd=years).out
    assert cli("show", A, "--raw", "--as-of", when, cwd=years).out == git(years, "show", "HEAD~2:global/deploys.md")
    assert cli("search", "tuesday", "--json", cwd=years).json["hits"] == []


def test_the_moment_decides_what_has_expired_and_the_commit_what_is_superseded(years: Path, cli: Cli) -> None:
    assert ids(cli("list", "--as-of", "2021-05-31", "--json", cwd=years).json) == [A]
    assert ids(cli("list", "--as-of", "2021-06-02", "--json", cwd=years).json) == []
    assert ids(cli("list", "--as-of", "2021-06-02", "--status", "expired", "--json", cwd=years).json) == [A]
    assert ids(cli("list", "--as-of", "HEAD", "--status", "superseded", "--json", cwd=years).json) == [A]


def test_a_day_is_the_whole_day_where_the_commit_was_made(vault: Path, cli: Cli) -> None:
    write(vault, "global/late.md", id=A)
    commit(vault, "late in the evening", "2020-03-01T23:30:00-05:00")

    assert ids(cli("list", "--as-of", "2020-03-01", "--json", cwd=vault).json) == [A]
    assert "nothing was committed by 2020-02-29" in cli("list", "--as-of", "2020-02-29", cwd=vault, code=1).err


def test_what_another_branch_knew_was_not_known_here_before_the_merge(vault: Path, cli: Cli) -> None:
    write(vault, "global/one.md", id=A)
    commit(vault, "one", "2020-01-01T00:00:00Z")
    git(vault, "switch", "-q", "-c", "side")
    write(vault, "global/two.md", id=B)
    commit(vault, "two", "2020-02-01T00:00:00Z")
    git(vault, "switch", "-q", "main")
    write(vault, "global/three.md", id=C)
    commit(vault, "three", "2020-03-01T00:00:00Z")
    git(vault, "merge", "-q", "side", "-m", "merge")

    assert sorted(ids(cli("list", "--as-of", "2020-03-02", "--json", cwd=vault).json)) == [A, C]
    assert sorted(ids(cli("list", "--as-of", "HEAD", "--json", cwd=vault).json)) == [A, B, C]


def test_a_past_that_is_not_there_is_named(years: Path, cli: Cli) -> None:
    assert "no commit named 'nonsense'" in cli("search", "x", "--as-of", "nonsense", cwd=years, code=1).err
    assert "history begins at 2020-03-01T10:00:00+02:00" in beginning_told(cli, years, "2019-01-01")
    assert "not a date or time" in cli("list", "--as-of", "2020-13-01", cwd=years, code=2).err
    refused = cli("show", A, "--private", "--as-of", "HEAD", cwd=years, code=2)
    assert "local-only notes have no history" in refused.err


def beginning_told(cli: Cli, folder: Path, when: str) -> str:
    # `init` committed at the real time, which lies after every other: only the root counts as the beginning.
    git(folder, "checkout", "-q", "--orphan", "old")
    commit(folder, "root", "2020-03-01T10:00:00+02:00")
    return cli("list", "--as-of", when, cwd=folder, code=1).err


def test_looking_back_shows_no_more_than_looking_now_and_writes_nothing(vault: Path, cli: Cli) -> None:
    write(vault, "project/acme/secret.md", id=A, title="Secret", scope="project", scope_id="acme")
    commit(vault, "one")
    cli("list", cwd=vault)
    before = {path: path.read_bytes() for path in (vault / ".git").rglob("*") if path.is_file()}

    for verb in (("search", "body"), ("list",), ("surface", "body")):
        assert "Secret" not in cli(*verb, "--as-of", "HEAD", cwd=vault).out
    hidden = cli("show", A, "--as-of", "HEAD", cwd=vault, code=1).err
    absent = cli("show", B, "--as-of", "HEAD", cwd=vault, code=1).err
    seen = cli("--context", "project=acme", "show", A, "--as-of", "HEAD", "--json", cwd=vault).json["memory"]

    assert hidden == absent.replace(B, A)
    assert seen["title"] == "Secret"
    assert {path: path.read_bytes() for path in (vault / ".git").rglob("*") if path.is_file()} == before


def test_the_past_scores_as_it_did_whatever_the_index_of_today_holds(vault: Path, cli: Cli, tmp_path: Path) -> None:
    for number in range(8):
        write(vault, f"global/{number}.md", id=f"m-000000000{number}", body=f"Ship {'fast ' * number}{number}.\n")
    commit(vault, "one")
    then = git(vault, "rev-parse", "HEAD").strip()
    cli("search", "ship", cwd=vault)
    (vault / "global/3.md").unlink()
    write(vault, "global/4.md", id="m-0000000004", body="Something else.\n")
    write(vault, "global/9.md", id="m-0000000009", body="Ship ship ship fast.\n")
    git(vault, "mv", "global/5.md", "global/moved.md")
    commit(vault, "two")
    git(tmp_path, "clone", "-q", str(vault), "old")
    git(tmp_path / "old", "checkout", "-q", then)

    def hits(*more: str, cwd: Path) -> list[tuple[Any, ...]]:
        found = cli("search", "ship fast", *more, "--json", cwd=cwd).json["hits"]
        return [(one["id"], one["path"], one["score"], one["snippet"], one["committed"]) for one in found]

    expected = hits(cwd=tmp_path / "old")
    today = hits(cwd=vault)

    assert len(expected) == 8
    assert hits("--as-of", then, cwd=vault) == expected
    assert hits("--as-of", then, cwd=tmp_path / "old") == expected
    assert hits(cwd=vault) == today


def test_a_path_from_the_current_folder_names_a_note_now_and_then(years: Path, cli: Cli) -> None:
    git(years, "mv", "global/deploys.md", "global/renamed.md")

    assert cli("show", "renamed.md", "--json", cwd=years / "global").json["memory"]["id"] == A
    assert cli("show", "deploys.md", "--as-of", "HEAD~1", "--json", cwd=years / "global").json["memory"]["id"] == A
    assert cli("show", "../global/renamed.md", "--json", cwd=years / "global").json["memory"]["id"] == A


def test_raw_with_json_holds_the_file_as_it_is(vault: Path, cli: Cli) -> None:
    place = write(vault, "global/a.md", id=A)

    assert cli("show", A, "--raw", "--json", cwd=vault).json["raw"] == place.read_text()
    place.write_bytes(place.read_bytes() + b"\xff")
    broken = cli("show", A, "--raw", "--json", cwd=vault).json
    assert broken["raw"] is None
    assert broken["raw_base64"]


# Differences


def test_diff_tells_changes_as_what_they_are(years: Path, cli: Cli) -> None:
    found = cli("diff", "2020-03-01", "HEAD", "--json", cwd=years).json

    assert (found["from"], found["to"]) == tuple(git(years, "rev-parse", "HEAD~2", "HEAD").split())
    assert by_id(found) == {
        A: [
            {"kind": "superseded", "by": B},
            {"kind": "field", "field": "expires", "old": None, "new": "2021-06-01"},
            {"kind": "body", "lines_added": 1, "lines_removed": 1},
        ],
        B: [{"kind": "added"}, {"kind": "supersedes", "ids": [A]}],
    }


def test_diff_of_one_revision_looks_at_the_files_as_they_are(years: Path, cli: Cli) -> None:
    write(years, "global/deploys.md", id=A, title="Deploys", body="Ship on Wednesday.\n", status="retracted")
    (years / "global/new.md").unlink()

    said = cli("diff", "HEAD", cwd=years)
    found = cli("diff", "HEAD", "--json", cwd=years).json

    assert found["to"] is None
    assert [one["kind"] for one in by_id(found)[A]] == ["retracted", "field"]
    assert by_id(found)[B] == [{"kind": "removed"}]
    assert f"{A}  Deploys\n    retracted\n    expires: 2021-06-01 -> nothing\n" in said.out
    assert "no memory differs" in cli("diff", "HEAD", "HEAD", cwd=years).err


def test_a_move_across_the_boundary_is_told_by_its_visible_side_alone(vault: Path, cli: Cli) -> None:
    write(vault, "global/a.md", id=A, title="Shared")
    commit(vault, "one")
    write(vault, "global/a.md", id=A, title="Ours", scope="project", scope_id="acme")
    commit(vault, "two")

    outside = cli("diff", "HEAD~1", "--json", cwd=vault)
    back = cli("diff", "HEAD", "HEAD~1", "--json", cwd=vault)
    inside = cli("--context", "project=acme", "diff", "HEAD~1", "--json", cwd=vault).json

    assert by_id(outside.json) == {A: [{"kind": "removed"}]}
    assert by_id(back.json) == {A: [{"kind": "added"}]}
    assert "acme" not in outside.out
    assert by_id(inside)[A][0] == {"kind": "scope", "old": "global", "new": "project:acme"}


# Blame and log


def test_blame_names_the_last_change_of_each_field_and_line_through_a_rename(vault: Path, cli: Cli) -> None:
    made = cli("new", "Deploys", "--scope", "global", "--body", "One.\nTwo.\nThree.", "--json", cwd=vault).json
    changed = cli("--actor", "agent:helper", "set", made["id"], "importance=0.5", "--json", cwd=vault).json
    git(vault, "mv", made["path"], "global/renamed.md")
    (vault / "global/renamed.md").write_text((vault / "global/renamed.md").read_text().replace("Two.", "2."))
    by_hand = commit(vault, "by hand")
    (vault / "global/renamed.md").write_text((vault / "global/renamed.md").read_text() + "Four.\n")

    found = cli("blame", "Deploys", "--json", cwd=vault).json
    fields = {one["field"]: one for one in found["fields"]}

    assert fields["title"]["commit"] == made["commit"]
    assert (fields["importance"]["commit"], fields["importance"]["actor"]) == (changed["commit"], "agent:helper")
    assert [(one["text"], one["commit"]) for one in found["body"]] == [
        ("One.", made["commit"]),
        ("2.", by_hand),
        ("Three.", made["commit"]),
        ("Four.", None),
    ]
    assert "not committed yet" in cli("blame", "Deploys", cwd=vault).out


def test_blame_follows_both_sides_of_a_merge(vault: Path, cli: Cli) -> None:
    lines = [f"Line {number}.\n" for number in range(9)]
    write(vault, "global/a.md", id=A, body="".join(lines))
    base = commit(vault, "base")
    git(vault, "switch", "-q", "-c", "side")
    write(vault, "global/a.md", id=A, body="".join(["Theirs.\n", *lines[1:]]))
    theirs = commit(vault, "theirs")
    git(vault, "switch", "-q", "main")
    write(vault, "global/a.md", id=A, body="".join([*lines[:8], "Ours.\n"]))
    ours = commit(vault, "ours")
    git(vault, "merge", "-q", "side", "-m", "merge")

    found = cli("blame", A, "--json", cwd=vault).json["body"]

    assert [one["commit"] for one in found] == [theirs, base, ours]


def test_a_deleted_memory_still_has_its_log_by_any_name(vault: Path, cli: Cli) -> None:
    made = cli("new", "Deploys", "--scope", "global", "--json", cwd=vault).json
    (vault / made["path"]).unlink()
    unsaid = [one["op"] for one in cli("log", "Deploys", "--json", cwd=vault).json["entries"]]
    commit(vault, "away with it")

    for name in (made["id"], made["id"][:8], "deploys", made["path"], (vault / made["path"]).name):
        found = cli("log", name, "--json", cwd=vault / "global" if name.endswith(".md") else vault, code=None)
        if found.code == 0:
            assert [one["op"] for one in found.json["entries"]] == ["delete", "new"]
        else:
            assert not (vault / "global").exists()
    assert unsaid == ["new"]
    assert "no memory called 'nonsense'" in cli("log", "nonsense", cwd=vault, code=1).err


def test_a_deleted_memory_of_another_project_has_no_log_here(vault: Path, cli: Cli) -> None:
    place = write(vault, "project/acme/a.md", id=A, title="Secret", scope="project", scope_id="acme")
    commit(vault, "one")
    place.unlink()
    commit(vault, "two")

    hidden = cli("log", A, cwd=vault, code=1).err
    seen = cli("--context", "project=acme", "log", A, "--json", cwd=vault).json["entries"]

    assert hidden == cli("log", B, cwd=vault, code=1).err.replace(B, A)
    assert [one["op"] for one in seen] == ["delete", "new"]
    assert A not in cli("log", "--json", cwd=vault).out


# Why


def test_why_tells_source_authors_chain_links_and_score(vault: Path, cli: Cli) -> None:
    old = cli("new", "Staging runs pg13", "--scope", "global", "--source", "infra/a.yaml", "--json", cwd=vault).json
    new = cli("supersede", old["id"], "Staging runs pg16", "--body", "See [[Backups]].", "--json", cwd=vault).json
    other = cli("new", "Backups", "--scope", "global", "--json", cwd=vault).json["id"]
    cli("link", other, "supports", new["id"], cwd=vault)

    found = cli("why", new["id"], "which postgres on staging", "--json", cwd=vault).json

    assert found["memory"]["id"] == new["id"]
    assert [(one["op"], one["author"], one["signature"]) for one in found["history"]] == [("supersede", "Dana", None)]
    assert [(one["id"], one["head"], one["stage"]) for one in found["chain"]] == [
        (old["id"], False, "superseded"),
        (new["id"], True, "active"),
    ]
    assert found["links"]["in"] == [{"type": "supports", "id": other, "title": "Backups"}]
    assert [(one["id"], one["by"]) for one in found["links"]["out"]] == [(other, "wikilink")]
    assert (found["score"]["matched"], found["score"]["rank"], found["score"]["why_not"]) == (["staging"], 1, [])
    assert found["score"]["score"] == pytest.approx(sum(found["score"]["signals"].values()), abs=1e-5)
    assert (found["conflicts"], found["surfaced"], found["feedback"]["useful"]) == ([], [], 0)
    assert cli("why", old["id"], "--json", cwd=vault).json["memory"]["provenance"][0]["source"] == "infra/a.yaml"


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_why_says_of_a_signed_commit_what_git_says_of_its_signature(vault: Path, cli: Cli, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    (tmp_path / "allowed").write_text(f"dana@example.org {key.with_suffix('.pub').read_text()}")
    made = cli("new", "A", "--scope", "global", "--json", cwd=vault).json["id"]
    for name, value in {
        "commit.gpgsign": "true",
        "gpg.format": "ssh",
        "user.signingkey": str(key),
        "gpg.ssh.allowedSignersFile": str(tmp_path / "allowed"),
    }.items():
        git(vault, "config", name, value)
    cli("set", made, "importance=0.5", cwd=vault)

    found = cli("why", made, "--json", cwd=vault).json["history"]

    assert [one["signature"] for one in found] == ["good", None]
    assert "signature good" in cli("why", made, cwd=vault).out


def test_the_score_of_why_is_the_score_of_search(vault: Path, cli: Cli) -> None:
    for number in range(5):
        cli("new", f"Staging {'database ' * number}{number}", "--scope", "global", cwd=vault)

    for rank, hit in enumerate(cli("search", "staging database", "--json", cwd=vault).json["hits"], 1):
        score = cli("why", hit["id"], "staging database", "--json", cwd=vault).json["score"]
        assert (score["score"], score["signals"], score["rank"]) == (hit["score"], hit["signals"], rank)


def test_why_says_in_words_why_a_query_would_not_find_it(vault: Path, cli: Cli) -> None:
    made = cli("new", "Staging runs pg13", "--scope", "global", "--json", cwd=vault).json["id"]
    nothing = cli("why", made, "kittens", "--json", cwd=vault).json["score"]
    cli("retract", made, cwd=vault)
    retracted = cli("why", made, "staging", "--json", cwd=vault).json["score"]

    assert (nothing["score"], nothing["why_not"]) == (None, ["no word of the query stands in it"])
    assert retracted["why_not"] == ["it is retracted: only 'search --status retracted' finds it"]
    assert retracted["rank"] is None


def test_why_names_nothing_that_this_context_may_not_see(vault: Path, cli: Cli) -> None:
    write(vault, "global/a.md", id=A, title="Shared", relations=f"[{{type: supports, target: {B}}}]")
    link = f"[{{type: contradicts, target: {A}}}]"
    write(vault, "project/acme/b.md", id=B, title="Secret", scope="project", scope_id="acme", relations=link)
    commit(vault, "one")

    outside = cli("why", A, "body", "--json", cwd=vault)
    inside = cli("--context", "project=acme", "why", A, "--json", cwd=vault).json

    assert "Secret" not in outside.out
    assert (outside.json["links"]["in"], outside.json["conflicts"]) == ([], [])
    assert outside.json["links"]["out"][0]["title"] is None
    assert [one["id"] for one in inside["links"]["in"]] == [B]
    absent = cli("why", C, cwd=vault, code=1).err
    assert cli("why", B, cwd=vault, code=1).err == absent.replace(C, B)


# Verify


def test_every_way_of_writing_leaves_a_vault_that_verifies(vault: Path, cli: Cli) -> None:
    def new(title: str, *more: str) -> str:
        return str(cli("new", title, "--scope", "global", *more, "--json", cwd=vault).json["id"])

    one, two, three = new("One", "--tag", "a"), new("Two"), new("Three")
    new("one", "--tier", "core")  # confirms, since the text is there
    cli("set", one, "importance=0.5", cwd=vault)
    cli("unset", one, "importance", cwd=vault)
    cli("confirm", one, cwd=vault)
    cli("link", two, "contradicts", one, cwd=vault)
    cli("link", two, "contradicts", one, "--weight", "0.5", cwd=vault)
    cli("unlink", two, "contradicts", one, cwd=vault)
    cli("supersede", two, "Two and a half", cwd=vault)
    cli("undo", cwd=vault)
    cli("retract", three, "--no-infer", "x", "--reason", "wrong", cwd=vault)
    cli("restore", three, cwd=vault)
    cli("archive", three, cwd=vault)
    cli("restore", three, cwd=vault)
    cli("useful", three, cwd=vault)
    cli("irrelevant", three, cwd=vault)
    cli("delete", three, cwd=vault)
    cli("--context", "project=acme", "set", two, "scope=project", "scope-id=acme", cwd=vault)

    found = cli("verify", "--json", cwd=vault).json

    assert codes(found) == []
    assert found["ok"] is True


def test_verify_says_so_when_files_and_history_agree(vault: Path, cli: Cli) -> None:
    cli("new", "A", "--scope", "global", cwd=vault)

    done = cli("verify", cwd=vault)

    assert done.out.endswith("1 note, 1 commit: files and history agree\n")
    assert set(cli("verify", "--json", cwd=vault).json["findings"][0]) == {
        "code",
        "severity",
        "message",
        "hint",
        "fixable",
    }


def test_bytes_that_no_commit_has_are_told_even_when_size_and_time_are_the_same(vault: Path, cli: Cli) -> None:
    made = cli("new", "A", "--scope", "global", "--body", "Ship on Tuesday.", "--json", cwd=vault).json
    place = vault / made["path"]
    stat = place.stat()
    cli("verify", cwd=vault)
    place.write_text(place.read_text().replace("Tuesday", "Sundays"))
    os.utime(place, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    found = cli("verify", "--json", cwd=vault, code=1).json

    assert codes(found, "error") == ["RV611"]
    assert found["findings"][0]["message"] == f"{made['path']} has other bytes than history holds"


def test_new_missing_and_staged_notes_are_told_apart(vault: Path, cli: Cli) -> None:
    made = cli("new", "A", "--scope", "global", "--json", cwd=vault).json
    (vault / made["path"]).unlink()
    write(vault, "global/b.md", id=B)
    write(vault, "global/c.md", id=C)
    git(vault, "add", "global/c.md")
    (vault / "remvault.toml").write_text((vault / "remvault.toml").read_text() + "# mine\n")

    said = [one["message"] for one in cli("verify", "--json", cwd=vault, code=1).json["findings"]]

    assert f"{made['path']} is gone, and no commit removed it" in said
    assert "global/b.md is in no commit" in said
    assert "global/c.md is new: it is staged for a commit" in said
    assert "remvault.toml has other bytes than history holds" in said


def test_what_waits_for_its_commit_is_not_held_against_anybody(vault: Path, cli: Cli) -> None:
    cli("new", "A", "--scope", "global", cwd=vault)
    git(vault, "checkout", "-q", "--detach")
    cli("new", "B", "--scope", "global", cwd=vault)

    found = cli("verify", "--json", cwd=vault).json

    assert codes(found, "info").count("RV610") == 1


def test_staged_operations_of_an_embedded_vault_verify(repo: Path, cli: Cli) -> None:
    (repo / "app.py").write_text("pass\n")
    commit(repo, "code")
    cli("init", "--embedded", "--project", "acme", cwd=repo)
    cli("new", "A", cwd=repo)

    assert codes(cli("verify", "--json", cwd=repo).json, "error") == []
    commit(repo, "with the memory")
    assert codes(cli("verify", "--json", cwd=repo).json) == []


def test_line_ends_that_git_itself_converts_are_no_difference(vault: Path, cli: Cli) -> None:
    (vault / ".gitattributes").unlink()
    git(vault, "config", "core.autocrlf", "true")
    place = write(vault, "global/a.md", id=A)
    place.write_bytes(place.read_bytes().replace(b"\n", b"\r\n"))
    commit(vault, "one")

    assert codes(cli("verify", "--json", cwd=vault).json, "error") == []


def test_a_trailer_that_does_not_fit_its_change_is_told(vault: Path, cli: Cli) -> None:
    one = cli("new", "One", "--scope", "global", "--json", cwd=vault).json
    two = cli("new", "Two", "--scope", "global", "--json", cwd=vault).json
    for made in (one, two):
        (vault / made["path"]).write_text((vault / made["path"]).read_text() + "Slipped in.\n")
    commit(vault, f"confirm: One\n\nRemvault-Op: confirm\nRemvault-Memory: {one['id']}")

    found = cli("verify", "--json", cwd=vault, code=1).json
    said = [item["message"] for item in found["findings"] if item["severity"] == "error"]

    assert sorted(codes(found, "error")) == ["RV614", "RV615", "RV615"]
    assert any(f"also changes {two['path']}, which it does not name" in message for message in said)
    assert any(f"says confirm, but of {one['path']} it changes: body" in message for message in said)


def test_commits_by_hand_are_remarked_and_authors_held_against_the_users_list(
    vault: Path, cli: Cli, home: Path
) -> None:
    write(vault, "global/a.md", id=A)
    commit(vault, "by hand")
    write(vault, "global/b.md", id=B)
    commit(vault, "by a stranger", GIT_AUTHOR_NAME="Mallory", GIT_AUTHOR_EMAIL="m@example.org")
    unlisted = cli("verify", "--json", cwd=vault).json
    settings = home / "config" / "remvault" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[authors]\n"dana@example.org" = "user"\n')

    listed = cli("verify", "--json", cwd=vault, code=1).json

    assert sorted(codes(unlisted, "info")) == ["RV616", "RV617"]
    assert codes(listed, "error") == ["RV612"]
    assert "Mallory <m@example.org>" in listed["findings"][0]["message"]
    settings.write_text('[authors]\nDana = "user"\nMallory = "low"\n')
    assert codes(cli("verify", "--json", cwd=vault).json) == ["RV618"]


def test_a_rolled_back_history_is_told_until_the_person_accepts_it(vault: Path, cli: Cli) -> None:
    cli("new", "A", "--scope", "global", cwd=vault)
    cli("new", "B", "--scope", "global", cwd=vault)
    git(vault, "reset", "-q", "--hard", "HEAD~1")

    first = cli("verify", "--json", cwd=vault, code=1).json
    cli("new", "C", "--scope", "global", cwd=vault)  # a write on top does not cover it up
    second = cli("verify", "--json", cwd=vault, code=1).json

    assert codes(first, "error") == codes(second, "error") == ["RV613"]
    assert "no longer has 1 commit on notes" in first["findings"][0]["message"]
    assert codes(cli("verify", "--accept", "--json", cwd=vault).json, "error") == []
    assert codes(cli("verify", "--json", cwd=vault).json, "error") == []


def test_an_older_copy_in_place_of_the_repository_is_told(vault: Path, cli: Cli, tmp_path: Path) -> None:
    cli("new", "A", "--scope", "global", cwd=vault)
    shutil.copytree(vault, tmp_path / "older")
    cli("new", "B", "--scope", "global", cwd=vault)
    shutil.rmtree(vault)
    shutil.copytree(tmp_path / "older", vault)

    found = cli("verify", "--json", cwd=vault, code=1).json

    assert codes(found, "error") == ["RV613"]
    assert "an older copy" in found["findings"][0]["message"]


def test_a_rebase_that_keeps_every_note_loses_nothing(vault: Path, cli: Cli) -> None:
    cli("new", "A", "--scope", "global", cwd=vault)
    git(vault, "switch", "-q", "-c", "work")
    cli("new", "B", "--scope", "global", cwd=vault)
    cli("verify", cwd=vault)
    git(vault, "switch", "-q", "main")
    cli("new", "C", "--scope", "global", cwd=vault)
    git(vault, "switch", "-q", "work")
    git(vault, "rebase", "-q", "main")

    assert codes(cli("verify", "--json", cwd=vault).json) == []


def test_a_branch_that_was_merged_and_deleted_lost_nothing_and_one_only_deleted_did(vault: Path, cli: Cli) -> None:
    cli("new", "A", "--scope", "global", cwd=vault)
    for branch in ("merged", "dropped"):
        git(vault, "switch", "-q", "-c", branch, "main")
        cli("new", branch, "--scope", "global", cwd=vault)
    git(vault, "switch", "-q", "main")
    git(vault, "merge", "-q", "--ff-only", "merged")
    git(vault, "branch", "-q", "-D", "merged", "dropped")

    found = cli("verify", "--json", cwd=vault, code=1).json

    assert codes(found, "error") == ["RV613"]
    assert "branch dropped" in found["findings"][0]["message"]


def test_duplicate_ids_and_skipped_files_are_told(vault: Path, cli: Cli) -> None:
    write(vault, "global/a.md", id=A)
    write(vault, "global/b.md", id=A)
    (vault / "global" / "link.md").symlink_to("a.md")
    commit(vault, "one")

    found = cli("verify", "--json", cwd=vault, code=1).json

    assert codes(found) == ["RV105", "RV105", "RV601"]


def test_verify_names_no_note_that_this_context_may_not_see(vault: Path, cli: Cli) -> None:
    place = write(vault, "project/acme/secret.md", id=A, title="Secret", scope="project", scope_id="acme")
    commit(vault, "one")
    place.write_text(place.read_text() + "more\n")
    write(vault, "global/mine.md", id=B, sensitivity="local-only")

    outside = cli("--actor", "agent:x", "verify", "--json", cwd=vault, code=1)
    inside = cli("--context", "project=acme", "verify", "--json", cwd=vault, code=1)

    assert "secret" not in outside.out
    assert "mine.md" not in outside.out
    assert codes(outside.json, "error") == ["RV611"]
    assert "project/acme/secret.md" in inside.out


def test_verify_outside_git_says_that_there_is_no_history(tmp_path: Path, vault: Path, cli: Cli) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(vault, bare, ignore=shutil.ignore_patterns(".git"))

    done = cli("--vault", str(bare), "verify", "--json", cwd=tmp_path, code=1)

    assert json.loads(done.out)["error"]["code"] == "no_history"
