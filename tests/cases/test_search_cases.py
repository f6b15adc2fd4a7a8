"""Public faults of search, through the whole of it: files, index, ranking, gate, block."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from pathlib import Path

import pytest

import remvault
from remvault.index.query import MAX_WORDS, build_query
from remvault.index.snapshot import POSTING_BUDGET
from remvault.index.words import STOP_WORDS
from tests.vaults import note_text


class Notes:
    """A vault of notes, each with a name, and what a search finds of them."""

    def __init__(self, root: Path) -> None:
        remvault.init(str(root))
        self.root = root

    def write(self, name: str, title: str, body: str, folder: str = "global", **fields: str) -> None:
        target = self.root / folder / f"{name}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(note_text(title, body=body + "\n", id=f"m-{name}", **fields), encoding="utf-8")

    def find(self, query: str, **options: object) -> list[str]:
        """Names of the notes found, best first."""
        found = remvault.search(self.open(), query, limit=100, **options)  # type: ignore[arg-type]
        return [str(hit.memory["id"]).removeprefix("m-") for hit in found.hits]

    def open(self, **context: str) -> remvault.OpenVault:
        return remvault.open_vault(str(self.root), context=context)


@pytest.fixture
def notes(repo: Path) -> Notes:
    return Notes(repo)


LATIN = {
    "pool": ("The pool of connections", "The database connection pool times out after 30 seconds."),
    "token": ("Tokens", "An authentication token lives for one hour; a JWT longer."),
    "deploy": ("Deploys", "Never on Friday; the database is migrated first."),
}


def test_r38_text_without_blanks_is_found(notes: Notes) -> None:
    notes.write("zh", "连接", "数据库连接池会超时")
    notes.write("ja", "認証", "認証トークンは一時間")
    notes.write("mixed", "JWT認証の設定", "署名鍵は毎月交換する")
    notes.write("th", "ฐานข้อมูล", "การเชื่อมต่อฐานข้อมูลหมดเวลา")
    notes.write("other", "Latin", "Nothing of the kind.")

    assert notes.find("连接池") == ["zh"]
    assert notes.find("数据库") == ["zh"]
    assert notes.find("トークン") == ["ja"]
    assert notes.find("JWT認証")[0] == "mixed"
    assert notes.find("ฐานข้อมูล") == ["th"]
    assert notes.find("数据库超时 pool")[0] == "zh"
    assert "m-zh" in remvault.surface(notes.open(), "数据库连接池会超时吗").block


def test_r38_pairs_do_not_reach_over_what_stands_between(notes: Notes) -> None:
    notes.write("apart", "分开", "数据。库存")

    assert notes.find("据库") == []
    assert notes.find("数据库", all_terms=True) == []


def test_r38_latin_results_do_not_change(notes: Notes) -> None:
    for name, (title, body) in LATIN.items():
        notes.write(name, title, body)
    queries = ("database", "database connection pool", "JWT", "token lives an hour", "friday deploy")
    before = {query: notes.find(query) for query in queries}

    notes.write("zh", "连接", "数据库连接池会超时")
    notes.write("ja", "認証", "認証トークンは一時間")

    assert {query: notes.find(query) for query in queries} == before


ACCENTED = {"cafe": "café", "muller": "Müller", "strasse": "Straße", "naive": "naïve", "manana": "mañana"}


@pytest.mark.parametrize("plain", ACCENTED)
def test_r39_all_forms_find_all_forms_and_the_accents_as_typed_rank_first(notes: Notes, plain: str) -> None:
    accented = ACCENTED[plain]
    forms = {
        "composed": unicodedata.normalize("NFC", accented),
        "decomposed": unicodedata.normalize("NFD", accented),
        "plain": plain,
    }
    for name, word in forms.items():
        notes.write(name, "A note", f"We met {word} there, twice.")
    notes.write("other", "A note", "We met somebody else there, twice.")

    with_accents, without = {"composed", "decomposed"}, {"plain"}
    shouted = forms["composed"].replace("ß", "ẞ").upper()
    for query in (forms["composed"], forms["decomposed"], shouted):
        found = notes.find(query)
        assert (set(found[:2]), set(found[2:])) == (with_accents, without), query
    found = notes.find(plain)
    assert (set(found[:1]), set(found[1:])) == (without, with_accents)


def test_r39_an_accent_is_no_boundary_and_opens_the_gate(notes: Notes) -> None:
    notes.write("menu", "Menu", "The cafe\u0301teria opens at noon.")

    assert notes.find("cafe") == notes.find("café") == notes.find("teria") == []
    assert "m-menu" in remvault.surface(notes.open(), "when does the cafeteria open").block


SIGNS = {
    "cpp": ("C++", "Headers", "We write C++ for the engine."),
    "csharp": ("C#", "Services", "The old services are in C# and stay so."),
    "c": ("C", "Drivers", "Drivers are written in C only."),
    "net": (".NET", "Runtime", "The runtime is .NET of the last long-term release."),
    "fsharp": ("F#", "Pricing", "Pricing rules are F# scripts."),
    "pipefail": ("set -euo pipefail", "Scripts", "Scripts begin with `set -euo pipefail`."),
    "chain": ("?.", "Optional chaining", "Prefer `?.` to nested conditions: a?.b"),
    "arrow": ("->", "Arrows", "Members of a pointer are reached with ->, as in p->next."),
    "loopback": ("::1", "Loopback", "The server listens on ::1 only."),
    "path": ("$PATH", "Shell", "The tool is found through $PATH."),
}


@pytest.mark.parametrize("name", SIGNS)
def test_r41_terms_made_of_signs_find_their_note(notes: Notes, name: str) -> None:
    for other, (_, title, body) in SIGNS.items():
        notes.write(other, title, body)
    term = SIGNS[name][0]

    assert name in notes.find(term)[:3]
    assert notes.find(f"what about {term}?")[0] == name
    assert notes.find(f"`{term}`")[0] == name
    best = remvault.search(notes.open(), f"how do we use {term} here").hits[0]
    assert (best.memory["id"], best.opens) == (f"m-{name}", True)


def test_r41_neighbours_are_kept_apart(notes: Notes) -> None:
    for name, (_, title, body) in SIGNS.items():
        notes.write(name, title, body)

    assert notes.find("C") == ["c"]
    assert notes.find("C++") == ["cpp"]
    assert notes.find("C#") == ["csharp"]
    assert notes.find("$?") == []


@pytest.mark.parametrize("query", ["()", "%%%", "§", "!!", ";", "' '", "#", "---", "*", "?", "....", "<>", "\\"])
def test_r41_signs_that_no_note_has_match_neither_all_nor_nothing_in_silence(notes: Notes, query: str) -> None:
    notes.write("one", "One", "Some words (in brackets); 100 % of them.")
    notes.write("two", "Two", "# Heading\n\n- a list\n- * ?\n")

    found = remvault.search(notes.open(), query)

    assert len(build_query(query, notes.open().analyzer)) > 0
    assert len(found.hits) <= 1
    assert not found.gate.is_open or found.hits


TRACE = "\n".join(
    f'  File "/srv/app/module_{number}.py", line {number}, in handle_{number}\n    return self.run(**kwargs)[{number}]'
    for number in range(200)
)
HOSTILE: Mapping[str, str] = {
    "apostrophe": "'",
    "one quote mark": '"',
    "quote in a word": 'say "no',
    "brackets": "((",
    "and": "AND",
    "or not": "OR NOT",
    "not bracket": "NOT (",
    "star": "*",
    "star in a word": "de*",
    "question mark": "?",
    "range": "[a TO",
    "field": "path:secret",
    "scope field": "scope:other x",
    "owner field": "owner:project:b OR scope_id:b",
    "field and": "title:x AND",
    "boost": "x^9 deploys~2",
    "long word": "a" * 16_000,
    "long sign": "(" * 16_000,
    "long pictures": "🎉" * 16_000,
    "long script": "数" * 16_000,
    "accents": "a" + "\u0301" * 16_000,
    "camel": "aB" * 8_000,
    "dots": "a." * 8_000,
    "trace": TRACE,
    "nul": "\x00",
    "nul in a word": "dep\x00loys",
    "surrogate": "\ud800",
    "blank": "   \n\t",
    "empty": "",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_r42_any_query_is_plain_text(notes: Notes, name: str) -> None:
    notes.write("open", "Deploys", "Deploys wait for Tuesday.")
    notes.write("secret", "Secret", "The secret x of another.", "project/b", scope="project", scope_id="b")
    query = HOSTILE[name]

    for vault in (notes.open(), notes.open(project="a")):
        found = remvault.search(vault, query)
        assert [hit.memory["id"] for hit in found.hits] in ([], ["m-open"])
        block = remvault.surface(vault, query).block
        assert "another" not in block
        assert len(block) <= 2400
    if "deploys" not in query.lower() and name != "nul in a word":
        assert not found.hits, "no query language: nothing of this stands in a note"


@pytest.mark.parametrize("name", HOSTILE)
def test_r42_no_query_asks_for_more_work_than_a_long_plain_one(notes: Notes, name: str) -> None:
    """Counted, since times say little on shared machines; `python -m tests.bench` has the ratio."""
    for number in range(30):
        notes.write(
            f"n{number}", f"Note {number}", " ".join(f"word{number} return self line file in" for _ in range(9))
        )
    vault = notes.open()
    words = build_query(HOSTILE[name], vault.analyzer)

    assert len(words) <= MAX_WORDS
    assert sum(len(word.terms) for word in words) <= 12 * MAX_WORDS
    matches = vault.view().snapshot.match(words, owners=vault.context.owners())
    assert matches.postings <= POSTING_BUDGET + 30 * 12  # the first word's apart


def test_r42_signs_of_query_languages_around_a_word_leave_it_a_word(notes: Notes) -> None:
    notes.write("open", "Deploys", "Deploys wait for Tuesday.")

    for query in (
        '"deploys"',
        "'deploys'",
        "(deploys)",
        "deploys*",
        "title:deploys",
        "+deploys",
        "deploys AND tuesday",
    ):
        assert notes.find(query) == ["open"], query


@pytest.mark.parametrize("query", ["a." * 8_000, "aB" * 8_000, "a" + "\u0301" * 16_000, "à", "with_lock", "to-do"])
def test_r42_no_word_stands_for_one_that_nearly_every_note_holds(notes: Notes, query: str) -> None:
    """Such a part or plain letter alone cost as much as a long prompt, and says nothing."""
    notes.write("all", "What all hold", "A lot to do with us.")

    assert notes.find(query, all_terms=True) == []
    for word in build_query(query, notes.open().analyzer):
        assert not [term for term in word.terms if term.kind != "exact" and term.text in STOP_WORDS]
