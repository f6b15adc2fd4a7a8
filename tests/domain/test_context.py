"""Which ids are active, and where they come from."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.context import ContextError, ContextFacts, closed_scopes, resolve_context
from remvault.domain.scope import SCOPES

GITHUB = {"remote.origin.url": "git@GitHub.com:acme/api.git"}
PLACE = ContextFacts(git_config=GITHUB, branch="main", workspace_id="w-0123456789", is_in_work_tree=True)
EMBEDDED = replace(PLACE, vault_project="acme", is_embedded=True, is_in_vaults_work_tree=True)


def test_with_no_facts_every_scope_is_closed_and_says_why() -> None:
    context = resolve_context(ContextFacts())

    assert context.ids == {}
    assert set(closed_scopes(context)) == set(SCOPES) - {"global"}
    assert context.owners() == {"global:"}
    assert not context.in_own_work_tree


def test_a_place_gives_its_repository_and_work_tree_but_no_project_by_guessing() -> None:
    context = resolve_context(PLACE)

    assert context.ids == {"workspace": "w-0123456789", "repository": "github.com/acme/api"}
    assert context.origins["repository"] == "git config remote.origin.url"
    assert context.origins["workspace"] == "the work tree's git directory"
    assert closed_scopes(context)["branch"] == "no project is known"


def test_each_source_of_the_project_beats_the_next() -> None:
    facts = replace(
        EMBEDDED,
        explicit=("project=a",),
        variable="project=b",
        git_config={**GITHUB, "remvault.project": "c"},
        projects={"d": ["https://github.com/acme/api"]},
        vault_project="e",
    )

    seen = []
    for weaker in (
        {},
        {"explicit": ()},
        {"variable": None},
        {"git_config": GITHUB},
        {"projects": {}},
        {"vault_project": None},
    ):
        facts = replace(facts, **weaker)
        context = resolve_context(facts)
        seen.append((context.ids.get("project"), context.origins["project"]))

    assert seen == [
        ("a", "option --context"),
        ("b", "REMVAULT_CONTEXT"),
        ("c", "git config remvault.project"),
        ("d", "remote origin, listed for project d"),
        ("e", "remvault.toml [vault] project"),
        (None, "closed: no --context, REMVAULT_CONTEXT, git config remvault.project or listed remote names a project"),
    ]


@pytest.mark.parametrize("value", ["Acme", "-acme", "acme api", "../x", "", "acme\n", "ACME", "é"])
def test_a_project_id_on_the_command_line_is_never_folded(value: str) -> None:
    with pytest.raises(ContextError) as caught:
        resolve_context(replace(PLACE, explicit=(f"project={value}",)))

    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "text", ["project", "projekt=a", "global=x", "session=", "team= x", "team=a\x1b[31m", "session=" + "x" * 256]
)
def test_what_is_no_pair_no_scope_or_no_id_is_a_usage_error(text: str) -> None:
    with pytest.raises(ContextError):
        resolve_context(ContextFacts(explicit=(text,)))


def test_a_scope_given_twice_is_a_usage_error_unless_both_agree() -> None:
    with pytest.raises(ContextError, match="already given"):
        resolve_context(ContextFacts(explicit=("project=a", "project=b")))

    assert resolve_context(ContextFacts(explicit=("project=a", "project=a"))).ids == {"project": "a"}


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"git_config": {"remvault.project": "Acme"}}, "git config remvault.project is 'Acme', not a project id"),
        ({"git_config": {"remvault.project": ""}}, "git config remvault.project is '', not a project id"),
        ({"variable": "project=Acme"}, "REMVAULT_CONTEXT is 'Acme', not a project id"),
        ({"variable": "projekt=b"}, "REMVAULT_CONTEXT names 'projekt', which is no scope"),
        ({"variable": "project=a,project=b"}, "REMVAULT_CONTEXT names project twice"),
    ],
)
def test_an_invalid_answer_closes_the_scope_instead_of_asking_the_next_source(
    facts: dict[str, object], why: str
) -> None:
    context = resolve_context(replace(EMBEDDED, **facts))

    assert "project" not in context.ids
    assert "branch" not in context.ids
    assert closed_scopes(context)["project"] == why


def test_the_variable_opens_several_scopes_and_beats_the_hook() -> None:
    facts = ContextFacts(variable="project=acme, session=s1", session_variable="s2", hook_session="s3")

    assert resolve_context(facts).ids == {"session": "s1", "project": "acme"}
    assert resolve_context(replace(facts, variable=None)).ids == {"session": "s2"}
    last = resolve_context(replace(facts, variable=None, session_variable=None))
    assert last.origins["session"] == "the hook's session"


def test_another_project_does_not_leave_the_branch_of_this_one_open() -> None:
    own = resolve_context(EMBEDDED)
    other = resolve_context(replace(EMBEDDED, explicit=("project=b",)))
    ambient = resolve_context(replace(EMBEDDED, explicit=("project=b",), variable="branch=acme@main"))

    assert own.ids["branch"] == "acme@main"
    assert other.ids["branch"] == "b@main"
    assert "branch" not in ambient.ids
    assert not other.sees("branch", "acme@main")
    assert not ambient.sees("branch", "acme@main")


def test_an_explicit_id_replaces_the_resolution_of_its_scope_only() -> None:
    context = resolve_context(replace(EMBEDDED, explicit=("team=blue",), team="red", team_origin="remvault.toml"))

    assert context.ids["team"] == "blue"
    assert context.ids["project"] == "acme"
    assert context.ids["repository"] == "github.com/acme/api"


def test_a_detached_head_closes_the_branch() -> None:
    context = resolve_context(replace(EMBEDDED, branch=None))

    assert closed_scopes(context)["branch"] == "HEAD is on no branch"


@pytest.mark.parametrize(
    ("is_in_vaults_work_tree", "is_in_work_tree", "is_vault_named", "answers"),
    [
        (True, True, False, True),
        (False, True, False, False),
        (False, True, True, False),  # another repository, even when the vault is named
        (False, False, True, True),
        (False, False, False, False),
    ],
)
def test_r61_the_embedded_vaults_own_project_answers_at_home_only(
    is_in_vaults_work_tree: bool, is_in_work_tree: bool, is_vault_named: bool, answers: bool
) -> None:
    facts = replace(
        EMBEDDED,
        is_in_vaults_work_tree=is_in_vaults_work_tree,
        is_in_work_tree=is_in_work_tree,
        is_vault_named=is_vault_named,
    )

    context = resolve_context(facts)

    assert ("project" in context.ids) is answers
    assert context.in_own_work_tree is is_in_vaults_work_tree


def test_r61_the_same_remote_by_any_address_is_the_same_project() -> None:
    listed = {"acme": ["github.com/acme/api"]}
    for url in (
        "https://github.com/acme/api",
        "https://token@github.com/acme/api.git",
        "ssh://git@github.com:22/acme/api.git",
        "git@GITHUB.com:acme/api",
    ):
        facts = replace(PLACE, git_config={"remote.origin.url": url}, projects=listed)
        assert resolve_context(facts).ids["project"] == "acme", url

    stranger = replace(PLACE, git_config={"remote.origin.url": "git@github.com:other/api.git"}, projects=listed)
    assert "project" not in resolve_context(stranger).ids


def test_origin_decides_before_other_remotes_and_a_tie_closes_the_project() -> None:
    config = {"remote.origin.url": "https://h.example/me/x", "remote.upstream.url": "https://h.example/org/x"}
    projects = {"mine": ["h.example/me/x"], "theirs": ["h.example/org/x"]}

    assert resolve_context(replace(PLACE, git_config=config, projects=projects)).ids["project"] == "mine"
    only = {"theirs": projects["theirs"]}
    assert resolve_context(replace(PLACE, git_config=config, projects=only)).ids["project"] == "theirs"
    tied = {**projects, "also": ["h.example/me/x"]}
    context = resolve_context(replace(PLACE, git_config=config, projects=tied))
    assert closed_scopes(context)["project"] == "the remotes are listed for several projects: also, mine"


def test_a_local_remote_says_nothing_about_identity() -> None:
    context = resolve_context(replace(PLACE, git_config={"remote.origin.url": "/srv/git/api.git"}))

    assert closed_scopes(context)["repository"] == "remote origin names no host"


def test_acting_as_another_workspace_hides_notes_at_home_in_this_one() -> None:
    context = resolve_context(replace(EMBEDDED, explicit=("workspace=w-other",)))

    assert not context.sees("workspace", None)
    assert resolve_context(EMBEDDED).sees("workspace", None)
    assert not resolve_context(replace(EMBEDDED, is_embedded=False)).sees("workspace", None)


@given(project=st.from_regex(r"[a-z0-9][a-z0-9._-]{0,8}", fullmatch=True), branch=st.text(min_size=1, max_size=9))
def test_an_open_branch_always_belongs_to_the_open_project(project: str, branch: str) -> None:
    for facts in (
        replace(EMBEDDED, explicit=(f"project={project}",), branch=branch),
        replace(EMBEDDED, explicit=(f"project={project}",), variable=f"branch={branch}"),
        replace(EMBEDDED, git_config={"remvault.project": project}, variable=f"branch={branch}@x"),
    ):
        ids = resolve_context(facts).ids
        assert "branch" not in ids or ids["branch"].startswith(ids["project"] + "@")
