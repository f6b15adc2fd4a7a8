"""Looking words up: what is found, for whom, and with which evidence."""

from __future__ import annotations

import pytest

from remvault.index.snapshot import POSTING_BUDGET
from tests.index.conftest import IndexedVault, ask, found

LONG = "".join(
    f"## Part {name}\n\n{('Filler about ' + name + '. ') * 60}\n" for name in ("storage", "network", "naming")
)


def test_a_note_is_found_by_every_field(vault: IndexedVault) -> None:
    vault.write(
        "global/one.md",
        "Titleword",
        aliases="[aliasword]",
        tags="[tagword]",
        summary="summaryword",
        entities="[entityword]",
        body="# Headingword\n\nbodyword\n",
    )
    snapshot = vault.look()
    for field in ("title", "alias", "tag", "summary", "entity", "heading", "body"):
        assert found(snapshot, f"{field}word") == ["global/one.md"], field


def test_evidence_names_field_term_and_count_and_exact_lengths(vault: IndexedVault) -> None:
    vault.write("global/one.md", "Deploy early", tags="[deploy]", body="deploy and deploy, then deploy again\n")
    matches = ask(vault.look(), "deploy")
    (document,) = matches.documents
    assert document.frequencies == {("title", "deploy"): 1, ("tags", "deploy"): 1, ("body", "deploy"): 3}
    assert document.lengths == {"title": 2, "tags": 1, "body": 6}
    assert document.positions("body", "deploy") == (0, 2, 4)
    assert document.positions("title", "deploy") == (0,)
    assert document.positions("tags", "deploy") == ()
    assert matches.average_length["body"] == 6
    assert matches.note_count == 1


def test_frequencies_count_notes_of_all_owners_and_documents_only_those_that_may_be_seen(vault: IndexedVault) -> None:
    vault.write("a.md", scope="project", scope_id="a", body="deploy alpha\n")
    vault.write("b.md", scope="project", scope_id="b", body="deploy beta\n")
    vault.write("g.md", body="deploy everywhere\n")
    snapshot = vault.look()
    matches = ask(snapshot, "deploy", owners=frozenset({"project:a", "global:"}))
    assert [one.path for one in matches.documents] == ["a.md", "g.md"]
    assert matches.document_frequency["deploy"] == 3


def test_no_owners_see_nothing(vault: IndexedVault) -> None:
    """An empty set of owners is not the same as no filter."""
    vault.write("g.md", body="deploy everywhere\n")
    assert ask(vault.look(), "deploy", owners=frozenset()).documents == []


def test_a_note_without_a_readable_owner_is_seen_only_by_who_asks_for_such_notes(vault: IndexedVault) -> None:
    vault.write("lost.md", scope="project", body="deploy nowhere\n")
    (vault.root / "plain.md").write_text("deploy, a plain note\n")
    snapshot = vault.look()
    assert found(snapshot, "deploy", owners=frozenset({"global:", "project:a"})) == []
    assert found(snapshot, "deploy", owners=frozenset({""})) == ["lost.md", "plain.md"]


def test_the_caller_decides_before_anything_is_returned(vault: IndexedVault) -> None:
    vault.write("new.md", id="m-new", body="deploy\n")
    vault.write("old.md", id="m-old", status="archived", body="deploy\n")
    asked: list[str] = []

    def accept(row: object) -> bool:
        asked.append(row.path)  # type: ignore[attr-defined]
        return row.status == "active"  # type: ignore[attr-defined]

    matches = ask(vault.look(), "deploy deploys deployed", accept=accept)
    assert [one.path for one in matches.documents] == ["new.md"]
    assert sorted(asked) == ["new.md", "old.md"]


@pytest.mark.parametrize("folder", ["global", "private", "project/a"])
def test_local_only_notes_and_candidates_are_in_no_answer_wherever_they_lie(vault: IndexedVault, folder: str) -> None:
    vault.write(f"{folder}/secret.md", "Secret plan", sensitivity="local-only", body="deploy secretly\n")
    vault.write(f"{folder}/maybe.md", "Maybe", status="candidate", body="deploy perhaps\n")
    (vault.root / folder / "broken.md").write_text("---\nsensitivity: local-only\n bad: [\n---\ndeploy badly\n")
    snapshot = vault.look()
    assert ask(snapshot, "deploy secretly perhaps badly secret plan maybe").documents == []
    assert snapshot.records([f"{folder}/secret.md", f"{folder}/maybe.md", f"{folder}/broken.md"]) == {}
    for path, row in snapshot.rows.items():
        assert row.title is None or path.endswith("maybe.md")


