"""Vaults of any size for measuring: real lengths, word frequencies, identifiers and owners; the same for one seed."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

_COMMON_TEXT = """
    the of and to in a is that for it as with on by be are this was from at or not have an which but all when
    can will one if has there use each more do how their other about out many then them these so some her would
    make like into time two way been its only call most over such new after also used first any work where must
    through before here well should because between both under while same another own see might never still
    against during without however always again within
"""
_COMMON = _COMMON_TEXT.split()
_DOMAIN_TEXT = """
    deploy server store cache lock index commit branch merge release build test config token session user query
    search result score rank note memory agent prompt scope project team policy review change file folder path
    name value key field schema record table column database migration transaction timeout retry queue worker
    thread process signal handler error warning message log metric trace request response client proxy network
    socket port host address certificate secret password login permission role account payment invoice order
    customer product price currency report export import parser lexer grammar compiler runtime module package
    version dependency upgrade rollback backup restore snapshot archive latency throughput memory cpu disk
    budget limit quota threshold window interval schedule timer calendar event stream callback promise future
    buffer encoder decoder header payload checksum digest hash signature encryption protocol
"""
_DOMAIN = _DOMAIN_TEXT.split()
_SYLLABLES_TEXT = """
    ba be bi bo bu da de di do du fa fe fi ga go gu ka ke ki ko la le li lo lu ma me mi mo mu na ne ni no pa pe
    pi po ra re ri ro sa se si so ta te ti to va ve vi vo za ze
"""
_SYLLABLES = _SYLLABLES_TEXT.split()
_ENDINGS = ("", "", "", "s", "ed", "ing", "er", "ion")
_TYPES = ("semantic", "episodic", "decision", "preference", "procedure")
VOCABULARY_SIZE = 12_000
NOTES_PER_FOLDER = 500


def generate(
    root: Path, notes: int = 10_000, *, seed: int = 1, projects: int = 20, long_share: float = 0.05
) -> list[str]:
    """Write `notes` valid notes below `root` (made if absent) and return their paths, in order of writing.

    A tenth is global, the rest belongs to `projects` projects in turn. Bodies have 120 to 200 words, a `long_share` of
    them three sections of that length; a quarter has a heading. The same arguments write the same bytes.
    """
    chance = random.Random(seed)
    words, weights = _vocabulary()
    cumulative = list(itertools.accumulate(weights))
    paths: list[str] = []
    folders: set[Path] = set()
    for number in range(notes):
        owner = "global" if number % 10 == 0 else f"project-{number % projects}"
        title = " ".join(chance.choices(words, cum_weights=cumulative, k=chance.randint(4, 8))).capitalize()
        path = _path(owner, number, projects)
        target = root / path
        if target.parent not in folders:
            target.parent.mkdir(parents=True, exist_ok=True)
            folders.add(target.parent)
        target.write_bytes(
            (_frontmatter(chance, owner, number, title) + _body(chance, words, cumulative, long_share)).encode()
        )
        paths.append(path)
    return paths


def query_words(count: int, *, seed: int = 2) -> list[str]:
    """Draw words as a searcher would: content words and identifiers of the vocabulary, frequent ones more often."""
    chance = random.Random(seed)
    words, weights = _vocabulary()
    return chance.choices(words[len(_COMMON) :], weights=weights[len(_COMMON) :], k=count)


def _vocabulary() -> tuple[list[str], list[float]]:
    """Words by rank with Zipf's weights: function words, the trade's words, then made-up ones and identifiers."""
    chance = random.Random(7)
    words = list(dict.fromkeys(_COMMON + _DOMAIN))
    known = set(words)
    while len(words) < VOCABULARY_SIZE:
        word = "".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) + chance.choice(_ENDINGS)
        kind = chance.random()
        if kind < 0.12:
            first, second = chance.choice(_DOMAIN), chance.choice(_DOMAIN)
            third = word[:4]
            word = chance.choice(
                (
                    f"{first}_{second}_{third}",
                    f"{first}{second.capitalize()}{third}",
                    f"src/{first}/{second}_{third}.py",
                )
            )
        if word not in known:
            known.add(word)
            words.append(word)
    return words, [(rank + 3) ** -1.15 for rank in range(len(words))]


def _path(owner: str, number: int, projects: int) -> str:
    place = number // 10 if owner == "global" else number // projects
    folder = f"{owner if owner == 'global' else 'project/' + owner}/2026-{place // NOTES_PER_FOLDER:02d}"
    return f"{folder}/note-{number:06d}.md"


def _frontmatter(chance: random.Random, owner: str, number: int, title: str) -> str:
    scope = "scope: global\n" if owner == "global" else f"scope: project\nscope-id: {owner}\n"
    tags = ", ".join(chance.sample(_DOMAIN, 2))
    return (
        f'---\nid: m-{number:010d}\ntitle: "{title}"\ntype: {chance.choice(_TYPES)}\n{scope}freshness: current\n'
        f"provenance:\n  - source: remvault://explicit-write\n    actor: user:dana\n    trust: user\n"
        f"    captured: 2026-0{chance.randint(1, 9)}-1{chance.randint(0, 9)}T09:30:00Z\n"
        f"tags: [{tags}]\nimportance: 0.{chance.randint(1, 9)}\n---\n"
    )


def _body(chance: random.Random, words: list[str], cumulative: list[float], long_share: float) -> str:
    if chance.random() < long_share:
        return "\n".join(
            f"## {chance.choice(words)} {chance.choice(words)}\n\n{_text(chance, words, cumulative)}" for _ in range(3)
        )
    heading = f"# {chance.choice(_DOMAIN)} {chance.choice(words)}\n\n" if chance.random() < 0.25 else ""
    return heading + _text(chance, words, cumulative)


def _text(chance: random.Random, words: list[str], cumulative: list[float]) -> str:
    drawn = chance.choices(words, cum_weights=cumulative, k=chance.randint(120, 200))
    sentences = []
    while drawn:
        size = chance.randint(6, 16)
        sentences.append(" ".join(drawn[:size]).capitalize() + ".")
        drawn = drawn[size:]
    return "\n".join(sentences) + "\n"
