"""Where notes lie, what their files are called, and what no path may do."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.scope import SCOPES
from remvault.store.layout import (
    MAX_NAME_BYTES,
    NOTES_PER_FOLDER,
    NoVault,
    contained,
    find_vault,
    folder_for,
    note_filename,
    shard,
    slugify,
)
from remvault.store.note_paths import PathRefused, name_key

ID = "m-7k3f9q2xab"


def make_vault(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "remvault.toml").write_text("")
    return folder


def find(start: Path, tmp_path: Path, *, explicit: Path | None = None, variable: str | None = None) -> Path:
    return find_vault(start, explicit=explicit, variable=variable, user_data=tmp_path / "data").root


# Finding the vault


def test_the_nearest_marked_folder_upwards_is_the_vault(tmp_path: Path) -> None:
    outer, inner = make_vault(tmp_path / "a"), make_vault(tmp_path / "a/b")
    deep = inner / "c/d"
    deep.mkdir(parents=True)

    assert find(deep, tmp_path) == inner
    assert find(outer, tmp_path) == outer


@pytest.mark.parametrize("name", ["vault", ".memory"])
def test_an_embedded_vault_is_found_from_every_folder_of_its_repository(tmp_path: Path, name: str) -> None:
    vault = make_vault(tmp_path / "repo" / name)
    deep = tmp_path / "repo/src/x"
    deep.mkdir(parents=True)

    assert find(deep, tmp_path) == find(tmp_path / "repo", tmp_path) == find(vault, tmp_path) == vault


def test_the_users_own_vault_is_the_last_resort(tmp_path: Path) -> None:
    with pytest.raises(NoVault, match="upwards"):
        find(tmp_path, tmp_path)

    own = make_vault(tmp_path / "data/vault")
    place = find_vault(tmp_path, explicit=None, variable=None, user_data=tmp_path / "data")
    assert place.root == own
    assert place.found == "user"
    assert not place.is_named


def test_what_is_named_wins_and_is_counted_from_the_current_folder(tmp_path: Path) -> None:
    here, there = make_vault(tmp_path / "here"), make_vault(tmp_path / "there")

    assert find(here, tmp_path, explicit=Path("../there"), variable=str(here)) == there
    assert find(here, tmp_path, variable="../there") == there
    assert find(here, tmp_path, variable="") == here
    assert find(here, tmp_path, explicit=there / "remvault.toml") == there
    assert find_vault(here, explicit=there, variable=None, user_data=tmp_path).is_named


def test_naming_a_folder_that_is_no_vault_says_so_with_a_hint(tmp_path: Path) -> None:
    make_vault(tmp_path / "repo/vault")

    with pytest.raises(NoVault) as caught:
        find(tmp_path, tmp_path, explicit=Path("repo"))
    assert caught.value.hint == "did you mean repo/vault?"
    with pytest.raises(NoVault, match="--vault gone") as caught:
        find(tmp_path, tmp_path, explicit=Path("gone"))
    assert caught.value.hint == "the folder does not exist"


def test_r75_a_linked_path_leads_to_the_same_vault(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "real/vault")
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert find(tmp_path / "link", tmp_path) == vault
    assert find(tmp_path, tmp_path, explicit=Path("link/vault")) == vault


def test_a_clone_cannot_lead_to_somebodys_other_vault_by_a_link(tmp_path: Path) -> None:
    other = make_vault(tmp_path / "other")
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / "vault").symlink_to(other)
    (clone / ".memory").mkdir()
    (clone / ".memory/remvault.toml").symlink_to(other / "remvault.toml")

    with pytest.raises(NoVault):
        find(clone, tmp_path)


# Folders


@pytest.mark.parametrize(
    ("scope", "scope_id", "folder"),
    [
        ("global", None, "global"),
        ("project", "acme-api", "project/acme-api"),
        ("workspace", "w-0123456789", "workspace/w-0123456789"),
        ("workspace", None, "workspace"),
        ("repository", "github.com/acme/api", "repository/github.com/acme/api"),
        ("repository", "git.sr.ht/~dana/x", "repository/git.sr.ht/_dana/x"),
        ("branch", "acme@feature/x", "branch/acme@feature/x"),
        ("branch", "acme@feature/-x", "branch/acme@feature/_x"),
        ("team", "Blue & Green", "team/Blue & Green"),
        ("team", "a?b", "team/a_b"),
        ("team", "Ärzte", "team/Ärzte"),
        ("team", "end.", "team/end_"),
        ("project", "con", "project/_con"),
        ("project", "nul.txt", "project/_nul.txt"),
    ],
)
def test_each_owner_has_a_folder(scope: str, scope_id: str | None, folder: str) -> None:
    assert folder_for(scope, scope_id) == folder


def test_local_only_notes_and_candidates_have_folders_of_their_own() -> None:
    assert folder_for("project", "a", status="candidate") == "inbox"
    assert folder_for("project", "a", sensitivity="local-only", status="candidate") == "private"


@pytest.mark.parametrize(
    ("scope", "scope_id"),
    [
        ("project", "../../.ssh"),
        ("repository", "../../.ssh"),
        ("repository", "h/../../x"),
        ("repository", "/etc"),
        ("repository", "h//x"),
        ("repository", "h/.git/hooks"),
        ("repository", "h/.GIT /hooks"),
        ("repository", "C:/x"),
        ("team", "a/b"),
        ("team", "a\\b"),
        ("team", "a\0b"),
        ("team", "a\nb"),
        ("team", "a\x1b[31m"),
        ("team", ".hidden"),
        ("team", "-rf"),
        ("team", "  "),
        ("team", ".."),
        ("team", ""),
        ("team", None),
        ("planet", "earth"),
    ],
)
def test_r19_a_scope_id_cannot_walk_out_of_the_vault(scope: str, scope_id: str | None) -> None:
    with pytest.raises(PathRefused):
        folder_for(scope, scope_id)


@given(scope=st.sampled_from(SCOPES), scope_id=st.text())
def test_every_folder_that_is_given_is_a_plain_relative_path(scope: str, scope_id: str) -> None:
    try:
        folder = folder_for(scope, scope_id)
    except PathRefused:
        return
    parts = folder.split("/")
    assert parts[0] == scope
    for part in parts:
        assert part not in ("", ".", "..")
        assert part[0] not in ".-"
        assert len(part.encode()) <= 100
        assert not part.endswith((".", " "))


# Names


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Store writes: always through with_lock", "store-writes-always-through-with-lock"),
        ("Größe über alles", "grosse-uber-alles"),
        ("Łódź & Ærø", "lodz-aero"),
        ("cafe\u0301", "cafe"),
        ("部署：周五不发布", "部署-周五不发布"),
        ("हिन्दी में", "हिन्दी-में"),
        ("👨‍👩‍👧 🎉", ""),
        ("...", ""),
        ("../../x", "x"),
        ("CON", "con"),
        ("-rf /", "rf"),
        ("ends in a dot.", "ends-in-a-dot"),
        ("a\0b\nc", "a-b-c"),
        ("\udcff bad bytes", "bad-bytes"),
        ("C++ & C#", "c-c"),
    ],
)
def test_a_slug_keeps_letters_of_every_script_and_nothing_else(title: str, slug: str) -> None:
    assert slugify(title) == slug


R16_TITLES = [
    "é" * 130,
    "部" * 90,
    "👨‍👩‍👧" * 70,
    "a" * 300,
    "🎉",
    "...",
    "CON",
    "ends in a dot.",
    "e\u0301" * 200,
    "न\u093f" * 90,
]


@pytest.mark.parametrize("title", R16_TITLES)
def test_r16_long_and_odd_titles_give_names_that_fit_and_keep_the_id(title: str, tmp_path: Path) -> None:
    first = note_filename(title, ID, taken=())
    second = note_filename(title, ID, taken={first})

    for name in (first, second):
        assert len(name.encode()) <= MAX_NAME_BYTES
        assert ID in name
        assert name.endswith(".md")
        assert name[0] not in ".-"
        assert unicodedata.category(name[0])[0] != "M"
        (tmp_path / name).write_text("")
    assert name_key(first) != name_key(second)


def test_r16_a_cut_falls_between_letters_with_their_marks() -> None:
    slug = note_filename("न\u093f" * 90, ID, taken=()).removesuffix(f"-{ID}.md")

    assert len(slug) % 2 == 0
    assert slug == "न\u093f" * (len(slug) // 2)


def test_a_cut_prefers_the_end_of_a_word() -> None:
    assert note_filename("word " * 60, ID, taken=()).removesuffix(f"-{ID}.md").split("-")[-1] == "word"


def test_r14_a_name_that_differs_only_in_case_or_composition_gets_a_suffix() -> None:
    plain = note_filename("Deploy", "m-x", taken=())

    assert plain == "deploy-m-x.md"
    assert note_filename("Deploy", "m-x", taken={"DEPLOY-M-X.md"}) == "deploy-m-x-2.md"
    assert note_filename("Deploy", "m-x", taken={"Deploy-m-x.md", "deploy-m-x-2.md"}) == "deploy-m-x-3.md"
    composed = note_filename("ガ", "m-x", taken=())
    assert note_filename("ガ", "m-x", taken={unicodedata.normalize("NFD", composed)}) != composed


def test_a_memory_id_that_is_a_path_is_refused() -> None:
    with pytest.raises(PathRefused):
        note_filename("x", "../x", taken=())


@given(title=st.text(), taken=st.lists(st.text(max_size=5), max_size=3))
def test_every_title_gives_a_name_that_every_system_takes(title: str, taken: list[str]) -> None:
    name = note_filename(title, ID, taken=taken)

    assert len(name.encode()) <= MAX_NAME_BYTES
    assert name.endswith(f"-{ID}.md")
    assert not set(name) & set('/\\<>:"|?*\0\n')
    assert name[0] not in ".-~#"


# Folders that fill up


def fill(folder: Path, count: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"n{number}.md").touch()


def test_a_full_folder_sends_new_notes_to_a_folder_of_the_month(tmp_path: Path) -> None:
    assert shard(tmp_path, "global", 2026, 12) == "global"
    fill(tmp_path / "global", NOTES_PER_FOLDER - 1)
    (tmp_path / "global/readme.txt").touch()
    assert shard(tmp_path, "global", 2026, 12) == "global"

    (tmp_path / "global/last.md").touch()
    assert shard(tmp_path, "global", 2026, 12) == "global/2026-12"
    fill(tmp_path / "global/2026-12", NOTES_PER_FOLDER)
    assert shard(tmp_path, "global", 2026, 12) == "global/2026-12-2"
    fill(tmp_path / "global/2026-12-2", 1)
    assert shard(tmp_path, "global", 2026, 12) == "global/2026-12-2"
    assert shard(tmp_path, "global", 2027, 1) == "global/2027-01"


# Staying inside


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    root = make_vault(tmp_path / "vault")
    (root / ".git/hooks").mkdir(parents=True)
    (root / "notes").mkdir()
    (root / "notes/x.md").write_text("x")
    (root / "out").symlink_to(outside)
    (root / "leak.md").symlink_to(outside / "secret.md")
    (root / "gone.md").symlink_to(outside / "gone.md")
    (root / "loop").symlink_to("loop")
    (root / "up").symlink_to("..")
    (root / "hooks").symlink_to(".git/hooks")
    (root / "alias").symlink_to("notes")
    return root


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "../../x",
        "notes/../../x",
        "notes/../x",
        "/etc/hostname",
        "~/x",
        "C:/x",
        "a\0b",
        "a\nb.md",
        "a\\..\\b",
        "",
        ".",
        "notes//x.md",
        ".git/hooks/pre-commit",
        ".GIT/config",
        "notes/.git /x",
        "GIT~1/config",
        ".g\u200cit/config",
        "out/secret.md",
        "out/new.md",
        "leak.md",
        "gone.md",
        "loop",
        "loop/x.md",
        "up/outside/secret.md",
        "hooks/pre-commit",
    ],
)
def test_r19_a_path_that_leaves_the_vault_is_refused_before_any_open(vault: Path, path: str) -> None:
    with pytest.raises(PathRefused):
        contained(vault, path)


@pytest.mark.parametrize(
    "path", ["notes/x.md", "new/folder/y.md", "alias/x.md", "a b/👨‍👩‍👧.md", "..hidden/x", "x.git/y"]
)
def test_a_path_inside_is_given_as_it_lies(vault: Path, path: str) -> None:
    assert contained(vault, path) == vault / path


def test_the_vault_itself_may_be_reached_by_a_link(vault: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(vault)

    assert contained(link, "notes/x.md").samefile(vault / "notes/x.md")
    with pytest.raises(PathRefused):
        contained(link, "out/secret.md")
