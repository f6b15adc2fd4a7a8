"""What is local-only stays on this disk and with the person: looked for byte by byte after everything has run."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from remvault.surfaces.cli.program import VERBS
from tests.surfaces.conftest import ROOT, Cli, Done
from tests.vaults import git, note_text

# Words that stand nowhere else; each in another part of the note.
TITLE, BODY, TAG, REASON = "zyxquartz", "wvuonyxes", "tsrjasper", "qponacres"
HAND, HAND_ID = "ihgbasalt", "m-handmade01"

# Runs of every verb; NAME stands for how the note is called. What a verb does not take ends with 2, which is fine.
RUNS: dict[str, list[tuple[str, ...]]] = {
    "init": [()],
    "demo": [],
    "new": [("Public", "--scope", "global", "--body", "plain"), ("A", "--scope", "global", "--private", "--body", "b")],
    "edit": [("NAME",), ("NAME", "--private")],
    "set": [("NAME", "importance=0.5"), ("NAME", "importance=0.5", "--private")],
    "unset": [("NAME", "tags"), ("NAME", "tags", "--private")],
    "supersede": [("NAME", "Newer"), ("NAME", "Newer", "--private")],
    "confirm": [("NAME",), ("NAME", "--private")],
    "retract": [("NAME",), ("NAME", "--private")],
    "archive": [("NAME",), ("NAME", "--private")],
    "restore": [("NAME",), ("NAME", "--private")],
    "delete": [("NAME", "--dry-run"), ("NAME", "--private", "--dry-run")],
    "link": [("NAME", "supports", "PUBLIC"), ("PUBLIC", "supports", "NAME")],
    "unlink": [("NAME", "supports", "PUBLIC"), ("PUBLIC", "supports", "NAME")],
    "clear": [("--dry-run",), ("--dry-run", "--private"), ("--scope", "global", "--dry-run")],
    "undo": [("--dry-run",), ("NAME",)],
    "search": [("QUERY",), ("QUERY", "--private"), ("QUERY", "--explain"), ("QUERY", "--literal")],
    "catalog": [(), ("QUERY",)],
    "surface": [("QUERY",), ("QUERY", "--explain"), ("QUERY", "--format", "json")],
    "list": [(), ("--sort", "title"), ("--status", "archived")],
    "show": [("NAME",), ("NAME", "--private"), ("NAME", "--raw", "--private")],
    "log": [(), ("NAME",)],
    "diff": [("HEAD~1",), ("HEAD~1", "HEAD")],
    "blame": [("NAME",)],
    "why": [("NAME",), ("NAME", "QUERY"), ("NAME", "--private")],
    "verify": [()],
    "conflicts": [(), ("--detect",)],
    "resolve": [("NAME", "--both"), ("NAME", "PUBLIC", "--keep", "PUBLIC")],
    "useful": [("NAME",), ("NAME", "--private")],
    "irrelevant": [("NAME",)],
    "stale": [()],
    "stats": [(), ("--private",)],
    "check": [(), ("--private",), ("--staged",), ("--fix", "--dry-run")],
    "doctor": [(), ("--fix",)],
    "status": [()],
    "reindex": [()],
    "watch": [("--once",)],
    "context": [(), ("set", "project", "acme", "--dry-run")],
    "settings": [()],
    "hooks": [("install",), ("uninstall",), ("install",)],
}


@pytest.fixture(params=["standalone", "embedded"])
def place(request: pytest.FixtureRequest, repo: Path, cli: Cli) -> Path:
    """A repository with a vault, a person's local-only memory, a like one written by hand, and a public one."""
    if request.param == "embedded":
        (repo / "main.py").write_text("")
        git(repo, "add", ".")
        git(repo, "commit", "-qm", "code")
        cli("init", "--embedded", "--project", "acme", cwd=repo)
        git(repo, "commit", "-qm", "vault")
    else:
        cli("init", cwd=repo)
    cli("hooks", "install", cwd=repo)
    cli("new", "Public one", "--scope", "global", "--body", "plain words", cwd=repo)
    given = ("--scope", "global", "--body", f"The {BODY} text, plain words.", "--tag", TAG, "--reason", REASON)
    cli("new", f"The {TITLE} matter", *given, "--private", cwd=repo)
    by_hand = note_text(f"By hand {HAND}", id=HAND_ID, sensitivity="local-only", body=f"{HAND} plain words\n")
    vault = repo / "vault" if request.param == "embedded" else repo
    (vault / "by-hand.md").write_text(by_hand)  # outside private/: an error, and still not for others
    return repo


