"""From the product's replies to metrics. Pure: replies in, estimates out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tests.bench.retrieval.asking import Reply
from tests.bench.retrieval.metrics import (
    Estimate,
    auroc,
    count,
    fpr_at_recall,
    mean,
    ndcg_at,
    paired,
    recall_at,
    reciprocal_rank,
    wilson,
)
from tests.bench.retrieval.protocols import Protocol, Question

Metrics = dict[str, Estimate]
Asked = Sequence[tuple[Question, Reply]]
_GATE_RECALL = 0.9


def ranking(asked: Asked) -> Metrics:
    """R@1, R@5, R@10, MRR and nDCG@10; where a set was audited, the same against the audit's gold as `R@5_audited` …"""
    answerable = [(question, reply) for question, reply in asked if question.gold]
    return ranked([question for question, _ in answerable], [reply.ranking for _, reply in answerable])


def ranked(questions: Sequence[Question], rankings: Sequence[Sequence[str]]) -> Metrics:
    """As `ranking`, for any engine's rankings."""
    found = _ranked(rankings, [question.gold for question in questions])
    if any(question.audited not in (frozenset(), question.gold) for question in questions):
        audited = _ranked(rankings, [question.audited or question.gold for question in questions])
        found |= {f"{name}_audited": value for name, value in audited.items()}
    return found


def _ranked(rankings: Sequence[Sequence[str]], golds: Sequence[frozenset[str]]) -> Metrics:
    pairs = list(zip(rankings, golds, strict=True))
    if not pairs:
        return {}
    return {
        "R@1": mean([recall_at(one, gold, 1) for one, gold in pairs]),
        "R@5": mean([recall_at(one, gold, 5) for one, gold in pairs]),
        "R@10": mean([recall_at(one, gold, 10) for one, gold in pairs]),
        "MRR": mean([reciprocal_rank(one, gold) for one, gold in pairs]),
        "nDCG@10": mean([ndcg_at(one, gold, 10) for one, gold in pairs]),
    }


def gate(asked: Asked) -> Metrics:
    """How well the gate's score tells questions that the context answers from the same asked where nothing does.

    AUROC, the false-positive rate at the threshold that lets 90 % of the answerable ones pass, and what the gate
    decides at its own threshold: `gate_recall` and `gate_FPR`.
    """
    both = [(reply.gate, reply.wrong) for _, reply in asked if reply.wrong is not None]
    scores = [(right.score, wrong.score) for right, wrong in both if wrong is not None]
    if not scores:
        return {}
    return {
        "AUROC": paired(auroc, scores),
        "FPR@90": paired(lambda right, wrong: fpr_at_recall(right, wrong, _GATE_RECALL), scores),
        "gate_recall": wilson(sum(right.is_open for right, _ in both), len(both)),
        "gate_FPR": wilson(sum(wrong is not None and wrong.is_open for _, wrong in both), len(both)),
    }


def boundaries(asked: Asked) -> Metrics:
    """Memories shown outside their scope, and superseded ones shown, of all that were shown."""
    shown = sum(reply.boundary.shown for _, reply in asked)
    return {
        "scope_leaks": count(sum(reply.boundary.scope_leaks for _, reply in asked), shown),
        "superseded_surfaced": count(sum(reply.boundary.superseded for _, reply in asked), shown),
    }


def surfaced(asked: Asked, protocol: Protocol) -> Metrics:
    """What a prompt is given; see the README of the bench for every definition."""
    core = {note.key for note in protocol.notes if note.fields.get("tier") == "core"}
    recalled: dict[str, tuple[int, int]] = {}
    for question, reply in asked:
        shown = set(_relevant(reply, core))
        for group in {"", question.group}:
            hits, wanted = recalled.get(group, (0, 0))
            recalled[group] = (hits + len(shown & question.gold), wanted + len(question.gold))
    found = {f"surfaced_recall_{group}" if group else "surfaced_recall": wilson(*recalled[group]) for group in recalled}
    positives = [(question, _relevant(reply, core)) for question, reply in asked if question.gold]
    negatives = [(_relevant(reply, core), _core(reply, core)) for question, reply in asked if not question.gold]
    if negatives:
        wrong = sum(bool(shown) for shown, _ in negatives)
        found["FPR"] = wilson(wrong, len(negatives))
        found["negatives_abstained"] = wilson(sum(not shown and not own for shown, own in negatives), len(negatives))
        found["negatives_core_only"] = wilson(sum(not shown and bool(own) for shown, own in negatives), len(negatives))
        found["negatives_irrelevant"] = found["FPR"]
        found["negative_memories"] = count(sum(len(shown) for shown, _ in negatives), len(negatives))
    if positives:
        found["false_abstention"] = wilson(sum(not shown for _, shown in positives), len(positives))
        entries = sum(len(shown) for _, shown in positives)
        found["precision_entry"] = wilson(sum(len(one.gold & set(shown)) for one, shown in positives), entries)
        speaking = [len(one.gold & set(shown)) / len(shown) for one, shown in positives if shown]
        if speaking:
            found["precision_macro"] = mean(speaking)
    blocks = [reply.block for _, reply in asked if reply.block is not None]
    if blocks:
        found["surfaced_average"] = mean([float(len(block.keys)) for block in blocks])
        found["tokens_average"] = mean([float(block.tokens) for block in blocks])
    return {name: value for name, value in found.items() if value.n}


def _relevant(reply: Reply, core: set[str]) -> list[str]:
    return [key for key in reply.block.keys if key not in core] if reply.block is not None else []


def _core(reply: Reply, core: set[str]) -> list[str]:
    return [key for key in reply.block.keys if key in core] if reply.block is not None else []


MEASURES: Mapping[str, Callable[[Asked, Protocol], Metrics]] = {
    "ranking": lambda asked, protocol: ranking(asked),
    "gate": lambda asked, protocol: gate(asked),
    "block": surfaced,
}
