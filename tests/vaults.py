"""What many tests need: the text of a note, a real git repository, a vault in it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def note_text(title: str = "A memory", *, body: str = "Body.\n", drop: tuple[str, ...] = (), **fields: str) -> str:
    """Return the text of a valid global note; `fields` (snake_case) set raw YAML, `drop` removes keys."""
    values = {
        "id": "m-0000000000",
        "title": title,
        "type": "semantic",
        "scope": "global",
        "freshness": "current",
        "provenance": "[{source: remvault://explicit-write}]",
    }
    values.update({key.replace("_", "-"): value for key, value in fields.items()})
    lines = [f"{key}: {value}" for key, value in values.items() if key not in drop]
    return "---\n" + "\n".join(lines) + "\n---\n" + body


def clean_environment(home: Path) -> dict[str, str]:
    """An environment in which git and remvault see only `home`: no user settings, no system config."""
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR", "SYSTEMROOT") if key in os.environ}
    return kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "NO_COLOR": "1",
    }


def git(
    folder: Path, *args: str, check: bool = True, env: dict[str, str] | None = None, stdin: str | None = None
) -> str:
    """Run git in `folder` and return its standard output; a failure raises when `check` is set."""
    done = subprocess.run(["git", *args], cwd=folder, check=check, capture_output=True, text=True, input=stdin, env=env)
    return done.stdout
