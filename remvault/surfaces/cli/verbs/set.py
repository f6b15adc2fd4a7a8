"""`remvault set`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.surfaces.cli.invocation import DryRun, Json, MemoryName, Private, Reason, of
from remvault.surfaces.cli.told import tell_written


def verb(
    ctx: typer.Context,
    name: MemoryName,
    edits: Annotated[list[str], typer.Argument(metavar="KEY=VALUE...", help="Also KEY+=V and KEY-=V for lists")],
    private: Private = False,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Change fields of a memory; besides the line that says when, no other byte of the note changes."""
    from remvault.surfaces import writing

    run = of(ctx)
    vault = run.open(as_json)
    tell_written(writing.set_fields(vault, name, edits, private=private, reason=reason, dry_run=dry_run), run.screen)