def private_folder(repo: Path) -> Path:
    found = [path for path in (repo / "private", *(repo / ".git/remvault").glob("*/private")) if path.is_dir()]
    assert len(found) == 1
    return found[0]


def git_objects(repo: Path) -> bytes:
    done = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=repo, capture_output=True, check=True
    )
    return done.stdout


def places_it_may_not_be(repo: Path, home: Path) -> Iterator[tuple[str, bytes]]:
    """Everything on disk that a local-only text could have leaked into, and what is compressed also unpacked."""
    yield "git objects", git_objects(repo)
    private = private_folder(repo)
    for base in (repo, home):
        for path in sorted(base.rglob("*")):
            if not path.is_file() or path.is_relative_to(private) or path.name == "by-hand.md":
                continue
            data = path.read_bytes()
            yield str(path), data
            try:
                yield f"{path} unpacked", zlib.decompress(data)
            except zlib.error:
                continue
    for path in sorted((repo / ".git").rglob("*")):
        yield "a name", os.fsencode(path.name) if not path.is_relative_to(private) else b""


def found_in(data: bytes, *words: str) -> list[str]:
    """The words that stand in some bytes, in any of the encodings that matter."""
    folded = data.lower()
    return [
        word for word in words if any(word.encode(coding) in folded for coding in ("utf-8", "utf-16-le", "utf-32-le"))
    ]


def runs(public: str, names: tuple[str, ...], query: str) -> Iterator[tuple[str, ...]]:
    for verb, variants in RUNS.items():
        for variant in variants:
            for name in names if "NAME" in variant else names[:1]:
                words = {"NAME": name, "PUBLIC": public, "QUERY": query}
                yield (verb, *(words.get(word, word) for word in variant))


def test_every_verb_is_run() -> None:
    assert set(RUNS) == set(VERBS)


