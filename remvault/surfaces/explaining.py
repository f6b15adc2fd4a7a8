"""`why`: everything that is known about one memory: where from, who wrote it, what replaced it, what speaks against it.

Only what this context may see is told: a link or a successor out of its sight is left out, as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from remvault.domain.markdown import wikilinks
from remvault.index.rows import NoteRow
from remvault.retrieval.anchored import why_hidden
from remvault.retrieval.explanation import explain, explain_rank
from remvault.retrieval.lifecycle import STAGES, Stage
from remvault.retrieval.lookup import AmbiguousName, MemoryNotFound, find
from remvault.retrieval.providers import FusedHit
from remvault.retrieval.search import Hit, SearchAnswer, SearchOptions, search
from remvault.retrieval.view import View
from remvault.surfaces.app import OpenVault
from remvault.surfaces.auditing import entry_answer, memory_log
from remvault.surfaces.reading import memory_of

if TYPE_CHECKING:
    from remvault.store.history import Entry
    from remvault.surfaces.fusing import FusedAnswer

_RANKS = 200  # a memory behind so many others is told to be behind them all
_SIGNATURES = {
    "G": "good",
    "U": "good, of unknown validity",
    "X": "good, expired",
    "Y": "good, by an expired key",
    "R": "good, by a revoked key",
    "B": "bad",
    "E": "cannot be checked",
}


@dataclass(frozen=True, slots=True)
class Why:
    """What is known about one memory; see CLI.md for the keys."""

    memory: Mapping[str, Any]
    labels: tuple[str, ...]
    history: tuple[Mapping[str, Any], ...]
    chain: tuple[Mapping[str, Any], ...]
    links_in: tuple[Mapping[str, Any], ...]
    links_out: tuple[Mapping[str, Any], ...]
    conflicts: tuple[Mapping[str, Any], ...]
    feedback: Mapping[str, Any]
    surfaced: tuple[Mapping[str, Any], ...]
    times_surfaced: int
    activation: float  # 0..1, from deliberate recalls on this machine
    score: Mapping[str, Any] | None

    def answer(self) -> dict[str, Any]:
        """The whole answer as JSON has it."""
        return {
            "memory": dict(self.memory),
            "labels": list(self.labels),
            "history": [dict(one) for one in self.history],
            "chain": [dict(one) for one in self.chain],
            "links": {"in": [dict(one) for one in self.links_in], "out": [dict(one) for one in self.links_out]},
            "conflicts": [dict(one) for one in self.conflicts],
            "feedback": dict(self.feedback),
            "surfaced": [dict(one) for one in self.surfaced],
            "times_surfaced": self.times_surfaced,
            "activation": round(self.activation, 6),
            "score": None if self.score is None else dict(self.score),
        }


def why(vault: OpenVault, name: str, query: str | None = None) -> Why:
    """Explain one memory; with a query also how it scores, or why a search would not find it.

    Raises:
        MemoryNotFound, AmbiguousName: out of scope answers exactly like not there.
    """
    from remvault.store.feedback import of_memory as feedback_of
    from remvault.store.usage import MemoryUsage
    from remvault.store.usage import of_memory as usage_of
    from remvault.surfaces.disputes import conflicts_of
    from remvault.surfaces.exposing import activation_of

    view = vault.view(with_past=True)
    row = vault.find(name, view)
    memory = memory_of(vault, view, row)
    entries = () if vault.repository is None else memory_log(vault, view, row)
    usage = usage_of(vault.state, row.id) if row.id else MemoryUsage()
    return Why(
        memory=memory,
        labels=tuple(view.labels(row)),
        history=tuple(_signed(vault, entries)),
        chain=tuple(_chain(view, row)),
        links_in=tuple(_links_in(view, row)),
        links_out=tuple(_links_out(view, memory)),
        conflicts=tuple(conflicts_of(vault, view, row.id)),
        feedback=feedback_of(vault.root, row.id or "").answer(),
        surfaced=(usage.last.answer(),) if usage.last is not None else (),
        times_surfaced=usage.times_surfaced,
        activation=activation_of(vault, memory, usage, now=view.now),
        score=None if query is None else _score(vault, view, row, memory, query),
    )


def _signed(vault: OpenVault, entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """The entries with each commit's author and what git says of its signature, None for an unsigned one."""
    from remvault.store.history import signatures

    said = signatures(vault.history, [entry.commit for entry in entries]) if entries else {}
    return [
        entry_answer(entry) | {"author": entry.author, "signature": _SIGNATURES.get(said.get(entry.commit, "N"))}
        for entry in entries
    ]


