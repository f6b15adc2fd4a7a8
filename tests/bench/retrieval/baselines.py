"""Other ways to find the same notes, for comparison: word overlap, SQLite's full-text search, stock Whoosh.

Each reads a note as its title, the names of who said it, and its body, and sees the notes that the asking context may
see. None has a gate: its best score stands for one. They know nothing of the product, so what they say of a set is kept
beside the vault and taken again while set and code are the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import nsmallest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol as Interface

from tests.bench.retrieval.asking import DEPTH
from tests.bench.retrieval.notes import BenchNote
from tests.bench.retrieval.protocols import Protocol

_WORD = re.compile(r"\w+")
# SQLite has no stop words of its own. The list that Whoosh's stock filter has (whoosh.analysis.STOP_WORDS), and the
# words that questions begin with.
_STOP_TEXT = """
    a an and are as at be by can for from have if in is it may not of on or tbd that the this to us we when will with
    yet you your what which who whom whose where why how do does did was were has had i me my he she his her they them
    their there than then so but about any some would could should
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())

Scored = list[tuple[str, float]]  # keys of notes, best first, ties by key


class Engine(Interface):
    """Something that ranks the notes that it was made of."""

    def rank(self, query: str, owners: Collection[str]) -> Scored:
        """At most DEPTH notes of these owners that match at all."""


def words_of(text: str) -> list[str]:
    """The words of a query without stop words; all of them when nothing else is left."""
    words = [word.lower() for word in _WORD.findall(text)]
    return [word for word in dict.fromkeys(words) if word not in STOP_WORDS] or list(dict.fromkeys(words))


def fields_of(note: BenchNote) -> tuple[str, str]:
    """Title and text of a note."""
    names = [actor.partition(":")[2] for actor in note.actors if actor.startswith("user:")]
    return note.title, "\n".join([*names, note.body])


class WordOverlap:
    """What `grep -ciw` for every word would order: by how many words of the query a note has, then by their count."""

    def __init__(self, notes: Sequence[BenchNote]) -> None:
        self._postings: dict[str, dict[str, int]] = {}
        self._owners = {note.key: note.owner for note in notes}
        for note in notes:
            for word, times in Counter(word.lower() for word in _WORD.findall("\n".join(fields_of(note)))).items():
                self._postings.setdefault(word, {})[note.key] = times

    def rank(self, query: str, owners: Collection[str]) -> Scored:
        """See `Engine`; the score is the number of words, with their occurrences behind the point."""
        words, times = Counter[str](), Counter[str]()
        for word in words_of(query):
            for key, count in self._postings.get(word, {}).items():
                if self._owners[key] in owners:
                    words[key] += 1
                    times[key] += count
        return _best({key: words[key] + min(times[key], 9999) / 10_000 for key in words})


class SqliteFts:
    """SQLite FTS5 with its porter tokenizer and `bm25()` as it comes; any word of the query may match."""

    def __init__(self, notes: Sequence[BenchNote]) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE note USING fts5(title, body, key UNINDEXED, owner UNINDEXED, "
            "tokenize='porter unicode61')"
        )
        rows = [(*fields_of(note), note.key, note.owner) for note in notes]
        self._db.executemany("INSERT INTO note VALUES (?, ?, ?, ?)", rows)

    def rank(self, query: str, owners: Collection[str]) -> Scored:
        """See `Engine`."""
        words = " OR ".join(f'"{word}"' for word in words_of(query))
        if not words:
            return []
        holes = ",".join("?" * len(owners))
        found = self._db.execute(
            f"SELECT key, -bm25(note) AS score FROM note WHERE note MATCH ? AND owner IN ({holes}) "
            f"ORDER BY score DESC, key LIMIT {DEPTH}",
            (words, *sorted(owners)),
        )
        return [(str(key), float(score)) for key, score in found]


class StockWhoosh:
    """Whoosh as its documentation shows it: StemmingAnalyzer, BM25F, MultifieldParser with OrGroup."""

    def __init__(self, notes: Sequence[BenchNote]) -> None:
        from whoosh.analysis import StemmingAnalyzer
        from whoosh.fields import ID, TEXT, Schema
        from whoosh.index import create_in
        from whoosh.qparser import MultifieldParser, OrGroup

        schema = Schema(title=TEXT(StemmingAnalyzer()), body=TEXT(StemmingAnalyzer()), key=ID(stored=True), owner=ID)
        # Whoosh names the temporary files of its memory storage by chance, which forked processes have in common.
        self._folder = TemporaryDirectory(prefix="remvault-bench-")
        index = create_in(self._folder.name, schema)
        writer = index.writer()
        for note in notes:
            title, body = fields_of(note)
            writer.add_document(title=title, body=body, key=note.key, owner=note.owner)
        writer.commit()
        self._searcher = index.searcher()
        self._parser = MultifieldParser(["title", "body"], schema, group=OrGroup)

    def rank(self, query: str, owners: Collection[str]) -> Scored:
        """See `Engine`."""
        from whoosh.query import Or, Term

        # Its query language would read signs and capital OR as operators; a question has neither in mind.
        parsed = self._parser.parse(" ".join(_WORD.findall(query.lower())))
        seen = Or([Term("owner", owner) for owner in sorted(owners)])
        hits = self._searcher.search(parsed, limit=DEPTH, filter=seen)
        return _best({hit["key"]: float(hit.score or 0.0) for hit in hits})


ENGINES: Mapping[str, Callable[[Sequence[BenchNote]], Engine]] = {
    "word overlap": WordOverlap,
    "SQLite FTS5": SqliteFts,
    "stock Whoosh": StockWhoosh,
}


def ask_engine(name: str, protocol: Protocol, place: Path) -> list[tuple[Scored, Scored]]:
    """What an engine finds for each question, and for its counterpart without an answer, [] where there is none.

    Args:
        place: folder in which the answer is kept.
    """
    file = place / f"{name.replace(' ', '-').lower()}-{_digest(protocol)}.json"
    if file.exists():
        kept = json.loads(file.read_text(encoding="utf-8"))
        return [
            ([(key, score) for key, score in right], [(key, score) for key, score in wrong]) for right, wrong in kept
        ]
    engine = ENGINES[name](protocol.notes)
    found = []
    for question in protocol.questions:
        right = engine.rank(question.text, _owners(question.context))
        wrong = engine.rank(question.wrong[0], _owners(question.wrong[1]))[:1] if question.wrong is not None else []
        found.append((right, wrong))
    place.mkdir(parents=True, exist_ok=True)
    # Whole or not at all: a run may be stopped, and another may use the same folder.
    partial = file.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps(found), encoding="utf-8")
    partial.replace(file)
    return found


def _owners(context: Mapping[str, str]) -> set[str]:
    return {f"{scope}:{one}" for scope, one in context.items()} | {"global:"}


def _best(scores: Mapping[str, float]) -> Scored:
    return nsmallest(DEPTH, scores.items(), key=lambda one: (-one[1], one[0]))


def _digest(protocol: Protocol) -> str:
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for note in protocol.notes:
        digest.update(repr((note.key, note.owner, *fields_of(note))).encode())
    for question in protocol.questions:
        digest.update(repr((question.id, question.text, sorted(question.context.items()))).encode())
        if question.wrong is not None:
            digest.update(repr((question.wrong[0], sorted(question.wrong[1].items()))).encode())
    return digest.hexdigest()[:16]
