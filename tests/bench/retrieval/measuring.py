"""From the product's replies to metrics. Pure: replies in, estimates out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tests.bench.retrieval.asking import Block, Kind, Reply
from tests.bench.retrieval.baselines import Scored
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
from tests.bench.retrieval.protocols import Question

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
    if not both:
        return {}
    return separation([(right.score, wrong.score) for right, wrong in both]) | {
        "gate_recall": wilson(sum(right.is_open for right, _ in both), len(both)),
        "gate_FPR": wilson(sum(wrong.is_open for _, wrong in both), len(both)),
    }


def separation(scores: Sequence[tuple[float, float]]) -> Metrics:
    """AUROC and FPR@90 of pairs of scores: of a question with an answer, and of its counterpart without."""
    if not scores:
        return {}
    return {
        "AUROC": paired(auroc, scores),
        "FPR@90": paired(lambda right, wrong: fpr_at_recall(right, wrong, _GATE_RECALL), scores),
    }


def boundaries(asked: Asked) -> Metrics:
    """Memories shown outside their scope, and superseded ones shown, of all that were shown."""
    shown = sum(reply.boundary.shown for _, reply in asked)
    return {
        "scope_leaks": count(sum(reply.boundary.scope_leaks for _, reply in asked), shown),
        "superseded_surfaced": count(sum(reply.boundary.superseded for _, reply in asked), shown),
    }


def of_engine(kind: Kind, questions: Sequence[Question], answers: Sequence[tuple[Scored, Scored]]) -> Metrics:
    """What an engine without a gate or a block reaches: its best score for a gate, all that it finds for a block."""
    both = list(zip(questions, answers, strict=True))
    if kind == "ranking":
        answerable = [(question, right) for question, (right, _) in both if question.gold]
        rankings = [[key for key, _ in right] for _, right in answerable]
        return ranked([question for question, _ in answerable], rankings)
    if kind == "gate":
        return separation([(_top(right), _top(wrong)) for question, (right, wrong) in both if question.wrong])
    shown = [(question, Block(tuple(key for key, _ in right), (), 0, "", ())) for question, (right, _) in both]
    return _surfaced_recall(shown) | _false_positive_rates(shown)


def _top(found: Scored) -> float:
    return found[0][1] if found else 0.0


def surfaced(asked: Asked) -> Metrics:
    """What a prompt is given; the README of the bench defines every metric."""
    found = _surfaced_recall(_blocks(asked))
    positives = [(question.gold, block) for question, block in _blocks(asked) if question.gold]
    negatives = [block for question, block in _blocks(asked) if not question.gold]
    if negatives:
        n = len(negatives)
        found |= _false_positive_rates(_blocks(asked))
        found["negatives_abstained"] = wilson(sum(not block.keys for block in negatives), n)
        found["negatives_core_only"] = wilson(sum(bool(block.core) and not block.relevant for block in negatives), n)
        found["negatives_irrelevant"] = found["FPR"]
        found["negative_memories"] = count(sum(len(block.relevant) for block in negatives), n)
    if positives:
        found["false_abstention"] = wilson(sum(not block.relevant for _, block in positives), len(positives))
        found["precision_macro"] = mean([_share(block.relevant, gold) for gold, block in positives])
    shown = [(gold, key) for gold, block in positives for key in block.relevant]
    if shown:
        found["precision_entry"] = wilson(sum(key in gold for gold, key in shown), len(shown))
    if positives or negatives:
        found["surfaced_average"] = mean([float(len(block.keys)) for _, block in _blocks(asked)])
        found["tokens_average"] = mean([float(block.tokens) for _, block in _blocks(asked)])
    return found


def false_positives(asked: Asked) -> list[tuple[Question, Block]]:
    """The questions without an answer that were given memories all the same, in their order."""
    return [(question, block) for question, block in _blocks(asked) if not question.gold and block.relevant]


def _surfaced_recall(shown: Sequence[tuple[Question, Block]]) -> Metrics:
    """The share of expected memories that were shown: of all, and of each group of questions."""
    wanted: dict[str, list[bool]] = {}
    for question, block in shown:
        for name in dict.fromkeys(["surfaced_recall", f"surfaced_recall_{question.group}".rstrip("_")]):
            wanted.setdefault(name, []).extend(key in block.relevant for key in question.gold)
    return {name: wilson(sum(hits), len(hits)) for name, hits in wanted.items() if hits}


def _false_positive_rates(shown: Sequence[tuple[Question, Block]]) -> Metrics:
    """The share of questions without an answer that were given memories: of all, and of each group of several."""
    wrong: dict[str, list[bool]] = {}
    for question, block in shown:
        if not question.gold:
            wrong.setdefault(question.group, []).append(bool(block.relevant))
    rates = {f"FPR_{group}": wilson(sum(hits), len(hits)) for group, hits in wrong.items() if len(wrong) > 1}
    everything = [hit for hits in wrong.values() for hit in hits]
    return ({"FPR": wilson(sum(everything), len(everything))} if everything else {}) | rates


def _blocks(asked: Asked) -> list[tuple[Question, Block]]:
    return [(question, reply.block) for question, reply in asked if reply.block is not None]


def _share(shown: Sequence[str], gold: frozenset[str]) -> float:
    """How much of what was shown was expected; nothing shown is worth nothing."""
    return sum(key in gold for key in shown) / len(shown) if shown else 0.0


MEASURES: Mapping[Kind, Callable[[Asked], Metrics]] = {"ranking": ranking, "gate": gate, "block": surfaced}
