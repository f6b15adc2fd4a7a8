"""`catalog`: what might be known here, over the vault we are in and every listed one.

Owns: asking each for what it holds, what of that may pass.
Leaves alone: topics and text (`retrieval.catalog`).
"""

from __future__ import annotations

from dataclasses import replace

from remvault.errors import UsageError
from remvault.retrieval.catalog import DEFAULT_BUDGET, DEFAULT_DEPTH, Catalog, Holdings, make_catalog
from remvault.surfaces.app import OpenVault
from remvault.surfaces.fusing import VaultProvider, listed_beside, open_listed
from remvault.surfaces.listed import Listed
from remvault.surfaces.waiting import ANSWER_WITHIN_S, Waiting


def catalog(
    vault: OpenVault,
    topic: str | None = None,
    *,
    depth: int = DEFAULT_DEPTH,
    budget_chars: int = DEFAULT_BUDGET,
    budget_s: float = ANSWER_WITHIN_S,
) -> Catalog:
    """Name the providers, the topics and, in a topic, the memories that this context may see; never a body.

    Args:
        topic: its name, path (`storage / locks`) or id; None for all of them.
        depth: levels of topics.
        budget_chars: characters of the block.
        budget_s: how long each other provider may take.

    Raises:
        TopicNotFound: there is no such topic for this context, or several.
        UsageError: depth or budget is less than one.
    """
    if depth < 1 or budget_chars < 1:
        raise UsageError("depth and budget begin at 1")
    listed, notices = listed_beside(vault)

    def ask(one: Listed) -> Holdings:
        return VaultProvider(one.name, open_listed(vault, one)).catalog()

    waiting = Waiting(listed, ask, budget_s) if listed else None
    held = [VaultProvider(vault.provider, vault).catalog()]
    for name, found in waiting.results() if waiting is not None else ():
        if isinstance(found, str):
            notices.append(f"provider {name} did not answer: {found}")
            held.append(Holdings(name, (), (), found))
        else:
            held.append(_screened(vault, found, notices))
    return make_catalog(held, topic=topic, depth=depth, budget_chars=budget_chars, notices=notices)


def _screened(vault: OpenVault, found: Holdings, notices: list[str]) -> Holdings:
    """Another provider's holdings without what is not for this context, whatever it thought."""
    owners = replace(vault.context, in_own_work_tree=False).owners()
    kept = tuple(known for known in found.memories if known.owner in owners)
    if len(kept) < len(found.memories):
        notices.append(
            f"provider {found.provider} named {len(found.memories) - len(kept)} that are not for this context"
        )
    return replace(found, memories=kept)