def test_a_broken_note_is_found_by_its_body_and_hides_no_other(vault: IndexedVault) -> None:
    """R01: a colon in an unquoted title makes the block unreadable, not the note."""
    (vault.root / "bad.md").write_text("---\ntitle: Deploys: never on Friday\nscope: global\n---\nUnusualword here\n")
    vault.write("good.md", body="Unusualword too\n")
    snapshot = vault.look()
    assert found(snapshot, "unusualword") == ["bad.md", "good.md"]
    assert not snapshot.rows["bad.md"].is_sound
    assert snapshot.rows["bad.md"].problems


def test_a_long_note_points_at_its_sections(vault: IndexedVault) -> None:
    vault.write("long.md", body="Preamble.\n\n" + LONG)
    vault.write("short.md", body="## One\n\nstorage\n\n## Two\n\nnetwork\n")
    snapshot = vault.look()
    matches = ask(snapshot, "network")
    assert [(one.path, one.section) for one in matches.documents] == [
        ("long.md", None),
        ("long.md", 2),
        ("short.md", None),
    ]
    assert matches.note_count == 2
    assert matches.document_frequency["network"] == 2
    section = snapshot.records(["long.md"])["long.md"]["sections"][2]
    assert (section["heading"], section["path"]) == ("Part network", ["Part network"])
    assert (vault.root / "long.md").read_text().splitlines()[section["line"] - 1] == "## Part network"


def test_records_are_whole_and_need_no_file(vault: IndexedVault) -> None:
    path = vault.write("one.md", "Only once", tags="[x, y]", mine="kept", body="\n  Indented.\r\n")
    snapshot = vault.look()
    path.unlink()
    record = snapshot.records(["one.md", "absent.md"])["one.md"]
    assert record["title"] == "Only once"
    assert record["tags"] == ["x", "y"]
    assert record["summary"] is None
    assert record["metadata"] == {"mine": "kept"}
    assert record["body"] == "\n  Indented.\r\n"


def test_rare_words_and_identifiers_come_first_and_the_rest_is_named(vault: IndexedVault) -> None:
    for number in range(30):
        rare = " zebra" if number == 0 else ""
        named = " with_lock" if number < 10 else ""
        vault.write(
            f"n{number:02}.md", id=f"m-{number}", body=f"common{' usual' if number < 25 else ''}{rare}{named}\n"
        )
    matches = ask(vault.look(), "common usual zebra with_lock", posting_budget=22)
    assert matches.dropped == ("common", "usual")
    assert matches.postings <= 22
    assert matches.word_frequency == {"common": 30, "usual": 25, "zebra": 1, "with_lock": 10}


def test_a_single_common_word_is_answered_whatever_the_budget(vault: IndexedVault) -> None:
    for number in range(5):
        vault.write(f"n{number}.md", id=f"m-{number}", body="common\n")
    matches = ask(vault.look(), "common", posting_budget=1)
    assert len(matches.documents) == 5
    assert matches.dropped == ()


def test_the_frequency_of_a_word_counts_each_note_once_for_all_its_forms(vault: IndexedVault) -> None:
    vault.write("one.md", id="m-1", body="deploy and deploys\n")
    vault.write("two.md", id="m-2", body="deployed\n")
    matches = ask(vault.look(), "deploy")
    assert matches.word_frequency == {"deploy": 2}
    assert matches.document_frequency["deploys"] == 1


def test_words_that_are_nowhere_match_nothing_and_are_not_dropped(vault: IndexedVault) -> None:
    vault.write("one.md", body="deploy\n")
    matches = ask(vault.look(), "xylophone")
    assert (matches.documents, matches.dropped, matches.word_frequency) == ([], (), {"xylophone": 0})


def test_an_empty_vault_answers(vault: IndexedVault) -> None:
    matches = ask(vault.look(), "anything")
    assert (matches.documents, matches.note_count) == ([], 0)
    assert ask(vault.look(), "anything").documents == []


