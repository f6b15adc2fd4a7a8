"""`search` and `surface` over several vaults: the one we are in, and those that the user's settings list.

Owns: opening listed vaults, asking all at once within a time budget, telling who failed.
Leaves alone: the protocol, what may pass and the fusion (`retrieval.providers`), one vault (`surfaces.reading`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remvault.errors import UsageError
from remvault.retrieval.catalog import Holdings, holdings
from remvault.retrieval.core import core_offers
from remvault.retrieval.frame import Form, Frame
from remvault.retrieval.gate import Gate
from remvault.retrieval.lifecycle import Stage
from remvault.retrieval.providers import FusedHit, Offer, Offered, Screened, fuse, screen
from remvault.retrieval.recognition import Recognition, recognise
from remvault.retrieval.search import SearchAnswer, SearchOptions
from remvault.retrieval.search import search as _search
from remvault.retrieval.surfacing import Candidates, Surfaced, Terms, choose, surface_options
from remvault.store.layout import find_vault
from remvault.surfaces import reading
from remvault.surfaces.app import OpenVault, vault_settings
from remvault.surfaces.exposing import record_exposures, record_found, shown_earlier
from remvault.surfaces.listed import Listed, ProviderRefused, listed_providers, others
from remvault.surfaces.waiting import ANSWER_WITHIN_S, Waiting

if TYPE_CHECKING:
    from remvault.retrieval.view import View
    from remvault.store.written import Written


class VaultProvider:
    """A vault as a provider; see `retrieval.providers.MutableProvider`. Not shared between threads."""

    def __init__(self, name: str, vault: OpenVault, *, is_writable: bool = True) -> None:
        self._name, self._vault, self._is_writable = name, vault, is_writable

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self._name

    def catalog(self) -> Holdings:
        """What the memories are called that this context may see here, and what the vault says it holds."""
        holds = self._vault.settings.get("vault.holds")
        return holdings(self._vault.view(), provider=self.name, holds=holds if isinstance(holds, tuple) else ())

    def search(self, query: str, options: SearchOptions) -> Offered:
        """The memories that answer a query, best first."""
        return self._search(self._vault.view(), query, options)

    def for_block(self, query: str, options: SearchOptions) -> Offered:
        """As `search`, with what belongs into a block whatever the query."""
        view = self._vault.view()
        found = self._search(view, query, options)
        return replace(found, core=core_offers(view, self.name), recognition=recognise(view))

    def _search(self, view: View, query: str, options: SearchOptions) -> Offered:
        vault = self._vault
        found = _search(view, query, options, analyzer=vault.analyzer, provider=self.name)
        notices = (*found.notices, *vault.synonyms.notices())
        return Offered(
            found.hits, found.generation, found.note_count, found.is_stale, found.dropped, notices, found.gate
        )

    def get(self, name: str) -> Mapping[str, Any]:
        """One memory with its body; raises MemoryNotFound, AmbiguousName."""
        view = self._vault.view()
        return reading.memory_of(self._vault, view, self._vault.find(name, view)) | {"provider": self.name}

    def new(self, title: str, **fields: Any) -> Written:
        """Write a memory; see `writing.new`."""
        from remvault.surfaces import writing

        return writing.new(self._writable(), title, **fields)

    def update(self, name: str, edits: Sequence[str], **act: Any) -> Written:
        """Change fields in place; see `writing.set_fields`."""
        from remvault.surfaces import writing

        return writing.set_fields(self._writable(), name, edits, **act)

    def supersede(self, name: str, title: str, **fields: Any) -> Written:
        """Replace a memory by a newer one; see `writing.supersede`."""
        from remvault.surfaces import writing

        return writing.supersede(self._writable(), name, title, **fields)

    def delete(self, name: str, **act: Any) -> Any:
        """Remove a memory; history keeps it."""
        from remvault.surfaces import correcting

        return correcting.delete(self._writable(), name, **act)

    def _writable(self) -> OpenVault:
        if not self._is_writable:
            hint = f"set write = true below [providers.{self.name}] in your own settings file"
            raise ProviderRefused(self.name, "it is listed for reading only", hint=hint)
        return self._vault


@dataclass(frozen=True, slots=True)
class Answered:
    """How one provider came off."""

    provider: str
    hits: int  # offered and let pass
    refused: int  # offered, but not for this context
    error: str | None  # why it did not answer

    def answer(self) -> dict[str, Any]:
        """The provider as JSON has it."""
        return {"provider": self.provider, "hits": self.hits, "refused": self.refused, "error": self.error}


@dataclass(frozen=True, slots=True)
class FusedAnswer:
    """The hits of several providers, best first; read like a `SearchAnswer`."""

    query: str
    context: Mapping[str, str]
    hits: tuple[FusedHit, ...]
    own: Offered  # what the vault we are in said
    providers: tuple[Answered, ...]
    dropped: tuple[str, ...]
    notices: tuple[str, ...]

    def answer(self) -> dict[str, Any]:
        """The whole answer as JSON has it."""
        return {
            "query": self.query,
            "context": dict(self.context),
            "hits": [hit.answer() for hit in self.hits],
            "gate": None,
            "index": {"generation": self.own.generation, "notes": self.own.notes, "stale": self.own.is_stale},
            "providers": [one.answer() for one in self.providers],
        }


def search_all(
    vault: OpenVault,
    query: str,
    *,
    limit: int | None = None,
    status: Stage = "active",
    types: Collection[str] = (),
    tags: Collection[str] = (),
    all_terms: bool = False,
    literal: bool = False,
    files: Collection[str] = (),
    as_of: str | None = None,
    budget_s: float = ANSWER_WITHIN_S,
) -> SearchAnswer | FusedAnswer:
    """Find memories in this vault and every listed one; with none listed it is `reading.search`, whose arguments hold.

    The past (`as_of`) is looked at in this vault only: revisions of one repository mean nothing in another.

    Args:
        budget_s: how long each other provider may take.
    """
    chosen: dict[str, Any] = {"status": status, "types": types, "tags": tags, "all_terms": all_terms}
    chosen |= {"literal": literal, "limit": limit, "files": files}
    listed, notices = listed_beside(vault)
    if as_of is not None or not (listed or notices):
        found = reading.search(vault, query, **chosen, as_of=as_of)
        return replace(found, notices=(*found.notices, *_past_of_one(listed, as_of)))
    options = replace(reading.search_options(vault, **chosen), with_code=False)
    asked = _ask_all(vault, listed, query, options, files, budget_s=budget_s)
    hits = [hit.looked() for hit in fuse(asked.lists, own=vault.provider, limit=options.limit)]
    own_ids = [(hit.rank, hit.memory["id"]) for hit in hits if hit.is_own and hit.memory["id"]]
    record_found(vault, query, own_ids)
    return FusedAnswer(
        query,
        dict(vault.context.ids),
        tuple(hits),
        asked.own,
        tuple(asked.answered),
        asked.own.dropped,
        (*notices, *asked.notices),
    )


def surface_all(
    vault: OpenVault,
    prompt: str,
    *,
    budget_chars: int | None = None,
    budget_tokens: int | None = None,
    form: Form = "xml",
    files: Collection[str] = (),
    as_of: str | None = None,
    again: bool = False,
    delimiter: str | None = None,
    budget_s: float = ANSWER_WITHIN_S,
) -> Surfaced:
    """Choose and render memories of this vault and every listed one; else as `reading.surface`, whose arguments hold.

    Each vault has a gate of its own. The core slots are for all of them together.

    Args:
        budget_s: how long each other provider may take.
    """
    listed, notices = listed_beside(vault)
    if as_of is not None or not (listed or notices):
        bounds = {"budget_chars": budget_chars, "budget_tokens": budget_tokens}
        surfaced = reading.surface(
            vault, prompt, **bounds, form=form, files=files, as_of=as_of, again=again, delimiter=delimiter
        )
        return replace(surfaced, notices=(*surfaced.notices, *_past_of_one(listed, as_of)))
    terms = Terms(
        budget=reading.surface_budget(vault, budget_chars, budget_tokens),
        max_items=vault.settings.count("surface.max-items"),
        core_slots=vault.settings.count("surface.core-slots"),
        frame=Frame(form, delimiter or reading.new_delimiter(vault)),
        now=vault.surroundings.now(),
        earlier={} if again else shown_earlier(vault),
    )
    options = surface_options(
        terms.max_items,
        reading.files_in(vault, files),
        earlier=len(terms.earlier),
    )
    asked = _ask_all(vault, listed, prompt, options, files, budget_s=budget_s, for_block=True)
    found = fuse(asked.lists, own=vault.provider, limit=options.limit)
    candidates = Candidates(
        core=fuse(asked.cores, own=vault.provider, limit=sum(len(core) for _, core in asked.cores)),
        found=found,
        gates=asked.gates,
        recognition=asked.own.recognition or Recognition(),
        is_more=len(found) == options.limit,
    )
    told = (*notices, *asked.notices)
    surfaced = choose(candidates, terms, gate=asked.own.gate, notices=told)
    record_exposures(vault, surfaced, prompt)
    return surfaced


def open_providers(vault: OpenVault) -> list[VaultProvider]:
    """The vault we are in and every listed one that can be opened, in the order of the settings file.

    Raises:
        RemvaultError: when one cannot be opened.
    """
    listed, _ = listed_beside(vault)
    opened = [VaultProvider(one.name, open_listed(vault, one), is_writable=one.is_writable) for one in listed]
    return [VaultProvider(vault.provider, vault), *opened]


def listed_beside(vault: OpenVault) -> tuple[list[Listed], list[str]]:
    """The vaults that the user's settings list beside this one, and what to say of those that cannot be."""
    return others(listed_providers(vault.settings), vault.root, vault.provider)


