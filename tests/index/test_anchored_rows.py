"""The manifest tells which notes point into code, and where, without opening one."""

from __future__ import annotations

from pathlib import Path

from remvault.domain.memory import Anchor
from tests.index.conftest import IndexedVault


def test_only_notes_that_point_into_code_are_told_of_with_their_digests(vault: IndexedVault) -> None:
    vault.write("b.md", id="m-b", anchors="[{at: src/b.py}, {at: src/c.py#f, digest: t1:00ff, commit: 4be1d20}]")
    vault.write("a.md", id="m-a", anchors="[{at: src/a.py#L1-L2}]")
    vault.write("plain.md", id="m-plain")
    for _ in range(2):  # as read, and as kept in the manifest
        rows = vault.look().anchored_rows()
        assert [row.path for row in rows] == ["a.md", "b.md"]
        assert rows[0].anchors == (Anchor(at="src/a.py#L1-L2"),)
        assert rows[1].anchors == (Anchor(at="src/b.py"), Anchor(at="src/c.py#f", digest="t1:00ff", commit="4be1d20"))


def test_an_edit_of_the_anchors_is_seen_at_the_next_look(vault: IndexedVault) -> None:
    vault.write("a.md", id="m-a", anchors="[{at: src/a.py}]")
    assert vault.look().anchored_rows()
    vault.write("a.md", id="m-a")
    assert vault.look().anchored_rows() == []


def test_a_local_only_note_leaves_no_anchor_in_the_caches(vault: IndexedVault, tmp_path: Path) -> None:
    vault.write("a.md", id="m-a", sensitivity="local-only", anchors="[{at: src/kumquat.py}]")
    assert vault.look().anchored_rows() == []
    kept = [path.read_bytes() for path in (tmp_path / "caches").rglob("*") if path.is_file()]
    assert kept
    assert not any(b"kumquat" in data for data in kept)
