"""What is known of candidates beside their text: from the manifest, from use and ratings, and from their links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from remvault.domain.markdown import wikilinks
from remvault.retrieval.signals import Facts
from remvault.retrieval.view import View

# The best by text, whose links to each other count: a link from far down says nothing about an answer.
_LINKED = 10


def facts_of(view: View, paths: Sequence[str]) -> dict[str, Facts]:
    """What is known of notes, the best by text first."""
    rows = view.snapshot.rows
    ids = {path: rows[path].id or "" for path in paths}
    used = view.experience.of(frozenset(ids.values()))
    linked = _linked(view, paths[:_LINKED])
    found = {}
    for path, about in view.snapshot.abouts(paths).items():
        newest = about.newest(view.now.timestamp())
        use = used.get(ids[path])
        found[path] = Facts(
            known_at=None if newest is None else datetime.fromtimestamp(newest[0], UTC),
            importance=about.importance,
            is_pinned=about.is_pinned,
            trust=about.trust,
            activation=use.activation if use else 0.0,
            useful=use.useful if use else 0,
            irrelevant=use.irrelevant if use else 0,
            links=linked.get(path, 0.0),
            now=view.now,
            half_life_days=view.experience.half_life_days,
        )
    return found


def _linked(view: View, paths: Sequence[str]) -> Mapping[str, float]:
    """How strongly each of some notes is linked with the others, 0..1; a relation's weight counts, in both ways."""
    if len(paths) < 2:
        return {}
    records = view.snapshot.records(paths)
    names: dict[str, set[str]] = defaultdict(set)
    for path, record in records.items():
        for name in (record["id"], record["title"], path, *record["aliases"]):
            if name:
                names[name.casefold()].add(path)
    strength: dict[str, float] = {}
    for path, record in records.items():
        for target, weight in _targets(record):
            for other in names.get(target.casefold(), set()) - {path}:
                for one in (path, other):
                    strength[one] = max(strength.get(one, 0.0), weight)
    return strength


def _targets(record: Mapping[str, Any]) -> list[tuple[str, float]]:
    weighed = [(one["target"], one["weight"]) for one in record["relations"] if one["type"] != "contradicts"]
    found = [(target, 1.0 if weight is None else weight) for target, weight in weighed]
    return found + [(target, 1.0) for target in (wikilinks(record["body"]) if "[[" in record["body"] else ())]
