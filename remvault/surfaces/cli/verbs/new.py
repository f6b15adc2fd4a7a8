"""`remvault new`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from remvault.domain.scope import GLOBAL, SCOPES
from remvault.surfaces.cli.drafting import drafted
from remvault.surfaces.cli.invocation import DryRun, Json, Reason, of
from remvault.surfaces.cli.told import tell_written

if TYPE_CHECKING:
    from remvault.store.written import Written
    from remvault.surfaces.app import OpenVault


@drafted
def verb(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="What a reader will recognise the memory by")],
    *,
    draft: dict[str, Any],
    edit: Annotated[bool, typer.Option("--edit", help="Write the rest in your editor")] = False,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Write a memory as a note of its own, and commit it."""
    from remvault.surfaces import writing

    run = of(ctx)
    vault = run.open(as_json)
    write: Callable[..., Written] = writing.new
    if edit:
        from remvault.surfaces.editing import new_in_editor

        write = new_in_editor
    try:
        written = write(vault, title, reason=reason, dry_run=dry_run, **draft)
    except writing.ScopeNeeded as err:
        if not sys.stdin.isatty() or run.screen.as_json:
            raise
        run.screen.say(err.message)
        draft |= _asked(vault, None if draft["scope"] is None else err.scope)
        written = write(vault, title, reason=reason, dry_run=dry_run, **draft)
    tell_written(written, run.screen)


def _asked(vault: OpenVault, scope: str | None) -> dict[str, str | None]:
    """Ask the person at the terminal whose memory it is."""
    known = vault.context.ids
    if scope is None:
        scope = str(typer.prompt(f"Scope ({', '.join(SCOPES)})", value_proc=_scope, err=True))
    if scope == GLOBAL or scope in known or scope == "workspace":
        return {"scope": scope}
    return {"scope": scope, "scope_id": typer.prompt(f"Which {scope}", err=True)}


def _scope(typed: str) -> str:
    if typed.strip() not in SCOPES:
        raise typer.BadParameter(f"{typed!r} is no scope")
    return typed.strip()
