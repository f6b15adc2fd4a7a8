"""The composition root: find the vault, resolve settings and context, and hand out its reading and writing sides.

Owns: opening a vault from its surroundings (`surfaces.surroundings`), now or as it was.
Leaves alone: what the verbs do (`surfaces.reading`, `surfaces.writing`), how answers are printed (`surfaces.cli`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from remvault.config import Settings
from remvault.domain.actors import Author
from remvault.domain.context import resolve_context
from remvault.domain.scope import Context
from remvault.errors import UserError
from remvault.store.layout import VaultPlace, find_vault
from remvault.store.state import State, open_state
from remvault.store.synonyms import VaultSynonyms, read_synonyms
from remvault.store.work_tree import WorkTree, head
from remvault.surfaces.bearings import Bearings, take_bearings
from remvault.surfaces.listed import named_provider
from remvault.surfaces.settings_files import vault_settings as vault_settings
from remvault.surfaces.surroundings import Surroundings as Surroundings

if TYPE_CHECKING:
    from remvault.index.analysis import Analyzer
    from remvault.index.changes import NoteSource, Scannable
    from remvault.index.rows import NoteRow
    from remvault.index.snapshot import Snapshot
    from remvault.retrieval.view import View
    from remvault.store.as_of import PastMoment
    from remvault.store.ledger import Ledger
    from remvault.store.repository import GitRepository
    from remvault.store.trees import CommitTree
    from remvault.store.vault import Vault
    from remvault.store.witness import Witness
    from remvault.store.written import Act
    from remvault.surfaces.code_roots import CodeRoots

Progress = Callable[[int, int], None]


class VaultReadOnly(UserError):
    """The vault may be read but not written."""

    code = "read_only"

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason, hint="reading works; nothing was written")


class NoHistory(UserError):
    """The vault is outside git."""

    code = "no_history"

    def __init__(self) -> None:
        super().__init__(
            "the vault is not in a git repository, so it has no history", hint="run 'git init' in its folder"
        )


@dataclass(eq=False)
class OpenVault:
    """One vault, opened in one context by one actor. Cheap to make; each part is loaded when first used."""

    place: VaultPlace
    settings: Settings
    context: Context
    author: Author
    bearings: Bearings
    surroundings: Surroundings
    progress: Progress | None = None

    @classmethod
    def at(
        cls,
        place: VaultPlace,
        settings: Settings,
        around: Surroundings,
        *,
        context: Sequence[str] = (),
        actor: str | None = None,
        hook_session: str | None = None,
        progress: Progress | None = None,
    ) -> OpenVault:
        """Open the vault at a known place with known settings; see `open_vault`."""
        bearings = take_bearings(place, settings, around, context=context, hook_session=hook_session)
        resolved = resolve_context(bearings.facts)
        author = Author(bearings.actor(actor, around), resolved.ids.get("session"))
        return cls(place, settings, resolved, author, bearings, around, progress)

    @property
    def work_tree(self) -> WorkTree | None:
        """The one that holds the vault; None outside git."""
        return self.bearings.tree

    @property
    def git_values(self) -> Mapping[str, str]:
        """Git's settings in the vault's work tree."""
        return self.bearings.git_values

    @property
    def root(self) -> Path:
        """The vault's folder."""
        return self.place.root

    @property
    def is_embedded(self) -> bool:
        """Whether the vault is a folder of a code repository."""
        return self.settings.text("vault.kind") == "embedded"

    @property
    def is_person(self) -> bool:
        """Whether a person acts, rather than an agent or a tool."""
        return self.author.is_person

    @property
    def provider(self) -> str:
        """The name of this vault among the sources of memories."""
        return self.settings.text("vault.name") or "vault"

    @cached_property
    def prefix(self) -> str:
        """The vault's path in its repository: "" at the root, else ending in "/"."""
        if self.work_tree is None:
            return ""
        relative = self.root.relative_to(Path(os.path.realpath(self.work_tree.root))).as_posix()
        return "" if relative == "." else f"{relative}/"

    @cached_property
    def state(self) -> State | None:
        """Where caches, locks and pending operations live; None outside git."""
        if self.work_tree is None:
            return None
        vault_id = self.settings.text("vault.id") or "vault"
        return open_state(
            self.work_tree, vault_id=vault_id, prefix=self.prefix, user_state=self.surroundings.user_state
        )

    @property
    def _apart(self) -> Path | None:
        """What stands for `private/` and `handoffs/` of an embedded vault: git's own folder, which no clean removes."""
        if not self.is_embedded or self.state is None:
            return None
        return self.state.shared / (self.settings.text("vault.id") or "vault")

    @property
    def private_folder(self) -> Path:
        """Where local-only notes lie."""
        return (self._apart or self.root) / "private"

    @cached_property
    def repository(self) -> GitRepository | None:
        """The repository through libgit2; None outside git. Loaded only by writes, history and a moved HEAD."""
        from remvault.store.git import Repository

        return Repository.open(self.work_tree, self.surroundings.environ) if self.work_tree is not None else None

    @cached_property
    def analyzer(self) -> Analyzer:
        """The one way from text to terms, for notes and queries."""
        from remvault.index.analysis import Analyzer

        return Analyzer(self.settings.text("search.language") or "english", self.synonyms)

    @cached_property
    def synonyms(self) -> VaultSynonyms:
        """Terms that can stand for each other in a search of this vault, read once."""
        return read_synonyms(self.root)

    def snapshot(self, *, rebuild: bool = False, files: Scannable | None = None) -> Snapshot:
        """Bring the index in line with the files and return what it now holds; `rebuild` throws it away first.

        `files` is listed and read in place of the folder; what it lists must be true of it.
        """
        from remvault.index.reconcile import reconcile
        from remvault.store.left_locks import free_left_locks

        if self.work_tree is not None and self.state is not None and self.settings.read_only_reason is None:
            free_left_locks(self.work_tree, self.state)
        notes = self.notes if files is None else replace(self.notes, tree=files)
        return reconcile(notes, self.state, language=self.analyzer.language, progress=self.progress, rebuild=rebuild)

    @property
    def notes(self) -> NoteSource:
        """The notes on disk, and what HEAD holds of them, for the index to look at."""
        from remvault.index.changes import NoteSource

        return NoteSource(
            root=self.root,
            head=head(self.work_tree, self.surroundings.environ).commit if self.work_tree else None,
            head_blobs=self.head_blobs,
            is_embedded=self.is_embedded,
        )

    def head_blobs(self) -> Mapping[str, str]:
        """Blob ids of the notes in HEAD by vault-relative path; empty outside git and before the first commit."""
        if self.work_tree is None or head(self.work_tree, self.surroundings.environ).commit is None:
            return {}
        assert self.repository is not None
        return self.repository.blob_ids("HEAD", self.prefix)

    def view(self, as_of: str | None = None, *, with_past: bool = False) -> View:
        """What this context may see right now, or of the vault as it was at a revision, date or time.

        Args:
            as_of: None for now.
            with_past: history is told of too: to an agent nothing of what is local-only today, as with `as_of`.

        Raises:
            UserError: for a past that is not there, see `store.as_of.past_moment`.
        """
        from remvault.surfaces.views import past_view, present_view

        return present_view(self, with_past=with_past) if as_of is None else past_view(self, as_of)

    @property
    def history(self) -> GitRepository:
        """The repository, for verbs that are about nothing else.

        Raises:
            NoHistory: outside git.
        """
        if self.repository is None:
            raise NoHistory
        return self.repository

    @cached_property
    def anchors(self) -> CodeRoots:
        """The code that memories of this vault point into, as far as it is at hand here."""
        from remvault.surfaces.code_roots import CodeRoots

        return CodeRoots(self)

    def past(self, as_of: str) -> PastMoment:
        """The commit that a revision, date or time means; raises as `store.as_of.past_moment`."""
        from remvault.store.as_of import past_moment

        return past_moment(self.history, as_of, now=self.surroundings.now())

    def tree_of(self, commit: str) -> CommitTree:
        """The notes of a commit."""
        from remvault.store.trees import CommitTree

        return CommitTree(self.history, commit, self.prefix)

    def find(self, name: str, view: View | None = None) -> NoteRow:
        """The one memory called so that this context may see; a path may be given from the current folder too.

        Raises:
            MemoryNotFound, AmbiguousName: see `retrieval.lookup`.
        """
        view = view or self.view()
        here = view.snapshot.rows.get(self.from_here(name))
        # What this context may not see is answered by the name as it was given, exactly like what is not there.
        return here if here is not None and view.sees(here) else view.find(name)

    def from_here(self, name: str) -> str:
        """The vault-relative path that `name` would be from the current folder; the name itself outside the vault."""
        if "/" not in name and not name.endswith(".md"):
            return name
        place = Path(os.path.normpath(Path(os.path.realpath(self.surroundings.cwd)) / name))
        return place.relative_to(self.root).as_posix() if place.is_relative_to(self.root) else name

    @cached_property
    def ledger(self) -> Ledger:
        """The way to disk and history."""
        from remvault.store.witness import WitnessedLedger

        ledger = WitnessedLedger(
            self.root,
            tree=self.work_tree,
            state=self.state,
            mode=self.settings.text("git.commit") or "auto",  # type: ignore[arg-type]
            environ=self.surroundings.environ,
            clock=self.surroundings.now,
            config=self.git_values,
            private=self._apart,
        )
        ledger.witness = self.witness
        return ledger

    @property
    def witness(self) -> Witness | None:
        """The record of heads seen, in the user's own state folder; None outside git."""
        from remvault.store.witness import Witness

        if self.work_tree is None:
            return None
        vault_id = self.settings.text("vault.id") or "vault"
        return Witness(self.surroundings.user_state, self.work_tree, vault_id=vault_id)

    @cached_property
    def vault(self) -> Vault:
        """The writing side.

        Raises:
            VaultReadOnly: for a vault of a newer format.
        """
        from remvault.store.vault import Vault
        from remvault.surfaces.anchoring import Anchoring

        if self.settings.read_only_reason is not None:
            raise VaultReadOnly(self.settings.read_only_reason)
        return Vault(
            self.root,
            self.ledger,
            is_embedded=self.is_embedded,
            private=self.private_folder,
            entropy=self.surroundings.entropy,
            code=Anchoring(self.anchors),
            max_anchors=self.settings.count("anchors.max-per-note"),
        )

    def act(self, *, reason: str | None = None, dry_run: bool = False) -> Act:
        """Who writes, when and why."""
        from remvault.store.written import Act

        return Act(self.author, self.surroundings.now(), reason, dry_run)


def open_vault(
    vault: str | None = None,
    *,
    context: Mapping[str, str] | Sequence[str] = (),
    actor: str | None = None,
    surroundings: Surroundings | None = None,
    options: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    hook_session: str | None = None,
) -> OpenVault:
    """Open a vault.

    Args:
        vault: its folder, or the name of a provider that the user's settings list; None finds it from the environment
            or the current folder upwards.
        context: ids by scope, or texts `SCOPE=ID`, that replace what would be resolved.
        actor: `user:NAME`, `agent:NAME` or `tool:NAME`; None takes the environment's, else git's identity.
        options: settings by name that beat every file.
        progress: told (done, total) during long work.
        hook_session: the session id in a hook's JSON.

    Raises:
        NoVault, SettingError, UsageError: when there is none, or what was given cannot be.
    """
    around = surroundings or Surroundings.of_process()
    listed = named_provider(vault, around) if vault else None
    named = Path(vault).expanduser() if vault else None
    place = find_vault(
        around.cwd,
        explicit=listed.root if listed is not None else named,
        variable=around.environ.get("REMVAULT_VAULT"),
        user_data=around.user_data,
    )
    settings = vault_settings(place.root, around, options)
    if listed is not None and not listed.is_writable and settings.read_only_reason is None:
        settings = replace(settings, read_only_reason=listed.why_read_only)
    given = [f"{scope}={one}" for scope, one in context.items()] if isinstance(context, Mapping) else context
    return OpenVault.at(
        place, settings, around, context=given, actor=actor, hook_session=hook_session, progress=progress
    )
