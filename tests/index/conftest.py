"""A vault on disk with caches of its own, and a compact way to ask it things."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from remvault.index.analysis import Analyzer
from remvault.index.query import build_query
from remvault.index.reconcile import NoteSource, reconcile
from remvault.index.snapshot import Matches, Snapshot
from remvault.store.state import State
from tests.vaults import note_text


class IndexedVault:
    """A folder of notes and the state that goes with it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        self.root.mkdir()
        self.state = State(folder / "caches", folder / "shared")
        self.state.caches.mkdir()
        self.head: str | None = None
        self.head_blobs: dict[str, str] = {}
        self.head_calls = 0

    def write(self, path: str, title: str = "A memory", *, body: str = "Body.\n", **fields: str) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(note_text(title, body=body, **fields).encode())
        return target

    def source(self) -> NoteSource:
        return NoteSource(self.root, self.head, self._blobs)

    def look(self, *, in_memory: bool = False, language: str = "english") -> Snapshot:
        return reconcile(self.source(), None if in_memory else self.state, language=language)

    def find(self, text: str, **options: object) -> list[str]:
        return found(self.look(), text, **options)

    def _blobs(self) -> dict[str, str]:
        self.head_calls += 1
        return self.head_blobs


def ask(snapshot: Snapshot, text: str, *, language: str = "english", **options: object) -> Matches:
    """What a snapshot holds for a query; of all owners unless told otherwise."""
    options.setdefault("owners", None)
    return snapshot.match(build_query(text, Analyzer(language)), **options)  # type: ignore[arg-type]


def found(snapshot: Snapshot, text: str, **options: object) -> list[str]:
    """The paths of the notes that hold a primary term of any word, by path."""
    primary = {
        term.text for word in build_query(text, Analyzer()) for term in word.terms if term.kind not in ("stem", "part")
    }
    documents = ask(snapshot, text, **options).documents
    return [
        one.path for one in documents if one.section is None and any(term in primary for _, term in one.frequencies)
    ]


@pytest.fixture
def vault(tmp_path: Path) -> IndexedVault:
    return IndexedVault(tmp_path)


@pytest.fixture
def make_vault(tmp_path: Path) -> Callable[[str], IndexedVault]:
    def make(name: str) -> IndexedVault:
        (tmp_path / name).mkdir()
        return IndexedVault(tmp_path / name)

    return make
