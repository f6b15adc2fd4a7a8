"""remvault: long-term memory for people and coding agents, as Markdown files in a git repository.

    import remvault

    vault = remvault.open_vault("notes")
    remvault.new(vault, "Deploys: never on Friday", type="decision", scope="global")
    for hit in remvault.search(vault, "deploys").hits:
        print(hit.memory["id"], hit.memory["title"])

Every verb of the command line is a function here. Names are resolved when first used, so importing the package alone
loads nothing heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from remvault.domain.memory import Memory as Memory
    from remvault.domain.note import Note as Note
    from remvault.domain.note import parse_note as parse_note
    from remvault.domain.problems import Problem as Problem
    from remvault.domain.scope import Context as Context
    from remvault.errors import ConflictError as ConflictError
    from remvault.errors import GitError as GitError
    from remvault.errors import IndexBusy as IndexBusy
    from remvault.errors import RemvaultError as RemvaultError
    from remvault.errors import UsageError as UsageError
    from remvault.errors import UserError as UserError
    from remvault.retrieval.listing import Listing as Listing
    from remvault.retrieval.providers import MemoryProvider as MemoryProvider
    from remvault.retrieval.providers import MutableProvider as MutableProvider
    from remvault.retrieval.search import Hit as Hit
    from remvault.retrieval.search import SearchAnswer as SearchAnswer
    from remvault.retrieval.surfacing import Surfaced as Surfaced
    from remvault.store.correcting import Cleared as Cleared
    from remvault.store.undoing import Undone as Undone
    from remvault.store.written import Written as Written
    from remvault.surfaces.app import OpenVault as OpenVault
    from remvault.surfaces.app import open_vault as open_vault
    from remvault.surfaces.auditing import blame as blame
    from remvault.surfaces.auditing import diff as diff
    from remvault.surfaces.auditing import log as log
    from remvault.surfaces.cataloging import catalog as catalog
    from remvault.surfaces.correcting import archive as archive
    from remvault.surfaces.correcting import clear as clear
    from remvault.surfaces.correcting import confirm as confirm
    from remvault.surfaces.correcting import delete as delete
    from remvault.surfaces.correcting import link as link
    from remvault.surfaces.correcting import restore as restore
    from remvault.surfaces.correcting import retract as retract
    from remvault.surfaces.correcting import unlink as unlink
    from remvault.surfaces.disputes import conflicts as conflicts
    from remvault.surfaces.disputes import resolve as resolve
    from remvault.surfaces.doctoring import doctor as doctor
    from remvault.surfaces.explaining import why as why
    from remvault.surfaces.feedback import irrelevant as irrelevant
    from remvault.surfaces.feedback import useful as useful
    from remvault.surfaces.fusing import FusedAnswer as FusedAnswer
    from remvault.surfaces.fusing import open_providers as open_providers
    from remvault.surfaces.fusing import search_all as search_all
    from remvault.surfaces.fusing import surface_all as surface_all
    from remvault.surfaces.making import init as init
    from remvault.surfaces.naming import set_context as set_context
    from remvault.surfaces.reading import list_memories as list_memories
    from remvault.surfaces.reading import search as search
    from remvault.surfaces.reading import show as show
    from remvault.surfaces.reading import surface as surface
    from remvault.surfaces.staleness import stale as stale
    from remvault.surfaces.standing import status as status
    from remvault.surfaces.statistics import stats as stats
    from remvault.surfaces.undoing import undo as undo
    from remvault.surfaces.upkeep import Report as Report
    from remvault.surfaces.upkeep import check as check
    from remvault.surfaces.upkeep import reindex as reindex
    from remvault.surfaces.verifying import verify as verify
    from remvault.surfaces.watching import Watching as Watching
    from remvault.surfaces.watching import watch_once as watch_once
    from remvault.surfaces.writing import new as new
    from remvault.surfaces.writing import set_fields as set_fields
    from remvault.surfaces.writing import supersede as supersede
    from remvault.surfaces.writing import unset_fields as unset_fields

# Public name: the module that holds it.
_HOMES: dict[str, str] = {
    "Memory": "domain.memory",
    "Note": "domain.note",
    "parse_note": "domain.note",
    "Problem": "domain.problems",
    "Context": "domain.scope",
    "ConflictError": "errors",
    "GitError": "errors",
    "IndexBusy": "errors",
    "RemvaultError": "errors",
    "UsageError": "errors",
    "UserError": "errors",
    "Listing": "retrieval.listing",
    "MemoryProvider": "retrieval.providers",
    "MutableProvider": "retrieval.providers",
    "Hit": "retrieval.search",
    "SearchAnswer": "retrieval.search",
    "Surfaced": "retrieval.surfacing",
    "Cleared": "store.correcting",
    "Undone": "store.undoing",
    "Written": "store.vault",
    "OpenVault": "surfaces.app",
    "open_vault": "surfaces.app",
    "doctor": "surfaces.doctoring",
    "blame": "surfaces.auditing",
    "diff": "surfaces.auditing",
    "log": "surfaces.auditing",
    "why": "surfaces.explaining",
    "verify": "surfaces.verifying",
    "Watching": "surfaces.watching",
    "watch_once": "surfaces.watching",
    "conflicts": "surfaces.disputes",
    "resolve": "surfaces.disputes",
    "irrelevant": "surfaces.feedback",
    "useful": "surfaces.feedback",
    "archive": "surfaces.correcting",
    "clear": "surfaces.correcting",
    "confirm": "surfaces.correcting",
    "delete": "surfaces.correcting",
    "link": "surfaces.correcting",
    "restore": "surfaces.correcting",
    "retract": "surfaces.correcting",
    "unlink": "surfaces.correcting",
    "FusedAnswer": "surfaces.fusing",
    "open_providers": "surfaces.fusing",
    "search_all": "surfaces.fusing",
    "surface_all": "surfaces.fusing",
    "init": "surfaces.making",
    "set_context": "surfaces.naming",
    "catalog": "surfaces.cataloging",
    "list_memories": "surfaces.reading",
    "search": "surfaces.reading",
    "show": "surfaces.reading",
    "status": "surfaces.standing",
    "surface": "surfaces.reading",
    "stale": "surfaces.staleness",
    "stats": "surfaces.statistics",
    "undo": "surfaces.undoing",
    "Report": "surfaces.upkeep",
    "check": "surfaces.upkeep",
    "reindex": "surfaces.upkeep",
    "new": "surfaces.writing",
    "set_fields": "surfaces.writing",
    "supersede": "surfaces.writing",
    "unset_fields": "surfaces.writing",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'remvault' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"remvault.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
