"""What is promised whatever happens: nothing lost, nothing stale, nothing of the person's touched."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import remvault
from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text

WRITER = """
import sys, remvault
vault = remvault.open_vault(sys.argv[1])
for number in range(50):
    written = remvault.new(vault, f"Note {sys.argv[2]}.{number}", scope="global")
    assert written.outcome.committed, written.outcome
"""


def test_eight_processes_adding_fifty_notes_each_lose_nothing(vault: Path) -> None:
    before = int(git(vault, "rev-list", "--count", "HEAD"))

    def write(number: int) -> int:
        return subprocess.run([sys.executable, "-c", WRITER, str(vault), str(number)]).returncode

    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(write, range(8)))

    assert codes == [0] * 8
    assert len(list(vault.rglob("note-*.md"))) == 400
    assert int(git(vault, "rev-list", "--count", "HEAD")) - before == 400
    assert git(vault, "fsck", "--strict", "--no-dangling") == ""
    assert git(vault, "status", "--porcelain") == ""
    opened = remvault.open_vault(str(vault))
    assert len(remvault.list_memories(opened).memories) == 400


@pytest.fixture
def thirty(vault: Path) -> Path:
    """A vault of thirty notes in two projects."""
    for number in range(30):
        owner = "ab"[number % 2]
        folder = vault / "project" / owner
        folder.mkdir(parents=True, exist_ok=True)
        words = " ".join(f"word{(number * step) % 17}" for step in range(1, 20))
        text = note_text(f"Note {number}", id=f"m-{number:010}", scope="project", scope_id=owner, body=words + "\n")
        (folder / f"{number}.md").write_text(text)
    return vault


def _damage(folder: Path, dice: random.Random) -> str:
    """Do one harm to a random file of the caches, or to all of them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    how = dice.choice(["delete", "cut", "garble", "grow", "all"])
    if how == "all" or not files:
        shutil.rmtree(folder)
        return "all"
    path = dice.choice(files)
    data = path.read_bytes()
    if how == "delete":
        path.unlink()
    elif how == "cut":
        path.write_bytes(data[: dice.randrange(len(data) + 1)])
    elif how == "grow":
        path.write_bytes(data + dice.randbytes(100))
    else:
        path.write_bytes(dice.randbytes(max(len(data), 1)))
    return f"{how} {path.name}"


@pytest.mark.parametrize("seed", range(3))
def test_no_damage_to_the_index_changes_an_answer(thirty: Path, cli: Cli, seed: int) -> None:
    dice = random.Random(seed)
    asked = [
        ("--context", "project=a", "search", "word3 word5", "--json"),
        ("--context", "project=b", "list", "--json"),
        ("--context", "project=a", "surface", "word7 word11", "--json"),
    ]

    def answers() -> list[object]:
        found = [cli(*one, cwd=thirty).json for one in asked]
        for answer in found:
            answer.pop("index", None)  # the generation counts builds
            if "block" in answer:
                answer["block"] = answer["block"].replace(answer.pop("delimiter"), "")  # each call has its own
        return found

    expected = answers()
    caches = next((thirty / ".git" / "remvault").glob("v-*"))
    for step in range(12):
        if step % 4 == 3:  # an edit between, so that the index was updated and not only built
            note = dice.choice(sorted(thirty.rglob("project/*/*.md")))
            note.write_text(note.read_text() + f"word{dice.randrange(17)}\n")
            shutil.rmtree(caches)
            expected = answers()
        done = _damage(caches, dice)
        assert answers() == expected, done


def test_an_index_updated_step_by_step_answers_like_one_built_at_once(thirty: Path, cli: Cli) -> None:
    dice = random.Random(7)
    query = ("--context", "project=a", "search", "word3 word5 word7", "-n", "30", "--json")
    for _ in range(10):
        note = dice.choice(sorted(thirty.rglob("project/a/*.md")))
        match dice.choice(["edit", "rename", "delete"]):
            case "edit":
                note.write_text(note.read_text() + f"word{dice.randrange(17)} word3\n")
            case "rename":
                note.rename(note.with_name(f"moved-{note.name}"))
            case "delete":
                note.unlink()
        step_by_step = cli(*query, cwd=thirty).json["hits"]
        cli("reindex", cwd=thirty)
        assert cli(*query, cwd=thirty).json["hits"] == step_by_step


def test_a_branch_switch_is_seen_at_once(thirty: Path, cli: Cli) -> None:
    git(thirty, "add", ".")
    git(thirty, "commit", "-qm", "notes")
    git(thirty, "checkout", "-qb", "other")
    for note in thirty.rglob("project/a/*.md"):
        note.write_text(note.read_text().replace("word3", "elsewhere"))
    git(thirty, "commit", "-qam", "changed")
    query = ("--context", "project=a", "search", "elsewhere", "--json")

    assert cli(*query, cwd=thirty).json["hits"]
    git(thirty, "checkout", "-q", "main")
    assert cli(*query, cwd=thirty).json["hits"] == []
    git(thirty, "checkout", "-q", "other")
    hits = cli(*query, cwd=thirty).json["hits"]
    assert hits
    assert all(hit["committed"] for hit in hits)


def test_r10_six_broken_notes_do_not_hide_fifty_good_ones(vault: Path, cli: Cli) -> None:
    for number in range(50):
        (vault / f"good{number}.md").write_text(note_text(f"Good {number}", id=f"m-{number:010}", body="fine fox\n"))
    bad = {
        "template": note_text("{{title}}", id="m-bad-1"),
        "date": note_text("x", id="m-bad-2", created="2026-13-45"),
        "no-id": note_text("x", id=""),
        "null-type": note_text("x", id="m-bad-4", type="null"),
        "list": "---\n- a\n- b\n---\nbody\n",
        "alias": note_text("*star*", id="m-bad-6"),
    }
    for name, text in bad.items():
        (vault / f"{name}.md").write_text(text)

    report = cli("check", "--json", cwd=vault, code=1).json
    found = cli("search", "fox", "-n", "100", "--json", cwd=vault)
    surfaced = cli("surface", "fox", "--budget-chars", "100000", "--json", cwd=vault)

    errors = {one["path"] for one in report["problems"] if one["severity"] == "error"}
    assert errors == {f"{name}.md" for name in bad}
    assert all(one["line"] for one in report["problems"])
    assert len(found.json["hits"]) == 50
    assert len(surfaced.json["items"]) == 18
    assert "broken" not in surfaced.json["block"]
    git(vault, "add", "good1.md")
    cli("hooks", "install", cwd=vault)
    git(vault, "commit", "-qm", "one good note")


def test_r13_hostile_metadata_is_refused_in_the_time_of_any_note(vault: Path, cli: Cli) -> None:
    (vault / "nested.md").write_text("---\nx: " + "[" * 500 + "\n---\nthe fox\n")
    (vault / "good.md").write_text(note_text("Good", body="the fox\n"))

    hits = cli("search", "fox", "--json", cwd=vault).json["hits"]

    assert {hit["path"] for hit in hits} == {"good.md", "nested.md"}
    assert cli("surface", "the fox", "--json", cwd=vault).json["items"][0]["id"] == "m-0000000000"


def test_r16_long_and_odd_titles_make_names_that_every_system_takes(vault: Path, cli: Cli) -> None:
    titles = ["é" * 130, "数" * 90, "👩\u200d💻" * 35, "a" * 300, "🎉", "...", "CON", "ends in a dot."]
    for title in (*titles, *titles):
        done = cli("new", "--scope", "global", "--json", "--", title, cwd=vault).json
        name = Path(done["path"]).name
        assert len(name.encode()) <= 120
        assert done["id"] in name
        assert cli("show", done["id"], "--json", cwd=vault).json["memory"]["title"] == title
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("new", "x", "--scope", "project", "--scope-id", "../../.ssh"),
        ("new", "x", "--scope", "team", "--scope-id", "a/../../b"),
        ("new", "x", "--scope", "team", "--scope-id", "/etc"),
        ("new", "x", "--scope", "team", "--scope-id", ".git"),
        ("show", "../../etc/passwd"),
        ("show", "/etc/hostname"),
        ("show", ".git/config"),
        ("set", "../outside.md", "title=x"),
    ],
)
def test_r19_nothing_walks_out_of_the_vault(vault: Path, cli: Cli, arguments: tuple[str, ...]) -> None:
    outside = vault.parent / "outside.md"
    outside.write_text(note_text("Outside"))
    before = sorted(vault.parent.rglob("*"))

    refused = cli(*arguments, cwd=vault, code=None)

    assert refused.code in (1, 2)
    assert outside.read_text() == note_text("Outside")
    after = [path for path in sorted(vault.parent.rglob("*")) if "/.git/" not in f"{path}/"]
    assert after == [path for path in before if "/.git/" not in f"{path}/"]


def test_r19_a_title_is_never_a_path(vault: Path, cli: Cli) -> None:
    done = cli("new", "../../x", "--scope", "global", "--json", cwd=vault).json

    assert Path(done["path"]).parent == Path("global")
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    "query",
    [
        "'",
        '"',
        "((",
        "AND",
        "NOT (",
        "*",
        "?",
        "[a TO",
        "path:secret",
        "scope:other x",
        "title:x AND",
        "a" * 16_000,
        "\x00",
        "",
    ],
)
def test_r42_a_query_is_text_whatever_it_holds(thirty: Path, cli: Cli, query: str) -> None:
    done = cli("--context", "project=a", "search", "--json", "--", query, cwd=thirty)

    assert all(hit["scope_id"] == "a" for hit in done.json["hits"])
    if query in ("*", "?", ""):
        assert done.json["hits"] == []


def test_r55_a_note_in_conflict_is_shown_as_such_and_not_surfaced(vault: Path, cli: Cli) -> None:
    given = Path(__file__).parent.parent / "cases" / "inputs" / "R55-conflict.md"
    shutil.copy(given, vault / "conflict.md")

    report = cli("check", "--json", cwd=vault, code=1).json

    assert "in conflict" in report["problems"][0]["message"]
    assert cli("surface", "dead-letter queue", "--json", cwd=vault).json["items"] == []
    found = cli("search", "dead-letter", "--json", cwd=vault).json["hits"]
    assert found[0]["path"] == "conflict.md"
    raw = cli("show", "conflict.md", "--raw", cwd=vault).out
    assert "<<<<<<< HEAD" in raw
    assert ">>>>>>> agent-two" in raw