def test_r38_text_without_blanks_is_found_and_latin_results_stay(vault: IndexedVault) -> None:
    vault.write("latin.md", id="m-1", body="JWT tokens expire\n")
    before = ask(vault.look(), "jwt tokens", owners=None).documents
    vault.write("zh.md", id="m-2", body="数据库连接池会超时\n")
    vault.write("ja.md", id="m-3", body="JWT認証トークンは一時間\n")
    vault.write("th.md", id="m-4", body="ฐานข้อมูลหมดเวลา\n")
    snapshot = vault.look()
    assert found(snapshot, "连接池") == ["zh.md"]
    assert found(snapshot, "数据库") == ["zh.md"]
    assert found(snapshot, "库") == ["zh.md"]
    assert found(snapshot, "トークン") == ["ja.md"]
    assert found(snapshot, "ข้อมูล") == ["th.md"]
    assert found(snapshot, "JWT認証") == ["ja.md", "latin.md"]
    after = [one for one in ask(snapshot, "jwt tokens").documents if one.path == "latin.md"]
    assert after == before


ACCENTED = {
    "café": "cafe",
    "Müller": "Muller",
    "Straße": "Strasse",
    "naïve": "naive",
    "mañana": "manana",
    "Łódź": "Lodz",
    "smørrebrød": "smorrebrod",
}


@pytest.mark.parametrize("word", ACCENTED)
def test_r39_all_forms_find_all_forms_and_the_exact_accent_weighs_most(vault: IndexedVault, word: str) -> None:
    import unicodedata

    plain, decomposed = ACCENTED[word], unicodedata.normalize("NFD", word)
    for name, text in (("composed", word), ("decomposed", decomposed), ("plain", plain)):
        vault.write(f"{name}.md", id=f"m-{name}", body=f"about {text} here\n")
    snapshot = vault.look()
    for query in (word, decomposed, plain, word.upper()):
        assert found(snapshot, query) == ["composed.md", "decomposed.md", "plain.md"], query
    matches = ask(snapshot, word)
    exact = unicodedata.normalize("NFC", word).lower()
    assert [one.path for one in matches.documents if ("body", exact) in one.frequencies] == [
        "composed.md",
        "decomposed.md",
    ]


SIGNS = {
    "C++": "We build it with C++ here.",
    "C#": "The plugin is C# only.",
    "C": "The core is plain C.",
    ".NET": "It targets .NET eight.",
    "F#": "Scripts are F# now.",
    "set -euo pipefail": "Begin scripts with `set -euo pipefail`.",
    "?.": "Chain with `a?.b` in TypeScript.",
    "->": "Use p->next for lists.",
    "::1": "Bind to ::1 first.",
    "$PATH": "Put it on $PATH early.",
    "$?": "Check $? afterwards.",
    "!=": "Never compare floats by !=.",
}


def test_r41_terms_made_of_signs_find_their_note(vault: IndexedVault) -> None:
    for number, text in enumerate(SIGNS.values()):
        vault.write(f"n{number:02}.md", f"Note {number}", id=f"m-{number}", body=text + "\n")
    snapshot = vault.look()
    for number, sign in enumerate(SIGNS):
        assert found(snapshot, sign)[:3] == [f"n{number:02}.md"], sign


@pytest.mark.parametrize("query", ["((", "'", "*", "?", "~~", '"', "%%%", "--"])
def test_r41_signs_that_no_note_has_match_neither_all_nor_nothing_in_silence(vault: IndexedVault, query: str) -> None:
    vault.write("one.md", body="Plain words, with (brackets) and 'quotes'.\n")
    matches = ask(vault.look(), query)
    assert matches.documents == []
    assert matches.word_frequency == {query: 0}


@pytest.mark.parametrize("query", ["path:secret", "scope:other x", "title:x AND", "*", "se*", "owner:project:b"])
def test_r42_no_query_reaches_a_field_or_another_owner(vault: IndexedVault, query: str) -> None:
    vault.write("secret.md", scope="project", scope_id="b", body="hidden x other secret path scope\n")
    vault.write("own.md", scope="project", scope_id="a", body="nothing of interest\n")
    assert ask(vault.look(), query, owners=frozenset({"project:a", "global:"})).documents == []


def test_the_usual_budget_bounds_what_is_read(vault: IndexedVault) -> None:
    vault.write("one.md", body="deploy\n")
    assert ask(vault.look(), "deploy").postings <= POSTING_BUDGET


def test_supersession_is_known_without_opening_a_note(vault: IndexedVault) -> None:
    vault.write("old.md", id="m-old", freshness="superseded", superseded_by="m-new")
    vault.write("new.md", id="m-new", supersedes="[m-old]")
    vault.write("idle.md", id="m-idle", supersedes="[m-new]", provenance="[]")
    lineage = vault.look().lineage
    assert lineage.is_superseded("m-old")
    assert not lineage.is_superseded("m-new")
