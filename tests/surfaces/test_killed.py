"""Killing a writer or a watcher at any moment changes no answer and leaves nothing locked.

`REMVAULT_TEST_SOAK=1` kills 300; `python -m tests.bench kills` does the same and prints the figure.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

from tests.bench.kills_bench import KILLS, Killing, make_vault
from tests.surfaces.conftest import ROOT


def test_after_sigkill_the_next_search_is_right_and_nothing_is_locked(tmp_path: Path) -> None:
    is_soak = bool(os.environ.get("REMVAULT_TEST_SOAK"))
    env = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    chance = random.Random() if is_soak else random.Random(4)
    killing = Killing(make_vault(tmp_path / "vault", 30, env, chance), env, chance)
    killing.run(KILLS if is_soak else 4)
    assert killing.faults == []
