"""Every test runs in a home of its own, so nobody's settings or identity leak in."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

from tests.vaults import clean_environment, git

# The same examples on every run: a red build is red for a reason that anyone can repeat.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, max_examples=100)
hypothesis.settings.load_profile("ci")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home with a git identity; the process environment points into it."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "gitconfig").write_text(
        "[user]\n\tname = Dana\n\temail = dana@example.org\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"
    )
    for name in list(os.environ):
        if name.startswith(("GIT_", "REMVAULT_")):
            monkeypatch.delenv(name)
    for name, value in clean_environment(folder).items():
        monkeypatch.setenv(name, value)
    return folder


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """An empty git repository on branch main."""
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder
