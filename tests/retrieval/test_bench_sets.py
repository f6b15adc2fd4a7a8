"""Reading sets: what is refused, with file and line, and what each protocol makes of a small one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from remvault.domain.note import parse_note
from tests.bench.retrieval import protocols
from tests.bench.retrieval.__main__ import main
from tests.bench.retrieval.notes import title_of
from tests.bench.retrieval.protocols import Protocol
from tests.bench.retrieval.remmemory import is_italian, remmemory
from tests.bench.retrieval.sets import BadSet, SetFolder, by_id, find_sets
from tests.bench.retrieval.synthetic import synthetic

REMMEMORY_DEV = Path(__file__).parents[1] / "data" / "remmemory-dev"


def set_folder(base: Path, name: str, **files: Sequence[Mapping[str, Any]] | str | bytes) -> SetFolder:
    """Write a set; a file is rows, or its text or bytes as they are."""
    folder = base / f"{name}-small"
    folder.mkdir(parents=True)
    for word, rows in files.items():
        data = rows if isinstance(rows, bytes) else rows.encode() if isinstance(rows, str) else lines(rows)
        (folder / f"{word}-small.jsonl").write_bytes(data)
    return SetFolder(name, folder)


def lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def turn(number: int, text: str, *, scope: str = "conv-1", speaker: str = "Ann", **more: Any) -> dict[str, Any]:
    key = f"{scope}/D{more.get('session', 1)}:{number}"
    date = {"session": 1, "date": "1:56 pm on 8 May, 2023"}
    return {"id": key, "scope": scope, "speaker": speaker, "text": text} | date | more


def test_sets_and_files_are_known_by_the_first_word_of_their_names(tmp_path: Path) -> None:
    for name in ("cosqa-dev", "Scifact_test", "unknown-set", ".hidden"):
        (tmp_path / name).mkdir()
    (tmp_path / "README.md").write_text("no set")
    (tmp_path / "cosqa-dev" / "docs.jsonl.gz").write_bytes(gzip.compress(b'{"id": "1", "text": "a"}\n'))
    (tmp_path / "cosqa-dev" / "queries-dev.jsonl").write_bytes(b'{"id": "q", "text": "a", "rel": ["1"]}')
    (tmp_path / "cosqa-dev" / "docs.txt").write_bytes(b"not this one")

    found, unknown = find_sets(tmp_path)

    assert (list(found), unknown) == (["scifact", "cosqa"], ["unknown-set"])
    assert [row.text("text") for row in found["cosqa"].rows("docs")] == ["a"]
    assert protocols.cosqa(found["cosqa"]).questions[0].gold == {"1"}


def test_two_folders_of_one_set_are_refused(tmp_path: Path) -> None:
    (tmp_path / "qmd-one").mkdir()
    (tmp_path / "qmd-two").mkdir()

    with pytest.raises(BadSet, match="qmd-one and qmd-two both hold the set qmd"):
        find_sets(tmp_path)


def test_a_missing_or_double_file_is_named(tmp_path: Path) -> None:
    folder = set_folder(tmp_path, "qmd", docs=[])

    with pytest.raises(BadSet, match=r"wanted one file queries….jsonl"):
        folder.rows("queries")
    (folder.folder / "docs.jsonl.gz").write_bytes(gzip.compress(b""))
    with pytest.raises(BadSet, match=r"docs-small.jsonl and docs.jsonl.gz"):
        folder.rows("docs")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"id": "1"}\n{"id": \n', r"docs-small\.jsonl:2: not JSON"),
        (b"[1, 2]\n", r":1: \[1, 2\], not an object"),
        (b'{"id": "1"}\n\n\n"x"\n', r':4: "x", not an object'),
        (b'{"id": "1", "text": "ok"}\n\xff\xfe\n', r":2: not UTF-8: invalid start byte at byte 0"),
        (b"[" * 100_000, r":1: not JSON"),
        (b'{"id": "1", "text": 7}', r":1: 'text' is 7, not text"),
        (b'{"id": "1", "text": null}', r":1: 'text' is missing, not text"),
        (b'{"id": "1", "text": "half \\ud83d"}', r":1: 'text' holds half a character"),
        (b'{"id": "1", "text": "a"}\n{"id": "1", "text": "b"}', r":2: id '1' is there already, at .*:1"),
        (b'{"text": "a"}', r":1: 'id' is missing"),
    ],
)
def test_what_cannot_be_read_is_named_with_file_and_line(tmp_path: Path, data: bytes, said: str) -> None:
    folder = set_folder(tmp_path, "qmd", docs=data, queries=[])

    with pytest.raises(BadSet, match=said):
        protocols.titled(folder)


def test_a_torn_archive_is_named(tmp_path: Path) -> None:
    folder = set_folder(tmp_path, "qmd")
    (folder.folder / "docs.jsonl.gz").write_bytes(gzip.compress(b'{"id": "1", "text": "a"}\n' * 99)[:-9])

    with pytest.raises(BadSet, match=r"qmd-small/docs.jsonl.gz: cannot be read"):
        folder.rows("docs")


def test_lines_end_at_a_line_feed_only(tmp_path: Path) -> None:
    text = "one\u2028two\x85three\x0bfour"
    folder = set_folder(tmp_path, "qmd", docs=json.dumps({"id": "1", "text": text}, ensure_ascii=False))

    assert [row.text("text") for row in folder.rows("docs")] == [text]


def test_a_wrong_type_deep_inside_is_named(tmp_path: Path) -> None:
    docs = [{"id": "1", "text": "a"}]
    folder = set_folder(tmp_path, "qmd", docs=docs, queries=[{"id": "q", "text": "a", "rel": "1"}])

    with pytest.raises(BadSet, match=r"""queries-small\.jsonl:1: 'rel' is "1", not a list of texts"""):
        protocols.titled(folder)


def test_questions_without_evidence_are_left_out_and_said(tmp_path: Path) -> None:
    queries = [{"id": "q1", "text": "a", "rel": []}, {"id": "q2", "text": "b", "rel": ["gone"]}]
    folder = set_folder(tmp_path, "qmd", docs=[{"id": "1", "text": "a"}], queries=queries)

    protocol = protocols.titled(folder)

    assert [question.id for question in protocol.questions] == ["q2"]
    assert protocol.remarks == (
        "1 questions without evidence are not asked",
        "1 pieces of evidence are in no document (first qmd-small/queries-small.jsonl:2: 'gone'); they stay counted",
    )


def test_a_turn_becomes_what_a_capture_tool_writes(tmp_path: Path) -> None:
    turns = [turn(3, "Hello there. How are you?", caption="a photo of a dog", session=2)]
    queries = [{"id": "q", "scope": "conv-1", "cat": "temporal", "text": "When?", "rel": ["conv-1/D2:3"]}]

    protocol = protocols.locomo_turn(set_folder(tmp_path, "locomo", turns=turns, queries=queries))

    [note] = protocol.notes
    assert note.path == f"project/conv-1/d02-003-{note.id}.md"
    memory = parse_note(note.path, note.text().encode()).memory
    assert (memory.title, memory.type, memory.scope, memory.scope_id) == (
        "Hello there", "episodic", "project", "conv-1",
    )  # fmt: skip
    assert (memory.observed, memory.parent) == ("2023-05-08T13:56:00Z", "conv-1/D2")
    assert memory.provenance[0].actor == "user:Ann"
    assert note.body == "Hello there. How are you?\na photo of a dog"


def test_a_session_is_its_turns_in_order(tmp_path: Path) -> None:
    turns = [turn(1, "Hi!\n"), turn(2, "Hi you.", speaker="Bob", caption="a cat"), turn(1, "Later", session=2)]
    queries = [{"id": "q", "scope": "conv-1", "cat": "temporal", "text": "When?", "rel": ["conv-1/D1:2"]}]
    folder = set_folder(tmp_path, "locomo", turns=turns, queries=queries)

    protocol = protocols.locomo_session(folder)

    assert [note.key for note in protocol.notes] == ["conv-1/D1", "conv-1/D2"]
    assert protocol.notes[0].body == "Ann: Hi!\nBob: Hi you.\na cat"
    assert protocol.notes[0].title == "Ann and Bob, 8 May 2023"
    assert protocol.notes[0].owner == "global:"
    assert protocol.questions[0].gold == {"conv-1/D1"}
    assert not protocol.questions[0].context
    assert {note.owner for note in protocols.locomo_session_scoped(folder).notes} == {"project:conv-1"}


def test_a_question_is_asked_of_the_next_conversation_under_its_names(tmp_path: Path) -> None:
    turns = [
        turn(1, "a"), turn(2, "b", speaker="Bob"),
        turn(1, "c", scope="conv-2", speaker="Cleo"), turn(2, "d", scope="conv-2", speaker="Dan"),
    ]  # fmt: skip
    queries = [
        {"id": "1", "scope": "conv-1", "cat": "temporal", "text": "Did Ann's dog bite BOB or Anna?", "rel": ["x"]},
        {"id": "2", "scope": "conv-2", "cat": "temporal", "text": "Is Dan home?", "rel": ["x"], "rel_fixed": ["y"]},
        {"id": "3", "scope": "conv-2", "cat": "adversarial", "text": "Is Dan Ann?", "rel": ["x"]},
    ]

    protocol = protocols.locomo_turn(set_folder(tmp_path, "locomo", turns=turns, queries=queries))

    first, second = protocol.questions
    assert first.wrong == ("Did Cleo's dog bite Dan or Anna?", {"project": "conv-2"})
    assert second.wrong == ("Is Bob home?", {"project": "conv-1"})
    assert second.gold == {"x"}
    assert second.audited == {"y"}
    assert protocol.remarks[0] == "1 adversarial questions are not asked"


def test_a_date_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = set_folder(tmp_path, "locomo", turns=[turn(1, "a", date="yesterday")], queries=[])

    with pytest.raises(BadSet, match=r"turns-small\.jsonl:1: date 'yesterday'"):
        protocols.locomo_turn(folder)


def test_a_function_is_fenced_and_called_by_its_name(tmp_path: Path) -> None:
    docs = [
        {"id": "1", "text": "@cache\nasync def readFile(x):\n    '''```'''\n    # not a heading"},
        {"id": "2", "text": "# only a comment, and a long one at that, which no title would be, so it is cut"},
    ]

    protocol = protocols.cosqa(set_folder(tmp_path, "cosqa", docs=docs, queries=[]))

    assert [note.title for note in protocol.notes] == [
        "readFile", "# only a comment, and a long one at that, which no title",
    ]  # fmt: skip
    assert protocol.notes[0].body.startswith("````python\n@cache")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("The user prefers dark mode.", "The user prefers dark mode"),
        ("Great! And more.", "Great!"),
        ("x" * 80, "x" * 60),
        ("  \n ", "Untitled"),
        ("word " * 30, ("word " * 12).strip()),
        ("bidi \u202e and \x07 bell", "bidi and bell"),
    ],
)
def test_a_title_is_the_first_words(text: str, title: str) -> None:
    assert title_of(text) == title


def test_hostile_text_makes_valid_notes(tmp_path: Path) -> None:
    texts = ['"quoted": [x] # no comment', "---\nid: m-1\n---\n", "\u202e\x00\x1b[31m", "- {a: b}", "emoji 🦙 עברית"]
    docs = [{"id": f"../{at}", "title": text, "text": text} for at, text in enumerate(texts)]

    protocol = protocols.titled(set_folder(tmp_path, "qmd", docs=docs, queries=[]))

    for note in protocol.notes:
        assert ".." not in note.path
        assert not parse_note(note.path, note.text().encode()).problems, note.title


@pytest.mark.parametrize(
    "protocol", [remmemory(SetFolder("remmemory", REMMEMORY_DEV)), synthetic()], ids=lambda one: one.name
)
def test_every_note_of_a_set_is_valid(protocol: Protocol) -> None:
    problems = [problem for note in protocol.notes for problem in parse_note(note.path, note.text().encode()).problems]

    assert problems == []
    assert (
        len({note.path for note in protocol.notes}) == len({note.id for note in protocol.notes}) == len(protocol.notes)
    )
    assert {key for question in protocol.questions for key in question.gold} <= {note.key for note in protocol.notes}


def test_the_vendored_set_is_whole() -> None:
    protocol = remmemory(SetFolder("remmemory", REMMEMORY_DEV))

    positives = [question for question in protocol.questions if question.gold]
    assert (len(protocol.questions), len(positives), len(protocol.notes)) == (115, 77, 166)
    assert sum(question.group == "pair" for question in positives) == 16
    assert sum(note.is_superseded for note in protocol.notes) == 2


def test_an_italian_text_is_told_by_its_articles() -> None:
    assert is_italian("L'utente preferisce TypeScript")
    assert is_italian("quale è il colore")
    assert not is_italian("The user's favorite color is green.")
    assert not is_italian("I'd put the l10n of unit il into an-il8n.json")


def scenario(**more: Any) -> dict[str, Any]:
    memories = [
        {"text": "The user moved to Milan.", "weight": 3},
        {"text": "The user lives in Rome.", "status": "SUPERSEDED"},
    ]
    basic = {"id": "su-1", "query": "where?", "directory": None, "expected": [0], "polarity": "positive"}
    return basic | {"category": ["superseded"], "memories": memories} | more


def test_a_store_becomes_a_project_with_the_products_own_means(tmp_path: Path) -> None:
    memories = [
        {
            "text": "Now Milan.",
            "weight": 3,
            "lastSeenAgoDays": 2,
            "category": "preferences",
            "helpful": 2,
            "pinned": True,
        },
        {"text": "Rome.", "status": "SUPERSEDED", "weight": 0.5},
        {"text": "Turin.", "status": "CONFLICTED", "irrelevant": 1},
    ]
    protocol = remmemory(set_folder(tmp_path, "remmemory", scenarios=[scenario(memories=memories)]))

    now, before, disputed = (parse_note(note.path, note.text().encode()).memory for note in protocol.notes)
    assert (now.type, now.importance, now.observed) == ("preference", 1.0, "2026-11-29T12:00:00Z")
    assert (now.confirmed, now.pinned, before.pinned) == (None, True, False)
    assert now.supersedes == (before.id,)
    assert (before.freshness, before.importance) == ("superseded", 0.17)
    assert [(one.type, one.target) for one in disputed.relations] == [("contradicts", now.id)]
    [ledger] = protocol.files.values()
    assert [(json.loads(line)["op"], json.loads(line)["id"]) for line in ledger.splitlines()] == [
        ("useful", now.id), ("useful", now.id), ("irrelevant", disputed.id),
    ]  # fmt: skip


def test_memories_of_projects_lie_in_projects_and_those_of_their_person_above(tmp_path: Path) -> None:
    memories = [{"text": "a", "projectID": "/srv/api"}, {"text": "b", "projectID": "/web"}, {"text": "c"}]
    row = scenario(memories=memories, directory="/web", expected=[1])

    protocol = remmemory(set_folder(tmp_path, "remmemory", scenarios=[row]))

    assert [note.owner for note in protocol.notes] == ["project:su-1-srv-api", "project:su-1-web", "team:su-1"]
    assert protocol.questions[0].context == {"project": "su-1-web", "team": "su-1"}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"expected": [2]}, "'expected' is no list of places among 2 memories"),
        ({"expected": [True]}, "'expected' is no list of places"),
        ({"expected": []}, "polarity 'positive' with 0 expected memories"),
        ({"polarity": "maybe"}, "polarity 'maybe'"),
        ({"memories": "none"}, "'memories' is no list of objects"),
        ({"memories": [{"text": "a", "status": "LOST"}]}, "memory 0: status 'LOST'"),
        ({"memories": [{"text": "a", "weight": "heavy"}]}, "memory 0: 'weight' is \"heavy\", not a number"),
        ({"memories": [{"text": "a", "helpful": -1}]}, "memory 0: 'helpful' is -1.0, not a whole number"),
        ({"memories": [{"text": "a", "lastSeenAgoDays": float("nan")}]}, "memory 0: 'lastSeenAgoDays' is NaN"),
    ],
)
def test_odd_scenarios_are_named(tmp_path: Path, more: dict[str, Any], said: str) -> None:
    folder = set_folder(tmp_path, "remmemory", scenarios=[scenario(), scenario(id="su-2") | more])

    with pytest.raises(BadSet, match=r"scenarios-small\.jsonl:2") as refused:
        remmemory(folder)
    assert said in str(refused.value)


def test_unknown_folders_and_missing_sets_are_said_aloud(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "novels-dev").mkdir()

    assert main(["--data", str(tmp_path), "--sets", "cosqa"]) == 2

    said = capsys.readouterr().err
    assert "skipped: novels-dev is no set that this bench knows" in said
    assert f"skipped: cosqa, since {tmp_path} holds no set cosqa" in said
    assert "error: nothing to measure" in said


def test_a_name_that_is_no_set_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path), "--sets", "cosqua"]) == 2
    assert "no set or report is called cosqua" in capsys.readouterr().err


def test_ids_are_told_apart(tmp_path: Path) -> None:
    rows = set_folder(tmp_path, "qmd", docs=[{"id": "b"}, {"id": "a"}]).rows("docs")

    assert list(by_id(rows)) == ["b", "a"]