def test_no_verb_lets_an_agent_see_it_and_nothing_but_its_folder_holds_it(
    place: Path, cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_EDITOR", "true")
    note = next(private_folder(place).glob("*.md"))
    memory_id = note.stem[-12:]
    assert found_in(note.read_bytes(), TITLE, BODY, TAG) == [TITLE, BODY, TAG]
    public = cli("list", "--json", cwd=place).json["memories"][0]["id"]
    names = (memory_id, memory_id[:7], HAND_ID)
    told: list[tuple[tuple[str, ...], Done]] = []

    for actor, called, form in (("agent:coder", names, ("--json",)), ("tool:linter", names[:1], ())):
        for arguments in runs(public, called, "plain words matter text"):
            told.append((arguments, cli("--actor", actor, *arguments, *form, cwd=place, code=None)))

    for arguments, done in told:
        assert done.code in (0, 1, 2), arguments
        leaked = found_in((done.out + done.err).encode(), TITLE, BODY, TAG, REASON, HAND)
        assert not leaked, f"{arguments}: {leaked}\n{done.out}\n{done.err}"
        asked = " ".join(arguments)
        if memory_id not in asked:
            assert memory_id not in done.out + done.err, arguments
        if HAND_ID not in asked:
            assert HAND_ID not in done.out, arguments
        if "--private" in arguments:
            assert done.code != 0, f"{arguments}: {done.out}"
    for where, data in places_it_may_not_be(place, home):
        assert not found_in(data, TITLE, BODY, TAG, REASON, HAND), where
        assert memory_id.encode() not in data or "usage" not in where, where
    assert note.is_file()


def test_a_persons_verbs_leave_no_trace_of_it_either(
    place: Path, cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_EDITOR", "true")
    note = next(private_folder(place).glob("*.md"))
    memory_id = note.stem[-12:]
    public = cli("list", "--json", cwd=place).json["memories"][0]["id"]

    for arguments in runs(public, (memory_id,), f"plain {BODY}"):
        done = cli(*arguments, cwd=place, code=None)
        assert done.code != 3, arguments
        if "--private" not in arguments:
            assert not found_in((done.out + done.err).encode(), TITLE, TAG, HAND), arguments
        cli(*arguments, "--reason", REASON, cwd=place, code=None)  # where a verb takes one

    for where, data in places_it_may_not_be(place, home):
        # Their queries hold a word of the body: of those a digest is kept.
        assert not found_in(data, TITLE, BODY, TAG, HAND), where


def test_hooks_and_crashes_say_nothing_of_it(place: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    note = next(private_folder(place).glob("*.md"))
    (place / "copy.md").write_bytes(note.read_bytes())
    git(place, "add", "-f", "copy.md")
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    said = b""
    for debug in ("0", "1"):
        done = subprocess.run(
            ["git", "commit", "-m", "x"], cwd=place, env=env | {"REMVAULT_DEBUG": debug}, capture_output=True
        )
        assert done.returncode != 0
        said += done.stdout + done.stderr
    git(place, "rm", "-q", "--cached", "copy.md")
    for event in ("pre-commit", "prepare-commit-msg", "commit-msg"):
        hook = subprocess.run(
            [sys.executable, "-m", "remvault.surfaces.hooks", event, "copy.md"], cwd=place, env=env, capture_output=True
        )
        said += hook.stdout + hook.stderr

    assert not found_in(said, TITLE, BODY, TAG, HAND)


def test_private_is_refused_for_agents_with_one_answer_whatever_is_there(place: Path, cli: Cli) -> None:
    memory_id = next(private_folder(place).glob("*.md")).stem[-12:]
    for verb in ("show", "confirm", "delete"):
        real = cli("--actor", "agent:x", verb, memory_id, "--private", cwd=place, code=1)
        none = cli("--actor", "agent:x", verb, "m-nothing0000", "--private", cwd=place, code=1)
        assert real.err == none.err
    before = sorted(private_folder(place).iterdir())
    cli("--actor", "agent:x", "new", "Mine", "--scope", "global", "--private", cwd=place, code=1)
    assert sorted(private_folder(place).iterdir()) == before


def test_the_same_text_from_an_agent_confirms_no_local_only_note(place: Path, cli: Cli) -> None:
    note = next(private_folder(place).glob("*.md"))
    before = note.read_bytes()
    same = ("new", f"The {TITLE} matter", "--scope", "global", "--body", f"The {BODY} text, plain words.", "--json")

    made = cli("--actor", "agent:x", *same, cwd=place).json

    assert made["op"] == "new"
    assert note.read_bytes() == before


def test_check_private_is_for_the_person_and_judges_what_check_never_sees(place: Path, cli: Cli) -> None:
    folder = private_folder(place)
    (folder / "broken.md").write_text(note_text("Broken", scope="planet", sensitivity="local-only"))
    (folder / "elsewhere.md").write_text(
        note_text("Else", scope="project", scope_id="other", type="nonsense", sensitivity="local-only")
    )

    found = cli("check", "--private", "--json", cwd=place, code=1).json
    usual = cli("check", "--json", cwd=place, code=None).json

    assert [one["code"] for one in found["problems"]] == ["RV102"]
    assert found["problems"][0]["path"].endswith("private/broken.md")
    assert found["notes"] == 2
    assert not [one for one in usual["problems"] if "broken" in one["path"]]
    assert "for a person only" in cli("--actor", "agent:x", "check", "--private", cwd=place, code=1).err
    cli("check", "--private", "--fix", cwd=place, code=2)


def test_r03_a_mark_before_the_block_hides_nothing(place: Path, cli: Cli) -> None:
    vault = place / "vault" if (place / "vault").is_dir() else place
    (vault / "marked.md").write_text("\ufeff" + note_text("Marked", id="m-marked", sensitivity="local-only"))

    for verb in (("search", "marked"), ("surface", "marked"), ("list",)):
        assert "m-marked" not in cli(*verb, "--json", cwd=place).out
    git(place, "add", "-f", str(vault / "marked.md"))
    refused = subprocess.run(["git", "commit", "-m", "x"], cwd=place, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "RV407" in refused.stderr
