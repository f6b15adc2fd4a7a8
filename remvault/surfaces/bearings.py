"""What is known of the place a command runs in: the facts that a context is resolved from, and who acts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from remvault.config import Settings
from remvault.domain.context import ContextFacts, resolve_context
from remvault.domain.memory import ACTOR
from remvault.domain.scope import Context
from remvault.errors import UsageError
from remvault.store.layout import VaultPlace
from remvault.store.state import workspace_id
from remvault.store.work_tree import WorkTree, find_work_tree, git_config, head
from remvault.surfaces.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class Bearings:
    """The work trees of a vault and of the current folder, what git is set to in them, and the facts of the context."""

    tree: WorkTree | None  # the one that holds the vault; None outside git
    here: WorkTree | None  # the one of the current folder
    git_values: Mapping[str, str]  # of the vault's work tree
    here_values: Mapping[str, str]
    facts: ContextFacts

    def own_context(self) -> Context:
        """The ids of the current folder itself, whatever --context and REMVAULT_CONTEXT say."""
        return resolve_context(replace(self.facts, explicit=(), variable=None))

    def actor(self, given: str | None, around: Surroundings) -> str:
        """Who acts: as given, else the environment's word, else git's identity; raises UsageError for no actor."""
        return _actor(given, around, self.git_values or self.here_values)


def take_bearings(
    place: VaultPlace, settings: Settings, around: Surroundings, *, context: Sequence[str], hook_session: str | None
) -> Bearings:
    """Look around a vault that is opened from the current folder."""
    tree = find_work_tree(place.root)
    here = find_work_tree(around.cwd)
    git_values = git_config(tree, around.environ) if tree is not None else {}
    here_values = git_values if here == tree else git_config(here, around.environ) if here is not None else {}
    facts = ContextFacts(
        explicit=context,
        variable=around.environ.get("REMVAULT_CONTEXT"),
        session_variable=around.environ.get("REMVAULT_SESSION"),
        hook_session=hook_session,
        git_config=here_values,
        branch=head(here, around.environ).branch if here is not None else None,
        workspace_id=workspace_id(here, create=False) if here is not None else None,
        projects=settings.projects,
        team=settings.text("context.team"),
        team_origin=settings.origin("context.team"),
        organization=settings.text("context.organization"),
        organization_origin=settings.origin("context.organization"),
        vault_project=settings.text("vault.project"),
        is_embedded=settings.text("vault.kind") == "embedded",
        is_in_vaults_work_tree=here is not None and here == tree,
        is_in_work_tree=here is not None,
        is_vault_named=place.is_named,
    )
    return Bearings(tree, here, git_values, here_values, facts)


def _actor(given: str | None, around: Surroundings, git_values: Mapping[str, str]) -> str:
    actor = given or around.environ.get("REMVAULT_ACTOR")
    if actor:
        if not ACTOR.match(actor):
            raise UsageError(f"actor {actor!r} has no kind", hint="write user:NAME, agent:NAME or tool:NAME")
        return actor
    environ = around.environ
    name = environ.get("GIT_AUTHOR_NAME") or git_values.get("user.name") or environ.get("USER") or "unknown"
    return f"user:{name.strip() or 'unknown'}"