def _past_of_one(listed: Sequence[Listed], as_of: str | None) -> tuple[str, ...]:
    return ("the past is that of this vault only: the listed ones were not asked",) if listed and as_of else ()


def open_listed(own: OpenVault, listed: Listed) -> OpenVault:
    """A listed vault, in the very context and for the very actor of the one we are in.

    Its own settings hold for how it is read; they open no scope here.
    """
    around = own.surroundings
    place = find_vault(around.cwd, explicit=listed.root, variable=None, user_data=Path())
    opened = OpenVault.at(place, vault_settings(place.root, around), around, actor=own.author.actor)
    return replace(opened, context=replace(own.context, in_own_work_tree=False), author=own.author)


@dataclass(frozen=True, slots=True)
class _Asked:
    own: Offered
    lists: list[tuple[str, Sequence[Any]]]  # provider and offers that may pass, the vault we are in first
    cores: list[tuple[str, Sequence[Any]]]  # the same of what each would show whatever the query
    gates: dict[str, Gate]
    answered: list[Answered]
    notices: list[str]


def _ask_all(
    vault: OpenVault,
    listed: Sequence[Listed],
    query: str,
    options: SearchOptions,
    files: Collection[str],
    *,
    budget_s: float,
    for_block: bool = False,
) -> _Asked:
    """Ask every provider at once, this vault in this thread, and screen what they offer.

    Args:
        files: as `reading.search` takes them. Each vault points into code of its own.
        for_block: ask for the core too.
    """

    def of(provider: VaultProvider, chosen: SearchOptions) -> Offered:
        return provider.for_block(query, chosen) if for_block else provider.search(query, chosen)

    def ask(one: Listed) -> Offered:
        opened = open_listed(vault, one)
        return of(VaultProvider(one.name, opened), replace(options, files=_files_in(opened, files)))

    waiting = Waiting(listed, ask, budget_s)
    own = of(VaultProvider(vault.provider, vault), options)
    asked = _Asked(own, [], [], {}, [], list(own.notices))
    for name, result in [(vault.provider, own), *waiting.results()]:
        if isinstance(result, str):
            asked.answered.append(Answered(name, 0, 0, result))
            asked.notices.append(f"provider {name} did not answer: {result}")
            continue
        found, core = (_screened(vault, name, offers, options) for offers in (result.offers, result.core))
        asked.lists.append((name, found.offers))
        asked.cores.append((name, core.offers))
        if result.gate is not None:
            asked.gates[name] = result.gate
        refused = found.refused + core.refused
        asked.answered.append(Answered(name, len(found.offers), refused, None))
        if refused:
            asked.notices.append(f"provider {name} offered {refused} that are not for this context")
    return asked


def _screened(vault: OpenVault, name: str, offers: Sequence[Offer], options: SearchOptions) -> Screened:
    return screen(
        offers,
        vault.context,
        stages=options.stages,
        now=vault.surroundings.now(),
        is_own=name == vault.provider,
        is_person=vault.is_person,
    )


def _files_in(other: OpenVault, files: Collection[str]) -> tuple[str, ...] | None:
    """The files as another vault knows them: none of them when they are outside the code it points into."""
    with suppress(UsageError):
        return reading.files_in(other, files)
    return ()