def _chain(view: View, row: NoteRow) -> list[dict[str, Any]]:
    """Every visible memory linked with this one by supersession, oldest first; only this one when there is none."""
    if row.id is None:
        return []
    lineage = view.snapshot.lineage
    ids = lineage.chain(row.id)
    seen = {other.id: other for other in view.visible() if other.id in ids} if len(ids) > 1 else {row.id: row}
    return [
        {
            "id": one,
            "title": seen[one].title,
            "stage": view.stage(seen[one]),
            "head": not any(newer in seen for newer in lineage.successors.get(one, ())),
        }
        for one in ids
        if one in seen
    ]


def _links_out(view: View, memory: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The memory's relations, then the wikilinks of its body; a target that is nothing visible has no title."""
    rows = list(view.visible())
    found = [
        _link(rows, one["type"], one["target"]) | {"weight": one["weight"], "by": "relation"}
        for one in memory["relations"]
    ]
    found += [
        _link(rows, "related-to", target) | {"weight": None, "by": "wikilink"} for target in wikilinks(memory["body"])
    ]
    return found


def _links_in(view: View, row: NoteRow) -> list[dict[str, Any]]:
    """Visible memories that contradict or support this one, or are derived from it."""
    if row.id is None:
        return []
    return [
        {"type": kind, "id": other.id, "title": other.title}
        for other in view.visible()
        for kind, target in other.relations
        if target == row.id and other.path != row.path
    ]


def _link(rows: Sequence[NoteRow], kind: str, target: str) -> dict[str, Any]:
    try:
        other = find(target, rows)
    except (MemoryNotFound, AmbiguousName):
        return {"type": kind, "target": target, "id": None, "title": None}
    return {"type": kind, "target": target, "id": other.id, "title": other.title}


def explained(found: SearchAnswer | FusedAnswer) -> dict[str, Any]:
    """The answer of a search as JSON has it, with an explanation of each hit and the words that were left out.

    A hit of several vaults has its rank as only signal, and the explanation of its own vault below `in_provider`.
    """
    answer = found.answer() | {"dropped": list(found.dropped)}
    hits: Sequence[Hit | FusedHit] = found.hits
    for hit, told in zip(hits, answer["hits"], strict=True):
        told["explanation"] = _explanation(hit)
    return answer


def _explanation(hit: Hit | FusedHit) -> dict[str, Any]:
    if isinstance(hit, Hit):
        return explain(hit).answer()
    inside = explain(hit.offer).answer() if isinstance(hit.offer, Hit) else None
    return explain_rank(hit.score).answer() | {"in_provider": inside}


def _score(vault: OpenVault, view: View, row: NoteRow, memory: Mapping[str, Any], query: str) -> dict[str, Any]:
    """How the memory scores for a query, where a plain search puts it, and else in words why it would not be found."""

    def found(**options: Any) -> SearchAnswer:
        wanted = SearchOptions(only_valid=not vault.is_person, **options)
        return search(view, query, wanted, analyzer=vault.analyzer, provider=vault.provider)

    plain = found(limit=_RANKS, with_code=False)
    stage = view.stage(row)
    # Among the others where it is one of the answers: what stands beside it is part of its score.
    rank, hit = next(((at, one) for at, one in enumerate(plain.hits, 1) if one.row.path == row.path), (None, None))
    if hit is None:
        alone = found(limit=1, stages=STAGES, paths=(row.path,)).hits
        hit = alone[0] if alone else None
    else:
        hit = hit.looked()
    return {
        "query": query,
        "score": None if hit is None else round(hit.score, 6),
        "signals": {} if hit is None else {key: round(value, 6) for key, value in hit.signals.items()},
        "matched": [] if hit is None else list(hit.matched),
        "reasons": [] if hit is None else list(hit.reasons),
        "section": None if hit is None else hit.answer()["section"],
        "rank": rank,
        "gate": plain.gate.answer(),
        "explanation": None if hit is None else explain(hit).answer(),
        "dropped": list(plain.dropped),
        "why_not": list(_why_not(vault, row, memory, hit, stage=stage, is_ranked=rank is not None)),
    }


def _why_not(
    vault: OpenVault, row: NoteRow, memory: Mapping[str, Any], hit: Hit | None, *, stage: Stage, is_ranked: bool
) -> Iterator[str]:
    """What keeps a memory from being found, or from being surfaced."""
    if not row.is_valid and not vault.is_person:
        yield "the note has errors, so it is shown to a person only"
    elif hit is None:
        yield "no word of the query stands in it"
    if stage != "active":
        yield f"it is {stage}: only 'search --status {stage}' finds it"
    if hit is not None and not hit.opens:
        yield "no whole word of the query stands in it: it is found by a search, and never surfaced"
    if hit is not None and not row.is_valid:
        yield "the note has errors, so it is never surfaced"
    if why_hidden(memory) is not None:
        yield "code it points at is gone, so it is never surfaced"
    if hit is not None and stage == "active" and not is_ranked:
        yield f"over {_RANKS} memories answer better"
