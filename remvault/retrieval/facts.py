"""What is known of candidates beside their text: from the manifest, from use and ratings, and from their links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from remvault.domain.activation import activation
from remvault.domain.markdown import wikilinks
from remvault.retrieval.experience import Used
from remvault.retrieval.signals import Facts
from remvault.retrieval.view import View

# The best by text, whose links to each other count: a link from far down says nothing about an answer.
_LINKED = 10
_DAY_S = 86_400


def facts_of(view: View, paths: Sequence[str]) -> dict[str, Facts]:
    """What is known of notes, the best by text first."""
    rows = view.snapshot.rows
    ids = {path: rows[path].id or "" for path in paths}
    used = view.experience.of(frozenset(ids.values()))
    linked = _linked(view, paths[:_LINKED])
    found = {}
    now_s, half_life_days = view.now.timestamp(), view.experience.half_life_days
    for path, about in view.snapshot.abouts(paths).items():
        newest = about.newest(now_s)
        use = used.get(ids[path], Used())
        found[path] = Facts(
            age_days=None if newest is None else (now_s - newest[0]) / _DAY_S,
            importance=about.importance,
            is_pinned=about.is_pinned,
            trust=about.trust,
            activation=activation(
                use.recalls,
                now=view.now,
                half_life_days=half_life_days,
                importance=about.importance,
                is_pinned=about.is_pinned,
            ),
            useful=use.useful,
            irrelevant=use.irrelevant,
            links=linked.get(path, 0.0),
            half_life_days=half_life_days,
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
