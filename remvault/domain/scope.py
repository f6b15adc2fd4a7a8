"""Scopes as boundaries: who may see a memory.

Owns: the ordered scope table, the active context, the one visibility predicate, normalised remotes.
Leaves alone: where the ids come from (`domain.context`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

# Narrowest first. Adding a scope is adding a name here: `Context` maps names to ids, so no signature changes.
SCOPES: tuple[str, ...] = (
    "session",
    "branch",
    "workspace",
    "project",
    "repository",
    "team",
    "organization",
    "global",
)
GLOBAL = "global"
PROJECT_ID = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")


def breadth(scope: str) -> int:
    """Rank a known scope, 0 for the narrowest; raises ValueError for an unknown one."""
    return SCOPES.index(scope)


def scope_id_fault(scope: str, scope_id: str) -> str | None:
    """Say why an id cannot be one of this scope, as the end of a sentence; None when it can."""
    if scope == GLOBAL:
        return "stands beside scope: global"
    if not scope_id.strip() or scope_id != scope_id.strip() or not scope_id.isprintable():
        return "is empty, or holds control characters or blanks around it"
    if scope == "project" and not PROJECT_ID.match(scope_id):
        return "is no project id: lower-case letters, digits, '.', '_' and '-'"
    if scope == "branch" and not PROJECT_ID.match(scope_id.partition("@")[0]):
        return "is no branch id: write project@branch"
    return None


def owner_key(scope: str | None, scope_id: str | None) -> str | None:
    """Name the owner of a memory as `scope:id` (`global:` for global, `workspace:` for a workspace note without id).

    None when the scope is unknown or its owner is missing: nobody's context may see such a note.
    """
    if scope == GLOBAL:
        return "global:"
    if scope not in SCOPES:
        return None
    if not scope_id:
        return "workspace:" if scope == "workspace" else None
    return f"{scope}:{scope_id}"


@dataclass(frozen=True, slots=True)
class Context:
    """The active ids: scope name to id, with where each came from. An absent scope is closed."""

    ids: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    # True only inside the work tree that holds an embedded vault: there a workspace note without an id is at home.
    in_own_work_tree: bool = False

    def owners(self) -> frozenset[str]:
        """Every owner key this context may see; always contains `global:`."""
        keys = {owner_key(scope, scope_id) for scope, scope_id in self.ids.items() if scope_id}
        if self.in_own_work_tree:
            keys.add("workspace:")
        return frozenset(key for key in keys if key) | {"global:"}

    def sees(self, scope: str | None, scope_id: str | None) -> bool:
        """The visibility predicate of every verb: unknown scope or owner is never seen."""
        key = owner_key(scope, scope_id)
        return key is not None and key in self.owners()


def normalise_remote(url: str) -> str | None:
    """Reduce a git remote to `host/path`, so that ssh, https, user, port, `.git` and host case do not matter.

    None when there is no host (a local path or a bundle), since a local folder says nothing about identity.
    """
    text = url.strip().rstrip("/")
    match = re.match(r"(?:[a-z][a-z0-9+.-]*)://(?:[^@/]*@)?(\[[^\]]+\]|[^:/]+)(?::\d+)?/(.+)\Z", text, re.IGNORECASE)
    if match is None:  # scp form: user@host:path
        match = re.match(r"(?:[^@/:\s]+@)?(\[[^\]]+\]|[^:/\\\s]{2,}):(?!//)(.+)\Z", text)
    if match is None:
        return None
    host, path = match[1].lower(), match[2].strip("/").removesuffix(".git").strip("/")
    return f"{host}/{path}" if path and host != "localhost" else None
