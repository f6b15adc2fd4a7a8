"""The writing verbs, for every front door. Each is one change: saved, and committed where git allows.

Each takes an open vault, finds what it names through the same boundary as reading, and returns `Written`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from remvault.domain.context import CLOSED
from remvault.domain.draft import Draft
from remvault.domain.edits import Value
from remvault.domain.scope import GLOBAL, SCOPES, scope_id_fault
from remvault.errors import UsageError, UserError
from remvault.store.vault import FieldEdit, Written
from remvault.store.work_tree import find_work_tree
from remvault.surfaces.app import OpenVault


class ScopeNeeded(UserError):
    """Nothing says whose memory this is; it is never global by accident."""

    code = "scope_needed"

    def __init__(self, why: str, scope: str = "project") -> None:
        self.scope = scope
        ways = f"give --scope {scope} --scope-id NAME, or --scope global"
        if scope == "project":
            ways += ", or name the project once: git config remvault.project NAME"
        super().__init__(f"whose memory is this? {why}", hint=ways)


def new(
    vault: OpenVault,
    title: str,
    *,
    body: str = "",
    scope: str | None = None,
    scope_id: str | None = None,
    source: str | None = None,
    trust: str | None = None,
    private: bool = False,
    reason: str | None = None,
    dry_run: bool = False,
    **fields: Value | None,
) -> Written:
    """Write a memory.

    Args:
        scope: whose it is; None takes the active project, and fails where there is none.
        scope_id: the owner; None takes the context's id of that scope.
        source: where it is known from; None is an explicit write.
        private: local-only: kept on this disk, out of git and of every model-visible path.
        fields: further fields by snake_case name, as text or lists of text.

    Raises:
        ScopeNeeded: if no scope is given and the context knows no project.
        InvalidNote: if the note would break a rule.
    """
    owner = _owner(vault, scope, scope_id, dry_run=dry_run)
    given = _fields(fields) | owner
    if private:
        given["sensitivity"] = "local-only"
    draft = Draft(title, body, given, source, trust)
    return vault.vault.new(draft, vault.act(reason=reason, dry_run=dry_run))


def supersede(
    vault: OpenVault,
    name: str,
    title: str,
    *,
    body: str = "",
    scope: str | None = None,
    scope_id: str | None = None,
    source: str | None = None,
    trust: str | None = None,
    private: bool = False,
    reason: str | None = None,
    dry_run: bool = False,
    **fields: Value | None,
) -> Written:
    """Replace a memory by a newer one, in one commit; what is not given is the old one's. See `new`."""
    view = vault.view()
    row = vault.find(name, view)
    given = _fields(fields)
    if private:
        raise UserError(
            "a memory in git cannot be superseded by a local-only one: the mark would tell of it",
            hint="write the local-only memory with 'remvault new --private'",
        )
    if scope is not None:
        given |= _owner(vault, scope, scope_id, dry_run=dry_run)
    elif scope_id is not None:
        given["scope-id"] = scope_id
    draft = Draft(title, body, given, source, trust)
    act = vault.act(reason=reason, dry_run=dry_run)
    return vault.vault.supersede(row.path, draft, act, successors=view.successors(row))


def set_fields(
    vault: OpenVault, name: str, edits: Sequence[str], *, reason: str | None = None, dry_run: bool = False
) -> Written:
    """Change fields in place. `edits` are `KEY=V`, `KEY+=V` or `KEY-=V`, keys in kebab-case."""
    parsed = [parse_field_edit(text) for text in edits]
    row = vault.find(name)
    return vault.vault.set(row.path, parsed, vault.act(reason=reason, dry_run=dry_run))


def unset_fields(
    vault: OpenVault, name: str, keys: Sequence[str], *, reason: str | None = None, dry_run: bool = False
) -> Written:
    """Remove fields in place."""
    row = vault.find(name)
    return vault.vault.unset(row.path, keys, vault.act(reason=reason, dry_run=dry_run))


def parse_field_edit(text: str) -> FieldEdit:
    """Read `KEY=V`, `KEY+=V` or `KEY-=V`.

    Raises:
        UsageError: for anything else.
    """
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"{text!r} is not KEY=VALUE", hint="write tags+=deploy or importance=0.8")
    # `-` is part of kebab-case keys, so only the sign just before `=` counts.
    if key.endswith(("+", "-")):
        return FieldEdit(key[:-1].strip(), "+=" if key.endswith("+") else "-=", value)
    return FieldEdit(key.strip(), "=", value)


def _owner(vault: OpenVault, scope: str | None, scope_id: str | None, *, dry_run: bool) -> dict[str, Value]:
    """Scope and owner of a new memory, from what was given and the context."""
    if scope is None:
        if "project" not in vault.context.ids:
            raise ScopeNeeded(f"no project is known here: {_why_closed(vault, 'project')}")
        scope = "project"
    if scope not in SCOPES:
        raise UsageError(f"unknown scope {scope!r}", hint="one of " + ", ".join(SCOPES))
    fault = scope_id_fault(scope, scope_id) if scope_id is not None else None
    if fault is not None:
        raise UsageError(f"--scope-id {scope_id!r} {fault}")
    if scope == GLOBAL:
        return {"scope": scope}
    owner = scope_id or vault.context.ids.get(scope)
    if owner is None and scope == "workspace":
        owner = "w-0000000000" if dry_run else _new_workspace(vault)
    if owner is None:
        raise ScopeNeeded(f"no {scope} is known here: {_why_closed(vault, scope)}", scope)
    return {"scope": scope, "scope-id": owner}


def _why_closed(vault: OpenVault, scope: str) -> str:
    return vault.context.origins.get(scope, CLOSED).removeprefix(CLOSED)


def _new_workspace(vault: OpenVault) -> str | None:
    """Give the work tree of the current folder an id, now that something is written for it."""
    from remvault.store.state import workspace_id

    tree = find_work_tree(vault.surroundings.cwd)
    return workspace_id(tree, create=True) if tree is not None else None


def _fields(fields: Mapping[str, Value | None]) -> dict[str, Value]:
    given = {key.replace("_", "-"): _without_empty(value) for key, value in fields.items()}
    return {key: value for key, value in given.items() if value not in (None, [], ())}


def _without_empty(value: Value | None) -> Value | None:
    """A list without empty texts: `--tag ""` is no tag."""
    return [item for item in value if item != ""] if isinstance(value, (list, tuple)) else value
