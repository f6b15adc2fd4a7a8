"""Scopes: who may see what, and when nobody may."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.scope import GLOBAL, SCOPES, Context, breadth, normalise_remote, owner_key

IDS = st.text(st.sampled_from("ab:/ "), max_size=4)


def test_scopes_are_ordered_from_the_narrowest() -> None:
    assert [breadth(scope) for scope in SCOPES] == list(range(8))
    with pytest.raises(ValueError, match="not in tuple"):
        breadth("planet")


@pytest.mark.parametrize(
    ("scope", "scope_id", "owner"),
    [
        ("global", None, "global:"),
        ("global", "ignored", "global:"),
        ("project", "a", "project:a"),
        ("project", None, None),
        ("project", "", None),
        ("workspace", None, "workspace:"),
        ("planet", "a", None),
        (None, "a", None),
        (None, None, None),
    ],
)
def test_an_owner_is_known_or_nobody(scope: str | None, scope_id: str | None, owner: str | None) -> None:
    assert owner_key(scope, scope_id) == owner


def test_an_empty_context_sees_what_is_global_and_nothing_else() -> None:
    context = Context()

    assert context.owners() == {"global:"}
    assert [scope for scope in SCOPES if context.sees(scope, "a")] == ["global"]
    assert not context.sees(None, None)


def test_a_workspace_note_without_id_is_at_home_in_its_own_work_tree_only() -> None:
    assert Context(in_own_work_tree=True).sees("workspace", None)
    assert not Context(ids={"workspace": "w-1"}).sees("workspace", None)
    assert not Context(in_own_work_tree=True).sees("workspace", "w-1")


def test_an_empty_or_unknown_id_opens_nothing() -> None:
    assert Context(ids={"project": "", "planet": "x", "workspace": ""}).owners() <= {"global:", "workspace:"}
    assert not Context(ids={"workspace": ""}).sees("workspace", None)


@given(
    st.dictionaries(st.sampled_from(SCOPES), IDS.filter(bool)), st.sampled_from([*SCOPES, None, "x"]), st.none() | IDS
)
def test_a_memory_is_seen_exactly_where_the_same_id_is_active(
    ids: dict[str, str], scope: str | None, scope_id: str | None
) -> None:
    seen = Context(ids=ids).sees(scope, scope_id)

    assert seen == (scope == GLOBAL or (bool(scope_id) and scope is not None and ids.get(scope) == scope_id))


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/team/app.git",
        "https://user:word@EXAMPLE.org:8443/team/app/",
        "ssh://git@example.org:2222/team/app.git",
        "git@example.org:team/app.git",
        "example.org:team/app",
        " git+ssh://example.org/team/app ",
    ],
)
def test_the_ways_to_write_one_remote_are_one_repository(url: str) -> None:
    assert normalise_remote(url) == "example.org/team/app"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/srv/app.git",
        "../app",
        "C:\\app",
        "C:/app",
        "file:///srv/app",
        "https://localhost/a",
        "https://",
        "https://example.org/",
        "app.bundle",
    ],
)
def test_a_local_remote_says_nothing_about_identity(url: str) -> None:
    assert normalise_remote(url) is None


@given(
    st.one_of(
        st.text(), st.lists(st.sampled_from(["ssh://", "@", ":", "/", "a", ".git", "[::1]", "\n", " "])).map("".join)
    )
)
def test_any_remote_is_host_and_path_or_none(url: str) -> None:
    found = normalise_remote(url)

    assert found is None or ("/" in found and not found.startswith("/"))


HOSTS = st.from_regex(r"[a-z][a-z0-9-]{0,5}(\.[a-z]{2,3}){1,2}", fullmatch=True)
PARTS = st.lists(st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,5}[A-Za-z0-9_]", fullmatch=True), min_size=1, max_size=3)
USERS = st.sampled_from(["", "git@", "dana:word@", "dana@corp.example:wo:rd@"])


@st.composite
def spellings(draw: st.DrawFn, host: str, path: str) -> str:
    """One of the ways in which people and hosts write the address of one repository."""
    written = "".join(draw(st.sampled_from([char.lower(), char.upper()])) for char in host)
    path = path.replace("/", draw(st.sampled_from(["/", "//"])))
    ending = draw(st.sampled_from(["", ".git", "/", ".git/"]))
    blank = draw(st.sampled_from(["", " ", "\n"]))
    if draw(st.booleans()):
        user, slash = draw(st.sampled_from(["", "git@", "dana@"])), draw(st.sampled_from(["", "/"]))
        return f"{user}{written}:{slash}{path}{ending}{blank}"
    scheme, port = (
        draw(st.sampled_from(["https", "ssh", "git", "HTTP", "git+ssh"])),
        draw(st.sampled_from(["", ":2222"])),
    )
    return f"{blank}{scheme}://{draw(USERS)}{written}{port}/{path}{ending}{blank}"


@given(st.data(), HOSTS, PARTS)
def test_every_spelling_of_one_remote_is_one_place(data: st.DataObject, host: str, parts: list[str]) -> None:
    path = "/".join(part.removesuffix(".git") for part in parts)
    first, second = (data.draw(spellings(host, path)) for _ in range(2))

    assert normalise_remote(first) == normalise_remote(second) == f"{host}/{path}"
    assert normalise_remote(f"https://{host}/{path}") == f"{host}/{path}"  # what was normalised stays as it is


@given(st.data(), HOSTS, HOSTS, PARTS, PARTS)
def test_different_remotes_never_become_one(
    data: st.DataObject, host: str, other_host: str, parts: list[str], other_parts: list[str]
) -> None:
    one, two = "/".join(parts).removesuffix(".git"), "/".join(other_parts).removesuffix(".git")
    first, second = data.draw(spellings(host, one)), data.draw(spellings(other_host, two))

    assert (normalise_remote(first) == normalise_remote(second)) == ((host, one) == (other_host, two))
