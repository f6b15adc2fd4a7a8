"""Notes below one parent know who stands before and after them, and nothing of notes that may not be seen."""

from __future__ import annotations

from remvault.index.snapshot import Snapshot
from tests.index.conftest import IndexedVault

GLOBAL = frozenset({"global:"})


def talk(vault: IndexedVault, count: int = 4) -> Snapshot:
    for number in range(count):
        vault.write(f"n{count - number}.md", id=f"m-{number}", parent="standup", observed=f"2026-05-0{number + 1}")
    return vault.look()


def test_neighbours_follow_the_time_of_the_notes_not_their_names(vault: IndexedVault) -> None:
    found = talk(vault).siblings(["n3.md"], owners=GLOBAL, accept=lambda row: True)
    assert found.next_to == {"n3.md": ("n4.md", "n2.md")}
    assert set(found.size.values()) == {4}


def test_a_note_without_a_parent_has_no_neighbours(vault: IndexedVault) -> None:
    vault.write("a.md", id="m-a")
    vault.write("b.md", id="m-b")
    found = vault.look().siblings(["a.md"], owners=GLOBAL, accept=lambda row: True)
    assert (found.next_to, found.group, found.average_size) == ({}, {}, 1.0)


def test_parents_of_one_name_are_different_groups_for_different_owners(vault: IndexedVault) -> None:
    for owner in ("one", "two"):
        vault.write(f"{owner}.md", id=f"m-{owner}", scope="project", scope_id=owner, parent="standup")
    owners = frozenset({"project:one", "project:two"})
    found = vault.look().siblings(["one.md"], owners=owners, accept=lambda row: True)
    assert found.next_to == {"one.md": ()}
    assert list(found.size.values()) == [1]


def test_what_may_not_be_seen_is_no_neighbour_and_not_counted(vault: IndexedVault) -> None:
    snapshot = talk(vault)
    found = snapshot.siblings(["n3.md"], owners=GLOBAL, accept=lambda row: row.path != "n2.md")
    assert found.next_to == {"n3.md": ("n4.md", "n1.md")}
    assert set(found.size.values()) == {3}
    assert snapshot.siblings(["n3.md"], owners=frozenset(), accept=lambda row: True).group == {}


def test_an_edited_parent_moves_a_note_to_another_group(vault: IndexedVault) -> None:
    talk(vault)
    vault.write("n2.md", id="m-2", parent="retro")
    found = vault.look().siblings(["n3.md", "n2.md"], owners=GLOBAL, accept=lambda row: True)
    assert found.next_to == {"n3.md": ("n4.md", "n1.md"), "n2.md": ()}
