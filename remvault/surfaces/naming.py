"""`context set`: give the work tree of the current folder an id, where an id is a setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from remvault.domain.context import MAX_ID_CHARS
from remvault.domain.scope import GLOBAL, SCOPES, scope_id_fault
from remvault.domain.suggestions import suggest
from remvault.errors import UsageError, UserError
from remvault.store.work_tree import find_work_tree, git_config, run_git
from remvault.surfaces.surroundings import Surroundings

# The scopes whose id git's settings hold, and the key.
GIT_KEYS = {"project": "remvault.project"}


class NotSetHere(UserError):
    """The active id of this scope is no setting of git."""

    code = "not_set_here"

    def __init__(self, scope: str) -> None:
        self.scope = scope
        advice = SCOPES.row(scope).advice
        super().__init__(f"the {scope} is not kept in git's settings", hint=advice)


@dataclass(frozen=True, slots=True)
class Named:
    """What `context set` did."""

    scope: str
    id: str
    key: str  # of git's settings
    before: str | None
    is_rehearsal: bool
    overruled_by: str | None = None  # what gives another id all the same

    def answer(self) -> dict[str, Any]:
        """The result as JSON has it."""
        return {
            "op": "context",
            "scope": self.scope,
            "id": self.id,
            "written": f"git config {self.key}",
            "before": self.before,
            "dry_run": self.is_rehearsal,
        }


def set_context(surroundings: Surroundings, scope: str, scope_id: str, *, dry_run: bool = False) -> Named:
    """Write the id of a scope to the settings of the repository of the current folder; all its work trees share it.

    Raises:
        UsageError: for an unknown scope or what cannot be an id of it.
        NotSetHere: for a scope whose id is made or set elsewhere, with the way to do it.
        UserError: outside a work tree.
    """
    if scope not in SCOPES:
        close = suggest(scope, list(SCOPES))
        meant = f" (did you mean {close!r}?)" if close else ""
        raise UsageError(f"unknown scope {scope!r}{meant}", hint="one of " + ", ".join(SCOPES))
    if scope == GLOBAL:
        raise UsageError("global has no id and is always open", hint="leave it out")
    fault = scope_id_fault(scope, scope_id) or ("is too long" if len(scope_id) > MAX_ID_CHARS else None)
    if fault is not None:
        raise UsageError(f"{scope} {scope_id!r} {fault}")
    key = GIT_KEYS.get(scope)
    if key is None:
        raise NotSetHere(scope)
    tree = find_work_tree(surroundings.cwd)
    if tree is None:
        raise UserError("not in a git work tree", hint="change to the project's folder, or run 'git init' there")
    before = git_config(tree, surroundings.environ).get(key)
    if not dry_run:
        # The last value counts, and there may be several: all of ours give way to the one.
        run_git(tree.root, ["config", "--local", "--replace-all", key, scope_id], surroundings.environ)
    now = scope_id if dry_run else git_config(tree, surroundings.environ).get(key)
    overruled = None
    if surroundings.environ.get("REMVAULT_CONTEXT") and f"{scope}=" in surroundings.environ["REMVAULT_CONTEXT"]:
        overruled = "REMVAULT_CONTEXT"
    elif now != scope_id:
        overruled = f"another value of {key} that git reads later"
    return Named(scope, scope_id, key, before, dry_run, overruled)
