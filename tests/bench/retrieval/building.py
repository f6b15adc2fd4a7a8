"""Make the vault of a set in a folder, or take the one that is there from the same notes."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import remvault.index
from remvault.surfaces.app import Surroundings, open_vault
from remvault.surfaces.making import init
from tests.bench.retrieval.notes import BenchNote
from tests.vaults import clean_environment, git

# The clock of every question, so that ages are the same on every day.
NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
_MADE = "made.json"


def surroundings(folder: Path) -> Surroundings:
    """What the product finds around itself: the vault of this folder, a user of its own, no chance."""
    home = folder / "home"
    environ = {
        **clean_environment(home),
        "GIT_AUTHOR_NAME": "bench",
        "GIT_AUTHOR_EMAIL": "bench@example.invalid",
        "GIT_COMMITTER_NAME": "bench",
        "GIT_COMMITTER_EMAIL": "bench@example.invalid",
        "GIT_AUTHOR_DATE": NOW.isoformat(),
        "GIT_COMMITTER_DATE": NOW.isoformat(),
    }
    return Surroundings(
        cwd=folder / "vault",
        environ=environ,
        now=lambda: NOW,
        entropy=bytes,
        user_config=home / "config",
        user_data=home / "data",
        user_state=home / "state",
    )


def build(folder: Path, notes: Sequence[BenchNote], files: Mapping[str, str]) -> Path:
    """Return the root of the vault that holds exactly these notes and other files, all committed.

    One made before in this folder is taken when it was made from the same; its index is thrown away when the code of
    the index is another.
    """
    texts = {note.path: note.text() for note in notes} | dict(files)
    if len(texts) != len(notes) + len(files):
        raise ValueError(f"{len(notes) + len(files) - len(texts)} notes share a path")
    made = {"notes": _digest(texts), "index": _digest(_index_sources())}
    root = folder / "vault"
    known = _read(folder / _MADE)
    if known.get("notes") != made["notes"]:
        if folder.exists():
            shutil.rmtree(folder)
        _write(folder, texts)
    if known != made:
        open_vault(str(root), surroundings=surroundings(folder)).snapshot(rebuild=True)
        (folder / _MADE).write_text(json.dumps(made), encoding="utf-8")
    return root


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    root, around = folder / "vault", surroundings(folder)
    for place in (root, folder / "home" / "config", folder / "home" / "data", folder / "home" / "state"):
        place.mkdir(parents=True)
    init(str(root), name="bench", surroundings=around)
    for path, text in texts.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    git(root, "add", "-A", env=dict(around.environ))
    git(root, "commit", "-qm", "notes", env=dict(around.environ))


def _read(file: Path) -> dict[str, str]:
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def _index_sources() -> dict[str, str]:
    folders = [Path(one) for one in remvault.index.__path__]
    files = sorted(file for folder in folders for file in folder.glob("*.py"))
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def _digest(texts: Mapping[str, str]) -> str:
    digest = hashlib.sha256()
    for path in sorted(texts):
        for text in (path, texts[path]):
            data = text.encode()
            digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
