"""Whether git sends a path through a program on its way into history: encryption, large files.

Owns: the quick no from the attribute files, the exact answer from git.
Leaves alone: what to do about it (committing).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from remvault.store.work_tree import WorkTree, run_git


def has_filter(tree: WorkTree, path: str, environ: Mapping[str, str], config: Mapping[str, str]) -> bool:
    """Say whether a path (from the repository's root) has a `filter` attribute that names a program.

    Git is asked only when an attribute file that concerns the path holds the word: a process costs as much as a commit.
    """
    if not any(b"filter" in _read(file) for file in _attribute_files(tree, path, environ, config)):
        return False
    asked = os.fsencode(path) + b"\0"
    said = run_git(tree.root, ["check-attr", "-z", "--stdin", "filter"], environ, stdin=asked).stdout
    return said.split(b"\0")[2] not in (b"unspecified", b"unset", b"set", b"")


def _attribute_files(
    tree: WorkTree, path: str, environ: Mapping[str, str], config: Mapping[str, str]
) -> Iterator[Path]:
    folder = tree.root
    yield folder / ".gitattributes"
    for name in path.split("/")[:-1]:
        folder = folder / name
        yield folder / ".gitattributes"
    yield tree.common_dir / "info" / "attributes"
    home = Path(environ.get("HOME", "/"))
    named = config.get("core.attributesfile")
    if named is not None:
        yield home / named[2:] if named.startswith("~/") else Path(named)
    else:
        yield Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "git" / "attributes"
    yield Path("/etc/gitattributes")


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
