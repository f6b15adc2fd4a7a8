"""The vaults that are measured: valid, foldered, the same for one seed."""

from __future__ import annotations

from pathlib import Path

from remvault.domain.note import parse_note
from remvault.domain.problems import has_errors
from remvault.domain.rules import note_problems
from tests.bench.vault_generator import NOTES_PER_FOLDER, generate


def test_generated_notes_are_valid_and_the_same_for_one_seed(tmp_path: Path) -> None:
    paths = generate(tmp_path / "a", 120, seed=3)
    assert generate(tmp_path / "b", 120, seed=3) == paths
    for path in paths:
        data = (tmp_path / "a" / path).read_bytes()
        assert data == (tmp_path / "b" / path).read_bytes()
        assert not has_errors(note_problems(parse_note(path, data)))


def test_generated_notes_have_the_length_of_real_ones_and_many_owners(tmp_path: Path) -> None:
    paths = generate(tmp_path, 200, projects=7)
    notes = [parse_note(path, (tmp_path / path).read_bytes()) for path in paths]
    lengths = sorted(len(note.body.split()) for note in notes)
    assert 120 <= lengths[len(lengths) // 2] <= 210
    assert len({note.owner for note in notes}) == 8
    assert len({note.memory.id for note in notes}) == 200


def test_no_folder_is_overfull(tmp_path: Path) -> None:
    generate(tmp_path, 1500, projects=1, long_share=0)
    for folder in tmp_path.rglob("*"):
        if folder.is_dir():
            assert len(list(folder.glob("*.md"))) <= NOTES_PER_FOLDER
