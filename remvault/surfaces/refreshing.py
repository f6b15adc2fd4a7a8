"""Bringing the index up to date after git has replaced files, behind the back of whoever waits for git.

Every read does the same, so nothing depends on this: it only saves the next one the time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from remvault.errors import RemvaultError
from remvault.store.work_tree import WorkTree, find_work_tree, run_git

_MARKERS = (":(top)remvault.toml", ":(top,glob)**/remvault.toml")


def start(tree: WorkTree, environ: Mapping[str, str]) -> None:
    """Begin in a process of its own, which outlives this one; raises OSError."""
    subprocess.Popen(
        # -P: the current folder is a repository that was just checked out, and no module of it is ours to run.
        [sys.executable, "-P", "-m", "remvault.surfaces.refreshing"],
        cwd=tree.root,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def main() -> int:
    """Refresh every vault of the work tree of the current folder; says nothing and always ends well."""
    with suppress(AttributeError, OSError):
        os.nice(10)
    with suppress(RemvaultError, OSError):
        tree = find_work_tree(Path.cwd())
        for root in [] if tree is None else vaults_in(tree, os.environ):
            _refresh(root)
    return 0


def vaults_in(tree: WorkTree, environ: Mapping[str, str]) -> list[Path]:
    """The folders of the vaults that git knows in a work tree; raises GitError."""
    from remvault.store.layout import is_vault

    listed = run_git(tree.root, ["ls-files", "-z", "--", *_MARKERS], environ).stdout
    folders = [(tree.root / os.fsdecode(path)).parent for path in listed.split(b"\0") if path]
    return [folder for folder in folders if is_vault(folder) and Path(os.path.realpath(folder)) == folder]


def _refresh(root: Path) -> None:
    from remvault.store.layout import VaultPlace
    from remvault.surfaces.app import OpenVault
    from remvault.surfaces.settings_files import vault_settings
    from remvault.surfaces.surroundings import Surroundings

    around = Surroundings.of_process()
    with suppress(RemvaultError, OSError):  # a vault that cannot be opened is for the next command to tell of
        OpenVault.at(VaultPlace(root, "search"), vault_settings(root, around), around).snapshot()


if __name__ == "__main__":
    sys.exit(main())
