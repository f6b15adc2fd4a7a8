"""Scopes as boundaries: who may see a memory.

Owns: the ordered scope table, the active context, the one visibility predicate, normalised remotes.
Leaves alone: where the ids come from (`domain.context`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

GLOBAL = "global"
PROJECT_ID = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")


def _project_fault(scope_id: str) -> str | None:
    return None if PROJECT_ID.match(scope_id) else "is no project id: lower-case letters, digits, '.', '_' and '-'"


def _branch_fault(scope_id: str) -> str | None:
    project, _, branch = scope_id.partition("@")
    return None if PROJECT_ID.match(project) and branch else "is no branch id: write project@branch"


@dataclass(frozen=True, slots=True)
class Scope:
    """One row of the table: a boundary of visibility."""

    name: str
    advice: str = "give it with --context or REMVAULT_CONTEXT"  # how a person sets the active id
    fault: Callable[[str], str | None] = lambda scope_id: None  # why a text is no id, see `scope_id_fault`
    is_nested: bool = False  # ids are paths themselves (`host/owner/name`) and become nested folders
    has_home: bool = False  # a note without id belongs to an embedded vault's own work tree
    has_code: bool = True  # what it holds is of one work tree's files, so that a path means one of them


class ScopeTable(Sequence[str]):
    """The names of the scopes, narrowest first, with their rows. Whoever asks for scopes holds this one object."""

    def __init__(self, rows: Iterable[Scope]) -> None:
        self.rows = tuple(rows)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        return self._names[at]

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def index(self, name: object, start: int = 0, stop: int = sys.maxsize) -> int:
        """Where a scope stands, 0 for the narrowest; raises ValueError for an unknown one."""
        return self._names.index(name, start, stop)

    def row(self, name: str) -> Scope:
        """The row of a known scope; raises ValueError for an unknown one."""
        return self.rows[self.index(name)]

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(row.name for row in self.rows)


# Narrowest first. Adding a scope is adding a row here: `Context` maps names to ids, so no signature changes.
SCOPES = ScopeTable(
    (
        Scope("session", "the host tells it; else give --context session=ID or REMVAULT_SESSION"),
        Scope("branch", "it follows the project and the branch that is checked out", _branch_fault, is_nested=True),
        Scope("workspace", "it is made by the first memory written for this work tree", has_home=True),
        Scope("project", "run 'remvault context set project ID'", _project_fault),
        Scope("repository", "it follows the remote: run 'git remote add origin URL'", is_nested=True),
        Scope("team", 'write team = "ID" below [context] in your own settings file', has_code=False),
        Scope("organization", 'write organization = "ID" below [context] in your own settings file', has_code=False),
        Scope(GLOBAL, "it has no id and is always open", has_code=False),
    )
)


def breadth(scope: str) -> int:
    """Rank a known scope, 0 for the narrowest; raises ValueError for an unknown one."""
    return SCOPES.index(scope)


def has_code(scope: str | None) -> bool:
    """Say whether memories of a scope may point into code; of a scope nobody can read nothing is held against it."""
    return scope is None or scope not in SCOPES or SCOPES.row(scope).has_code


def scope_id_fault(scope: str, scope_id: str) -> str | None:
    """Say why an id cannot be one of this scope, as the end of a sentence; None when it can."""
    if scope == GLOBAL:
        return "stands beside scope: global"
    if not scope_id.strip() or scope_id != scope_id.strip() or not scope_id.isprintable():
        return "is empty, or holds control characters or blanks around it"
    return SCOPES.row(scope).fault(scope_id) if scope in SCOPES else None


def owner_key(scope: str | None, scope_id: str | None) -> str | None:
    """Name the owner of a memory as `scope:id` (`global:` for global, `workspace:` for a workspace note without id).

    None when the scope is unknown or its owner is missing: nobody's context may see such a note.
    """
    if scope == GLOBAL:
        return "global:"
    if scope is None or scope not in SCOPES:
        return None
    if not scope_id:
        return f"{scope}:" if SCOPES.row(scope).has_home else None
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
            keys |= {f"{row.name}:" for row in SCOPES.rows if row.has_home}
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
    match = re.match(r"(?:[a-z][a-z0-9+.-]*)://(?:[^/]*@)?(\[[^\]]+\]|[^:/]+)(?::\d+)?/(.+)\Z", text, re.IGNORECASE)
    if match is None:  # scp form: user@host:path
        match = re.match(r"(?:[^@/:\s]+@)?(\[[^\]]+\]|[^:/\\\s]{2,}):(?!//)(.+)\Z", text)
    if match is None:
        return None
    host, path = match[1].lower(), re.sub("/+", "/", match[2]).strip("/").removesuffix(".git").strip("/")
    return f"{host}/{path}" if path and host != "localhost" else None
