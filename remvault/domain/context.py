"""Where context ids come from: one resolver for every front door.

Owns: the order of sources for each scope, refusing what is no id, closing a scope rather than guessing.
Leaves alone: gathering the facts (surfaces), what an id lets one see (`domain.scope`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from remvault.domain.scope import GLOBAL, PROJECT_ID, SCOPES, Context, normalise_remote
from remvault.errors import UsageError

OPTION = "option --context"
VARIABLE = "REMVAULT_CONTEXT"
CLOSED = "closed: "
MAX_ID_CHARS = 255
_REMOTE_PREFIX, _REMOTE_SUFFIX = "remote.", ".url"


class ContextError(UsageError):
    """A context id given on the command line is no id; it is never folded into one."""

    code = "context"

    def __init__(self, given: str, problem: str, *, hint: str | None = None) -> None:
        self.given = given
        super().__init__(f"--context {given!r}: {problem}", hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFacts:
    """What is known of the place a command runs in. Everything absent leaves its scope closed.

    All git facts are those of the work tree of the current directory (of a hook: its JSON's `cwd`).
    """

    explicit: Sequence[str] = ()  # each --context as typed, "SCOPE=ID"
    variable: str | None = None  # REMVAULT_CONTEXT, "project=acme,session=x"
    session_variable: str | None = None  # REMVAULT_SESSION
    hook_session: str | None = None  # the session id in a hook's JSON
    git_config: Mapping[str, str] = field(default_factory=dict)  # keys as git prints them, "remote.origin.url"
    branch: str | None = None  # HEAD's branch; None when detached
    workspace_id: str | None = None  # kept in the work tree's own git directory
    projects: Mapping[str, Sequence[str]] = field(default_factory=dict)  # [projects.<id>] remotes, as typed
    team: str | None = None
    team_origin: str = "settings"
    organization: str | None = None
    organization_origin: str = "settings"
    vault_project: str | None = None  # [vault] project of an embedded vault; None for a standalone one
    is_embedded: bool = False
    is_in_vaults_work_tree: bool = False  # the current directory is in the work tree that holds the vault
    is_in_work_tree: bool = False  # it is in some work tree
    is_vault_named: bool = False  # the vault was named by --vault or REMVAULT_VAULT


def resolve_context(facts: ContextFacts) -> Context:
    """Find the active id of each scope, and where it comes from.

    `origins` of the result has an entry for every scope but `global`: for an open one where its id comes from, for a
    closed one `closed: ` and why. The first source that answers decides; when its answer is no valid id the scope is
    closed, and the next source is not asked.

    Raises:
        ContextError: if a `--context` is not `SCOPE=ID`, names no scope or carries what cannot be an id.
    """
    given = _from_options(facts.explicit)
    ambient, notes = _from_variable(facts.variable)
    ids: dict[str, str] = {}
    origins: dict[str, str] = {}
    # Branch after the project, with whose id its own begins.
    for scope in sorted(set(SCOPES) - {GLOBAL}, key=lambda scope: (scope == "branch", SCOPES.index(scope))):
        if scope in given:
            ids[scope], origins[scope] = given[scope], OPTION
            continue
        found = notes.get(scope) or (ambient.get(scope), VARIABLE) if scope in {*ambient, *notes} else None
        value, origin = found or _ask(scope, facts, ids)
        problem = None if value is None else _id_problem(scope, value)
        if scope == "branch" and value is not None and origin == VARIABLE:
            problem = problem or _foreign_branch(value, ids.get("project"))
        if value is None:
            origins[scope] = CLOSED + origin
        elif problem:
            origins[scope] = f"{CLOSED}{origin} is {_shown(value)}, {problem}"
        else:
            ids[scope], origins[scope] = value, origin
    ordered = [scope for scope in SCOPES if scope != GLOBAL]
    is_home = (
        facts.is_embedded and facts.is_in_vaults_work_tree and given.get("workspace") in (None, facts.workspace_id)
    )
    return Context(
        ids={scope: ids[scope] for scope in ordered if scope in ids},
        origins={scope: origins[scope] for scope in ordered},
        in_own_work_tree=is_home,
    )


def closed_scopes(context: Context) -> dict[str, str]:
    """Why each closed scope is closed, narrowest first."""
    found = context.origins.items()
    return {scope: why.removeprefix(CLOSED) for scope, why in found if why.startswith(CLOSED)}


def parse_pair(text: str) -> tuple[str, str]:
    """Read one `SCOPE=ID` of the command line; raises ContextError."""
    scope, equals, value = text.partition("=")
    if not equals:
        raise ContextError(text, "expected SCOPE=ID", hint="for example --context project=acme-api")
    if scope not in SCOPES:
        raise ContextError(text, f"no scope {scope!r}", hint="one of " + ", ".join(SCOPES))
    if scope == GLOBAL:
        raise ContextError(text, "global has no id and is always open", hint="leave it out")
    problem = _id_problem(scope, value)
    if problem:
        hint = _PROJECT_HINT if scope == "project" else None
        raise ContextError(text, problem, hint=hint)
    return scope, value


_PROJECT_HINT = "lower-case letters, digits, '.', '_' and '-', starting with a letter or digit"


def _from_options(explicit: Iterable[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for text in explicit:
        scope, value = parse_pair(text)
        if given.get(scope, value) != value:
            raise ContextError(text, f"{scope} was already given as {given[scope]!r}", hint="give each scope once")
        given[scope] = value
    return given


def _from_variable(text: str | None) -> tuple[dict[str, str], dict[str, tuple[None, str]]]:
    """Ids by scope, and for scopes the variable names without a clear answer why they are closed."""
    ids: dict[str, str] = {}
    notes: dict[str, tuple[None, str]] = {}
    slip: str | None = None
    for part in (text or "").split(","):
        scope, _, value = part.strip().partition("=")
        if ids.get(scope, value) != value:
            notes[scope] = (None, f"{VARIABLE} names {scope} twice")
        if scope in SCOPES:
            ids[scope] = value
        elif scope:
            slip = scope
    if slip is not None and "project" not in ids:
        # A slip such as `projekt=b` must not fall back to the project of the place.
        notes["project"] = (None, f"{VARIABLE} names {_shown(slip)}, which is no scope")
    return ids, notes


def _id_problem(scope: str, value: str) -> str | None:
    if scope == "project":
        return None if PROJECT_ID.match(value) else "not a project id"
    if not value.strip() or value != value.strip():
        return "not an id: empty or with blanks around it"
    if not value.isprintable():
        return "not an id: it holds control characters"
    return "not an id: too long" if len(value) > MAX_ID_CHARS else SCOPES.row(scope).fault(value)


def _foreign_branch(value: str, project: str | None) -> str | None:
    return None if project is not None and value.startswith(project + "@") else "not a branch of the active project"


_Answer = tuple[str | None, str]  # an id and where it comes from, or None and why there is none


def _ask(scope: str, facts: ContextFacts, ids: Mapping[str, str]) -> _Answer:
    """The id of one scope from the place itself."""
    source = _SOURCES.get(scope)
    return source(facts, ids) if source is not None else (None, f"no --context or {VARIABLE} names it")


def _session(facts: ContextFacts, ids: Mapping[str, str]) -> _Answer:
    if facts.session_variable:
        return facts.session_variable, "REMVAULT_SESSION"
    return (facts.hook_session, "the hook's session") if facts.hook_session else (None, "no session is known")


def _workspace(facts: ContextFacts, ids: Mapping[str, str]) -> _Answer:
    if facts.workspace_id:
        return facts.workspace_id, "the work tree's git directory"
    return None, "this work tree has no id yet" if facts.is_in_work_tree else "not in a work tree"


def _team(facts: ContextFacts, ids: Mapping[str, str]) -> _Answer:
    return facts.team, facts.team_origin if facts.team else "no setting context.team"


def _organization(facts: ContextFacts, ids: Mapping[str, str]) -> _Answer:
    return facts.organization, facts.organization_origin if facts.organization else "no setting context.organization"


def _project(facts: ContextFacts, ids: Mapping[str, str]) -> _Answer:
    configured = facts.git_config.get("remvault.project")
    if configured is not None:
        return configured, "git config remvault.project"
    listed = _listed_project(facts)
    if listed is not None:
        return listed
    is_at_home = facts.is_in_vaults_work_tree or (facts.is_vault_named and not facts.is_in_work_tree)
    if facts.vault_project is not None and facts.is_embedded and is_at_home:
        return facts.vault_project, "remvault.toml [vault] project"
    return None, "no --context, REMVAULT_CONTEXT, git config remvault.project or listed remote names a project"


def _listed_project(facts: ContextFacts) -> _Answer | None:
    """The project that lists a remote of this work tree; `origin` before the others; two projects close the scope."""
    remotes = sorted(_remotes(facts.git_config), key=lambda one: (one[0] != "origin", one[0]))
    found = [(project, name) for name, url in remotes for project in _projects_listing(url, facts.projects)]
    origin = [one for one in found if one[1] == "origin"]
    names = sorted({project for project, _ in origin or found})
    if not names:
        return None
    if len(names) > 1:
        return None, f"the remotes are listed for several projects: {', '.join(names)}"
    return names[0], f"remote {(origin or found)[0][1]}, listed for project {names[0]}"


def _remotes(config: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Name and normalised address of each remote that has one."""
    for key, url in config.items():
        if key.startswith(_REMOTE_PREFIX) and key.endswith(_REMOTE_SUFFIX):
            place = normalise_remote(url)
            if place is not None:
                yield key[len(_REMOTE_PREFIX) : -len(_REMOTE_SUFFIX)], place


def _projects_listing(place: str, projects: Mapping[str, Sequence[str]]) -> list[str]:
    # A listed remote may be a full address or already `host/path`.
    return [
        project
        for project, remotes in projects.items()
        if any(place in (normalise_remote(one), normalise_remote(f"https://{one}")) for one in remotes)
    ]


def _branch(facts: ContextFacts, ids: Mapping[str, str]) -> _Answer:
    project = ids.get("project")
    if facts.branch is None:
        return None, "HEAD is on no branch" if facts.is_in_work_tree else "not in a work tree"
    if project is None:
        return None, "no project is known"
    return f"{project}@{facts.branch}", "git HEAD"


def _repository(facts: ContextFacts, ids: Mapping[str, str]) -> _Answer:
    url = facts.git_config.get("remote.origin.url")
    if url is None:
        return None, "no remote origin" if facts.is_in_work_tree else "not in a work tree"
    place = normalise_remote(url)
    return place, "git config remote.origin.url" if place else "remote origin names no host"


# Who knows the active id; a scope without an entry is opened by the command line and the environment only.
_SOURCES: dict[str, Callable[[ContextFacts, Mapping[str, str]], _Answer]] = {
    "session": _session,
    "workspace": _workspace,
    "project": _project,
    "branch": _branch,
    "repository": _repository,
    "team": _team,
    "organization": _organization,
}


def _shown(value: str) -> str:
    text = value if len(value) <= 60 else value[:57] + "..."
    return repr(text) if text.isprintable() else ascii(text)
