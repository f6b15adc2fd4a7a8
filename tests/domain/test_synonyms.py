"""What may stand for what: groups of terms, and what is refused in them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.synonyms import MAX_BYTES, BadSynonyms, Synonyms, parse_synonyms


def refused(text: str) -> BadSynonyms:
    with pytest.raises(BadSynonyms) as caught:
        parse_synonyms(text)
    return caught.value


def test_each_term_of_a_group_stands_for_the_others_in_the_order_written() -> None:
    synonyms = parse_synonyms('groups = [["k8s", "Kubernetes"], ["login", "sign-in", "log  in"]]\n')

    assert synonyms.of("K8S") == ("kubernetes",)
    assert synonyms.of("kubernetes") == ("k8s",)
    assert synonyms.of("sign-in") == ("login", "log in")
    assert synonyms.of("Log in") == ("login", "sign-in")
    assert synonyms.of("log") == ()
    assert synonyms.phrases() == ("log in",)


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "groups = []", "\ufeffgroups = []\r\n"])
def test_a_file_may_name_no_groups(text: str) -> None:
    assert parse_synonyms(text) == Synonyms()


def test_accents_composed_and_decomposed_are_one_term() -> None:
    assert parse_synonyms('groups = [["cafe\u0301", "bistro"]]').of("caf\u00e9") == ("bistro",)


def test_a_term_in_two_groups_is_an_error_that_names_both() -> None:
    err = refused('groups = [\n  ["k8s", "kubernetes"],\n  # more\n  ["cluster",\n   "K8s"],\n]\n')

    assert err.line == 5
    assert err.reason == "'k8s' is in two groups, that of 'k8s' and that of 'cluster'"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('groups = [["a", "b"]', 1, "not TOML: unclosed array"),
        ('groups = [["a",\n\n "b" "c"]]', 3, "not TOML: unclosed array"),
        ('\ngroup = [["a", "b"]]', 2, "unknown key 'group', only 'groups' is known"),
        ('groups = "a, b"', 1, "'groups' is a list of lists of terms"),
        ('groups = [["a", "b"],\n"c"]', None, "a group is a list of terms in quotes"),
        ('groups = [["a", "b"],\n["c", 1]]', 2, "a group is a list of terms in quotes"),
        ('groups = [["a", "b"],\n["c", ["d"]]]', 2, "a group is a list of terms in quotes"),
        ("[[groups]]\nterms = 1", 1, "a group is a list of terms in quotes"),
        ('groups = [["a", "b"],\n["c"]]', 2, "a group has 2 to 16 terms, this one 1"),
        ('groups = [\n["a", " "]]', 2, "an empty term"),
        ('groups = [["a",\n"A"]]', 2, "'a' stands twice in one group"),
        ('groups = [["a",\n"b\\u202e"]]', 2, "'b\\u202e' has characters that cannot be seen"),
        ('groups = [["like", "prefer"]]', 1, "'like' is an opinion and stands for no other word"),
        ('groups = [["""\n]] # "x\n""", "a"],\n["b"]]', 4, "a group has 2 to 16 terms, this one 1"),
        ('groups = [["a", "b"],\n[k8s.io, "b"]]', 2, "a dot outside of quotes"),
        ("groups = [['#[', \"]\\\"\"],\n['b']]", 2, "a group has 2 to 16 terms, this one 1"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int | None, reason: str) -> None:
    err = refused(text)

    assert (err.line, err.reason) == (line, reason)


def test_limits_hold() -> None:
    many = [f'["a{number}", "b{number}"]' for number in range(1001)]
    terms = ", ".join(f'"t{number}"' for number in range(17))

    assert refused(f"groups = [{', '.join(many)}]").reason == "1,001 groups, at most 1,000 are read"
    assert len(parse_synonyms(f"groups = [{', '.join(many[:1000])}]").groups) == 1000
    assert refused(f"groups = [[{terms}]]").reason == "a group has 2 to 16 terms, this one 17"
    assert "longer than 64" in refused(f'groups = [["a", "{"x" * 65}"]]').reason
    assert refused("#" * (MAX_BYTES + 1)).reason == "over 64 KiB"


@pytest.mark.parametrize(
    "text",
    [
        "groups = " + "[" * 60_000,
        "groups = " + "[" * 30_000 + "]" * 30_000,
        "groups = [" + "9" * 60_000 + "]",
        "a." * 30_000 + "b = 1",
        "\n".join(f"[a{'.a' * 40}.b{number}]" for number in range(600)),
        'groups = [["' + '\\"' * 30_000 + '", "a"]]',
        "groups = [['''" + "''" * 30_000,
        "x = {a" + ".a" * 30_000 + " = 1}",
        "x = " + '"""\\' * 16_000,
        "x = " + '"\\' * 30_000,
        "x = " + "'\n" * 30_000,
        "x = {" * 13_000,
        "groups = [" + "['a', 'b'],\n" * 5_000 + "]",
    ],
    ids=[
        "brackets",
        "nested",
        "digits",
        "dots",
        "tables",
        "quotes",
        "unclosed",
        "inline",
        "escaped",
        "escapes",
        "lines",
        "braces",
        "many",
    ],
)
def test_a_hostile_file_is_refused_soon(text: str) -> None:
    started = time.perf_counter()

    refused(text[:MAX_BYTES])

    assert time.perf_counter() - started < 5  # each takes milliseconds; a quadratic one would take minutes


WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=8)


@given(st.lists(WORDS, min_size=4, max_size=24, unique_by=lambda word: " ".join(word.lower().split())))
def test_standing_for_each_other_is_mutual(words: list[str]) -> None:
    groups = [words[at : at + 4] for at in range(0, len(words) - 3, 4)]
    try:
        synonyms = parse_synonyms(f"groups = [{', '.join(map(_toml, groups))}]")
    except BadSynonyms:  # two words that compose to one, an opinion
        return

    for group in synonyms.groups:
        for term in group:
            assert set(synonyms.of(term)) == set(group) - {term}
            assert all(term in synonyms.of(other) for other in synonyms.of(term))


def _toml(group: list[str]) -> str:
    return "[" + ", ".join(f'"{word}"' for word in group) + "]"
