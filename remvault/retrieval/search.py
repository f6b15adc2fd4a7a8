"""Recall: from a query to ranked, explained hits.

A pure function of view, query and options; the index gives evidence, `ranking` the order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from remvault.index.analysis import Analyzer
from remvault.index.query import QueryWord, build_query
from remvault.index.rows import NoteRow
from remvault.index.snapshot import POSTING_BUDGET
from remvault.retrieval.answers import memory_answer
from remvault.retrieval.lifecycle import Stage
from remvault.retrieval.ranking import Scored, rank
from remvault.retrieval.snippets import snippet
from remvault.retrieval.view import View

DEFAULT_LIMIT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How to search. Everything given must hold."""

    limit: int = DEFAULT_LIMIT
    stages: tuple[Stage, ...] = ("active",)
    types: Collection[str] = ()
    tags: Collection[str] = ()
    all_terms: bool = False  # every word as a whole token
    literal: bool = False  # the text as one run of characters, ignoring case
    only_valid: bool = False  # leave out notes with errors, as surfacing does
    paths: Collection[str] = ()  # only these notes
    posting_budget: int | None = POSTING_BUDGET


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory found, with its best section."""

    row: NoteRow
    memory: Mapping[str, Any]  # as `answers.memory_answer`, without body
    body: str
    score: float
    section: tuple[str, int] | None  # heading and 1-based line
    section_text: str
    snippet: str
    signals: Mapping[str, float]
    labels: tuple[str, ...]
    reasons: tuple[str, ...]
    matched: tuple[str, ...]

    def answer(self) -> dict[str, Any]:
        """The hit as JSON has it."""
        section = None if self.section is None else {"heading": self.section[0], "line": self.section[1]}
        return dict(self.memory) | {
            "score": round(self.score, 6),
            "section": section,
            "snippet": self.snippet,
            "signals": {name: round(value, 6) for name, value in self.signals.items()},
            "labels": list(self.labels),
            "reasons": list(self.reasons),
        }


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The hits, best first, and what they were found in."""

    query: str
    context: Mapping[str, str]
    hits: tuple[Hit, ...]
    generation: int
    note_count: int
    is_stale: bool
    dropped: tuple[str, ...] = ()  # words left out because they are too common to be worth their cost
    notices: tuple[str, ...] = field(default=())

    def answer(self) -> dict[str, Any]:
        """The whole answer as JSON has it."""
        return {
            "query": self.query,
            "context": dict(self.context),
            "hits": [hit.answer() for hit in self.hits],
            "gate": None,
            "index": {"generation": self.generation, "notes": self.note_count, "stale": self.is_stale},
        }


def search(view: View, query: str, options: SearchOptions, *, analyzer: Analyzer, provider: str) -> SearchAnswer:
    """Find the memories that answer a query, best first; ties by narrower scope, then path.

    Nothing outside the view's context is ranked or counted as a hit. A query is text, never a query language.
    """
    words = build_query(query, analyzer)
    accept = view.filter(options.stages, only_valid=options.only_valid)
    budget = None if options.all_terms or options.literal else options.posting_budget
    matches = view.snapshot.match(words, owners=view.owners, accept=_chosen(accept, options), posting_budget=budget)
    rows = view.snapshot.rows
    scored = rank(
        matches,
        words,
        scopes={one.path: _scope(rows[one.path]) for one in matches.documents},
        freshness={one.path: rows[one.path].freshness for one in matches.documents},
    )
    if options.all_terms:
        wanted = {word.text for word in words}
        scored = [one for one in scored if wanted <= set(one.matched)]
    hits = _take(view, scored, query, words, options, provider)
    snapshot = view.snapshot
    return SearchAnswer(
        query,
        dict(view.context.ids),
        tuple(hits),
        snapshot.generation,
        snapshot.count(view.owners),
        snapshot.is_stale,
        matches.dropped,
        view.notices(),
    )


def _take(
    view: View, scored: Sequence[Scored], query: str, words: Sequence[QueryWord], options: SearchOptions, provider: str
) -> list[Hit]:
    """Make hits of the best, in batches, until the limit holds after the filters that need the note's own text."""
    if options.limit < 1:
        return []
    needs_record = bool(options.tags) or options.literal
    batch = max(options.limit, 50) if needs_record else options.limit
    hits: list[Hit] = []
    for start in range(0, len(scored), batch):
        chunk = scored[start : start + batch]
        records = view.snapshot.records([one.path for one in chunk])
        for one in chunk:
            record = records[one.path]
            if options.tags and not set(options.tags) <= set(record["tags"]):
                continue
            if options.literal and not _holds(record, query):
                continue
            hits.append(_hit(view, one, record, words, provider))
            if len(hits) == options.limit:
                return hits
    return hits


def _hit(view: View, scored: Scored, record: Mapping[str, Any], words: Sequence[QueryWord], provider: str) -> Hit:
    row = view.snapshot.rows[scored.path]
    body: str = record["body"]
    section, text = None, body
    if scored.section is not None:
        section, text = _section(record, scored.section)
    labels = tuple(view.labels(row))
    memory = memory_answer(
        record, provider=provider, path=row.path, committed=row.is_committed, successors=view.successors(row)
    )
    where = ", ".join(scored.fields)
    reasons = [f"matched {', '.join(repr(word) for word in scored.matched)} in {where}"] if scored.matched else []
    reasons += [] if scored.matched else ["matched by word stem only"]
    return Hit(
        row,
        memory,
        body,
        scored.score,
        section,
        text,
        snippet(text, [word.text for word in words]),
        scored.signals,
        labels,
        (*reasons, *labels),
        scored.matched,
    )


def _section(record: Mapping[str, Any], number: int) -> tuple[tuple[str, int], str]:
    """Heading path and line of a section, and its text without the heading line."""
    found = record["sections"]
    lines = record["body"].split("\n")
    start = found[number]["line"] - record["body_line"] + (1 if found[number]["level"] else 0)
    end = found[number + 1]["line"] - record["body_line"] if number + 1 < len(found) else len(lines)
    return (" > ".join(found[number]["path"]), found[number]["line"]), "\n".join(lines[start:end])


def _holds(record: Mapping[str, Any], query: str) -> bool:
    run = query.strip().casefold()
    texts = [record["title"], record["summary"], record["body"], *record["tags"], *record["aliases"]]
    return any(run in text.casefold() for text in texts if text)


def _scope(row: NoteRow) -> str:
    """The scope for ranking; an unreadable one ranks as the widest."""
    return row.owner.split(":", 1)[0] if row.owner else "global"


def _chosen(accept: Callable[[NoteRow], bool], options: SearchOptions) -> Callable[[NoteRow], bool]:
    types, paths = options.types, options.paths
    if not types and not paths:
        return accept
    return lambda row: (not types or row.type in types) and (not paths or row.path in paths) and accept(row)
