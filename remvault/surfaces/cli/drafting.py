"""The options that describe a memory, shared by every verb that writes a new one."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from remvault.domain.draft import INHERITED
from remvault.domain.fields import FIELDS
from remvault.domain.memory import TRUSTS
from remvault.domain.scope import SCOPES
from remvault.surfaces.cli.invocation import read_text


def _choices(key: str) -> str:
    return ", ".join(FIELDS[key].choices)


# Name, type and option of each; names are those of `surfaces.writing.new`.
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "body": (str | None, typer.Option(metavar="TEXT", help="The text of the memory; '-' reads standard input")),
    "type": (str | None, typer.Option(metavar="T", help=f"{_choices('type')} (default: semantic)")),
    "scope": (str | None, typer.Option(metavar="S", help=f"{', '.join(SCOPES)} (default: the active project)")),
    "scope_id": (str | None, typer.Option(metavar="I", help="The owner in that scope (default: the context's)")),
    "tags": (list[str] | None, typer.Option("--tag", metavar="T", help="A tag, repeatable")),
    "anchors": (list[str] | None, typer.Option("--anchor", metavar="A", help="path, path#symbol or path#L10-L20")),
    "source": (str | None, typer.Option(metavar="URI", help="Where it is known from: a URI, path or commit")),
    "trust": (str | None, typer.Option(metavar="T", help=f"{', '.join(TRUSTS)} (default: the actor's)")),
    "epistemic": (str | None, typer.Option(metavar="K", help=_choices("epistemic"))),
    "importance": (str | None, typer.Option(metavar="N", help="Durable priority, 0 to 1")),
    "confidence": (str | None, typer.Option(metavar="N", help="How well supported, 0 to 1")),
    "salience": (str | None, typer.Option(metavar="N", help="How strongly it presented itself, 0 to 1")),
    "tier": (str | None, typer.Option(metavar="T", help=f"{_choices('tier')} (default: archival)")),
    "pinned": (bool, typer.Option("--pin", help="Does not decay")),
    "expires": (str | None, typer.Option(metavar="WHEN", help="A date or time after which it is not surfaced")),
    "observed": (str | None, typer.Option(metavar="WHEN", help="When it was seen to be so")),
    "parent": (str | None, typer.Option(metavar="P", help="Its place in the catalog: a topic or an id")),
    "aliases": (list[str] | None, typer.Option("--alias", metavar="A", help="Another name, repeatable")),
    "summary": (str | None, typer.Option(metavar="S", help="One or two sentences that stand for a long body")),
    "private": (bool, typer.Option("--private", help="Local-only: out of git and of every model-visible path")),
}


def _inherited(name: str, option: Any) -> Any:
    """The option with its help telling that the older memory's value is the default."""
    key = {"scope_id": "scope-id"}.get(name, name)
    if key not in INHERITED:
        return option
    told = copy.copy(option)
    told.help = f"{option.help.partition(' (default')[0]} (default: the older memory's)"
    return told


def succeeding(verb: Callable[..., None]) -> Callable[..., None]:
    """As `drafted`, for a verb whose memory takes over what is not given from an older one."""
    return drafted(verb, inherits=True)


def drafted(verb: Callable[..., None], *, inherits: bool = False) -> Callable[..., None]:
    """Give a verb the options above, handed to it as `draft`: keyword arguments for `surfaces.writing`."""
    own = inspect.signature(verb, eval_str=True)
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if kind is bool else None,
            annotation=Annotated[kind, _inherited(name, option) if inherits else option],
        )
        for name, (kind, option) in _OPTIONS.items()
    ]
    kept = [parameter for name, parameter in own.parameters.items() if name != "draft"]

    def wrapper(**values: Any) -> None:
        draft = {name: values.pop(name) for name in _OPTIONS}
        draft["body"] = read_text(draft["body"] or "")
        draft["pinned"] = "true" if draft["pinned"] else None
        draft["anchors"] = [{"at": at} for at in draft["anchors"] or ()]
        verb(draft=draft, **values)

    wrapper.__doc__ = verb.__doc__
    wrapper.__name__ = verb.__name__
    ordered = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in kept]
    wrapper.__signature__ = inspect.Signature([*ordered, *added])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {one.name: one.annotation for one in (*ordered, *added)}
    return wrapper
