"""`init`: make a vault, or finish making one; safe to repeat."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from remvault.config import load_settings, render_vault_toml
from remvault.domain.commit_message import Operation
from remvault.domain.ids import memory_id
from remvault.domain.scope import PROJECT_ID
from remvault.errors import UsageError, UserError
from remvault.store.layout import VAULT_FILE, VAULT_FOLDERS, VaultPlace, is_vault, user_vault
from remvault.store.ledger import FileChange, Outcome
from remvault.store.work_tree import WorkTree, find_work_tree, head, run_git
from remvault.surfaces.app import OpenVault, Surroundings, vault_settings
from remvault.surfaces.settings_files import read_optional

GITIGNORE = """\
# Stays on this disk: local-only notes, handoffs, and working files of remvault.
/private/
/handoffs/
.remvault-*.tmp
"""
GITATTRIBUTES = """\
# Bytes as typed on every system; notes merge field by field where the driver is set up.
*.md -text merge=remvault
ledger/*.jsonl merge=union
"""


class CodeAtRoot(UserError):
    """The folder is the root of a code repository: a standalone vault does not belong there."""

    code = "code_at_root"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(
            f"{folder} is the root of a repository with other files",
            hint="'remvault init --embedded' makes the vault in a folder of it",
        )


@dataclass(frozen=True, slots=True)
class Made:
    """What `init` did. `made` is False when the vault was there already and nothing was missing."""

    root: Path
    kind: str
    made: bool
    git_init: bool
    outcome: Outcome | None
    is_rehearsal: bool = False
    project: str | None = None
    is_found: bool = True  # whether the vault is found from the folders above it without being named

    def answer(self) -> dict[str, Any]:
        """The result as JSON has it."""
        outcome = self.outcome
        return {
            "op": "init",
            "vault": str(self.root),
            "kind": self.kind,
            "made": self.made and not self.is_rehearsal,
            "dry_run": self.is_rehearsal,
            "git_init": self.git_init,
            "saved": not self.is_rehearsal,
            "committed": outcome is not None and outcome.committed,
            "commit": outcome.commit if outcome is not None else None,
            "pending": outcome.pending if outcome is not None else None,
        }


def init(
    path: str | None = None,
    *,
    embedded: bool = False,
    user: bool = False,
    project: str | None = None,
    name: str | None = None,
    actor: str | None = None,
    surroundings: Surroundings | None = None,
    reason: str | None = None,
    dry_run: bool = False,
) -> Made:
    """Make a vault.

    In the root of a work tree whose HEAD holds no other files, or outside git: standalone. In a folder of a work tree,
    or with `embedded` (then `vault/` below the root by default): embedded. Outside git, `git init` is run.

    Args:
        path: where; None is the current folder.
        embedded: make it a folder of this code repository.
        user: the user's own vault, in the platform's data folder.
        project: the project that an embedded vault belongs to.

    Raises:
        CodeAtRoot: at the root of a repository with code, without `embedded`.
        UsageError: for a project id that is not one.
    """
    around = surroundings or Surroundings.of_process()
    if project is not None and not PROJECT_ID.match(project):
        raise UsageError(f"project {project!r} is not an id", hint="lower-case letters, digits, '.', '_' and '-'")
    if user and (path or embedded):
        raise UsageError("--user goes alone")
    target = user_vault(around.user_data) if user else Path(os.path.realpath(around.cwd / (path or ".")))
    if target.exists() and not target.is_dir():
        raise UsageError(f"{target} is not a folder")
    if _is_bare(target):
        raise UserError(f"{target} is a bare repository, which has no files", hint="clone it and make the vault there")
    root, kind = _place(target, around, embedded=embedded)
    if project is not None and is_vault(root):
        known = vault_settings(root, around).text("vault.project")
        if known != project:
            hint = f'write project = "{project}" below [vault] in {root / VAULT_FILE}'
            raise UserError(f"the vault is there already, with project {known or 'unset'}", hint=hint)
    made, git_init = False, False
    if not dry_run:
        root.mkdir(parents=True, exist_ok=True)
    if find_work_tree(_nearest(root)) is None:
        git_init = True
        if not dry_run:
            run_git(root if kind == "standalone" else target, ["init", "-q"], around.environ)
    missing = _missing(root, kind, project, name, around)
    outcome = None
    if missing and not dry_run:
        outcome = _write(root, kind, missing, actor, reason, around)
        made = True
    is_found = root.name in VAULT_FOLDERS or kind == "standalone"
    return Made(root, kind, made or bool(missing), git_init, outcome, dry_run, project, is_found)


def _place(target: Path, around: Surroundings, *, embedded: bool) -> tuple[Path, str]:
    """The vault's folder and kind; an existing vault stays what it is."""
    for folder in (target, *(target / name for name in VAULT_FOLDERS)):
        if is_vault(folder) and (folder == target or embedded):
            return folder, _kind_of(folder)
    tree = find_work_tree(_nearest(target))
    if tree is None:
        return (target / VAULT_FOLDERS[0], "embedded") if embedded else (target, "standalone")
    top = Path(os.path.realpath(tree.root))
    if target != top:
        return target, "embedded"
    if embedded:
        return target / VAULT_FOLDERS[0], "embedded"
    if _holds_files(tree, around):
        raise CodeAtRoot(target)
    return target, "standalone"


def _nearest(folder: Path) -> Path:
    """The folder itself or the nearest above it that exists."""
    return next(one for one in (folder, *folder.parents) if one.is_dir())


def _is_bare(folder: Path) -> bool:
    return all((folder / name).exists() for name in ("HEAD", "objects", "refs"))


def _kind_of(root: Path) -> str:
    try:
        table = tomllib.loads(read_optional(root / VAULT_FILE) or "")
    except tomllib.TOMLDecodeError as err:
        raise UserError(f"{root / VAULT_FILE} cannot be read: {err}", hint="mend it; nothing was changed") from err
    section = table.get("vault")
    kind = section.get("kind") if isinstance(section, dict) else None
    return kind if kind in ("standalone", "embedded") else "standalone"


def _holds_files(tree: WorkTree, around: Surroundings) -> bool:
    if head(tree, around.environ).commit is None:
        return False
    return bool(run_git(tree.root, ["ls-tree", "HEAD"], around.environ).stdout.strip())


def _missing(root: Path, kind: str, project: str | None, name: str | None, around: Surroundings) -> Mapping[str, str]:
    """The files that a vault needs and this one lacks; what is there is never touched."""
    vault_id = memory_id(around.entropy(8)).replace("m-", "v-", 1)
    commit = "auto" if kind == "standalone" else "stage"
    toml = render_vault_toml(kind=kind, vault_id=vault_id, commit=commit, name=name, project=project)
    wanted = {VAULT_FILE: toml, ".gitignore": GITIGNORE, ".gitattributes": GITATTRIBUTES}
    return {file: text for file, text in wanted.items() if not os.path.lexists(root / file)}


def _write(
    root: Path, kind: str, missing: Mapping[str, str], actor: str | None, reason: str | None, around: Surroundings
) -> Outcome:
    """Write and commit the files as one operation of the vault they make, or of the one that lacked them."""
    if VAULT_FILE in missing:
        settings = load_settings(
            vault_toml=missing[VAULT_FILE],
            vault_source=str(root / VAULT_FILE),
            user_toml=None,
            user_source="",
            environ=around.environ,
        )
    else:
        settings = vault_settings(root, around)
    vault = OpenVault.at(VaultPlace(root, "option"), settings, around, actor=actor)
    author = vault.author
    operation = Operation(op="init", title=f"{kind} vault", actor=author.actor, session=author.session, reason=reason)
    return vault.ledger.write(operation, [FileChange(file, text.encode(), None) for file, text in missing.items()])
