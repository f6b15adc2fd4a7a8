"""The writing verbs, for every front door. Each is one change: saved, and committed where git allows.

Each takes an open vault, finds what it names through the same boundary as reading, and returns `Written`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from remvault.domain.context import CLOSED
from remvault.domain.corrections import BROUGHT
from remvault.domain.disputes import is_explicit
from remvault.domain.draft import Draft
from remvault.domain.field_edits import FieldEdit, parse_field_edit
from remvault.domain.frontmatter import read, split
from remvault.domain.note import parse_note
from remvault.domain.records import to_record
from remvault.domain.scope import GLOBAL, SCOPES, owner_key, scope_id_fault
from remvault.domain.yaml_values import Value
from remvault.errors import UsageError, UserError
from remvault.store.layout import folder_for
from remvault.store.work_tree import find_work_tree
from remvault.store.written import Act, Written
from remvault.surfaces.addressing import address, heads, own_private_notes, persons_only, rests
from remvault.surfaces.app import OpenVault

# What `new` writes by itself, so that identical text says nothing by it.
_OF_EVERY_NOTE = ("id", "title", "scope", "scope-id", "type", "freshness", "provenance", "created", "status")


class ExplicitStands(UserError):
    """An inference was to replace what somebody stated."""

    code = "explicit_over_inferred"

    def __init__(self, explicit: str) -> None:
        self.explicit = explicit
        super().__init__(
            f"{explicit} was stated explicitly and is not superseded by an inference",
            hint=f"if it is wrong, say so: remvault retract {explicit}",
        )


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
    is_rehearsal: bool = False,
    **fields: Value | None,
) -> Written:
    """Write a memory. The same text by the same owner, letter case and white space apart, confirms the one there is.

    Args:
        scope: whose it is; None takes the active project, and fails where there is none.
        scope_id: the owner; None takes the context's id of that scope.
        source: where it is known from; None is an explicit write.
        private: local-only: kept on this disk, out of git and of every model-visible path.
        is_rehearsal: compose it as if nothing were there, for an editor.
        fields: further fields by snake_case name, as text or lists of text.

    Raises:
        ScopeNeeded: if no scope is given and the context knows no project.
        InvalidNote: if the note would break a rule.
    """
    if private:
        persons_only(vault)
    owner = _owner(vault, scope, scope_id, dry_run=dry_run)
    given = _fields(fields) | owner
    if private:
        given["sensitivity"] = "local-only"
    draft = Draft(title, body, given, source, trust)
    act = vault.act(reason=reason, dry_run=dry_run)
    twin = None if is_rehearsal else _twin(vault, title, body, _owner_of(given), private=private)
    return vault.vault.new(draft, act) if twin is None else _confirm(vault, twin, given, act)


def add(vault: OpenVault, data: bytes, *, reason: str | None = None, dry_run: bool = False) -> Written:
    """Write a memory whose whole text was composed elsewhere, as in an editor; identical text confirms as in `new`."""
    note = parse_note("new.md", data)
    memory, act = note.memory, vault.act(reason=reason, dry_run=dry_run)
    twin = _twin(vault, memory.title or "", note.body, memory.owner, private=memory.is_local_only)
    if twin is None:
        return vault.vault.add(data, act)
    entries = read(split(data.decode("utf-8", "replace"))).entries
    return _confirm(vault, twin, {key: entry.node.plain_value() for key, entry in entries.items()}, act)


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
    no_infer: Sequence[str] = (),
    reason: str | None = None,
    dry_run: bool = False,
    **fields: Value | None,
) -> Written:
    """Replace a memory by a newer one, in one commit; what is not given is the old one's. See `new`.

    `no_infer` names what must not be concluded again; it is kept with the old memory.

    Raises:
        ExplicitStands: if an inference would replace what somebody stated.
    """
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
    if given.get("epistemic") == "inference" and is_explicit(to_record(vault.vault.load(row.path)[0].memory)):
        raise ExplicitStands(row.id or row.path)
    written = vault.vault.supersede(row.path, draft, act, heads=heads(view, row), no_infer=no_infer)
    return replace(written, rests=rests(view, row))


def set_fields(
    vault: OpenVault,
    name: str,
    edits: Sequence[str],
    *,
    private: bool = False,
    reason: str | None = None,
    dry_run: bool = False,
) -> Written:
    """Change fields in place. `edits` are `KEY=V`, `KEY+=V` or `KEY-=V`, keys in kebab-case.

    A new `scope` takes its id from the context unless it is given. Where the owner changes, the file moves along, and
    `notices` says when more people see the memory than before.

    Args:
        private: the memory is a local-only one; for persons only.
    """
    parsed = [parse_field_edit(text) for text in edits]
    path = address(vault, name, private=private)
    wanted = {edit.key: edit.text for edit in parsed if edit.how == "="}
    if wanted.get("sensitivity") == "local-only":
        persons_only(vault)
    dropped: list[str] = []
    if "scope" in wanted and "scope-id" not in wanted:
        owner = _owner(vault, wanted["scope"], None, dry_run=dry_run)
        if "scope-id" in owner:
            parsed.append(FieldEdit("scope-id", "=", str(owner["scope-id"])))
        else:
            dropped.append("scope-id")
    return vault.vault.set(path, parsed, vault.act(reason=reason, dry_run=dry_run), dropped=dropped)


def unset_fields(
    vault: OpenVault,
    name: str,
    keys: Sequence[str],
    *,
    private: bool = False,
    reason: str | None = None,
    dry_run: bool = False,
) -> Written:
    """Remove fields in place. See `set_fields`."""
    path = address(vault, name, private=private)
    return vault.vault.unset(path, keys, vault.act(reason=reason, dry_run=dry_run))


def _twin(vault: OpenVault, title: str, body: str, owner: str | None, *, private: bool) -> str | None:
    """The path of an active memory of this context that has the same text and the same owner."""
    from remvault.index.rows import text_key
    from remvault.index.same_text import may_hold_text

    if owner is None or owner not in vault.context.owners():
        return None
    if private:
        for note in own_private_notes(vault):
            is_same = text_key(note.memory.title or "", note.body) == text_key(title, body)
            if is_same and note.owner == owner and note.memory.status == "active":
                return note.path
    language = vault.settings.text("search.language") or "english"
    scope, _, scope_id = owner.partition(":")
    home = folder_for(scope, scope_id or None)
    if not may_hold_text(vault.notes, vault.state, language=language, title=title, body=body, owner=owner, home=home):
        return None
    view, key = vault.view(), text_key(title, body)
    for row in view.visible():
        if row.text_key == key and row.owner == owner and row.is_valid and view.stage(row) == "active":
            return row.path
    return None


def _confirm(vault: OpenVault, path: str, given: Mapping[str, Value], act: Act) -> Written:
    from remvault.store.correcting import confirm_same

    written = confirm_same(vault.vault, path, given, act)
    said = ["the same text is there already: it was confirmed"]
    idle = sorted(given.keys() - {*BROUGHT, *_OF_EVERY_NOTE})
    if idle:
        said.append(f"not taken over from what was given: {', '.join(idle)}")
    return replace(written, notices=(*said, *written.notices))


def _owner_of(given: Mapping[str, Value]) -> str | None:
    scope, scope_id = given.get("scope"), given.get("scope-id")
    return owner_key(str(scope), str(scope_id) if scope_id else None)


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
    given = {key.replace("_", "-"): _tidy(value) for key, value in fields.items()}
    return {key: value for key, value in given.items() if value not in (None, [], ())}


def _tidy(value: Value | None) -> Value | None:
    """A list without empty texts (`--tag ""` is no tag) and without what is said twice."""
    if not isinstance(value, (list, tuple)):
        return value
    return [item for at, item in enumerate(value) if item != "" and item not in value[:at]]
