"""Recall: from a query to ranked, explained hits.

A pure function of view, query and options; the index gives evidence, `ranking` the order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from remvault.index.analysis import Analyzer
from remvault.index.query import QueryWord, build_query
from remvault.index.rows import NoteRow
from remvault.index.snapshot import POSTING_BUDGET
from remvault.retrieval.anchored import anchored_to, not_looked_at
from remvault.retrieval.answers import row_answer
from remvault.retrieval.facts import facts_of
from remvault.retrieval.gate import Gate, judge, opens
from remvault.retrieval.lifecycle import Stage
from remvault.retrieval.ranking import Scored, TermMatch, rank
from remvault.retrieval.signals import scope_signal
from remvault.retrieval.snippets import snippet
from remvault.retrieval.view import View

DEFAULT_LIMIT = 10
# Said of a memory anchored to a file in hand. It leads whatever the number: words and anchors have no common scale.
ANCHOR_SIGNAL = 1.0


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
    files: Collection[str] | None = None  # of the code, from its root: what is anchored to one of them; None: any
    files_first: bool = False  # what is anchored to `files` leads whatever its text, and the others follow
    with_code: bool = True  # say how the anchors of the hits stand; else each is to be `looked` at
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
    why: tuple[str, ...]  # it answers, apart from the labels
    matched: tuple[str, ...]
    opens: bool = False  # matched within word boundaries, so that the gate may let it pass
    matches: tuple[TermMatch, ...] = ()
    anchored: tuple[str, ...] = ()  # its anchors into the files that were asked for
    view: View | None = field(default=None, repr=False, compare=False)  # None once the code was looked at

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it answers, and what a reader must know before trusting it."""
        return (*self.why, *self.labels)

    def looked(self) -> Hit:
        """The hit with what the code says of its anchors; asked for what is about to be shown, and no sooner."""
        if self.view is None:
            return self
        anchors = [one.answer() for one in self.view.readings(self.row)]
        labels = (*self.labels, *self.view.code_labels(self.row))
        return replace(self, memory=dict(self.memory) | {"anchors": anchors}, labels=labels, view=None)

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
    gate: Gate
    dropped: tuple[str, ...] = ()  # words left out because they are too common to be worth their cost
    notices: tuple[str, ...] = field(default=())

    def answer(self) -> dict[str, Any]:
        """The whole answer as JSON has it."""
        return {
            "query": self.query,
            "context": dict(self.context),
            "hits": [hit.answer() for hit in self.hits],
            "gate": self.gate.answer(),
            "index": {"generation": self.generation, "notes": self.note_count, "stale": self.is_stale},
        }


def search(view: View, query: str, options: SearchOptions, *, analyzer: Analyzer, provider: str) -> SearchAnswer:
    """Find the memories that answer a query, best first; ties by narrower scope, then path.

    Nothing outside the view's context is ranked or counted as a hit. A query is text, never a query language. An empty
    query with `options.files` finds all that is anchored to them.
    """
    words = build_query(query, analyzer)
    accept = _chosen(view.filter(options.stages, only_valid=options.only_valid), options)
    anchored: Mapping[str, tuple[str, ...]] = {}
    if options.files is not None:
        anchored = anchored_to(view, options.files, accept)
    if options.files is not None and not options.files_first:
        accept = _only(accept, anchored)
    budget = None if options.all_terms or options.literal else options.posting_budget
    matches = view.snapshot.match(
        words,
        owners=view.owners,
        accept=accept,
        posting_budget=budget,
    )
    rows = view.snapshot.rows
    ranking = rank(
        matches,
        words,
        scope_of=lambda path: _scope(rows[path]),
        is_stale=lambda path: rows[path].freshness == "stale",
        siblings=lambda paths: view.snapshot.siblings(paths, owners=view.owners, accept=accept),
        facts=lambda paths: facts_of(view, paths),
    )
    scored = list(ranking.scored)
    if options.all_terms:
        wanted = {word.text for word in words}
        scored = [one for one in scored if wanted <= set(one.matched)]
    gate = judge(ranking, threshold=view.threshold)
    if anchored and (options.files_first or not query.strip()):
        scored = _led_by(anchored, scored, rows)
    hits = _take(view, scored, _Asked(query, words, anchored, provider), options)
    snapshot = view.snapshot
    return SearchAnswer(
        query,
        dict(view.context.ids),
        tuple(hits),
        snapshot.generation,
        sum(snapshot.counts(view.owners).values()),
        snapshot.is_stale,
        gate,
        matches.dropped,
        view.notices(),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    query: str
    words: Sequence[QueryWord]
    anchored: Mapping[str, tuple[str, ...]]  # by path: anchors into the files asked for
    provider: str


def _led_by(
    anchored: Mapping[str, tuple[str, ...]], scored: Sequence[Scored], rows: Mapping[str, NoteRow]
) -> list[Scored]:
    """What is anchored to the files asked for first, whether its text matches or not; then the rest as it was."""
    found = {one.path: one for one in scored}
    leading = [found.get(path) or Scored(path, None, scope_signal(_scope(rows[path]))) for path in sorted(anchored)]
    leading = [replace(one, signals={"anchor": ANCHOR_SIGNAL, **one.signals}) for one in leading]
    leading.sort(key=lambda one: -round(one.score, 9))
    return [*leading, *(one for one in scored if one.path not in anchored)]


def _take(view: View, scored: Sequence[Scored], asked: _Asked, options: SearchOptions) -> list[Hit]:
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
            record = records.get(one.path)
            if record is None:  # anchored, but in no text index: a candidate
                continue
            if options.tags and not set(options.tags) <= set(record["tags"]):
                continue
            if options.literal and not _holds(record, asked.query):
                continue
            hits.append(_hit(view, one, record, asked))
            if len(hits) == options.limit:
                return _looked(view, hits) if options.with_code else hits
    return _looked(view, hits) if options.with_code else hits


def _looked(view: View, hits: Sequence[Hit]) -> list[Hit]:
    view.look_at_code(hit.row for hit in hits)  # several may point into one file
    return [hit.looked() for hit in hits]


def _hit(view: View, scored: Scored, record: Mapping[str, Any], asked: _Asked) -> Hit:
    row = view.snapshot.rows[scored.path]
    body: str = record["body"]
    section, text = None, body
    if scored.section is not None:
        section, text = _section(record, scored.section)
    memory = row_answer(view, row, record, provider=asked.provider, anchors=not_looked_at(row.anchors))
    anchored = asked.anchored.get(row.path, ())
    why = [f"anchored to {at}" for at in anchored]
    if scored.matched:
        why.append(f"matched {', '.join(repr(word) for word in scored.matched)} in {', '.join(scored.fields)}")
    elif scored.matches:
        why.append("matched by word stem only" if scored.signals["text"] else "of the day, or by the person, asked for")
    elif "neighbours" in scored.signals:
        why.append("stands next to what matches")
    return Hit(
        row,
        memory,
        body,
        scored.score,
        section,
        text,
        snippet(text, [word.text for word in asked.words]),
        scored.signals,
        tuple(view.own_labels(row)),
        tuple(why),
        scored.matched,
        opens(scored),
        scored.matches,
        anchored,
        view,
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


def _only(accept: Callable[[NoteRow], bool], paths: Collection[str]) -> Callable[[NoteRow], bool]:
    return lambda row: row.path in paths and accept(row)


def _chosen(accept: Callable[[NoteRow], bool], options: SearchOptions) -> Callable[[NoteRow], bool]:
    types, paths = options.types, options.paths
    if not types and not paths:
        return accept
    return lambda row: (not types or row.type in types) and (not paths or row.path in paths) and accept(row)
