"""Of several notes with one id one is the original, if anything tells which."""

from __future__ import annotations

import pytest

from remvault.domain.copies import Claim, copied_paths, find_copies

SURE = [
    "use-tabs (Dana's conflicted copy 2026-11-30).md",  # Dropbox, Box
    "use-tabs (conflicted copy 2026-11-30 101500).md",  # Nextcloud
    "use-tabs_conflict-20261130-101500.md",  # ownCloud, older ones
    "use-tabs (Conflicted copy laptop 202611301015).md",  # Obsidian
    "use-tabs (Case Conflict).md",
    "use-tabs (Case Conflict 1).md",
    "use-tabs (Danas in Konflikt stehende Kopie 2026-11-30).md",
    "use-tabs (Copie en conflit de Dana 2026-11-30).md",
    "use-tabs (SFConflict dana@example.org 2026-11-30-10-15-00).md",  # Seafile
    "use-tabs [Conflict].md",
    "use-tabs.sync-conflict-20261130-101500-ABCDEFG.md",  # Syncthing
    "use-tabs.Conflict.md",  # Resilio
]
LIKELY = [
    "use-tabs (1).md",  # Google Drive
    "use-tabs(1).md",
    "use-tabs 2.md",  # iCloud
    "use-tabs copy.md",
    "use-tabs copy 2.md",  # Finder
    "use-tabs - Copy.md",
    "use-tabs - Copy (2).md",  # Explorer
    "use-tabs (copy).md",
    "use-tabs (another copy).md",
    "use-tabs (3rd copy).md",  # Files
    "use-tabs-DESKTOP-1AB2C3D.md",
    "use-tabs-Danas-MacBook.md",  # OneDrive
]


def claim(path: str, *, owner: str | None = "global:", head: str = "") -> Claim:
    """`head`: "" not in HEAD, "changed" or "same"."""
    return Claim(path, "m-1", owner, head != "", head == "same")


@pytest.mark.parametrize("name", SURE + LIKELY)
def test_the_names_sync_tools_and_file_managers_give_lead_back_to_the_original(name: str) -> None:
    path = f"project/acme/{name}"
    assert ("project/acme/use-tabs.md", name in SURE) in list(copied_paths(path))
    assert find_copies([claim(path), claim("project/acme/use-tabs.md")]) == {path: "project/acme/use-tabs.md"}


@pytest.mark.parametrize("name", SURE)
def test_a_name_only_a_sync_tool_gives_tells_the_copy_whatever_the_original_is_called_now(name: str) -> None:
    assert find_copies([claim(name), claim("renamed.md")]) == {name: "renamed.md"}


@pytest.mark.parametrize("name", LIKELY)
def test_a_name_a_person_may_give_tells_nothing_away_from_the_original(name: str) -> None:
    assert find_copies([claim(name), claim("renamed.md")]) == {name: None, "renamed.md": None}


def test_what_head_holds_is_the_original_whatever_the_names_say() -> None:
    notes = [claim("a.md"), claim("a (1).md", head="changed"), claim("b.md")]
    assert find_copies(notes) == {"a.md": "a (1).md", "b.md": "a (1).md"}


def test_of_several_that_head_holds_the_name_tells_and_then_what_is_unchanged() -> None:
    assert find_copies([claim("a.md", head="same"), claim("a (1).md", head="same")]) == {"a (1).md": "a.md"}
    # One note was copied over another.
    assert find_copies([claim("a.md", head="same"), claim("b.md", head="changed")]) == {"b.md": "a.md"}


def test_where_nothing_tells_none_is_the_original() -> None:
    assert find_copies([claim("a.md"), claim("b.md")]) == {"a.md": None, "b.md": None}
    assert find_copies([claim("a.md", head="same"), claim("b.md", head="same")]) == {"a.md": None, "b.md": None}
    assert find_copies([claim("a 2.md"), claim("a 3.md")]) == {"a 2.md": None, "a 3.md": None}


def test_a_note_with_an_id_of_its_own_is_never_a_copy() -> None:
    notes = [Claim(name, f"m-{number}", "global:") for number, name in enumerate(("use-tabs.md", *SURE, *LIKELY))]
    assert find_copies(notes) == {}


def test_the_only_note_left_of_an_id_is_no_copy() -> None:
    assert find_copies([claim(SURE[0])]) == {}


def test_another_owners_note_hides_none_of_mine() -> None:
    mine, theirs = claim("project/a/x.md", owner="project:a"), claim("project/b/y.md", owner="project:b", head="same")
    assert find_copies([mine, theirs]) == {}
    # Whose scope was changed in one of two versions is still a copy.
    copy = claim("project/a/x (conflicted copy).md", owner="project:b")
    assert find_copies([mine, copy]) == {copy.path: mine.path}
    committed = claim("project/a/x (1).md", owner="project:b", head="same")
    assert find_copies([mine, committed]) == {}


def test_copies_of_copies_all_lead_to_the_original() -> None:
    notes = [claim("a.md"), claim("a (1).md"), claim("a (1) (1).md"), claim("a-HOST-HOST.md")]
    assert set(find_copies(notes).values()) == {"a.md"}
