"""`check --code`: which memories rest on code that the next commit changes, told before it is made.

Owns: whose memories are asked about, what is said of each, and whose vaults a commit of code concerns.
Leaves alone: what a commit does to one place in the code (`store.code_changes`), which code is whose (`code_roots`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from remvault.domain.problems import SEVERITIES, Problem, problem, with_severities
from remvault.errors import UsageError, UserError
from remvault.retrieval.lifecycle import Stage
from remvault.store.code_changes import CodeChanges, Effect
from remvault.store.layout import VaultPlace, is_vault, user_vault
from remvault.surfaces.app import OpenVault
from remvault.surfaces.listed import listed_providers
from remvault.surfaces.refreshing import vaults_in
from remvault.surfaces.settings_files import user_settings, vault_settings
from remvault.surfaces.surroundings import Surroundings
from remvault.surfaces.upkeep import Report

if TYPE_CHECKING:
    from remvault.index.rows import NoteRow
    from remvault.store.work_tree import WorkTree

_IN_FORCE: tuple[Stage, ...] = ("active",)
_HINT = "confirm, supersede or go on"
_MOVE_HINT = "after the commit 'remvault check --fix' rewrites the path"


def check_code(vault: OpenVault) -> Report:
    """Compare the staged code with HEAD where memories of this context point into it. No file of the work tree is read.

    Raises:
        UsageError: no code of this vault is at hand here.
    """
    tree = vault.anchors.tree
    if tree is None:
        raise UsageError("the code is not at hand here", hint="run it in the work tree of the code")
    return touched_memories(vault, CodeChanges(tree, vault.surroundings.environ))


def touched_memories(vault: OpenVault, changes: CodeChanges) -> Report:
    """What a commit of code does to the memories that this context sees: a problem for each that it touches.

    The severity is what `anchors.on-code-change` says. Memories that are not in force, or were re-taken for this very
    change, are not told of; local-only ones are never looked at.
    """
    severity = vault.settings.text("anchors.on-code-change") or "warning"
    if severity == "off" or vault.anchors.tree != changes.tree or not changes.files:
        return Report((), 0)
    view = vault.view()
    rows = [
        row
        for row in view.snapshot.anchored_rows()
        if view.accepts(row, _IN_FORCE, only_valid=True) and not vault.anchors.why_not(row.owner)
    ]
    effects = iter(changes.effects([anchor for row in rows for anchor in row.anchors]))
    found: list[Problem] = []
    for row in rows:
        touched = [effect for effect in islice(effects, len(row.anchors)) if effect is not None]
        found += _told(row, touched, severity)
    return Report(tuple(sorted(with_severities(found, vault.settings.rules), key=Problem.sort_key)), len(rows))


def vaults_of(tree: WorkTree, environ: Mapping[str, str]) -> Iterator[OpenVault]:
    """The vaults that may hold memories about the code of a work tree: those inside it, the user's own, those listed.

    What cannot be opened is left out: a commit of code must not wait for a vault to be mended.
    """
    around = replace(Surroundings.of_process(), environ=environ)
    seen: set[Path] = set()
    for place in _places(tree, around):
        if place.root in seen or not is_vault(place.root):
            continue
        seen.add(place.root)
        try:
            yield OpenVault.at(place, vault_settings(place.root, around), around)
        except (UserError, OSError):
            continue


def _places(tree: WorkTree, around: Surroundings) -> Iterator[VaultPlace]:
    for root in vaults_in(tree, around.environ):
        yield VaultPlace(root, "search")
    variable = around.environ.get("REMVAULT_VAULT")
    if variable:
        yield VaultPlace(Path(os.path.realpath(around.cwd / variable)), "environment")
    outside = [user_vault(around.user_data)]
    for one in listed_providers(user_settings(around)):
        try:
            outside.append(one.root)
        except (UserError, OSError, RuntimeError, ValueError):
            continue
    for root in outside:
        yield VaultPlace(Path(os.path.realpath(root)), "user")


def _told(row: NoteRow, effects: Sequence[Effect], severity: str) -> Iterator[Problem]:
    about = f"memory {row.id} {_quoted(row.title or '')} rests on it"
    loud = [effect for effect in effects if effect.kind != "moves"]
    if loud:
        said = problem("RV309", row.path, None, f"this commit {_listed(loud)}; {about}", _HINT)
        yield replace(said, severity=severity) if severity in SEVERITIES else said
    for effect in effects:
        if effect.kind == "moves":
            yield problem("RV306", row.path, None, f"this commit {_listed([effect])}; {about}", _MOVE_HINT)


def _listed(effects: Sequence[Effect]) -> str:
    said = [f"{one.kind} {one.what}" + (f" to {one.now_at}" if one.now_at else "") for one in effects]
    return " and ".join(dict.fromkeys(said))


def _quoted(title: str) -> str:
    return '"' + title.replace('"', "'") + '"'
