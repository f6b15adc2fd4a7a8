"""What text is indexed under, and what a query looks for."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.index.analysis import FOLD, MAX_TERM, STEM, Analyzer, tokens
from remvault.index.query import MAX_WORDS, build_query
from remvault.index.words import inflections


def terms(text: str) -> set[str]:
    return set(Analyzer().positions(text)[0])


def primary(text: str) -> set[str]:
    words = build_query(text, Analyzer())
    return {term.text for word in words for term in word.terms if term.kind not in ("stem", "part")}


@pytest.mark.parametrize("name", ["with_lock", "withLock", "WithLock", "with-lock", "with.lock"])
def test_an_identifier_is_indexed_whole_in_parts_and_run_together(name: str) -> None:
    assert {name.lower(), "with", "lock", "withlock"} <= terms(f"every write takes {name}, reads do not")


def test_a_path_is_indexed_whole_and_in_parts() -> None:
    assert {"src/store/lock_file.py", "src", "store", "lock_file", "lock", "file", "py"} <= terms(
        "see src/store/lock_file.py."
    )


def test_acronyms_and_digits_in_names_stay_together() -> None:
    assert {"http", "server"} <= terms("HTTPServer")
    assert {"utf8", "decoder"} <= terms("Utf8Decoder")
    assert "sha256" in terms("sha256")


def test_versions_and_dates_are_terms_and_their_small_parts_are_not() -> None:
    found = terms("3.11, v1.2.3 and 2.7.4 of 2026-12-01")
    assert {"3.11", "v1.2.3", "2.7.4", "2026-12-01", "2026"} <= found
    assert not {"11", "7", "01", "12"} & found


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("C++", "c++"),
        ("C#", "c#"),
        ("F#", "f#"),
        (".NET", ".net"),
        ("C", "c"),
        ("set -euo pipefail", "-euo"),
        ("a?.b", "?."),
        ("p->next", "->"),
        ("listen on ::1", "::1"),
        ("$PATH", "$path"),
        ("${PATH}", "$path"),
        ("exit $?", "$?"),
        ("a != b", "!="),
        ("x!=y", "!="),
        ("--no-verify", "--no-verify"),
        ("@dataclass", "@dataclass"),
        ("🎉", "🎉"),
    ],
)
def test_signs_are_terms_in_notes_and_in_queries(text: str, term: str) -> None:
    assert term in terms(f"Use {text} here.")
    assert term in primary(text)


def test_c_is_another_language_than_its_neighbours() -> None:
    assert "c" not in terms("C++ and C#")


def test_markdown_marks_are_not_terms() -> None:
    assert terms("# Title\n\n- item\n* **bold**\n\n---\n> quote\n| a | b |\n") == {
        *("title", STEM + "titl", "item", "bold", "quote", STEM + "quot", "a", "b"),
    }


def test_text_without_blanks_is_cut_into_pairs_and_single_characters() -> None:
    assert {"数据", "据库", "库", "池"} <= terms("数据库连接池会超时")
    assert primary("数据库") == {"数据", "据库"}
    assert primary("库") == {"库"}


def test_a_mixed_run_is_cut_at_the_change_of_script() -> None:
    assert {"jwt", "認証"} <= primary("JWT認証")


def test_composed_and_decomposed_letters_are_one_term_and_fold_to_another() -> None:
    assert terms("café") == terms("cafe\u0301") == {"café", FOLD + "cafe"}
    assert FOLD + "strasse" in terms("Straße")
    assert FOLD + "muller" in terms("Müller")


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("use", "user"),
        ("red", "redesign"),
        ("test", "pytest"),
        ("see", "seed"),
        ("port", "report"),
        ("not", "note"),
        ("log", "login"),
        ("cat", "category"),
    ],
)
def test_a_word_never_stands_for_another_that_merely_contains_it(word: str, other: str) -> None:
    assert other not in primary(word)
    assert not primary(word) & terms(other)


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("deploy", "deploys"),
        ("deploys", "deploy"),
        ("policies", "policy"),
        ("policy", "policies"),
        ("cache", "caches"),
        ("caches", "caching"),
        ("commit", "committed"),
        ("stopped", "stop"),
        ("controlled", "control"),
        ("running", "ran"),
        ("wrote", "write"),
        ("indices", "index"),
        ("use", "used"),
        ("id", "ids"),
        ("user", "user's"),
    ],
)
def test_inflected_forms_stand_for_each_other(word: str, form: str) -> None:
    assert primary(word) & terms(form)


def test_a_stem_is_told_apart_from_the_word() -> None:
    kinds = {term.text: term.kind for term in build_query("relational", Analyzer())[0].terms}
    assert kinds["relational"] == "exact"
    assert kinds[STEM + "relat"] == "stem"


def test_inflections_of_a_stranger_are_few() -> None:
    assert all(len(inflections(word)) <= 16 for word in ("kubernetes", "stopped", "controlled", "xyz", "need"))


def test_other_languages_are_stemmed_their_own_way_and_keep_their_words() -> None:
    german = Analyzer("german")
    assert STEM + "haus" in german.positions("Häuser")[0]
    assert [word.text for word in build_query("not", german)] == ["not"]


def test_stop_words_are_left_out_unless_nothing_else_is_asked() -> None:
    assert [word.text for word in build_query("how do we deploy to the server", Analyzer())] == ["deploy", "server"]
    assert [word.text for word in build_query("to be or not to be", Analyzer())] == ["to", "be", "or", "not"]


def test_a_word_is_asked_once_and_its_terms_are_named_once() -> None:
    words = build_query("Deploy deploy DEPLOY", Analyzer())
    assert [word.text for word in words] == ["deploy"]
    assert len({term.text for term in words[0].terms}) == len(words[0].terms)


def test_the_best_term_of_a_word_comes_first() -> None:
    weights = [term.weight for term in build_query("Store.with_lock", Analyzer())[0].terms]
    assert weights[0] == 1.0
    assert max(weights) == weights[0]


HOSTILE = {
    "apostrophe": "'",
    "one quote mark": '"',
    "brackets": "((",
    "operator": "AND",
    "open group": "NOT (",
    "star": "*",
    "question mark": "?",
    "range": "[a TO",
    "field": "path:secret",
    "scope": "scope:other x",
    "dangling": "title:x AND",
    "long word": "x" * 16_000,
    "many humps": "aB" * 8_000,
    "many dots": "a." * 8_000,
    "many signs": "-" * 16_000,
    "many marks": "\u0301" * 16_000,
    "stack trace": "\n".join(
        f'  File "/srv/app/module_{n % 37}/handler.py", line {n}, in process_request_{n % 53}\n    raise Error({n})'
        for n in range(200)
    ),
    "control characters": "\0\x01\x02deploy\x7f",
    "surrogate": "\udc80 deploy",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_r42_any_text_is_only_text_and_quickly_cut(name: str) -> None:
    """Apostrophes, brackets, operators and field names are words; nothing is slow."""
    analyzer, text = Analyzer(), HOSTILE[name]
    build_query("warm up", analyzer)
    started = time.perf_counter()

    words = build_query(text, analyzer)

    assert time.perf_counter() - started < 0.25  # five times the bar, since test machines are shared
    assert words
    assert len(words) <= MAX_WORDS
    assert all(0 < len(term.text) <= MAX_TERM + 1 for word in words for term in word.terms)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\0"])
def test_r42_nothing_visible_asks_for_nothing(text: str) -> None:
    assert build_query(text, Analyzer()) == []


@given(st.text(max_size=200))
def test_positions_are_ascending_and_within_the_length(text: str) -> None:
    found, length = Analyzer().positions(text)
    for term, places in found.items():
        assert 0 < len(term) <= MAX_TERM + 1
        assert places == sorted(places)
        assert places[-1] < length


@given(st.text(st.characters(max_codepoint=127), max_size=80))
def test_ascii_text_is_cut_as_any_other(text: str) -> None:
    """There is a pattern of its own for it, since the full one takes long to make."""
    assert tokens(text) == tokens(text + " é")[:-1]


@given(st.text(max_size=100))
def test_a_note_that_repeats_the_query_holds_its_words(text: str) -> None:
    """One analyzer for both sides: whatever tokens a text has, asking for the text looks for them."""
    held = terms(text)
    for word in build_query(text, Analyzer()):
        assert word.terms[0].kind == "sign" or word.terms[0].text in held
