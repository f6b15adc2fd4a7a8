"""Several vaults against the slower one alone: what a listed vault that fails, and one that answers, may cost."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.bench.figures import Figure, alternating_ms
from tests.bench.process_bench import make_vault, run

QUERY = "retry queue"
CONTEXT = "project=project-1"


def figures(base: Path, env: Mapping[str, str], *, notes: int, runs: int) -> Iterator[Figure]:
    """Measure a vault alone, with a broken one beside it, and with a second healthy one of the same size."""
    first, second = make_vault(base / "first", notes, env), make_vault(base / "second", notes, env)
    broken = base / "broken"
    broken.mkdir()
    (broken / "remvault.toml").write_text("[vault\n")

    with_broken = _settings(base / "with-broken", env, {"broken": broken})
    with_both = _settings(base / "with-both", env, {"second": second, "broken": broken})

    def search(environment: Mapping[str, str]) -> None:
        run([sys.executable, "-m", "remvault", "--context", CONTEXT, "search", QUERY], first, environment)

    together, alone = alternating_ms(lambda: search(with_broken), lambda: search(env), runs=runs)
    yield _ratio(f"search, two vaults, one broken : the healthy one alone, {notes:,} notes", together, alone, 1.3)
    both, alone = alternating_ms(lambda: search(with_both), lambda: search(env), runs=runs)
    yield _ratio(f"search, two healthy vaults and a broken one : one alone, {notes:,} notes", both, alone, None)


def _settings(folder: Path, env: Mapping[str, str], listed: Mapping[str, Path]) -> dict[str, str]:
    """An environment whose settings file lists these vaults."""
    place = folder / "remvault" / "config.toml"
    place.parent.mkdir(parents=True)
    place.write_text("".join(f'[providers.{name}]\npath = "{path}"\n' for name, path in listed.items()))
    return {**os.environ, **env, "XDG_CONFIG_HOME": str(folder)}


def _ratio(name: str, measured: float, peer: float, most: float | None) -> Figure:
    ratio = measured / peer
    said = f"{measured:.0f} ms : {peer:.0f} ms = {ratio:.2f}"
    return Figure(name, said, "" if most is None else f"under {most}x", None if most is None else ratio < most)
