"""Check what a commit is about to hold, in every vault of the repository: the work of the pre-commit hook.

Only staged bytes are judged, those of git's own choice of index (`git commit -a` and `--only` use another than the
usual one), and no file is touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from remvault.config import load_settings
from remvault.errors import GitError
from remvault.store.checking import check_tree
from remvault.store.git import Repository
from remvault.store.layout import VAULT_FILE
from remvault.store.trees import StagedTree
from remvault.store.work_tree import find_work_tree, head
from remvault.surfaces.upkeep import Report


def check_staged(environ: Mapping[str, str]) -> Iterator[tuple[str, Report]]:
    """Yield the prefix and the report of every vault in which this commit changes a note.

    Raises:
        GitError: outside a work tree.
        SettingError: for staged settings that cannot be read.
    """
    tree = find_work_tree(Path.cwd())
    if tree is None:
        raise GitError("not in a git work tree")
    repository = Repository.open(tree, environ, index_file=environ.get("GIT_INDEX_FILE"))
    is_unborn = head(tree, environ).commit is None
    for marker in _markers(repository.staged_entries("")):
        prefix = "" if marker == VAULT_FILE else str(PurePosixPath(marker).parent)
        before = {} if is_unborn else repository.blob_ids("HEAD", prefix)
        staged = repository.staged_blob_ids(prefix)
        changed = {path for path, blob in staged.items() if before.get(path) != blob and path.endswith(".md")}
        if not changed:
            continue
        settings = load_settings(
            vault_toml=repository.read_blob(staged[VAULT_FILE]).decode("utf-8", "replace"),
            vault_source=f"{marker} (staged)",
            user_toml=None,
            user_source="",
            environ=environ,
        )
        is_embedded = settings.text("vault.kind") == "embedded"
        checked = check_tree(
            StagedTree(repository, prefix),
            is_embedded=is_embedded,
            severities=settings.rules,
            only=changed.__contains__,
        )
        yield prefix, Report(checked.problems, len(checked.notes))


def _markers(entries: Mapping[str, tuple[int, str]]) -> list[str]:
    return sorted(path for path in entries if path == VAULT_FILE or path.endswith(f"/{VAULT_FILE}"))
