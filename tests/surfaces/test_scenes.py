"""Bursts, folder trees that come and go, branches and killed watchers: soon after, the index is that of a fresh build.

A part of the sixty scenarios, and smaller. `REMVAULT_TEST_SOAK=1` plays all of them in full;
`python -m tests.bench scenarios` does too and holds them against the clock.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from remvault.domain.blobs import blob_id
from tests.bench import scenes
from tests.bench.scenes import Scene
from tests.surfaces.conftest import ROOT, Cli
from tests.vaults import git

IS_SOAK = bool(os.environ.get("REMVAULT_TEST_SOAK"))
_DEADLINE_S = 60.0


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """An embedded vault with a watcher in a process of its own."""
    env = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    made = Scene(tmp_path / "repo", env, random.Random(None if IS_SOAK else 3), 1.0 if IS_SOAK else 0.05)
    made.make(made.many(600))
    yield made
    made.close()


def play(scene: Scene, act: Callable[[Scene], None]) -> None:
    act(scene)
    assert scene.seconds_until_right(_DEADLINE_S) is not None, act.__name__
    assert not scene.differs(), act.__name__


def test_the_index_follows_whatever_happens_to_the_files(scene: Scene) -> None:
    some = (scenes.burst_of_files, scenes.tree_in, scenes.tree_to_and_fro, scenes.root_made_anew)
    for act in [act for act, times in scenes.SCENES for _ in range(times)] if IS_SOAK else some:
        play(scene, act)


def test_a_watcher_killed_amid_changes_is_no_loss(scene: Scene) -> None:
    play(scene, scenes.killed(scenes.edits))


@pytest.mark.parametrize("is_watched", [True, False])
def test_r37_branches_to_and_fro_leave_no_hit_of_the_other(scene: Scene, cli: Cli, is_watched: bool) -> None:
    """Searched at once after each switch, with and without a watcher, and once more when it has settled."""
    if not is_watched:
        scene.close()
    scene.commit()
    git(scene.repo, "checkout", "-qb", "topic")
    for number in range(scene.many(200)):
        path = scene.root / f"global/f{number % 12}/n{number}.md"
        path.write_text(scene.note(f"m-{number:010}") + "topical\n")
    for number in range(scene.many(20)):
        scene.write(f"global/topic/t{number}.md").open("a").write("topical\n")
    scene.commit()
    for turn in range(10 if IS_SOAK else 4):
        branch = ("main", "topic")[turn % 2]
        git(scene.repo, "checkout", "-q", branch)
        hits = cli("search", "topical", "--limit", "1000", "--json", cwd=scene.repo).json["hits"]
        assert {hit["path"] for hit in hits} == {
            path.relative_to(scene.root).as_posix() for path in scene.notes() if "topical" in path.read_text()
        }
        for path, row in scene.open().snapshot().rows.items():
            assert row.blob == blob_id((scene.root / path).read_bytes())
    if is_watched:
        assert scene.seconds_until_right(_DEADLINE_S) is not None
    assert not scene.differs()
