"""The scripted edits of the bench, the quick part: every look and meaning in every language, some with git."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from remvault.store.outlines import outline, symbol_digest
from tests.bench.anchors import oracles
from tests.bench.anchors.samples import Sample, load_all
from tests.bench.anchors.scripted import Bench, edits

Oracle = Callable[[str], list[oracles.Known] | None]
SAMPLES = {sample.language: sample for sample in load_all()}
VARIANTS = [
    pytest.param(sample, target.symbol, target.text, variant, id=f"{sample.language}-{target.symbol}-{variant.name}")
    for sample in SAMPLES.values()
    for target in sample.targets
    for variant in target.variants
]


def digest(sample: Sample, text: str, symbol: str) -> str:
    """The digest of a definition in its file."""
    whole = sample.file(sample.others[0], text, sample.others[1])
    found = outline(sample.path, whole.encode()).named(symbol)
    assert found, symbol
    return symbol_digest(found)


@pytest.mark.parametrize(("sample", "symbol", "text", "variant"), VARIANTS)
def test_a_digest_changes_with_the_meaning_and_only_with_it(sample, symbol, text, variant) -> None:  # type: ignore[no-untyped-def]
    is_same = variant.kind in ("look", "comment", "renamed")
    now = digest(sample, variant.text, variant.name if variant.kind == "renamed" else symbol)

    assert (now == digest(sample, text, symbol)) == is_same


@pytest.mark.parametrize(("language", "read"), [("Python", oracles.python), ("Go", oracles.go)])
def test_the_oracles_of_the_bench_agree_on_every_variant(language: str, read: Oracle) -> None:
    sample = SAMPLES[language]

    def meaning(text: str, symbol: str) -> list[str]:
        found = read(sample.file(sample.others[0], text, sample.others[1])) or []
        return sorted(one.meaning for one in found if one.name == symbol)

    for target in sample.targets:
        meant = meaning(target.text, target.symbol)
        assert meant, target.symbol
        for variant in target.of("look", "comment", "body", "signature"):
            if variant.name == "statements on one line":  # the tokens of Pygments say nothing of statements
                continue
            is_same = meaning(variant.text, target.symbol) == meant
            assert is_same == (variant.kind in ("look", "comment")), (target.symbol, variant.name)


@pytest.mark.parametrize("language", SAMPLES)
def test_states_after_what_people_do_to_files(language: str, tmp_path: Path) -> None:
    """One edit of each kind that moves code about; the bench does all of them."""
    wanted = {"rename file", "move to a file", "rename and change", "move and change", "rename symbol", "delete"}
    wanted |= {"line endings", "lines above", "reorder", "copy"}
    seen: set[tuple[str, str]] = set()
    bench = Bench(tmp_path)
    for edit in edits(SAMPLES[language]):
        if edit.kind in wanted and (edit.kind, edit.name) not in seen:
            seen.add((edit.kind, edit.name))
            verdict = bench.verdict(edit)
            assert verdict.is_right, (edit.kind, edit.name, edit.states, edit.now_at, verdict.reading)


def test_there_are_samples_of_every_language_that_has_a_grammar() -> None:
    from remvault.store.languages import LANGUAGES

    read = {outline(sample.path, b"").language for sample in SAMPLES.values()}

    assert read == {language.name for language in LANGUAGES}


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("namespace v {\nclass Store {\n  int size();\n};\n}\n", "Store.size"),
        ("struct store {\n  int size;\n};\n", "store"),
    ],
)
def test_a_header_is_read_as_the_language_that_it_is_written_in(text: str, symbol: str) -> None:
    assert outline("store.h", text.encode()).named(symbol)
